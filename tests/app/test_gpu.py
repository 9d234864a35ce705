# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""The program on GPUs: the same plugin file, exact, traced, and one clear error for each thing that is wrong."""

import os
import re
import signal
import subprocess

import pytest
from program import (
    PROGRAM,
    attributes,
    call,
    finish,
    lint,
    mpirun_words,
    reason_of,
    ringscope,
    run,
    start,
    table,
    write_yaml,
)
from test_stopped_peer import WAITS, process_of_rank, wait_for_first_case


def gpus() -> int:
    try:
        done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=20, check=False)
    except OSError:
        return 0
    return done.stdout.count("GPU ")


COUNT = gpus()
needs_gpu = pytest.mark.skipif(COUNT < 1, reason="no GPU")
needs_two = pytest.mark.skipif(COUNT < 2, reason="needs two GPUs")

# How a schedule of protocol Simple is played on GPUs: engine and parameters.
WAYS = {
    "p2p": ("cuda-p2p", "{}"),
    "kernel": ("cuda-staged", "{copy_engine: 0}"),
    "copies": ("cuda-staged", "{copy_engine: 1}"),
    "host": ("cuda-host-driven", "{}"),
}

SMALL = """
sweep:
  algorithms: [ring-ll, ring-ll128, ring-simple]
  engines: [cuda-p2p]
  sizes: {sizes}
  in_place: [false, true]
  offsets: {offsets}
measure: {{warmup: 1, iterations: 3, mode: {modes}}}
timeout: {{wait: 5s, case: 60s}}
"""


def small(
    folder, sizes="[0, 4, 256, 1000003, 1MiB]", offsets="[0, 1]", modes="[isolated, back-to-back, graph]"
):
    return write_yaml(folder, SMALL.format(sizes=sizes, offsets=offsets, modes=modes))


@needs_two
def test_ring_plugin_is_exact_and_its_traffic_is_the_closed_form(tmp_path):
    done = run(2, small(tmp_path), "--json", seconds=120).is_good()
    cases = done.json["cases"]
    assert {case["engine"] for case in cases} == {"cuda-p2p"}
    assert {case["mode"] for case in cases} == {"isolated", "back-to-back", "graph"}
    # LL128 needs NVLink.
    assert all(case["status"] == "ok" or "NVLink" in case["reason"] for case in cases)


@needs_two
@pytest.mark.parametrize("way", WAYS)
def test_every_way_is_exact_traced_and_says_which_it_is(tmp_path, way):
    engine, parameters = WAYS[way]
    output = tmp_path / "trace.h5"
    file = write_yaml(
        tmp_path,
        f"sweep:\n  algorithms: [{{id: ring-simple, params: {parameters}}}]\n  engines: [{engine}]\n"
        "  sizes: [0, 4, 1000003, 16MiB]\n  in_place: [false, true]\n  offsets: [0, 1]\n"
        "measure: {warmup: 1, iterations: 3, mode: [isolated, back-to-back]}",
    )
    done = run(2, file, "--json", "--output", output, seconds=120).is_good()
    assert {case["engine"] for case in done.json["cases"]} == {engine}
    reasons = {"kernel": "by a kernel", "copies": "by copy engines"}
    assert {reason_of(case) for case in done.json["cases"]} == {reasons.get(way)}
    facts = table(output, "environment/facts")["name"]
    assert ("staged.numa_node.rank1" in facts) == (engine == "cuda-staged")
    lint(output).is_good()


@needs_two
@pytest.mark.parametrize("size", ["1GiB", "1073741828"])
def test_a_gibibyte_and_four_bytes(tmp_path, size):
    file = small(tmp_path, sizes=f"[{size}]", modes="[isolated, graph]")
    run(2, file, seconds=180).is_good()


@needs_gpu
@pytest.mark.parametrize("ranks", [3, 4, 5, 8])
def test_virtual_ranks_are_exact(tmp_path, ranks):
    file = small(tmp_path, modes="[isolated]")
    ringscope("run", file, "--virtual-ranks", ranks).is_good()


@needs_gpu
@pytest.mark.parametrize("way", WAYS)
def test_every_way_is_exact_on_virtual_ranks(tmp_path, way):
    engine, parameters = WAYS[way]
    text = (
        f"sweep: {{algorithms: [{{id: ring-simple, params: {parameters}}}], engines: [{engine}], "
        "sizes: [4, 1000003]}\nmeasure: {warmup: 1, iterations: 3}"
    )
    ringscope("run", write_yaml(tmp_path, text), "--virtual-ranks", 4).is_good()


@needs_gpu
def test_links_are_measured_for_each_engine_in_use_and_no_honest_case_is_suspect(tmp_path):
    output = tmp_path / "trace.h5"
    text = """
sweep: {algorithms: [ring-ll, ring-simple], engines: [cuda-p2p, cuda-staged, host-shm], sizes: [4KiB, 16MiB]}
measure: {warmup: 3, iterations: 10, mode: [isolated, back-to-back]}
"""
    done = call(PROGRAM, "run", write_yaml(tmp_path, text), "--virtual-ranks", 2, "--output", output).is_good()
    machine, cold = table(output, "machine"), table(output, "cold")
    for engine in ("cuda-p2p", "cuda-staged", "host-shm"):
        links = zip(*(machine[name] for name in ("engine", "src", "dst")), strict=True)
        assert {(src, dst) for name, src, dst in links if name == engine} == {(0, 1), (1, 0)}
    assert "suspect" not in " ".join(table(output, "cases")["marks"]), done
    assert {"first_launch", "ipc_open"} <= set(cold["phase"])
    assert (cold["ns"] >= 0).all()


@needs_gpu
def test_four_virtual_ranks_move_150_million_bytes_each(tmp_path):
    output = tmp_path / "trace.h5"
    file = small(tmp_path, sizes="[100000000]", offsets="[0]", modes="[isolated]")
    call(PROGRAM, "run", file, "--virtual-ranks", 4, "--output", output).is_good()
    traffic = table(output, "traffic")
    for column in ("declared_payload", "traced_payload", "closed_form"):
        assert set(traffic[column]) == {150_000_000}
    # LL carries a flag with every 4 bytes, LL128 one with every 120, in whole lines.
    wire = set(traffic["declared_wire"])
    assert wire == set(traffic["traced_wire"]) >= {150_000_000, 300_000_000}
    assert all(160_000_000 <= other <= 161_000_000 for other in wire - {150_000_000, 300_000_000})


@needs_two
def test_events_lie_in_their_samples_and_cover_them(tmp_path):
    output = tmp_path / "trace.h5"
    run(2, small(tmp_path, sizes="[16MiB]", offsets="[0]", modes="[isolated]"), "--output", output).is_good()
    events, samples = table(output, "events"), table(output, "samples")
    assert attributes(output)["complete"]
    for case, iteration, rank, traced, enter, leave, device in zip(
        *(samples[k] for k in ("case", "iteration", "rank", "traced", "enter_ns", "exit_ns", "device_ns")),
        strict=True,
    ):
        if not traced:
            continue
        mine = (events["case"] == case) & (events["iteration"] == iteration) & (events["rank"] == rank)
        begin, ready, end = (events[k][mine] for k in ("begin_ns", "ready_ns", "end_ns"))
        assert (begin <= ready).all() and (ready <= end).all()
        slack = 20_000  # the error of the clock's alignment
        assert enter - slack <= begin.min() and end.max() <= leave + slack
        assert end.max() - begin.min() >= 0.8 * device


@needs_two
def test_nccl_runs_beside_it(tmp_path):
    file = write_yaml(
        tmp_path,
        "sweep:\n  algorithms: [nccl, {id: nccl, params: {algo: ring, proto: ll}}, "
        "{id: nccl, params: {window: symmetric}}]\n"
        "  sizes: [256, 1MiB]\n  dtypes: [float32, bfloat16]\n"
        "measure: {warmup: 1, iterations: 3, mode: [isolated, graph]}",
    )
    done = run(2, file, "--json", seconds=120).is_good()
    assert len(done.json["cases"]) == 24


@needs_two
def test_nccl_reduces_every_type_and_the_rest_skips_eight_bit_floats():
    words = ["-b", 4096, "-e", 4096, "-n", 2, "-a", "nccl,ring-simple", "-d", "all", "-o", "all", "--json"]
    cases = run(2, *words, seconds=120).is_good().json["cases"]
    assert len(cases) == 2 * 12 * 5 * 2
    reasons = {(c["algorithm"], c["dtype"]): c["reason"] for c in cases if c["status"] != "ok"}
    assert {dtype for name, dtype in reasons if name == "ring-simple"} == {"float8_e4m3", "float8_e5m2"}
    assert all("compute capability 9.0" in why for (name, _), why in reasons.items() if name == "nccl")


# What is wrong


@needs_two
def test_ranks_that_share_a_gpu_are_refused(tmp_path):
    file = small(tmp_path, sizes="[256]")
    run(2, file, CUDA_VISIBLE_DEVICES="0").complains(2, "ranks 0 and 1 share", "--allow-shared-gpu")


def test_no_gpu_is_an_unusable_engine(tmp_path):
    run(2, small(tmp_path, sizes="[256]"), CUDA_VISIBLE_DEVICES="").complains(6, "cuda-p2p")


@needs_gpu
def test_visible_devices_that_are_none(tmp_path):
    run(2, small(tmp_path, sizes="[256]"), CUDA_VISIBLE_DEVICES="77").complains(6, "no GPU is visible", "77")


@needs_gpu
def test_launch_blocking_is_refused(tmp_path):
    run(2, small(tmp_path, sizes="[256]"), CUDA_LAUNCH_BLOCKING="1").complains(2, "CUDA_LAUNCH_BLOCKING=1")


@needs_gpu
def test_kernels_that_are_not_resident_together_are_refused(tmp_path):
    file = write_yaml(
        tmp_path,
        "sweep: {algorithms: [{id: ring-simple, params: {channels: 64}}], engines: [cuda-p2p], sizes: [1MiB]}\n"
        "measure: {warmup: 0, iterations: 1}",
    )
    done = ringscope("run", file, "--virtual-ranks", 64)
    done.complains(2, "would not be resident together")


@needs_two
def test_too_little_gpu_memory(tmp_path):
    file = small(tmp_path, sizes="[200GiB]", offsets="[0]", modes="[isolated]")
    run(2, file, seconds=120).complains(5, "bytes of GPU memory")


@needs_two
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGKILL], ids=["stops", "dies"])
def test_a_peer_that_stops_or_dies_is_named_and_the_next_run_works(tmp_path, number, way):
    engine, parameters = WAYS[way]
    file = write_yaml(
        tmp_path,
        f"sweep: {{algorithms: [{{id: ring-simple, params: {parameters}}}], engines: [{engine}], "
        "sizes: [4, 64MiB]}\n"
        "measure: {warmup: 0, iterations: 4000, cold_start: false, mode: [isolated]}\n"
        "trace: {enabled: false}\n"
        "timeout: {wait: 2s, case: 120s}",
    )
    csv = tmp_path / "cases.csv"
    with csv.open("w", encoding="utf-8") as stdout:
        job = start(*mpirun_words(2), PROGRAM, "run", file, "--csv", stdout=stdout)
        wait_for_first_case(csv)
        stopped = process_of_rank(job.pid, 1)
        os.kill(stopped, number)
        done = finish(job, 30)
    if number == signal.SIGSTOP:
        assert done.code == 4, done
    [complaint] = done.complaints
    assert re.search(r"rank 0 waits for", complaint) and WAITS.search(complaint), done
    run(2, small(tmp_path, sizes="[256]")).is_good()
