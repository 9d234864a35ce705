# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Reading a file: what comes out of a faithful one, and how each broken one is refused."""

from __future__ import annotations

import fcntl

import numpy as np
import pandas as pd
import pytest
from synthetic import empty

import ringscope
from ringscope import RunError, load_run, schema
from ringscope.run import salvage


def test_load_run_gives_decoded_tables(run):
    assert run.world_size == 4
    assert run.attributes["source"] == "measured"
    assert run.config["resolved"] == "name: test\n" and run.config["original"] == ""
    assert run.facts == {"compiler": "g++ 12"}
    assert run.environment["host"].tolist() == ["node"] * 4
    assert run.cases["algorithm"].tolist() == [
        "ring-ll",
        "ring-ll",
        "ring-simple",
        "ring-simple",
        "mpi",
        "mpi",
    ]
    assert run.cases["reason"].tolist() == [""] * 6
    assert run.cases["output_hash"].iloc[5] == 2**63 + 5
    assert run.cases["in_place"].dtype == bool


def test_load_run_gives_enumerations_as_categoricals(run):
    assert run.samples["state"].value_counts()["cold"] == 6 * 4
    assert set(run.events["direction"].cat.categories) == {"send", "recv"}
    assert (run.events["phase"] == "all_gather").sum() == len(run.events) / 2


FRAMES = ["cases", "samples", "events", "traffic", "clock", "cold"]


def assert_types(frame, table):
    for column in schema.TABLES[table]:
        kind = frame[column].dtype
        if column in schema.NAMED.get(table, ()):
            assert isinstance(kind, pd.CategoricalDtype), column
        elif column in schema.TEXTS.get(table, ()):
            assert pd.api.types.is_string_dtype(kind), column
        elif column in schema.BOOLEANS:
            assert kind == bool, column
        elif column.endswith(("_ns", "bytes")) or column == "ns":
            assert kind == np.int64, column
        else:
            assert pd.api.types.is_numeric_dtype(kind), column


@pytest.mark.parametrize("table", FRAMES)
def test_frames_have_the_types_that_are_documented(run, table):
    assert_types(getattr(run, table), table)


@pytest.mark.parametrize("table", FRAMES)
def test_frames_without_rows_have_them_too(spoiled, table):
    frame = getattr(load_run(spoiled(lambda file: empty(file, [table]))), table)
    assert frame.empty
    assert_types(frame, table)


def test_clock_exchanges_are_empty_before_schema_1_2(run, spoiled):
    assert run.clock_exchanges.empty and "heard_ns" in run.clock_exchanges

    def add(file):
        for name in schema.ADDED[2]["clock_exchanges"]:
            file[f"clock_exchanges/{name}"] = np.array([b"host"] if name in {"clock", "anchor"} else [7])

    assert load_run(spoiled(add)).clock_exchanges["heard_ns"].tolist() == [7]


def test_load_run_of_an_empty_table_keeps_its_columns(run):
    assert run.machine.empty and "bandwidth" in run.machine


def test_events_are_read_at_first_use(pristine):
    run = load_run(pristine)
    assert "events" not in vars(run)
    assert len(run.events) == 4 * 2 * 4 * 12  # cases, traced iterations, ranks, 6 sends and 6 receives
    assert "events" in vars(run)


def test_columns_of_a_later_minor_version_are_kept(spoiled):
    def add(file):
        file.attrs["schema_version"] = "1.7.0"
        file["cases/novelty"] = file["cases/bytes"][...]

    assert "novelty" in load_run(spoiled(add)).cases


def refuse(path, *words):
    with pytest.raises(RunError) as refused:
        ringscope.load_run(path)
    for word in (str(path), *words):
        assert word in str(refused.value)


def test_missing_file_is_refused(tmp_path):
    refuse(tmp_path / "none.h5", "no such file")


def test_incomplete_file_is_refused_unless_allowed(spoiled):
    path = spoiled(lambda file: file.attrs.__setitem__("complete", 0))
    refuse(path, "incomplete")
    assert load_run(path, allow_incomplete=True).world_size == 4


def test_file_without_the_last_attribute_is_incomplete(spoiled):
    refuse(spoiled(lambda file: file.attrs.__delitem__("complete")), "incomplete")


def test_unknown_major_version_is_refused(spoiled):
    refuse(spoiled(lambda file: file.attrs.__setitem__("schema_version", "2.0.0")), "2.0.0")


def test_other_schema_is_refused(spoiled):
    refuse(spoiled(lambda file: file.attrs.__setitem__("schema_name", "other")), "other")


def test_missing_column_is_refused_by_name(spoiled):
    refuse(spoiled(lambda file: file["samples"].__delitem__("exit_ns")), "/samples/exit_ns")


def test_missing_table_is_refused_by_name(spoiled):
    refuse(spoiled(lambda file: file.__delitem__("traffic")), "/traffic/src")


def test_columns_of_different_length_are_refused(spoiled):
    def shorten(file):
        rows = file["traffic/src"][:-1]
        del file["traffic/src"]
        file["traffic/src"] = rows

    refuse(spoiled(shorten), "/traffic", "differ in length")


def test_value_without_a_meaning_is_refused(spoiled):
    refuse(spoiled(lambda file: file["samples/state"].__setitem__(0, 9)), "/samples/state", "9")


def test_truncated_file_is_refused(pristine, tmp_path):
    path = tmp_path / "cut.h5"
    content = pristine.read_bytes()
    path.write_bytes(content[: len(content) * 9 // 10])
    refuse(path, "truncated")


@pytest.mark.parametrize("content", [b"", b"case,bytes\n0,1\n" * 100])
def test_not_hdf5_is_refused(tmp_path, content):
    path = tmp_path / "text.h5"
    path.write_bytes(content)
    refuse(path)


def test_locked_file_is_read_without_a_lock_and_says_so(pristine, capfd):
    with open(pristine, "rb") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        assert load_run(pristine).world_size == 4
    assert "without a lock" in capfd.readouterr().err


def test_chosen_columns_of_the_events_are_those_of_all(run):
    chosen = run.read_events(["case", "direction", "end_ns", "not_there"])
    pd.testing.assert_frame_equal(chosen, run.events[["case", "direction", "end_ns"]])


def test_salvage_leaves_out_what_is_not_whole_and_says_so(spoiled):
    run, faults = salvage(spoiled(lambda file: file["traffic"].pop("src")))
    assert faults == ["columns are missing: /traffic/src: its table is left out"]
    assert run.traffic.empty and "src" in run.traffic and len(run.cases) == 6
    with pytest.raises(RunError, match="without its cases"):
        salvage(spoiled(lambda file: file["cases"].pop("mode")))
