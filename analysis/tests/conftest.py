# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures: the synthetic trace file, a way to spoil a copy of it, and batches of such files."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import h5py
import matplotlib
import pandas as pd
import pytest
import synthetic

import ringscope

matplotlib.use("Agg")


@pytest.fixture(scope="session")
def pristine(tmp_path_factory) -> Path:
    """A faithful file, to be read only."""
    return synthetic.write(tmp_path_factory.mktemp("trace") / "ring.h5")


@pytest.fixture
def run(pristine) -> ringscope.Run:
    return ringscope.load_run(pristine)


@pytest.fixture
def spoiled(pristine, tmp_path) -> Callable[[Callable[[h5py.File], None]], Path]:
    """Give a function that copies the faithful file, lets its argument change the copy, and gives the copy's
    path.
    """

    def spoil(change: Callable[[h5py.File], None]) -> Path:
        path = tmp_path / "spoiled.h5"
        shutil.copy(pristine, path)
        with h5py.File(path, "r+") as file:
            change(file)
        return path

    return spoil


@pytest.fixture(name="make")
def fixture_make(pristine, tmp_path):
    """Give a function that makes a batch of two arms; its arguments are the factors of launches' times."""

    def make(a, b, name="batch"):
        factors = [one for pair in zip(a, b, strict=True) for one in zip("ab", pair, strict=True)]
        folder = tmp_path / name
        (folder / "launches").mkdir(parents=True)
        launches = []
        for index, (arm, factor) in enumerate(factors):
            entry = {"index": index, "experiment": "x", "arm": arm, "np": 4, "state": "done"}
            launches.append(entry | {"file": f"launches/{index:04d}.h5"})
            if factor is not None:
                stretch(pristine, folder / launches[-1]["file"], factor)
        content = {"format": "ringscope-batch", "version": 1, "name": "x", "launches": launches}
        (folder / "batch.json").write_text(json.dumps(content), encoding="utf-8")
        return folder

    return make


def stretch(source, target, factor):
    """Copy the file and make every sample take so many times longer."""
    shutil.copy(source, target)
    with h5py.File(target, "r+") as file:
        samples = file["samples"]
        enter, leave = samples["enter_ns"][...], samples["exit_ns"][...]
        first = pd.Series(enter).groupby([samples["case"][...], samples["iteration"][...]]).transform("min")
        samples["exit_ns"][...] = (first + (leave - first) * factor).round().astype("i8")
