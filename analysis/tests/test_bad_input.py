# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Files that are not what they should be: every command says so in one line, and shows what can be shown."""

from __future__ import annotations

import json

import numpy as np
import pytest
from synthetic import empty

from ringscope import RunError, load_run, metrics
from ringscope.cli import main


@pytest.fixture(name="command")
def fixture_command(tmp_path, capsys):
    """Give a function that runs a command on a file and gives its exit code, what it printed and what it said."""

    def command(name, path, *options):
        more = ["--perfetto", str(tmp_path / "out.json")] if name == "timeline" else []
        code = main([name, str(path), *more, *options])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return command


def drop(*paths):
    def change(file):
        for path in paths:
            del file[path]

    return change


def put(path, value):
    def change(file):
        file[path][0] = value

    return change


def root(name, value):
    return lambda file: file.attrs.__setitem__(name, value)


def retype(path):
    def change(file):
        rows = len(file[path])
        del file[path]
        file[path] = np.array([b"x"] * rows, dtype="S8")

    return change


UNREADABLE = {
    "another schema": (root("schema_name", "climate"), "not a ringscope trace"),
    "another major version": (root("schema_version", "2.0.0"), "2.0.0"),
    "incomplete": (root("complete", 0), "incomplete"),
    "a missing column": (drop("samples/exit_ns"), "/samples/exit_ns"),
    "a missing table": (drop("cases"), "/cases/algorithm"),
    "text for numbers": (retype("cases/bytes"), "/cases/bytes: text, expected numbers"),
    "no names for values": (
        lambda file: file["samples/state"].attrs.__delitem__("flag_meanings"),
        "/samples/state: numbers, expected named values",
    ),
    "no ranks": (drop("environment/facts/value"), "damaged"),
    "a world of words": (root("world_size", "four"), "world_size"),
}


@pytest.mark.parametrize("name", ["table", "timeline", "compare"])
@pytest.mark.parametrize("kind", UNREADABLE)
def test_an_unreadable_file_is_one_line_and_exit_code_7(spoiled, command, name, kind):
    change, words = UNREADABLE[kind]
    path = spoiled(change)
    code, out, said = command(name, path)
    assert code == 7 and out == "" and said.count("\n") == 1 and words in said and str(path) in said


@pytest.mark.parametrize("kind", UNREADABLE)
def test_lint_finds_it_without_a_traceback(spoiled, command, kind):
    change, words = UNREADABLE[kind]
    code, out, _ = command("lint", spoiled(change))
    assert code == 7 and words in out


@pytest.mark.parametrize("name", ["lint", "table", "timeline", "compare"])
@pytest.mark.parametrize("content", [b"", b"\x89HDF\r\n\x1a\n", b"case,bytes\n0,1\n" * 100])
def test_what_is_no_hdf5_file_is_one_line(tmp_path, command, name, content):
    path = tmp_path / "run.h5"
    path.write_bytes(content)
    code, out, said = command(name, path)
    findings = out if name == "lint" else said
    assert code == 7 and findings.count("\n") == 1 and str(path) in findings


@pytest.mark.parametrize("name", ["lint", "table", "timeline", "compare"])
def test_a_folder_that_is_no_batch_is_one_line(tmp_path, command, name):
    code, out, said = command(name, tmp_path)
    assert code == 7 and (out if name == "lint" else said).count("\n") == 1


@pytest.mark.parametrize(
    "content", ["[]", '{"format": "ringscope-batch", "version": 1, "launches": [{"index": 0}]}']
)
def test_a_batch_that_lacks_something_is_refused(tmp_path, content):
    (tmp_path / "batch.json").write_text(content, encoding="utf-8")
    with pytest.raises(RunError, match=r"batch.json: (not a batch|launches without experiment, arm, file)"):
        load_run(tmp_path)


def test_an_incomplete_file_can_be_shown_and_says_so(spoiled, command):
    path = spoiled(root("complete", 0))
    code, out, _ = command("table", path, "--allow-incomplete")
    assert code == 0 and "ring-simple" in out and "# incomplete: these are the cases that ended" in out
    assert command("timeline", path, "--allow-incomplete")[0] == 0


def test_without_events_times_and_traffic_can_be_shown(spoiled, command):
    path = spoiled(drop("events/begin_ns"))
    code, out, _ = command("table", path)
    assert code == 0 and "every link of 4 cases" in out
    code, _, said = command("timeline", path)
    assert code == 7 and "/events/begin_ns; no time line; times and traffic can be shown" in said
    with pytest.raises(RunError, match="/events/begin_ns"):
        metrics.time_split(load_run(path))


def lose(file):
    file.attrs["lossy"] = 1
    file["cases/events_dropped"][0] = 5
    file["cases/events_expected"][0] += 5
    file["events/seq"][0] = 99


def test_a_lossy_file_shows_its_times_and_says_what_is_lost(spoiled, command):
    path = spoiled(lose)
    assert command("lint", path)[0] == 0
    code, out, _ = command("table", path)
    assert code == 0 and "# lossy: 1 of 6 cases lacks events" in out and "case 0 (ok) are not compared" in out
    code, out, _ = command("timeline", path, "--case", "0")
    assert code == 0 and "2 events have lost their other end" in out


def test_a_run_that_ended_before_its_first_case_shows_that(spoiled, command):
    path = spoiled(empty)
    assert command("lint", path)[0] == 0
    code, out, _ = command("table", path)
    assert code == 0 and "# no case: " in out and "no link could be checked" in out
    code, _, said = command("timeline", path)
    assert code == 7 and "no case is ok and traced" in said and said.count("\n") == 1


@pytest.mark.parametrize("table", ["samples", "events", "traffic", "cold"])
def test_a_run_with_an_empty_table_shows_the_others(spoiled, command, table):
    code, out, _ = command("table", spoiled(lambda file: empty(file, [table])))
    assert code == 0 and "ring-simple" in out


def test_several_modes_are_not_comparable_and_the_table_says_so(spoiled, command):
    path = spoiled(put("cases/mode", b"graph"))
    code, out, _ = command("table", path)
    assert code == 0 and "# modes: graph, isolated; times of one are not comparable" in out
    times = metrics.case_times(load_run(path))
    assert metrics.case_labels(times).tolist()[:2] == ["ring-ll, graph", "ring-ll, isolated"]


def test_a_batch_without_a_time_is_nothing_to_compare(spoiled, tmp_path, command):
    path = spoiled(lambda file: file["cases/status"].__setitem__(slice(None), b"failed"))
    launch = {"index": 0, "experiment": "x", "arm": "", "file": path.name}
    content = {"format": "ringscope-batch", "version": 1, "launches": [launch]}
    (tmp_path / "batch.json").write_text(json.dumps(content), encoding="utf-8")
    code, _, said = command("compare", tmp_path)
    assert code == 7 and said.count("\n") == 1 and "no case has a time" in said
    assert command("table", tmp_path)[0] == 0
    code, _, said = command("timeline", tmp_path)
    assert code == 7 and "name one of the files in launches/" in said


def test_the_time_line_is_not_written_where_it_cannot_be(pristine, tmp_path, capsys):
    assert main(["timeline", str(pristine), "--perfetto", str(tmp_path / "none" / "out.json")]) == 7
    assert "cannot be written (No such file or directory)" in capsys.readouterr().err
