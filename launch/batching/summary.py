# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""What became of a batch, in words."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from typing import Any

from batching.folder import FAILED, SKIPPED_ALL, Folder
from batching.plan import Launch
from batching.progress import say


def summarize(folder: Folder, plan: list[Launch]) -> tuple[list[int], int]:
    """Say what became of a plan, and name what failed; give the exit codes, and how many did not run."""
    all_known = folder.states()
    states = [all_known[launch.index] | {"log": folder.log(launch)} for launch in plan]
    finished = [folder.is_finished(launch) for launch in plan]
    done = [known for known, there in zip(states, finished) if there]
    failed = [known for known, there in zip(states, finished) if not there and known["state"] == FAILED]
    left = len(plan) - len(done) - len(failed)
    _say_counts(done, len(plan), len(failed), left)
    for known in failed:
        code, reason = known["exit_code"], known["reason"]
        say(f"failed: {known['label']}, exit code {code}: {reason}; log {known['log']}")
    if failed or left:
        say(f"go on with: launch/batch --resume {folder.path}")
    if done:
        _print_report(folder)
    print(folder.path, flush=True)
    return [known["exit_code"] for known in done + failed], left


#: Prints the first of these that the batch has something for: ours against a baseline, arms, or times alone.
_REPORT = """
import sys, ringscope.cli
any(ringscope.cli.main([command, sys.argv[1]]) == 0 for command in ("versus", "compare", "table"))
"""


def _print_report(folder: Folder) -> None:
    """Print what the batch is about; the analysis knows the numbers."""
    if importlib.util.find_spec("ringscope") is None:
        say(f"no table: this Python lacks the analysis; .venv/bin/ringscope-analysis table {folder.path}")
        return
    words = [sys.executable, "-c", _REPORT, str(folder.path)]
    print(subprocess.run(words, capture_output=True, text=True, check=False).stdout, end="")


def _say_counts(done: list[dict[str, Any]], total: int, failed: int, left: int) -> None:
    skipped = sum(known["state"] == SKIPPED_ALL for known in done)
    said = [f"{len(done)} of {total} launches done", f"{failed} failed", f"{left} not run"]
    if skipped:
        said.insert(1, f"{skipped} of them skipped everything")
    say(", ".join(said))
