# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""The command line of launch/batch; its help text stands in that script."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from batching.codes import USAGE, BatchError

MOST_LAUNCHES, LARGEST_SEED = 1000, 2**53 - 1


class _Parser(argparse.ArgumentParser):
    def error(self, message: str):
        raise BatchError(USAGE, f"{message} (see launch/batch --help)")


def read_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the words; what is wrong with them is one line."""
    parser = _Parser(prog="batch", add_help=False, allow_abbrev=False)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--program", required=True)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "data")
    parser.add_argument("--name", type=_name)
    parser.add_argument("--where")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--shard", type=_shard, default=(1, 1))
    parser.add_argument("--launches", type=_whole(1, MOST_LAUNCHES))
    parser.add_argument("--seed", type=_whole(0, LARGEST_SEED))
    parser.add_argument("--launcher", choices=["mpirun", "srun"], default="mpirun")
    parser.add_argument("--slurm", action="store_true")
    parser.add_argument("--shards", type=_whole(1, 1000), default=1)
    options = parser.parse_intermixed_args(arguments)
    _check(options)
    # Launches and resumed batches may begin in other folders.
    options.data, options.program = options.data.resolve(), str(Path(options.program).resolve())
    return options


def _check(options: argparse.Namespace) -> None:
    if not options.files:
        raise BatchError(USAGE, "name one or more experiments (see launch/batch --help)")
    if options.shard[1] > 1 and not options.resume and options.seed is None:
        raise BatchError(USAGE, "--shard of a new batch needs --seed: all shards must have the same order")
    if options.shards > 1 and not options.slurm:
        raise BatchError(USAGE, "--shards belongs to --slurm; to run one part, use --shard i/n")


def _whole(least: int, most: int):
    def read(text: str) -> int:
        if not re.fullmatch(r"\d{1,16}", text) or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"takes a whole number from {least} to {most}, not {text!r}")
        return int(text)

    return read


def _shard(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"([1-9]\d{0,5})/([1-9]\d{0,5})", text)
    if not found or int(found.group(1)) > int(found.group(2)):
        raise argparse.ArgumentTypeError(f"takes i/n with i from 1 to n, not {text!r}")
    return int(found.group(1)), int(found.group(2))


def _name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", text):
        raise argparse.ArgumentTypeError(f"takes up to 64 letters, digits, _, . and -, not {text!r}")
    return text
