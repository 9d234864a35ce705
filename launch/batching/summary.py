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


def _print_report(folder: Folder) -> None:
    """Print ours against the baselines, else the comparison of the arms, else the times: what the batch allows.

    The analysis knows the numbers.
    """
    if importlib.util.find_spec("ringscope") is None:
        return
    for command in ("versus", "compare", "table"):
        words = [sys.executable, "-c", "import ringscope.cli, sys; sys.exit(ringscope.cli.main())", command]
        done = subprocess.run([*words, str(folder.path)], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            print(done.stdout, end="")
            return


def _say_counts(done: list[dict[str, Any]], total: int, failed: int, left: int) -> None:
    skipped = sum(known["state"] == SKIPPED_ALL for known in done)
    said = [f"{len(done)} of {total} launches done", f"{failed} failed", f"{left} not run"]
    if skipped:
        said.insert(1, f"{skipped} of them skipped everything")
    say(", ".join(said))
