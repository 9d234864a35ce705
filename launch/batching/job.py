# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""One launch as a process: it lies in a session of its own, so that Ctrl-C reaches the batch alone."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import BinaryIO

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)

#: Seconds that a launch has to end by itself after SIGUSR1 (which mpirun hands on to the ranks: they complete
#: their file), and then after SIGTERM (after which mpirun leaves the ranks one second).
PATIENCE = (30.0, 10.0)


class Job:
    """A running command and all that it started."""

    def __init__(self, words: list[str], environment: dict[str, str], log: BinaryIO) -> None:
        self._begin = time.monotonic()
        self._stage, self._stage_ends = 0, 0.0
        self._process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
            start_new_session=True,
            preexec_fn=_end_with_parent,
        )

    @property
    def seconds(self) -> float:
        """How long it has been running."""
        return time.monotonic() - self._begin

    @property
    def is_ending(self) -> bool:
        """Whether it was told to end."""
        return self._stage > 0

    def wait(self, seconds: float) -> int | None:
        """Wait; give the exit code as a shell has it (128 + signal), or None while it runs."""
        try:
            code = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._press_on()
            return None
        self._kill_session()  # a rank that outlives its mpirun would disturb the next launch
        return 128 - code if code < 0 else code

    def end(self) -> None:
        """Ask for its end: first so that it can complete its file, later less kindly."""
        if not self._stage:
            self._next_stage()

    def kill(self) -> None:
        """End it and everything that it started, at once."""
        self._stage = 3
        self._kill_session()

    def _press_on(self) -> None:
        if 0 < self._stage < 3 and time.monotonic() > self._stage_ends:
            self._next_stage()

    def _next_stage(self) -> None:
        self._stage += 1
        if self._stage == 3:
            self._kill_session()
            return
        self._process.send_signal(signal.SIGUSR1 if self._stage == 1 else signal.SIGTERM)
        self._stage_ends = time.monotonic() + PATIENCE[self._stage - 1]

    def _kill_session(self) -> None:
        """Kill by session: Open MPI gives each rank a process group of its own."""
        for process in session_members(self._process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def session_members(session: int) -> list[int]:
    """Give the processes of a session that still run."""
    members = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            state, _, _, session_of = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
            if int(session_of) == session and state != "Z":
                members.append(int(entry.name))
    return members


def _end_with_parent() -> None:
    """Have the kernel end the launch if the batch is killed: a later batch must not run beside it."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
