# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""What the program prints: the table of nccl-tests, JSON, CSV, the cases of a dry run."""

import csv
import io
import os

import pytest
from program import attributes, one_case, ringscope, run, table, write_yaml

LETTERS = ["-b", "1K", "-e", "64K", "-f", "4", "-a", "ring-ll", "-n", "5"]
# No file, and a start for which no rank is ever late, so that every case has a time.
LETTERS += ["--set", "output=null", "--set", "measure.start=barrier"]


@pytest.fixture(name="printed", scope="module")
def fixture_printed():
    return run(2, *LETTERS).is_good().out


def test_letters_give_the_table_of_nccl_tests(printed):
    lines = printed.splitlines()
    [places] = [line for line in lines if "out-of-place" in line]
    assert places.split() == ["#", "out-of-place", "in-place"]
    names = lines[lines.index(places) + 1].split()
    place = ["time", "algbw", "busbw", "#wrong"]
    head = ["#", "size", "count", "type", "redop", "root"]
    assert names == [*head, *place, *place, "algorithm", "engine", "link", "waited"]
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    assert [row[:5] for row in rows] == [
        [str(size), str(size // 4), "float", "sum", "-1"] for size in (1024, 4096, 16384, 65536)
    ]
    assert all(len(row) == 17 and row[8] == row[12] == "0" for row in rows)
    assert all(float(number) >= 0 for row in rows for number in row[5:13])


def test_table_has_both_trailers_and_the_traffic(printed):
    assert "# Out of bounds values : 0 OK" in printed
    assert "# Avg bus bandwidth    : " in printed
    # Two links, four sizes, two places.
    assert "# Traffic: declared = traced = closed form on all 16 links of 8 cases" in printed


def test_table_says_how_it_was_measured(printed):
    assert "# mode: isolated, time: median of 5 samples (nccl-tests prints a back-to-back mean)" in printed
    assert "minBytes 1024 maxBytes 65536 step: 4(factor)" in printed
    assert [line.split()[2] for line in printed.splitlines() if line.startswith("#  Rank")] == ["0", "1"]


def test_table_says_when_ranks_outnumber_cores(tmp_path):
    text = "sweep: {algorithms: [ring-ll], sizes: [1KiB]}\nmeasure: {warmup: 0, iterations: 1}"
    warning = run(8, write_yaml(tmp_path, text), "--json").is_good().json["warning"]
    cores = len(os.sched_getaffinity(0))
    assert warning == (f"8 ranks on {cores} cores: times are no measurement" if cores < 8 else None)


def test_json_has_header_cases_and_verdict():
    told = run(2, *LETTERS, "--json").is_good().json
    assert told["schema"] == "ringscope-result" and told["exit_code"] == 0
    assert [rank["rank"] for rank in told["ranks"]] == [0, 1]
    assert len(told["cases"]) == 8
    for case in told["cases"]:
        assert case["status"] == "ok" and case["engine"] == "host-shm" and case["ranks"] == 2
        assert case["algbw_bytes_per_s"] == pytest.approx(case["size_bytes"] / case["time_s"])
        # 2(N-1)/N is 1 for two ranks.
        assert case["busbw_bytes_per_s"] == pytest.approx(case["algbw_bytes_per_s"])
    traffic = told["traffic"]
    assert traffic["links_checked"] == traffic["links_equal"] == 16 and traffic["differences"] == []


def test_csv_has_one_line_per_case_in_si_units():
    rows = list(csv.DictReader(io.StringIO(run(2, *LETTERS, "--csv").is_good().out)))
    assert [(row["size_bytes"], row["in_place"]) for row in rows] == [
        (str(size), place) for size in (1024, 4096, 16384, 65536) for place in "01"
    ]
    for row in rows:
        assert float(row["algbw_bytes_per_s"]) == pytest.approx(int(row["size_bytes"]) / float(row["time_s"]))
        assert (row["algorithm"], row["status"], row["wrong_elements"]) == ("ring-ll", "ok", "0")


def test_dry_run_shows_the_cases_and_runs_none(tmp_path):
    file = write_yaml(tmp_path, "sweep: {algorithms: [ring-ll, mpi], sizes: [1KiB, 2KiB]}")
    done = run(4, file, "--dry-run", "--output", tmp_path / "x.h5").is_good()
    lines = done.out.splitlines()
    assert lines[0] == "0 ring-ll isolated float32 sum 1024 bytes, 6 steps, 1 slices"
    assert lines[3] == "3 mpi isolated float32 sum 2048 bytes"
    assert len(lines) == 4
    assert not list(tmp_path.glob("x.h5*"))


def test_dry_run_needs_no_mpirun(tmp_path):
    assert "ring-ll" in ringscope("run", write_yaml(tmp_path, one_case("ring-ll")), "--dry-run").is_good().out


def test_set_overrides_the_file_and_is_recorded(tmp_path):
    file = write_yaml(
        tmp_path, f"name: before\nsweep: {{algorithms: [ring-ll]}}\noutput: {tmp_path}/{{name}}.h5"
    )
    words = ["sweep.sizes=[512, 1KiB]", "measure.iterations=3", "name=after", "sweep.dtypes=[int32]"]
    done = run(2, file, "--json", *(word for setting in words for word in ("--set", setting))).is_good()
    assert [case["size_bytes"] for case in done.json["cases"]] == [512, 1024]
    assert {case["dtype"] for case in done.json["cases"]} == {"int32"}
    assert done.json["iterations"] == 3
    assert list(table(tmp_path / "after.h5", "cases")["bytes"]) == [512, 1024]
    assert attributes(tmp_path / "after.h5")["complete"] == 1


def test_set_of_an_unknown_key_names_the_nearest(tmp_path):
    done = run(2, write_yaml(tmp_path, one_case("ring-ll")), "--set", "measure.iteration=3")
    done.complains(2, "--set", "iteration", "did you mean", "iterations")


def test_list_json_tells_what_can_run():
    told = ringscope("list", "--json").is_good().json
    found = {algorithm["id"]: algorithm for algorithm in told["algorithms"]}
    assert found.keys() >= {"ring-ll", "ring-simple", "mpi"}
    assert found["ring-ll"]["file"].endswith("/plugins/ring.so")
    rings = {"ring-ll": "ll", "ring-ll128": "ll128", "ring-simple": "simple"}
    assert {name: found[name]["protocols"] for name in rings} == {name: [word] for name, word in rings.items()}
    assert "host-shm" in found["ring-ll"]["engines"]
    eight_bit_floats = {"float8_e4m3", "float8_e5m2"}
    assert eight_bit_floats < set(found["nccl"]["dtypes"]) and len(found["nccl"]["dtypes"]) == 12
    assert set(found["ring-ll"]["dtypes"]) == set(found["nccl"]["dtypes"]) - eight_bit_floats
    assert set(found["mpi"]["dtypes"]) == set(found["ring-ll"]["dtypes"])
    assert told["refused"] == []


def test_list_json_stands_any_name_of_a_file(tmp_path):
    folder = os.fsencode(tmp_path) + b"/\xff"
    os.mkdir(folder)
    with open(folder + b"/a.so", "wb"):
        pass
    done = ringscope("list", "--json", "--plugin-path", os.fsdecode(folder)).is_good()
    assert [refused["file"][-4:] for refused in done.json["refused"]] == ["a.so"]


def test_version_and_help():
    assert ringscope("--version").is_good().out.strip()
    assert "mpirun" in ringscope("--help").is_good().out
    assert "--expect-ranks" in ringscope("run", "--help").is_good().out
