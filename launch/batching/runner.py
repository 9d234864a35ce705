# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Runs launches one after another. None that fails stops the others."""

from __future__ import annotations

import os
import shlex
import time
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
            if not self._take(log, launch) or self._folder.is_finished(launch):
                return
            code, seconds = self._attempt(launch, log, progress)
        self._settle(launch, code, seconds, progress)

    def _take(self, log: BinaryIO, launch: Launch) -> bool:
        if lock(log.fileno(), wait=False):
            return True
        say(f"{launch.label} is still running, started by another batch: waiting for its end")
        while not self._interrupts:
            if lock(log.fileno(), wait=False):
                return True
            time.sleep(_LOOK)
        return False

    def _attempt(self, launch: Launch, log: BinaryIO, progress: Progress) -> tuple[int | None, float]:
        """Start the launch and wait for its end. The code is None where Ctrl-C ended it."""
        words = self._launcher.words(launch) + program_words(self._program, self._folder, launch)
        started = now()
        attempts = self._folder.states()[launch.index]["attempts"] + 1
        log.write(f"# attempt {attempts}, {started}: {shlex.join(words)}\n".encode())
        log.flush()
        self._folder.note(launch, state=states.RUNNING, started=started, attempts=attempts)
        try:
            job = Job(words, dict(os.environ) | self._launcher.environment(launch), log)
        except OSError as error:
            log.write(f"# cannot be started: {error}\n".encode())
            return INTERNAL, 0.0
        return self._watch(job, launch, progress), job.seconds

    def _watch(self, job: Job, launch: Launch, progress: Progress) -> int | None:
        late, told = False, 0
        while (code := job.wait(_LOOK)) is None:
            if job.seconds > launch.timeout_s and not job.is_ending:
                late = True
                job.end()
            if self._interrupts.count > told:
                told = self._interrupts.count
                progress.clear()
                self._interrupt(job, told)
            progress.draw(launch, job.seconds, self._folder.log(launch), "stopping: " if told else "")
        if late:
            return TIMEOUT
        return None if told >= 2 and code not in (OK, SKIPPED) else code

    def _interrupt(self, job: Job, times: int) -> None:
        if times == 1:
            say("stopping after the running launch; Ctrl-C again ends it now")
        elif times == 2:
            say("ending the running launch; Ctrl-C again kills it")
            job.end()
        else:
            job.kill()

    def _settle(self, launch: Launch, code: int | None, seconds: float, progress: Progress) -> None:
        if code in (OK, SKIPPED) and not self._folder.output(launch).is_file():
            code = OUTPUT
        state = states.INTERRUPTED if code is None else _STATES.get(code, states.FAILED)
        self._folder.note(launch, state=state, exit_code=code, seconds=round(seconds, 3))
        good = state in (states.DONE, states.SKIPPED_ALL)
        if good:
            self._folder.finish(launch)
        else:
            self._folder.set_aside(launch)
        outcome = state if state == states.DONE else f"{state} (exit code {code})"
        progress.report(launch, outcome, good, seconds)
