# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""What is launched, and in which order: every combination of the lists of `launch`, repeated and shuffled."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from batching.codes import USAGE, BatchError
from batching.experiment import Experiment

SWEPT = ("np", "hostfile", "map_by", "bind_to", "env", "mca")


@dataclass(frozen=True)
class Launch:
    """One start of mpirun."""

    experiment: str
    np: int
    hostfile: str | None
    map_by: str | None
    bind_to: str | None
    env: dict[str, str]
    mca: dict[str, str]
    timeout_s: float
    #: What tells launches of one experiment and one np apart, in words; empty where nothing does.
    arm: str
    #: Which of the repetitions this is, from 1.
    repeat: int
    #: The names of env and mca, given or made of their values.
    env_name: str = "plain"
    mca_name: str = "plain"
    #: Its place in the order of the batch, from 0.
    index: int = 0

    @property
    def label(self) -> str:
        """What people call it: `first-light np=2 no-p2p #3`."""
        words = [self.experiment, f"np={self.np}", self.arm, f"#{self.repeat}"]
        return " ".join(word for word in words if word)

    @property
    def stem(self) -> str:
        """The name of its files, without an ending."""
        words = f"{self.index:04d}-{self.experiment}-np{self.np}-{self.arm}"
        return re.sub(r"[^A-Za-z0-9_.-]+", "-", words)[:100].rstrip("-.")


def make_plan(experiments: list[Experiment], launches: int | None, seed: int, keep) -> list[Launch]:
    """Expand all experiments, keep what `keep(launch)` is true for, and shuffle them together.

    Arms that ran one after the other would be told apart by whatever drifts on the machine.
    """
    plan = [launch for one in experiments for launch in expand(one, launches) if keep(launch)]
    random.Random(seed).shuffle(plan)
    return [replace(launch, index=index) for index, launch in enumerate(plan)]


def expand(experiment: Experiment, launches: int | None) -> Iterator[Launch]:
    """Give every combination, `launches` times; None means as often as the experiment says."""
    spec = experiment.launch
    _check(experiment)
    for values in itertools.product(*(spec[key] for key in SWEPT)):
        for repeat in range(1, (launches or spec["launches"]) + 1):
            yield _launch(experiment, dict(zip(SWEPT, values)), repeat)


def _check(experiment: Experiment) -> None:
    if None in experiment.launch["np"]:
        raise BatchError(USAGE, f"{experiment.file}: `launch.np` is missing: say how many ranks to start")
    for hostfile in experiment.launch["hostfile"]:
        if hostfile and not Path(hostfile).is_file():
            raise BatchError(
                USAGE, f"{experiment.file}: there is no host file {hostfile} (seen from {Path.cwd()})"
            )


def _launch(experiment: Experiment, chosen: dict[str, Any], repeat: int) -> Launch:
    hostfile = chosen["hostfile"]
    return Launch(
        experiment=experiment.name,
        np=chosen["np"],
        hostfile=hostfile and str(Path(hostfile).resolve()),
        map_by=chosen["map_by"],
        bind_to=chosen["bind_to"],
        env=chosen["env"]["values"],
        mca=chosen["mca"]["values"],
        timeout_s=experiment.launch["timeout_s"],
        arm=_arm(experiment, chosen),
        repeat=repeat,
        env_name=name_of(chosen["env"]),
        mca_name=name_of(chosen["mca"]),
    )


def _arm(experiment: Experiment, chosen: dict[str, Any]) -> str:
    varied = [key for key in SWEPT if key != "np" and len(experiment.launch[key]) > 1]
    return " ".join(
        name_of(chosen[key]) if key in ("env", "mca") else f"{key}={chosen[key] or 'default'}"
        for key in varied
    )


def name_of(variables: dict[str, Any]) -> str:
    """Give the name of a map of variables, or one made of its values."""
    values = ",".join(f"{name}={value}" for name, value in variables["values"].items())
    return variables["name"] or values or "plain"


def shard_of(plan: list[Launch], shard: tuple[int, int]) -> list[Launch]:
    """Give part i of n, i from 1: every n-th launch of the order. All parts together are the whole."""
    part, parts = shard
    return [launch for launch in plan if launch.index % parts == part - 1]
