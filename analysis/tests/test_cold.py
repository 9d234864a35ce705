# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of a start, of the synthetic file and of hand-made phases."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest

from ringscope import cold, lint


def with_cold(run, rows, columns):
    return dataclasses.replace(run, cold=pd.DataFrame(rows, columns=columns))


def test_a_phase_is_that_of_its_slowest_rank(run):
    assert cold.phases(run).to_dict("records") == [{"phase": "process_start", "ns": 1_003}]


def test_phases_stand_in_the_order_in_which_they_happen_and_unknown_ones_last(run):
    rows = [
        ("warp", 0, 5),
        ("bootstrap", 0, 4),
        ("mpi_init", 1, 3),
        ("mpi_init", 0, 2),
        ("process_start", 0, 1),
    ]
    frame = cold.phases(with_cold(run, rows, ["phase", "rank", "ns"]))
    assert frame["phase"].tolist() == ["process_start", "mpi_init", "bootstrap", "warp"]
    assert frame["ns"].tolist() == [1, 3, 4, 5]


def test_of_phases_that_belong_to_cases_the_first_case_counts(run):
    rows = [("mpi_init", 0, -1, 7), ("first_collective", 0, 0, 90), ("first_collective", 0, 1, 900)]
    frame = cold.phases(with_cold(run, rows, ["phase", "rank", "case", "ns"]))
    assert dict(zip(frame["phase"], frame["ns"], strict=True)) == {"mpi_init": 7, "first_collective": 90}


LADDER = [
    ("process_start", 0, -1, 10),
    ("mpi_init", 0, -1, 20),
    ("prepare", 0, 3, 30),
    ("first_collective", 0, 3, 40),
    ("total", 0, 3, 101),
    ("steady_state", 0, 3, 5),
    ("first_collective", 0, 4, 1_000),
]


def test_the_ladder_is_the_sum_up_to_the_first_collective_beside_the_total(run):
    rows = cold.ladder(with_cold(run, LADDER, ["phase", "rank", "case", "ns"]))
    assert rows.to_dict("records") == [{"rank": 0, "sum_ns": 100, "total_ns": 101}]


def test_without_a_total_there_is_no_ladder(run):
    assert cold.ladder(run).empty


@pytest.mark.parametrize(("missing", "findings"), [(None, 0), ("process_start", 1)])
def test_lint_finds_a_phase_that_is_missing(run, missing, findings):
    rows = [row for row in LADDER if row[0] != missing]
    found = lint.ladders(with_cold(run, rows, ["phase", "rank", "case", "ns"]))
    assert len(found) == findings


def test_the_first_operation_stands_beside_the_median_of_the_others(run):
    frame = cold.first_operations(run)
    # A cold one of 900 us beside 59.5 us, each 300 ns longer because rank 3 starts late.
    assert frame["cold_ns"].tolist() == [900_300] * 6
    assert frame["ratio"].tolist() == pytest.approx([900_300 / 59_800] * 6)
