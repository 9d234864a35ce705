# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""From the command line to the exit code: plan, folder, run, summary."""

from __future__ import annotations

import argparse
import random
import shlex
import sys
from collections.abc import Sequence
from typing import Any

from batching import folder as folders
from batching.codes import INTERRUPTED, OK, OUTPUT, USAGE, BatchError, worst
from batching.experiment import Experiment, read_experiments
from batching.folder import Choices, Folder
from batching.interrupts import Interrupts
from batching.machine import capture
from batching.mpirun import find_mpirun
from batching.options import read_options
from batching.plan import Launch, make_plan, shard_of
from batching.progress import say
from batching.runner import Runner, program_words
from batching.slurm import write_sbatch
from batching.srun import find_srun
from batching.summary import summarize
from batching.where import compile_where


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a batch; give the worst exit code of its launches, or 130 where it was interrupted."""
    try:
        return _main(read_options(arguments))
    except BatchError as error:
        print(f"batch: {error}", file=sys.stderr)
        return error.code
    except OSError as error:
        print(f"batch: {error}: nothing more can be written; make room and use --resume", file=sys.stderr)
        return OUTPUT


def _main(options: argparse.Namespace) -> int:
    folder, experiments = _resumed(options) if options.resume else _planned(options)
    plan = shard_of(folder.plan, options.shard)
    if options.slurm and not options.dry_run:
        return _hand_to_slurm(folder, experiments, options)
    launcher = find_srun() if options.launcher == "srun" else find_mpirun()
    for launch in plan:
        launcher.words(launch)  # what the launcher cannot do is refused before anything is made
    if options.dry_run:
        _show(folder, experiments, launcher, options.program, plan)
        return OK
    _make(folder, experiments, options)
    return _run(folder, launcher, options.program, plan)


def _make(folder: Folder, experiments: list[Experiment], options: argparse.Namespace) -> None:
    if not options.resume:
        folder.create(experiments)


def _planned(options: argparse.Namespace) -> tuple[Folder, list[Experiment]]:
    experiments = read_experiments(options.program, options.files)
    seed = random.SystemRandom().randrange(2**31) if options.seed is None else options.seed
    plan = make_plan(experiments, options.launches, seed, compile_where(options.where))
    if not plan:
        raise BatchError(USAGE, f"--where {options.where!r} leaves no launch")
    choices = Choices(seed=seed, launches=options.launches, where=options.where)
    return folders.new_folder(
        options.data, _name(options, experiments), experiments, choices, plan
    ), experiments


def _name(options: argparse.Namespace, experiments: list[Experiment]) -> str:
    return options.name or (experiments[0].name if len(experiments) == 1 else "batch")


def _resumed(options: argparse.Namespace) -> tuple[Folder, list[Experiment]]:
    """Give the batch to go on with: the folder named, or the newest of these experiments."""
    if len(options.files) == 1 and options.files[0].is_dir():
        folder = folders.open_folder(options.files[0].resolve())
        configs = [folder.config(one["name"]) for one in folder.experiments]
        experiments = read_experiments(options.program, configs)
    else:
        experiments = read_experiments(options.program, options.files)
        folder = folders.find_folder(options.data, _name(options, experiments))
    _check_unchanged(folder, experiments, options)
    return folder, experiments


def _check_unchanged(folder: Folder, experiments: list[Experiment], options: argparse.Namespace) -> None:
    changed = folders.differences(folder, experiments)
    for key in ("seed", "launches", "where"):
        asked, begun = getattr(options, key), getattr(folder.choices, key)
        if asked is not None and asked != begun:
            changed += f"\n--{key} was {begun}, is now {asked}"
    if changed:
        begun = f"{folder.path} began with another configuration; start a new batch without --resume"
        raise BatchError(USAGE, f"{begun}\n{changed.strip()}")


def _show(
    folder: Folder, experiments: list[Experiment], launcher: Any, program: str, plan: list[Launch]
) -> None:
    """Print every case and every command, ready to be pasted."""
    for note in launcher.notes(plan):
        say(note)
    for one in experiments:
        print(f"# {one.name}: {len(one.cases)} cases of {one.file}")
        print("\n".join(_case_text(point) for point in one.cases))
    print(f"# {len(plan)} launches, seed {folder.choices.seed}, results in {folder.path}")
    for launch in plan:
        done = ", done" if folder.is_finished(launch) else ""
        print(f"# {launch.index} {launch.label}{done}")
        print(_pasteable(launcher, launch, program_words(program, folder, launch)))


def _case_text(point: dict[str, Any]) -> str:
    place = " in place" if point["in_place"] else ""
    offset = f" offset {point['offset']}" if point["offset"] else ""
    keys = ("case", "algorithm", "engine", "mode", "dtype", "op", "bytes")
    return "#   " + " ".join(str(point[key]) for key in keys) + f" bytes{offset}{place}"


def _pasteable(launcher: Any, launch: Launch, program: list[str]) -> str:
    variables = [f"{name}={value}" for name, value in launcher.environment(launch).items()]
    return shlex.join([*(["env"] if variables else []), *variables, *launcher.words(launch), *program])


def _hand_to_slurm(folder: Folder, experiments: list[Experiment], options: argparse.Namespace) -> int:
    _make(folder, experiments, options)
    file = write_sbatch(folder, options.shards, options.program, options.launcher)
    jobs = "one job" if options.shards == 1 else f"{options.shards} jobs"
    say(f"{len(folder.plan)} launches in {jobs}; submit them with")
    print(shlex.join(["sbatch", str(file)]))
    return OK


def _run(folder: Folder, launcher: Any, program: str, plan: list[Launch]) -> int:
    interrupts = Interrupts()
    for note in launcher.notes(plan):
        say(note)
    say(f"{len(plan)} launches, seed {folder.choices.seed}, results in {folder.path}")
    capture(folder.path / "machine")
    Runner(folder, launcher, program, interrupts).run(plan)
    codes, left = summarize(folder, plan)
    return INTERRUPTED if interrupts and left else worst(codes)
