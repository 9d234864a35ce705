# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Runs launches one after another. None that fails stops the others."""

from __future__ import annotations

import os
import re
import shlex
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from batching import folder as states
from batching.codes import INTERNAL, OK, OUTPUT, SKIPPED, TIMEOUT
from batching.folder import Folder, lock, now
from batching.interrupts import Interrupts
from batching.job import Job
from batching.plan import Launch
from batching.progress import Progress, say

#: Seconds between looks at a running launch: short enough for people, too rare to be measured.
_LOOK = 0.25
_TAIL = 65536
_STATES = {OK: states.DONE, SKIPPED: states.SKIPPED_ALL}
#: Bindings that the program can check.
_CHECKED_BINDINGS = ("none", "hwthread", "core", "numa", "socket", "package")


def program_words(program: str, folder: Folder, launch: Launch) -> list[str]:
    """Give the program's own words: what was asked for is checked by it before the first measurement."""
    words = [
        program,
        "run",
        str(folder.config(launch.experiment)),
        "--output",
        str(folder.output(launch)),
        "--force",
    ]
    words += ["--expect-ranks", str(launch.np)]
    if launch.bind_to in _CHECKED_BINDINGS:
        words += ["--expect-binding", launch.bind_to]
    words += ["--batch-uuid", folder.uuid, "--launch-index", str(launch.index)]
    return words + ["--seed", str(folder.choices.seed)]


@dataclass(frozen=True)
class Outcome:
    """What became of one attempt."""

    #: As a shell has it; None where Ctrl-C ended it.
    code: int | None
    seconds: float
    reason: str


class Runner:
    """Starts what is missing, watches it, and writes down what became of it."""

    def __init__(self, folder: Folder, launcher: Any, program: str, interrupts: Interrupts) -> None:
        self._folder, self._launcher, self._program = folder, launcher, program
        self._interrupts = interrupts

    def run(self, plan: list[Launch]) -> None:
        """Run the launches of a plan that have no result yet, until the end or the first Ctrl-C."""
        missing = [launch for launch in plan if not self._folder.is_finished(launch)]
        progress = Progress(len(plan), len(plan) - len(missing))
        for launch in missing:
            if self._interrupts:
                break
            self._run_locked(launch, progress)
        progress.clear()

    def _run_locked(self, launch: Launch, progress: Progress) -> None:
        """Run a launch that no other batch runs: its log is locked as long as its mpirun lives."""
        with open(self._folder.log(launch), "ab") as log:
            if self._take(log, launch) and not self._folder.is_finished(launch):
                self._settle(launch, self._attempt(launch, log, progress), progress)

    def _take(self, log: BinaryIO, launch: Launch) -> bool:
        if lock(log.fileno(), wait=False):
            return True
        say(f"{launch.label} is still running, started by another batch: waiting for its end")
        while not self._interrupts:
            if lock(log.fileno(), wait=False):
                return True
            time.sleep(_LOOK)
        return False

    def _attempt(self, launch: Launch, log: BinaryIO, progress: Progress) -> Outcome:
        """Start the launch and wait for its end."""
        words = self._launcher.words(launch) + program_words(self._program, self._folder, launch)
        started = now()
        attempts = self._folder.states()[launch.index]["attempts"] + 1
        log.write(f"# attempt {attempts}, {started}: {shlex.join(words)}\n".encode())
        log.flush()
        self._folder.note(launch, state=states.RUNNING, started=started, attempts=attempts)
        try:
            job = Job(words, dict(os.environ) | self._launcher.environment(launch), log)
        except OSError as error:
            return Outcome(INTERNAL, 0.0, f"cannot be started: {error}")
        return self._watch(job, launch, progress)

    def _watch(self, job: Job, launch: Launch, progress: Progress) -> Outcome:
        late, told = False, 0
        while (code := job.wait(_LOOK)) is None:
            if job.seconds > launch.timeout_s and not job.is_ending:
                late = True
                job.end()
            if self._interrupts.count > told:
                told = self._interrupts.count
                progress.clear()
                _interrupt(job, told)
            progress.draw(launch, job.seconds, self._folder.log(launch), "stopping: " if told else "")
        complaint = last_complaint(self._folder.log(launch))
        if late:
            return Outcome(
                TIMEOUT, job.seconds, f"longer than launch.timeout, {launch.timeout_s:g} s; {complaint}"
            )
        if told >= 2 and code not in _STATES:
            return Outcome(None, job.seconds, "Ctrl-C")
        return Outcome(code, job.seconds, complaint)

    def _settle(self, launch: Launch, outcome: Outcome, progress: Progress) -> None:
        """Write down what is known, and then give a good launch's file its name."""
        code, reason = outcome.code, outcome.reason
        if code in _STATES and not self._folder.output(launch).is_file():
            code, reason = OUTPUT, "it left no file"
        state = states.INTERRUPTED if code is None else _STATES.get(code, states.FAILED)
        good = code in _STATES
        seconds = round(outcome.seconds, 3)
        self._folder.note(
            launch, state=state, exit_code=code, seconds=seconds, reason=None if code == OK else reason
        )
        if good:
            self._folder.finish(launch)
        else:
            self._folder.set_aside(launch)
        if code is not None:
            progress.report(launch, state if code == OK else f"{state} (exit code {code})", good, seconds)


def _interrupt(job: Job, times: int) -> None:
    if times == 1:
        say("stopping after the running launch; Ctrl-C again ends it now")
    elif times == 2:
        say("ending the running launch; Ctrl-C again kills it")
        job.end()
    else:
        job.kill()


def last_complaint(log: Path) -> str:
    """Give the program's last complaint in the last attempt of a log, or mpirun's about a killed rank."""
    with open(log, "rb") as stream:
        stream.seek(max(0, log.stat().st_size - _TAIL))
        text = stream.read().decode("utf-8", "replace").rpartition("# attempt ")[2]
    text = text.replace("\0", "")  # Open MPI 5 ends its paragraphs with one, and breaks long lines
    complaints = re.findall(r"^ringscope: (.*)", text, re.MULTILINE)
    noticed = re.findall(r"^(?:mpirun|prterun) noticed .*(?:\n[^-\n].*)*", text, re.MULTILINE)
    return " ".join((noticed + complaints or ["the program said nothing"])[-1].split())
