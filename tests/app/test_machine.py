# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""What a run measures of the machine itself, and where the time before its first result went."""

import time
from collections import defaultdict

import pytest
from program import lint, run, table, write_yaml

TEXT = """
sweep: {algorithms: [ring-ll, ring-simple, mpi], sizes: [4KiB, 1MiB]}
measure: {warmup: 3, iterations: 7}
"""


def measured(folder, *words, ranks=2, text=TEXT):
    """A trace file, the table, and the seconds that it took."""
    file = folder / "machine.h5"
    begin = time.monotonic()
    done = run(ranks, write_yaml(folder, text), "--output", file, "--force", *words).is_good()
    return file, done, time.monotonic() - begin


@pytest.fixture(name="three_ranks", scope="module")
def fixture_three_ranks(tmp_path_factory):
    return measured(tmp_path_factory.mktemp("machine"), ranks=3)


def facts(file):
    found = table(file, "environment/facts")
    return dict(zip(found["name"], found["value"], strict=True))


def test_every_ordered_pair_has_a_bandwidth_of_every_size(three_ranks):
    machine = table(three_ranks[0], "machine")
    assert set(machine["engine"]) == {"host-shm"}, "a baseline has no links of its own"
    sizes = defaultdict(set)
    for src, dst, size, rate in zip(
        *(machine[name] for name in ("src", "dst", "bytes", "bandwidth")), strict=True
    ):
        if rate > 0:
            sizes[src, dst].add(size)
    assert set(sizes) == {(src, dst) for src in range(3) for dst in range(3) if src != dst}
    assert len(set(map(frozenset, sizes.values()))) == 1
    assert {4096, 65536, 1 << 20} <= sizes[0, 1]


def test_the_rates_are_those_of_memory(three_ranks):
    """Between a very slow machine's and what no core's cache gives: 0.1 GB/s to 1 TB/s."""
    machine = table(three_ranks[0], "machine")
    for name in ("bandwidth", "reduction_rate"):
        rates = [rate for rate, size in zip(machine[name], machine["bytes"], strict=True) if size > 8]
        assert all(1e8 < rate < 1e12 for rate in rates), rates


def test_what_is_left_out_is_a_fact(tmp_path):
    file, _, _ = measured(tmp_path, ranks=8)
    assert "machine.host-shm.left_out" in facts(file)
    machine = table(file, "machine")
    assert len(set(zip(machine["src"], machine["dst"], strict=True))) == 8 * 7


def test_nothing_is_measured_where_it_is_not_wanted(tmp_path):
    file, _, _ = measured(tmp_path, "--set", "machine.enabled=false")
    assert len(table(file, "machine")["bytes"]) == 0
    assert not [name for name in facts(file) if name.startswith("machine.")]


def test_file_is_as_the_schema_says(three_ranks):
    done = lint(three_ranks[0])
    assert done.code == 0, done


def test_honest_cases_are_not_suspect(three_ranks):
    file, done, _ = three_ranks
    assert "suspect" not in " ".join(table(file, "cases")["marks"])
    assert "Suspect" not in done.out


START = {"process_start", "mpi_init", "plugin_load", "config", "bootstrap", "machine", "output", "health"}


def test_the_ladder_has_every_phase_of_every_rank(three_ranks):
    cold = table(three_ranks[0], "cold")
    phases = defaultdict(list)
    for phase, rank, case in zip(*(cold[name] for name in ("phase", "rank", "case")), strict=True):
        phases[rank, case].append(phase)
    for rank in range(3):
        assert sorted(phases[rank, -1]) == sorted(START), "no phase of a GPU where none is used"
        assert set(phases[rank, 0]) - {"steady_state"} == {"prepare", "first_collective", "total"}
        for case in range(1, 6):
            assert set(phases[rank, case]) - {"steady_state"} == {"first_collective"}


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_the_phases_add_up_to_the_time_until_the_first_result(tmp_path, ranks):
    file, _, seconds = measured(tmp_path, ranks=ranks)
    cold = table(file, "cold")
    assert (cold["ns"] > 0).all()
    for rank in range(ranks):
        mine = {
            phase: ns
            for phase, case, ns, other in zip(
                *(cold[name] for name in ("phase", "case", "ns", "rank")), strict=True
            )
            if other == rank and case <= 0 and phase != "steady_state"
        }
        total = mine.pop("total")
        assert sum(mine.values()) == pytest.approx(total, rel=0.05), mine
        # The kernel counts a process's start in steps of 10 ms.
        assert total / 1e9 <= seconds + 0.01


def test_first_collective_is_the_cold_sample(three_ranks):
    file = three_ranks[0]
    samples, cold = table(file, "samples"), table(file, "cold")
    first = {
        (case, rank): leave - enter
        for case, rank, state, enter, leave in zip(
            *(samples[name] for name in ("case", "rank", "state", "enter_ns", "exit_ns")), strict=True
        )
        if state == "cold"
    }
    found = {
        (case, rank): ns
        for case, rank, phase, ns in zip(
            *(cold[name] for name in ("case", "rank", "phase", "ns")), strict=True
        )
        if phase == "first_collective"
    }
    assert found == first
    assert len(found) == 6 * 3
