# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Plugins with a fault are found out by the program, and plugins that are none are refused."""

import csv
import io
import re
import shutil

import pytest
from program import FIXTURES, PLUGINS, PROGRAM, call, one_case, ringscope, run, table, write_yaml

MUTANTS = FIXTURES / "mutants"

WRONG = {
    "mutant-sent-twice": ["traffic", "link 0 -> 1", "closed form"],
    "mutant-extra-send": ["not an all-reduce", "sends 1 message(s) more", "than it receives"],
    "mutant-dropped-op": ["not an all-reduce", "sends 1 message(s) more", "than it receives"],
    "mutant-wrong-on-rank-2": ["not an all-reduce", "contribution of rank 2 0 times"],
    # 4096 bytes on 4 ranks: chunks of 1024, so 2 * 4096 - 2 * 1024 bytes on each link.
    "mutant-law": ["traffic", "link 0 -> 1", "closed form 6160, declared 6144"],
}


def run_mutant(tmp_path, algorithm, *words):
    return run(4, write_yaml(tmp_path, one_case(algorithm)), "--plugin-path", MUTANTS, *words)


@pytest.mark.parametrize("algorithm", WRONG)
def test_wrong_plugin_ends_with_3_and_says_why(tmp_path, algorithm):
    done = run_mutant(tmp_path, algorithm, "--json")
    done.complains(3, algorithm, *WRONG[algorithm])
    [case] = done.json["cases"]
    assert case["status"] == "wrong"
    assert done.json["exit_code"] == 3
    for measured in ("time_s", "algbw_bytes_per_s", "busbw_bytes_per_s", "busiest_link_bytes_per_s"):
        assert case[measured] is None, measured


@pytest.mark.parametrize("algorithm", WRONG)
def test_wrong_plugin_has_no_bandwidth_in_the_table(tmp_path, algorithm):
    done = run_mutant(tmp_path, algorithm)
    done.complains(3, algorithm)
    [line] = [line for line in done.out.splitlines() if re.match(r" +4096 ", line)]
    # size count type redop root, then time algbw busbw of both places.
    words = line.split()
    assert words[5:8] == ["N/A"] * 3 and words[9:12] == ["N/A"] * 3, line
    assert "# Avg bus bandwidth    : N/A" in done.out


def test_wrong_plugin_has_no_bandwidth_in_csv(tmp_path):
    done = run_mutant(tmp_path, "mutant-sent-twice", "--csv")
    done.complains(3)
    [row] = csv.DictReader(io.StringIO(done.out))
    assert row["status"] == "wrong"
    assert (row["time_s"], row["algbw_bytes_per_s"], row["busbw_bytes_per_s"]) == ("", "", "")


def test_wrong_case_is_in_the_file_and_the_sweep_goes_on(tmp_path):
    text = f"""
sweep: {{algorithms: [mutant-sent-twice, mutant-wrong-on-rank-2, ring-ll], sizes: [4KiB]}}
measure: {{warmup: 0, iterations: 2}}
output: {tmp_path}/wrong.h5
"""
    run(4, write_yaml(tmp_path, text), "--plugin-path", MUTANTS).complains(3, "mutant-sent-twice")
    assert table(tmp_path / "wrong.h5", "cases")["status"] == ["wrong", "wrong", "ok"]


def test_sent_twice_has_the_right_result_and_only_the_traffic_tells(tmp_path):
    text = one_case("mutant-sent-twice") + f"\noutput: {tmp_path}/twice.h5"
    run(4, write_yaml(tmp_path, text), "--plugin-path", MUTANTS).complains(3, "traffic")
    assert list(table(tmp_path / "twice.h5", "cases")["wrong"]) == [0]
    traffic = table(tmp_path / "twice.h5", "traffic")
    assert list(traffic["declared_payload"]) == list(traffic["traced_payload"]) == [6144 + 1024] * 4
    assert list(traffic["closed_form"]) == [6144] * 4


def test_plugin_that_throws_ends_with_8(tmp_path):
    done = run_mutant(tmp_path, "mutant-throws", "--json")
    done.complains(8, "mutant-throws", "threw", "no ring tonight")
    assert done.json["cases"][0]["status"] == "failed"


def test_worst_of_several_decides(tmp_path):
    text = (
        "sweep: {algorithms: [ring-ll, mutant-law, mutant-throws], sizes: [4KiB]}\nmeasure: {iterations: 1}"
    )
    run(2, write_yaml(tmp_path, text), "--plugin-path", MUTANTS).complains(8)


# ---- refused -----------------------------------------------------------------------------------------------


def refused_in(folder, **variables):
    told = ringscope("list", "--json", "--plugin-path", folder, **variables).is_good().json
    return {refused["file"].rpartition("/")[2]: refused["reason"] for refused in told["refused"]}


@pytest.fixture(name="broken")
def fixture_broken(tmp_path):
    """A folder of files that are no plugins, besides the two that are built."""
    folder = tmp_path / "broken"
    shutil.copytree(FIXTURES / "refused", folder)
    (folder / "text.so").write_text("this is no library\n", encoding="utf-8")
    whole = (PLUGINS / "ring.so").read_bytes()
    (folder / "truncated.so").write_bytes(whole[: len(whole) // 3])
    shutil.copy(PLUGINS / "ring.so", folder / "writable.so")
    (folder / "writable.so").chmod(0o777)
    return folder


def test_refused_plugins_are_listed_with_the_reason(broken):
    reasons = refused_in(broken)
    assert reasons.keys() == {"other_abi.so", "no_entry.so", "text.so", "truncated.so", "writable.so"}
    assert "version 42" in reasons["other_abi.so"] and "version 1" in reasons["other_abi.so"]
    assert "ringscope_entry" in reasons["no_entry.so"]
    assert "writable by everybody" in reasons["writable.so"]
    assert reasons["text.so"] and reasons["truncated.so"]


def test_refused_plugins_are_listed_as_text_too(broken):
    done = ringscope("list", "--plugin-path", broken).is_good()
    assert len(re.findall("^refused: ", done.out, re.MULTILINE)) == 5


def test_refused_plugins_do_not_disturb_the_others(broken, tmp_path):
    done = run(2, write_yaml(tmp_path, one_case("ring-ll")), "--plugin-path", broken)
    done.is_good()


def test_id_of_a_refused_plugin_is_unknown(broken, tmp_path):
    done = run(2, write_yaml(tmp_path, one_case("other-abi")), "--plugin-path", broken)
    done.complains(2, "other-abi")


def test_id_clash_is_refused_and_names_the_first():
    told = ringscope("list", "--json", "--plugin-path", FIXTURES / "clash").is_good().json
    [refused] = told["refused"]
    assert "ring-ll is already there, from " in refused["reason"]
    ids = [algorithm["id"] for algorithm in told["algorithms"]]
    assert ids.count("ring-ll") == 1 and "ring-simple" in ids


def test_missing_plugin_folder_is_listed(tmp_path):
    assert "nowhere" in refused_in(tmp_path / "nowhere")


# ---- a program without its plugins -------------------------------------------------------------------------


@pytest.fixture(name="bare_program")
def fixture_bare_program(tmp_path):
    (tmp_path / "tree" / "bin").mkdir(parents=True)
    (tmp_path / "tree" / "plugins").mkdir()
    return shutil.copy(PROGRAM, tmp_path / "tree" / "bin" / "ringscope")


def test_without_ring_plugin_the_list_lacks_the_rings(bare_program):
    told = ringscope("list", "--json", program=bare_program).is_good().json
    assert [algorithm["id"] for algorithm in told["algorithms"]] == ["mpi", "nccl"]


def test_without_ring_plugin_a_ring_is_unknown(bare_program, tmp_path):
    run(2, write_yaml(tmp_path, one_case("ring-ll")), program=bare_program).complains(2, "ring-ll", "mpi")


# ---- symbols -----------------------------------------------------------------------------------------------


def test_program_holds_no_ring():
    names = call("nm", "-C", PROGRAM).out
    assert "ringscope" in names, "the program has symbols to look at"
    assert "ring_all_reduce" not in names


@pytest.mark.parametrize("plugin", ["plugins/ring.so", "tests/plugins/correct/plain_c_ring.so"])
def test_plugin_exports_its_entry_alone(plugin):
    lines = call("nm", "-D", "--defined-only", PLUGINS.parent / plugin).out.splitlines()
    assert [line.split()[-1].partition("@")[0] for line in lines] == ["ringscope_entry"]
