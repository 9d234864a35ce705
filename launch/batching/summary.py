# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""What became of a batch, in words."""

from __future__ import annotations

from pathlib import Path

from batching import folder as states
from batching.codes import OK
from batching.folder import Folder
from batching.plan import Launch
from batching.progress import say

_TAIL = 65536


def summarize(folder: Folder, plan: list[Launch]) -> tuple[list[int], int]:
    """Say what became of a plan, and name what failed; give the exit codes, and how many did not run."""
    known = folder.states()
    finished = [launch for launch in plan if folder.is_finished(launch)]
    failed = [one for one in plan if one not in finished and known[one.index]["state"] == states.FAILED]
    left = len(plan) - len(finished) - len(failed)
    skipped = sum(known[launch.index]["state"] == states.SKIPPED_ALL for launch in finished)
    counts = (
        f"{len(finished)} of {len(plan)} launches done ({skipped} skipped everything), {len(failed)} failed"
    )
    say(f"{counts}, {left} not run")
    for launch in failed:
        log = folder.log(launch)
        say(f"failed: {launch.label}, exit code {known[launch.index]['exit_code']}: {reason(log)}; log {log}")
    if failed or left:
        say(f"go on with: launch/batch --resume {folder.path}")
    print(folder.path, flush=True)
    return [known[launch.index]["exit_code"] or OK for launch in finished + failed], left


def reason(log: Path) -> str:
    """Give the program's last complaint in a log."""
    with open(log, "rb") as stream:
        stream.seek(max(0, log.stat().st_size - _TAIL))
        text = stream.read().decode("utf-8", "replace").rpartition("# attempt ")[2]
    complaints = [line for line in text.splitlines() if line.startswith("ringscope: ")]
    return complaints[-1].removeprefix("ringscope: ") if complaints else "the program said nothing"
