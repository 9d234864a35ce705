# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Every rank count, awkward count, place, alignment, type and operation gives exact results."""

import pytest
from program import FIXTURES, reason_of, run, write_yaml

EVERY_TYPE = "float32 float64 float16 bfloat16 int32 int64 uint8 int8 uint32 uint64".split()
EVERY_OP = ["sum", "prod", "min", "max", "avg"]


def awkward_counts(ranks: int) -> set[int]:
    return {0, 1, ranks - 1, ranks, ranks + 1, 127, 1023, 65537, 2**20 + 1}


def exact_cases(done, expected: int) -> list[dict]:
    cases = done.is_good().json["cases"]
    assert len(cases) == expected
    bad = [case for case in cases if case["status"] != "ok" or case["wrong_elements"] != 0]
    assert not bad
    return cases


@pytest.mark.parametrize(
    "dtypes, size", [(["float32", "int32"], 4), (["uint8"], 1)], ids=["4-byte", "1-byte"]
)
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5, 7, 8])
def test_ring_is_exact_for_awkward_counts(tmp_path, ranks, dtypes, size):
    counts = awkward_counts(ranks)
    text = f"""
sweep:
  algorithms: [ring-ll, ring-ll128, ring-simple]
  sizes: {sorted(count * size for count in counts)}
  dtypes: [{", ".join(dtypes)}]
  in_place: [false, true]
  offsets: [0, 1]
measure: {{warmup: 0, iterations: 1, cold_start: false}}
trace: {{iterations: 1}}
"""
    done = run(ranks, write_yaml(tmp_path, text), "--json")
    cases = exact_cases(done, 3 * len(counts) * len(dtypes) * 2 * 2)
    assert {case["count"] for case in cases} == counts
    assert {(case["in_place"], case["offset_elements"]) for case in cases} == {
        (place, offset) for place in (False, True) for offset in (0, 1)
    }


@pytest.mark.parametrize("verify", ["exact", "mantissa", "real"])
def test_every_operation_and_type_in_both_modes(tmp_path, verify):
    text = f"""
sweep:
  algorithms: [ring-ll, ring-ll128, ring-simple]
  sizes: [136, 40000]
  dtypes: [{", ".join(EVERY_TYPE)}]
  ops: [{", ".join(EVERY_OP)}]
measure: {{warmup: 0, iterations: 2, mode: [isolated, back-to-back]}}
verify: {{mode: {verify}}}
"""
    cases = exact_cases(run(3, write_yaml(tmp_path, text), "--json"), 3 * 2 * 10 * 5 * 2)
    assert {(case["dtype"], case["op"]) for case in cases} == {(t, o) for t in EVERY_TYPE for o in EVERY_OP}
    assert {case["mode"] for case in cases} == {"isolated", "back-to-back"}


def test_channels_and_few_small_slots_stay_exact(tmp_path):
    text = """
sweep:
  algorithms:
    - {id: ring-ll, params: {channels: 3, slots: 2, slot_bytes: 4KiB}}
    - {id: ring-simple, params: {channels: 2, slots: 3, slot_bytes: 4KiB}}
    - {id: ring-ll, params: {slots: 2, slot_bytes: 80}}
    - {id: ring-simple, params: {slots: 3, slot_bytes: 80}}
    - {id: ring-ll128, params: {channels: 3, slots: 2, slot_bytes: 4KiB}}
    - {id: ring-ll128, params: {slots: 2, slot_bytes: 272}}
  sizes: [0, 16, 1000, 20000, 100000]
  in_place: [false, true]
measure: {warmup: 0, iterations: 2}
"""
    exact_cases(run(4, write_yaml(tmp_path, text), "--json"), 6 * 5 * 2)


@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 6])
def test_schedules_that_are_no_rings_are_exact(tmp_path, ranks):
    text = """
sweep:
  algorithms:
    - tree-ll
    - tree-simple
    - parameter-server
    - {id: parameter-server, params: {servers: 2}}
    - one-shot
    - {id: one-shot, params: {protocol: simple}}
    - {id: two-shot, params: {protocol: ll}}
    - {id: two-shot, params: {protocol: ll128}}
    - two-shot
    - halving-doubling
    - {id: halving-doubling, params: {protocol: ll}}
    - {id: halving-doubling, params: {protocol: ll128}}
    - ipc-pcie
    - ipc-pcie-naive
  sizes: [0, 4, 20, 4092, 262148, 1MiB]
  in_place: [false, true]
measure: {warmup: 0, iterations: 2}
"""
    done = run(ranks, write_yaml(tmp_path, text), "--json")
    exact_cases(done, 14 * 6 * 2)
    traffic = done.json["traffic"]
    assert traffic["cases_checked"] == 168 and traffic["links_equal"] == traffic["links_checked"] > 0


@pytest.mark.parametrize("servers", [1, 2])
def test_dedicated_servers_neither_contribute_nor_receive(tmp_path, servers):
    text = f"""
sweep:
  algorithms: [{{id: parameter-server, params: {{dedicated: true, servers: {servers}}}}}]
  sizes: [0, 4, 4092, 262148]
  ops: [sum, avg, max]
  in_place: [false, true]
  offsets: [0, 1]
measure: {{warmup: 0, iterations: 2}}
"""
    done = run(4, write_yaml(tmp_path, text), "--json")
    exact_cases(done, 4 * 3 * 2 * 2)


def test_dedicated_server_without_workers_is_refused(tmp_path):
    text = "sweep: {algorithms: [{id: parameter-server, params: {dedicated: 1}}], sizes: [4]}"
    alone = run(1, write_yaml(tmp_path, text))
    assert alone.code == 2 and "no rank is left to take part" in alone.err
    text = "sweep: {algorithms: [{id: parameter-server, params: {servers: 3}}], sizes: [4]}"
    few = run(2, write_yaml(tmp_path, text))
    assert few.code == 2 and "parameter-server with servers 3" in few.err


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_plugin_in_plain_c_is_exact(tmp_path, ranks):
    text = """
sweep: {algorithms: [plain-c-ring], sizes: [0, 4, 20, 4092, 262148], in_place: [false, true], offsets: [0, 1]}
measure: {warmup: 0, iterations: 2}
"""
    done = run(ranks, write_yaml(tmp_path, text), "--json", RINGSCOPE_PLUGIN_PATH=str(FIXTURES / "correct"))
    exact_cases(done, 5 * 2 * 2)


@pytest.mark.parametrize("dtype", ["int8", "uint32", "uint64"])
def test_mpi_reduces_the_integers_that_it_has(tmp_path, dtype):
    text = f"sweep: {{algorithms: [mpi], sizes: [40000], dtypes: [{dtype}], ops: [sum, prod, min, max]}}"
    done = run(2, write_yaml(tmp_path, text), "--json", "--set", "measure.iterations=2")
    exact_cases(done, 4)


@pytest.mark.parametrize("ranks", [2, 3])
def test_mpi_says_where_it_needed_an_operation_of_the_users(tmp_path, ranks):
    text = """
sweep: {algorithms: [mpi], sizes: [40002], dtypes: [float32, float16, bfloat16], ops: [sum, max, avg], in_place: [false, true]}
measure: {warmup: 0, iterations: 2, start: barrier}
"""
    done = run(ranks, write_yaml(tmp_path, text), "--json")
    exact_cases(done, 3 * 3 * 2)
    for case in done.json["cases"]:
        alone = case["dtype"] == "float32" and case["op"] != "avg"
        assert reason_of(case) == (None if alone else "user op"), case


def test_eight_bit_floats_are_nccls_alone_and_skipped_elsewhere(tmp_path):
    text = """
sweep: {algorithms: [ring-simple, mpi], sizes: [4096], dtypes: [float8_e4m3, float8_e5m2, float32]}
measure: {warmup: 0, iterations: 2}
"""
    done = run(2, write_yaml(tmp_path, text), "--json").is_good()
    reasons = {(case["algorithm"], case["dtype"]): case["reason"] for case in done.json["cases"]}
    assert reasons["ring-simple", "float8_e4m3"].endswith("has no float8_e4m3: only nccl reduces it")
    assert reasons["mpi", "float8_e5m2"] == "MPI has no sum of float8_e5m2"
    assert [case["status"] for case in done.json["cases"]] == ["skipped", "skipped", "ok"] * 2


def test_types_by_the_names_of_nccl_tests(tmp_path):
    done = run(2, "-b", "64", "-e", "64", "-n", "1", "-a", "ring-ll", "-d", "int8,uint64,f8e4m3").is_good()
    rows = [line.split() for line in done.out.splitlines() if line and not line.startswith("#")]
    assert [row[2] for row in rows if row[0] == "64"] == ["int8", "uint64", "f8e4m3"]


def test_mpi_baseline_is_exact_and_not_observed(tmp_path):
    text = "sweep: {algorithms: [mpi], sizes: [0, 4, 4092]}\nmeasure: {warmup: 0, iterations: 2}"
    done = run(2, write_yaml(tmp_path, text), "--json")
    exact_cases(done, 3)
    assert done.json["traffic"]["not_observed"] == ["mpi"]
    assert done.json["traffic"]["links_checked"] == 0
