# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Files of the harness, which writes with the HDF5 of its machine, open under whichever HDF5 h5py brings along."""

from __future__ import annotations

import os
from pathlib import Path

import h5py
import pytest
import synthetic

from ringscope import load_run, metrics, schema
from ringscope.lint import lint_file

RECORDED = sorted((Path(__file__).parents[2] / "data" / "recorded").glob("*.h5"))
JUST_WRITTEN = [Path(path).resolve() for path in [os.environ.get("RINGSCOPE_QUICKSTART_FILE")] if path]
WANTED = os.environ.get("RINGSCOPE_HDF5", "")


def test_this_is_the_hdf5_asked_for():
    assert h5py.version.hdf5_version.startswith(WANTED)


@pytest.mark.parametrize("path", [*RECORDED, *JUST_WRITTEN], ids=lambda path: path.stem)
def test_a_file_of_the_harness_is_read_whole(path):
    assert lint_file(path) == []
    run = load_run(path)
    assert len(run.events) == run.cases["events_written"].sum()
    assert metrics.traffic_check(run)["equal"].all()


def test_every_minor_version_has_a_recorded_file():
    versions = {h5py.File(path).attrs["schema_version"].decode().rpartition(".")[0] for path in RECORDED}
    assert versions == {f"{schema.MAJOR}.{minor}" for minor in (0, *schema.ADDED)}


def test_a_file_written_by_this_hdf5_is_read(tmp_path):
    assert lint_file(synthetic.write(tmp_path / "new.h5")) == []
