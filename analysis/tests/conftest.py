# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures: the synthetic trace file, and a way to spoil a copy of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import h5py
import matplotlib
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
