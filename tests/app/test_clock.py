# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Clocks of ranks: one where the kernel gives one, and moved onto one where a rank has its own."""

import shutil
import subprocess

import h5py
import pytest
from program import PROGRAM, Done, call, lint, mpirun_words, run

AHEAD_S = 1000
BOOT_ID = "/proc/sys/kernel/random/boot_id"
MPI = ["-b", "4K", "-e", "64K", "-f", "16", "-a", "mpi", "--set", "measure.start=window"]
RUN = ["-b", "64K", "-e", "64K", "-a", "ring-simple", "--set", "trace.iterations=20"]


def in_time_namespace() -> bool:
    """Root may make one, where the kernel has them."""
    words = ["unshare", "--time", "--monotonic", str(AHEAD_S), "true"]
    return shutil.which("unshare") is not None and subprocess.run(words, capture_output=True).returncode == 0


def may_pretend_hosts() -> bool:
    """Whether a process may be given a host's identity and clock of its own."""
    words = ["unshare", "--mount", "--time", "--monotonic", "1", "mount", "--bind", "/dev/null", BOOT_ID]
    return in_time_namespace() and subprocess.run(words, capture_output=True).returncode == 0


def clocks(path, anchor: str) -> list[tuple[int, int]]:
    """(offset, error) of every rank's process against rank 0's."""
    with h5py.File(path) as file:
        table = file["clock"]
        wanted = (table["anchor"].asstr()[:] == anchor) & (table["clock"].asstr()[:] == "host")
        return list(
            zip(table["offset_ns"][wanted].tolist(), table["error_bound_ns"][wanted].tolist(), strict=True)
        )


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


def run_on_hosts(folder, hosts: list[int], *words) -> Done:
    """A rank for each number of a host: 0 is this one, each other has an identity and a clock of its own."""
    ranks = []
    for host in hosts:
        own = []
        if host > 0:
            identity = folder / f"boot_id_{host}"
            identity.write_text(f"{host:08x}-0000-0000-0000-000000000000\n")
            script = f'mount --bind "$0" {BOOT_ID} && exec "$@"'
            own = [
                "unshare",
                "--mount",
                "--time",
                "--monotonic",
                host * AHEAD_S,
                "bash",
                "-c",
                script,
                identity,
            ]
        ranks += [":", "-np", 1, *own, PROGRAM, "run", *words]
    return call(*mpirun_words(1), *ranks[3:], seconds=60)


def host_comparisons(path) -> list[dict]:
    with h5py.File(path) as file:
        table = file["clock"]
        names = ("rank", "peer", "time_ns", "offset_ns", "slope", "error_bound_ns")
        columns = {name: table[name][:].tolist() for name in names} | {
            "anchor": table["anchor"].asstr()[:].tolist()
        }
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


@pytest.mark.skipif(
    not may_pretend_hosts(), reason="no mount and time namespaces for this user on this machine"
)
@pytest.mark.parametrize(
    ("hosts", "asked"),
    [
        # Two ranks of one host: the second goes by the first.
        ([0, 1, 1, 2], {(1, 0), (2, 1), (3, 0)}),
        # The tree of four hosts: 0 asks 1 while 2 asks 3, then 0 asks 2.
        ([0, 1, 2, 3], {(1, 0), (2, 0), (3, 2)}),
    ],
)
def test_ranks_of_several_hosts_are_moved_onto_the_clock_of_rank_0(tmp_path, hosts, asked):
    output = tmp_path / "hosts.h5"
    done = run_on_hosts(tmp_path, hosts, *MPI, "--output", output)
    assert done.is_good().err.count("the ranks are on several hosts") == 1
    rows = host_comparisons(output)
    with h5py.File(output) as file:
        exchanges = file["clock_exchanges"]
        assert set(zip(exchanges["rank"][:].tolist(), exchanges["peer"][:].tolist(), strict=True)) == asked
        first, last = file["samples/enter_ns"][:].min() / 1e9, file["samples/exit_ns"][:].max() / 1e9
    assert {(row["rank"], row["peer"]) for row in rows} == asked | {(rank, 0) for rank in range(4)}
    assert sum(row["anchor"] == "during" for row in rows) >= 4 * 3, "before each of four cases"
    for row in rows:
        # The namespace's offset is what unshare was told, exactly, and does not drift.
        truth_ns = (hosts[row["rank"]] - hosts[row["peer"]]) * AHEAD_S * 10**9
        assert abs(row["offset_ns"] - truth_ns) <= row["error_bound_ns"], row
        assert row["error_bound_ns"] < 10**8 and abs(row["slope"] - 1) < 1e-2, row
    assert 0 < first < last < 100, "stamps of all ranks are on one clock"
    lint(output).is_good()


@pytest.mark.skipif(
    not may_pretend_hosts(), reason="no mount and time namespaces for this user on this machine"
)
def test_between_hosts_there_is_the_baseline_mpi_alone(tmp_path):
    done = run_on_hosts(tmp_path, [0, 1], "-b", "4K", "-e", "4K", "-a", "mpi,ring-ll")
    done.complains(6, "rank 0 shares memory with 1 of 2", "the baseline mpi alone")
