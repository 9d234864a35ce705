# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Ranks as threads of one process, and engines that this machine does not have."""

import os

import h5py
import pytest
from program import PROGRAM, call, one_case, ringscope, run, table, write_yaml


@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_virtual_ranks_are_exact_and_traced(tmp_path, ranks):
    output = tmp_path / "trace.h5"
    file = write_yaml(tmp_path, one_case("ring-simple", "100003", channels=2))
    call(PROGRAM, "run", file, "--virtual-ranks", ranks, "--output", output).is_good()
    sent = dict.fromkeys(range(ranks), 0)
    traffic = table(output, "traffic")
    for src, traced, closed in zip(
        traffic["src"], traffic["traced_payload"], traffic["closed_form"], strict=True
    ):
        assert traced == closed
        sent[src] += traced
    count = 100003 // 4 * 4
    assert sum(sent.values()) == 2 * (ranks - 1) * count
    assert set(table(output, "cases")["params"]) == {"channels=2"}


def test_virtual_ranks_skip_what_needs_processes(tmp_path):
    done = ringscope("run", write_yaml(tmp_path, one_case("mpi")), "--virtual-ranks", 2)
    assert done.code == 77
    assert "processes of their own" in done.out


def test_devices_of_one_process_are_ranks(tmp_path):
    output = tmp_path / "x.h5"
    text = (
        "sweep: {algorithms: [ring-simple, nccl], sizes: [100003]}\n"
        "measure: {devices_per_rank: 3}\nverify: {mode: rank}"
    )
    done = run(1, write_yaml(tmp_path, text), "--output", output).is_good()
    assert ("give mpirun --bind-to none" in done.err) == (len(os.sched_getaffinity(0)) < 3)
    with h5py.File(output) as file:
        assert file.attrs["world_size"] == 3
        assert len(set(file["environment/pid"][:])) == 1
    statuses = dict(zip(table(output, "cases")["algorithm"], table(output, "cases")["status"], strict=True))
    assert statuses["ring-simple"] == "ok"
    assert statuses["nccl"] == "skipped" and "nccl" in done.out  # without GPUs it is skipped, and says why


def test_devices_of_one_process_belong_to_one_process(tmp_path):
    done = run(2, write_yaml(tmp_path, one_case("ring-ll")), "--set", "measure.devices_per_rank=2")
    assert done.code == 2
    assert "measure.devices_per_rank is 2, and there are 2 ranks" in done.err
    letters = run(2, "-b", "1K", "-e", "1K", "-a", "ring-ll", "-g", "2")
    assert letters.code == 2 and "mpirun -np 1" in letters.err
    assert run(2, "-b", "1K", "-e", "1K", "-a", "ring-ll", "-g", "1").code == 0


def test_a_graph_on_the_host_is_skipped_with_the_reason(tmp_path):
    text = (
        "sweep: {algorithms: [ring-ll], sizes: [256]}\n"
        "measure: {warmup: 0, iterations: 1, mode: [isolated, graph]}"
    )
    done = run(2, write_yaml(tmp_path, text)).is_good()
    assert "a graph needs a GPU engine" in done.out


@pytest.mark.parametrize("engine", ["cuda-p2p", "cuda-staged", "cuda-host-driven"])
def test_an_engine_that_is_not_here_is_exit_6(tmp_path, engine):
    text = (
        f"sweep: {{algorithms: [ring-simple], engines: [{engine}], sizes: [256]}}\n"
        "measure: {warmup: 0, iterations: 1}"
    )
    run(2, write_yaml(tmp_path, text), CUDA_VISIBLE_DEVICES="").complains(6, "ring-simple", "256 bytes")
