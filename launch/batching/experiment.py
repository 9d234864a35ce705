# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Experiments as the program understands them: it alone judges a configuration."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from batching.codes import USAGE, BatchError


@dataclass(frozen=True)
class Experiment:
    """One YAML file, as `ringscope validate --json` gives it."""

    file: str
    name: str
    sha256: str
    #: Every key holds the list of values that are swept, but for timeout_s and launches.
    launch: dict[str, Any]
    cases: list[dict[str, Any]]
    original: str
    resolved: str


def read_experiment(program: str, file: Path) -> Experiment:
    """Ask the program what a file means; its complaints, with line and column, end the batch."""
    done = subprocess.run(
        [program, "validate", "--json", str(file)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BatchError(done.returncode, _without_prefix(done.stderr) or f"{program} validate failed")
    return Experiment(file=str(file), **json.loads(done.stdout))


def read_experiments(program: str, files: list[Path]) -> list[Experiment]:
    """Read all files; each needs a name of its own, because results are told apart by it."""
    experiments = [read_experiment(program, file) for file in files]
    seen: dict[str, str] = {}
    for one in experiments:
        if one.name in seen:
            raise BatchError(
                USAGE,
                f"{seen[one.name]} and {one.file} are both named `{one.name}`: give each its own `name`",
            )
        seen[one.name] = one.file
    return experiments


def _without_prefix(text: str) -> str:
    return "\n".join(line.removeprefix("ringscope: ") for line in text.strip().splitlines())
