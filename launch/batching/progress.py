# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""What people see while a batch runs: one live line on a terminal, else a plain line per launch."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

from batching.plan import Launch

_TAIL = 8192
_FORGET = "\r\x1b[K"


def say(text: str) -> None:
    """Print a line for people."""
    print(f"batch: {text}", file=sys.stderr, flush=True)


class Progress:
    """Counts launches and guesses how long the rest takes."""

    def __init__(self, total: int, finished: int) -> None:
        self.total, self.finished, self.failed = total, finished, 0
        self._seconds: list[float] = []
        self._live = sys.stderr.isatty()
        self._drawn_at = 0.0

    def report(self, launch: Launch, outcome: str, good: bool, seconds: float) -> None:
        """Tell the end of a launch; on a terminal the live line is enough for a good one."""
        self._seconds.append(seconds)
        self.finished += good
        self.failed += not good
        if good and self._live:
            return
        self.clear()
        place = self.finished + self.failed
        say(f"{place}/{self.total} {launch.label}: {outcome} in {seconds:.1f} s, {self._rest()}")

    def draw(self, launch: Launch, seconds: float, log: Path, note: str = "") -> None:
        """Draw the live line, at most once a second."""
        if not self._live or time.monotonic() - self._drawn_at < 1:
            return
        self._drawn_at = time.monotonic()
        width = shutil.get_terminal_size().columns - 1
        counts = f"{self.finished}/{self.total} done, {self.failed} failed, {self._rest(seconds)}"
        line = f"{note}{counts} | {launch.label} {seconds:.0f} s: {current_case(log)}"
        print(_FORGET + line[:width], end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Take the live line away."""
        if self._live:
            print(_FORGET, end="", file=sys.stderr, flush=True)

    def _rest(self, running: float = 0.0) -> str:
        if not self._seconds:
            return "ETA unknown"
        left = self.total - self.finished - self.failed
        mean = sum(self._seconds) / len(self._seconds)
        return f"ETA {duration(max(0.0, left * mean - running))}"


def duration(seconds: float) -> str:
    """Write a time as 1:02:03, or 2:03 below an hour."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def current_case(log: Path) -> str:
    """Give the last case that a launch reported, with its bus bandwidth, from the table in its log."""
    with open(log, "rb") as stream:
        stream.seek(max(0, log.stat().st_size - _TAIL))
        text = stream.read().decode("utf-8", "replace")
    attempt = text.rpartition("# attempt ")[2]
    rows = [row for row in map(_row, attempt.splitlines()) if row]
    return rows[-1] if rows else "starting"


def _row(line: str) -> str | None:
    words = line.split()
    if len(words) < 15 or not words[0].isdigit() or not words[1].isdigit():
        return None
    busbw = words[7] if words[7] != "N/A" else words[11]
    return f"{words[13]} {words[0]} B {busbw} GB/s"
