# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""The readings of /health: read back, checked, and told to the reader before anything else."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
import synthetic

from ringscope import health, load_run, schema
from ringscope.cli import main
from ringscope.lint import lint_file
from ringscope.report.health import health as findings_of
from ringscope.report.sources import open_sources

#: Rows of the GPU; those of the host lie between them.
GPU_ROWS = range(0, 2 * 8, 2)


def with_health(*changes):
    def change(file):
        synthetic.add_health(file)
        for name, place, value in changes:
            file[f"health/{name}"][place] = value

    return change


@pytest.fixture(name="changes_of")
def fixture_changes_of(spoiled):
    """Give a function from changed cells to what is said of the GPU."""

    def changes(*cells):
        frame = health.changes(load_run(spoiled(with_health(*cells))))
        return frame[frame["device"] == synthetic.GPU].iloc[0]

    return changes


def test_readings_are_read_as_they_are(spoiled):
    frame = load_run(spoiled(with_health())).health
    assert list(frame) == schema.ADDED[3]["health"]
    assert frame["case"].tolist() == [case for case in (-1, 0, 1, 2, 3, 4, 5, -2) for _ in range(2)]
    assert frame["device"].tolist() == [synthetic.GPU, "host"] * 8
    assert frame["throttled_ns"].tolist() == [0, 500] * 8


def test_a_file_before_schema_1_3_has_no_readings(run):
    assert list(run.health) == schema.ADDED[3]["health"] and run.health.empty
    assert health.changes(run).empty


def test_an_undisturbed_run_changed_nothing(changes_of):
    row = changes_of()
    assert (row["readings"], row["errors"], row["xids"], row["throttled"]) == (8, 0, 0, 0)
    assert (row["width"], row["least_width"]) == (16, 16)


def test_what_is_not_known_is_no_number(spoiled):
    frame = health.changes(load_run(spoiled(with_health())))
    host = frame[frame["device"] == "host"].iloc[0]
    assert np.isnan([host["errors"], host["xids"], host["width"]]).all() and host["throttled"] == 0


def test_growth_of_counters_from_the_first_reading_to_the_last(changes_of):
    last = GPU_ROWS[-1]
    row = changes_of(
        ("aer_correctable", last, 5),
        ("aer_fatal", last, 2),
        ("xids", last, 1),
        ("throttled_ns", last, 700_000_000),
    )
    assert (row["errors"], row["xids"]) == (7, 1)
    assert row["throttled"] == pytest.approx(0.1)  # 0.7 s of 7 s


# ---------------------------------------------------------------------------------------------------- lint


def test_lint_finds_nothing_in_faithful_readings(spoiled):
    assert lint_file(spoiled(with_health())) == []


MUTANTS = {
    "order of time": (
        ("time_ns", 6, 5),
        "/health, rank 0, 0000:17:00.0: readings are not in the order of time",
    ),
    "errors go back": (("aer_correctable", 2, 3), "/health, rank 0, 0000:17:00.0: aer_correctable goes back"),
    "time held down goes back": (("throttled_ns", 7, 499), "/health, rank 0, host: throttled_ns goes back"),
    "unknown case": (("case", 4, 77), "/health: case 77 is not in /cases"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_lint_finds_the_mutant(spoiled, mutant):
    cell, finding = MUTANTS[mutant]
    assert lint_file(spoiled(with_health(cell))) == [finding]


def test_a_counter_that_is_not_known_for_a_while_does_not_go_back(spoiled):
    assert lint_file(spoiled(with_health(("xids", 4, -1)))) == []


# -------------------------------------------------------------------------------------------------- report


def said(path) -> list[str]:
    (source,), _ = open_sources([path])
    return [one.words for one in findings_of(source)]


def test_nothing_is_said_of_a_healthy_machine(spoiled):
    assert said(spoiled(with_health())) == []


def test_changes_of_devices_come_first(spoiled):
    last = GPU_ROWS[-1]

    def disturb(file):
        with_health(
            ("link_width", last, 4),
            ("aer_correctable", last, 1),
            ("xids", last, 2),
            ("throttled_ns", 15, 350_000_500),
        )(file)
        file.attrs["lossy"] = 1
        marks = np.array([b"link-changed xid"] + [b""] * 5, dtype=h5py.string_dtype("utf-8", 128))
        file["cases"].create_dataset("marks", data=marks)

    assert said(spoiled(disturb))[:6] == [
        "GPU 0000:17:00.0 (rank 0) had a link of 4 lanes instead of 16 during the run.",
        "GPU 0000:17:00.0 (rank 0) had 1 PCIe error during the run.",
        "GPU 0000:17:00.0 (rank 0) had 2 driver errors (Xid) during the run.",
        "The host (rank 0) had its clock held down for 5 % of the time during the run.",
        "1 case marked link-changed: the link of a GPU to the host was slower or narrower than before "
        "(ring-ll 1000 B).",
        "1 case marked xid: the driver reported an error of a GPU (ring-ll 1000 B).",
    ]


def test_the_table_shows_marks_where_there_are_any(pristine, spoiled, capsys):
    def mark(file):
        marks = np.array([b"aer-errors"] + [b""] * 5, dtype=h5py.string_dtype("utf-8", 128))
        file["cases"].create_dataset("marks", data=marks)

    assert main(["table", str(pristine)]) == 0
    assert "marks" not in capsys.readouterr().out
    assert main(["table", str(spoiled(mark))]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].endswith("  marks") and lines[2].endswith("  aer-errors") and lines[3].endswith("exact")
