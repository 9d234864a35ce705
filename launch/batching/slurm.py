# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""The file for sbatch: an array of shards that hold when they fail, and go on where they were."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from batching.folder import Folder
from batching.plan import shard_of
from batching.progress import duration

_SCRIPT = """#!/bin/bash
#SBATCH --job-name={name}
#SBATCH --array=1-{shards}
#SBATCH --nodes=1
#SBATCH --ntasks={ranks}
#SBATCH --exclusive
# The sum of the launches' timeouts: what a shard can take at most.
#SBATCH --time={time}
#SBATCH --output="{logs}/slurm-%A_%a.out"
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --signal=B:TERM@300

{command} --shard "$SLURM_ARRAY_TASK_ID/{shards}" &
batch=$! hurry=
# The time is nearly up: let the running launch finish, and after two minutes end it.
trap 'kill -TERM "$batch"; (sleep 120; kill -TERM "$batch") & hurry=$!' TERM
wait "$batch"
code=$?
while kill -0 "$batch" 2>/dev/null; do
    wait "$batch"
    code=$?
done
[[ -z $hurry ]] || kill "$hurry"
# Not SLURM_JOB_ID: for the last shard that is the number of the whole array.
job=${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID
case $code in
    0 | 77) ;;
    130) scontrol requeue "$job" ;;    # interrupted: the rest follows by itself
    *) scontrol requeuehold "$job" ;;  # held; `scontrol release JOB` runs what failed once more
esac
exit "$code"
"""


def write_sbatch(folder: Folder, shards: int, program: str, launcher: str) -> Path:
    """Write batch.sbatch into the folder; shards use the interpreter that runs this, and build nothing."""
    words = [
        sys.executable,
        str(Path(__file__).resolve().parent),
        "--program",
        program,
        "--launcher",
        launcher,
    ]
    text = _SCRIPT.format(
        name=folder.name,
        shards=shards,
        ranks=max(launch.np for launch in folder.plan),
        time=_slurm_time(_longest(folder, shards)),
        logs=str(folder.path / "logs").replace("%", "%%"),
        command=shlex.join([*words, "--resume", str(folder.path)]),
    )
    file = folder.path / "batch.sbatch"
    file.write_text(text, encoding="utf-8")
    return file


def _longest(folder: Folder, shards: int) -> float:
    parts = (shard_of(folder.plan, (part, shards)) for part in range(1, shards + 1))
    return max(sum(launch.timeout_s for launch in part) for part in parts) + 600


def _slurm_time(seconds: float) -> str:
    text = duration(seconds)
    return text if text.count(":") == 2 else f"0:{text}"
