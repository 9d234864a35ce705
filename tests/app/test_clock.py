# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Clocks of ranks: one where the kernel gives one, and moved onto one where a rank has its own."""

import shutil
import subprocess

import h5py
import pytest
from program import PROGRAM, call, lint, mpirun_words, run

AHEAD_S = 1000
RUN = ["-b", "64K", "-e", "64K", "-a", "ring-simple", "--set", "trace.iterations=20"]


def in_time_namespace() -> bool:
    """Root may make one, where the kernel has them."""
    words = ["unshare", "--time", "--monotonic", str(AHEAD_S), "true"]
    return shutil.which("unshare") is not None and subprocess.run(words, capture_output=True).returncode == 0


def clocks(path, anchor: str) -> list[tuple[int, int]]:
    """(offset, error) of every rank's process against rank 0's."""
    with h5py.File(path) as file:
        table = file["clock"]
        wanted = (table["anchor"].asstr()[:] == anchor) & (table["clock"].asstr()[:] == "host")
        return list(zip(table["offset_ns"][wanted].tolist(), table["error_bound_ns"][wanted].tolist(), strict=True))


def causality(path) -> tuple[int, int]:
    with h5py.File(path) as file:
        return int(file["cases/causality_pairs"][0]), int(file["cases/causality_violations"][0])


def test_ranks_of_one_host_have_one_clock(tmp_path):
    output = tmp_path / "one.h5"
    run(2, *RUN, "--output", output).is_good()
    for anchor in ("before", "after"):
        assert [offset for offset, _ in clocks(output, anchor)] == [0, 0]
        assert clocks(output, anchor)[1][1] > 0
    with h5py.File(output) as file:
        exchanges = file["clock_exchanges"]
        assert (exchanges["heard_ns"][:] >= exchanges["asked_ns"][:]).all()
    pairs, violations = causality(output)
    assert pairs > 0 and violations == 0
    lint(output).is_good()


@pytest.mark.skipif(not in_time_namespace(), reason="no time namespaces for this user on this machine")
def test_rank_with_a_clock_of_its_own_is_moved_onto_that_of_rank_0(tmp_path):
    output = tmp_path / "two.h5"
    words = [PROGRAM, "run", *RUN, "--output", output]
    own = ["unshare", "--time", "--monotonic", AHEAD_S]
    done = call(*mpirun_words(1), *words, ":", "-np", 1, *own, *words).is_good()
    assert "the clock of rank 1 is not that of rank 0" in done.err
    offset, error = clocks(output, "before")[1]
    later, later_error = clocks(output, "after")[1]
    # The namespace's offset is what unshare was told, exactly.
    assert abs(offset - AHEAD_S * 10**9) <= error
    assert abs(later - AHEAD_S * 10**9) <= later_error
    assert error < 10**7, "far less than what it corrects"
    with h5py.File(output) as file:
        seconds = file["samples/exit_ns"][:].max() / 1e9
    assert 0 < seconds < 100, "stamps of both ranks are on one clock"
    pairs, violations = causality(output)
    assert pairs > 0 and violations == 0
    lint(output).is_good()
