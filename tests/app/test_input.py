# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Bad input gives one line that says what is wrong, and the exit code of the contract."""

import fcntl
import os
import shlex
import time

import h5py
import pytest
from program import PROGRAM, call, finish, mpirun_words, one_case, ringscope, run, start, write_yaml

RING = one_case("ring-ll")


def test_missing_file(tmp_path):
    run(2, tmp_path / "nothing.yaml").complains(2, "nothing.yaml")


@pytest.mark.parametrize(
    "text, words",
    [
        ("sweep: {algorithms: [ring-ll", [":"]),
        ("sweep: {algorithm: [ring-ll]}", ["algorithm", "did you mean", "algorithms"]),
        ("sweep: {sizes: [1KiB], sizes: [2KiB]}", ["sizes"]),
        ("sweep: {algorithms: [ring-simpel]}", ["ring-simpel", "did you mean", "ring-simple"]),
        ("sweep: {engines: [simgrid]}", ["simgrid", "not in this version"]),
        ("sweep: {algorithms: [{id: nccl, params: {proto: simpel}}]}", ["did you mean", "simple"]),
        ("sweep: {algorithms: [{id: ring-ll, params: {proto: ll}}]}", ["proto", "nccl", "alone"]),
        ("sweep: {sizes: [-4]}", ["sizes"]),
        ("measure: {iterations: many}", ["iterations"]),
    ],
    ids=[
        "malformed",
        "unknown-key",
        "duplicate-key",
        "unknown-algorithm",
        "later-engine",
        "word-of-nccl",
        "parameter-of-nccl",
        "size",
        "number",
    ],
)
def test_faulty_file(tmp_path, text, words):
    ringscope("validate", write_yaml(tmp_path, text)).complains(2, "experiment.yaml:", *words)


def test_faulty_file_is_one_complaint_of_all_ranks(tmp_path):
    file = write_yaml(tmp_path, "sweep: {algorithms: [ring-simpel]}")
    run(2, file).complains(2, "experiment.yaml:", "ring-simpel", "did you mean", "ring-simple")


def test_validate_good_file(tmp_path):
    done = ringscope(
        "validate", write_yaml(tmp_path, "sweep: {sizes: [1KiB, 2KiB], in_place: [false, true]}")
    ).is_good()
    # Two algorithms by default, two sizes, two places.
    assert "ok, 8 cases" in done.out


def test_names_for_gpus_are_valid_in_every_build(tmp_path):
    text = (
        "sweep:\n"
        "  algorithms: [{id: ring-simple, params: {copy_engine: 1}}, {id: nccl, params: {algo: ring}}]\n"
        "  engines: [cuda-p2p, cuda-staged, cuda-host-driven]\n"
        "  sizes: [8]\n"
        "measure: {mode: graph}"
    )
    assert "ok, 4 cases" in ringscope("validate", write_yaml(tmp_path, text)).is_good().out


@pytest.mark.parametrize("engine", ["cuda-p2p", "cuda-staged", "cuda-host-driven"])
def test_a_plan_for_gpus_needs_none(tmp_path, engine):
    text = f"sweep: {{algorithms: [ring-simple], engines: [{engine}], sizes: [16MiB]}}"
    done = run(3, write_yaml(tmp_path, text), "--dry-run", CUDA_VISIBLE_DEVICES="").is_good()
    assert "4 steps" in done.out


def test_a_protocol_that_an_engine_has_not_is_named(tmp_path):
    text = "sweep: {algorithms: [ring-ll], engines: [cuda-host-driven], sizes: [256]}"
    done = run(2, write_yaml(tmp_path, text), CUDA_VISIBLE_DEVICES="")
    done.complains(6, "cuda-host-driven does not have protocol ll")


@pytest.mark.parametrize(
    "engine, parameters, reason",
    [
        ("cuda-host-driven", "{}", "the host, which is in the loop"),
        ("cuda-staged", "{copy_engine: 1}", "the numbers that copy engines count on with"),
    ],
)
def test_what_no_graph_can_hold_is_skipped_with_the_reason(tmp_path, engine, parameters, reason):
    text = (
        f"sweep: {{algorithms: [{{id: ring-simple, params: {parameters}}}], engines: [{engine}], sizes: [256]}}\n"
        "measure: {warmup: 0, iterations: 1, mode: graph}"
    )
    done = run(2, write_yaml(tmp_path, text), CUDA_VISIBLE_DEVICES="")
    assert done.code == 77 and reason in done.out, done


def test_copy_engines_play_simple_alone(tmp_path):
    text = (
        "sweep: {algorithms: [{id: ring-ll, params: {copy_engine: 1}}], engines: [cuda-staged], sizes: [256]}\n"
        "measure: {warmup: 0, iterations: 1}"
    )
    run(2, write_yaml(tmp_path, text), CUDA_VISIBLE_DEVICES="").complains(2, "copy engines play protocol simple")


def test_impossible_size_is_refused_before_anything_is_allocated(tmp_path):
    begin = time.monotonic()
    run(2, write_yaml(tmp_path, one_case("ring-simple", str(2**50)))).complains(5, str(2**50), "bytes")
    assert time.monotonic() - begin < 20


def test_largest_size_of_all_is_refused_like_any_that_is_too_large(tmp_path):
    """Two buffers of it are more than 64 bits count."""
    run(2, write_yaml(tmp_path, one_case("ring-simple", str(2**62)))).complains(5, "buffers of 2 ranks")


def test_plan_of_too_many_slices_is_refused(tmp_path):
    text = one_case("ring-ll", str(2**40), slot_bytes=64)
    run(2, write_yaml(tmp_path, text), "--dry-run").complains(2, "slices", "slot_bytes")


def test_faulty_option_is_one_complaint_of_all_ranks():
    run(4, "--no-such-option").complains(2, "no-such-option")


def test_run_whose_output_another_run_writes_is_refused(tmp_path):
    """Its log is locked until its file has its name, the partial file only until it is closed."""
    log, partial = tmp_path / "run.h5.spill", tmp_path / "run.h5.partial"
    partial.write_bytes(b"complete but for its name")
    with log.open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        text = f"{RING}\noutput: {tmp_path}/run.h5"
        run(2, write_yaml(tmp_path, text)).complains(7, "another run is writing")
    assert partial.read_bytes() == b"complete but for its name"


def test_pipe_is_neither_waited_for_nor_read(tmp_path):
    os.mkfifo(tmp_path / "run.h5.spill")
    ringscope("convert", tmp_path / "run.h5.spill", "--output", tmp_path / "run.h5").complains(7, "not a regular file")


def test_expected_ranks_differ(tmp_path):
    run(2, write_yaml(tmp_path, RING), "--expect-ranks", 4).complains(2, "2 rank(s)", "4")


def test_binding_is_not_what_was_expected(tmp_path):
    file = write_yaml(tmp_path, RING)
    run(2, file, "--expect-binding", "none").is_good()
    if len(os.sched_getaffinity(0)) > 1:
        run(2, file, "--expect-binding", "hwthread").complains(
            2, "more than one hwthread", "--bind-to hwthread"
        )
    ringscope("run", file, "--expect-binding", "cores").complains(2, "hwthread, core", "cores")


def test_validate_tells_launch_batch_what_a_file_means(tmp_path):
    file = write_yaml(tmp_path, "launch: {np: [2, 4], env: [{}, x: {A: 1}]}\nsweep: {sizes: [1KiB, 6]}")
    told = ringscope("validate", "--json", file).is_good().json
    assert told["launch"]["np"] == [2, 4]
    assert told["launch"]["env"] == [{"name": None, "values": {}}, {"name": "x", "values": {"A": "1"}}]
    assert (told["launch"]["timeout_s"], told["launch"]["launches"]) == (600, 1)
    assert [case["bytes"] for case in told["cases"]] == [1024, 4, 1024, 4]
    assert told["original"] == file.read_text()
    assert told["resolved"].startswith("version: 1\n") and len(told["sha256"]) == 64


def test_started_without_mpirun(tmp_path):
    ringscope("run", write_yaml(tmp_path, RING)).complains(2, "mpirun")


def test_single_rank_without_mpirun_when_asked_for(tmp_path):
    ringscope("run", write_yaml(tmp_path, RING), "--expect-ranks", 1).is_good()


@pytest.mark.parametrize("word", ["simulate"])
def test_word_of_a_later_version(word):
    ringscope(word).complains(2, word, "not in this version")
    assert word not in ringscope("--help").out


def test_slots_too_small_for_a_line(tmp_path):
    done = run(2, write_yaml(tmp_path, one_case("ring-ll128", slot_bytes=112)))
    done.complains(2, "a slot of 112 bytes is too small", "a line of ll128 has 128", "slot_bytes")


@pytest.mark.parametrize("algorithm, slots", [("ring-ll", 1), ("ring-simple", 1), ("ring-simple", 2)])
def test_too_few_slots_name_the_cycle(tmp_path, algorithm, slots):
    done = run(3, write_yaml(tmp_path, one_case(algorithm, slots=slots)))
    complaint = done.complains(2, "deadlock", f"{slots} slots", "waits for a free slot at rank")
    assert all(f"rank {rank} (op " in complaint for rank in range(3))


# ---- output ------------------------------------------------------------------------------------------------


def test_output_in_a_place_where_nothing_can_be_made(tmp_path):
    run(2, write_yaml(tmp_path, RING), "--output", "/proc/nowhere/x.h5").complains(7, "/proc/nowhere")


def test_output_is_a_directory(tmp_path):
    run(2, write_yaml(tmp_path, RING), "--output", tmp_path).complains(7, "is a directory")


def test_output_below_a_file(tmp_path):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    run(2, write_yaml(tmp_path, RING), "--output", tmp_path / "file" / "x.h5").complains(7, "file")


def test_output_exists_and_is_replaced_by_force_only(tmp_path):
    file = tmp_path / "old.h5"
    file.write_text("precious", encoding="utf-8")
    run(2, write_yaml(tmp_path, RING), "--output", file).complains(7, "exists", "--force")
    assert file.read_text(encoding="utf-8") == "precious"
    run(2, write_yaml(tmp_path, RING), "--output", file, "--force").is_good()
    assert h5py.is_hdf5(file)


MANY_EVENTS = """
sweep: {{algorithms: [{{id: ring-simple, params: {{slots: 4, slot_bytes: 4KiB}}}}], sizes: [256KiB]}}
measure: {{warmup: 0, iterations: 1}}
trace: {{iterations: 400}}
output: {output}
"""


def test_disk_full_is_an_error_and_not_a_signal(tmp_path):
    """A file size limit of 200 KiB, in the ranks alone: mpirun and its library need larger files."""
    file = write_yaml(tmp_path, MANY_EVENTS.format(output=tmp_path / "large.h5"))
    script = f"ulimit -f 200; exec {shlex.quote(str(PROGRAM))} run {shlex.quote(str(file))}"
    done = call(*mpirun_words(2), "--mca", "btl", "self,tcp", "bash", "-c", script)
    done.complains(7, "large.h5")
    assert not (tmp_path / "large.h5").exists()


def own_mounts() -> bool:
    return call("unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt").code == 0


def test_small_shared_memory_is_an_error_and_not_a_signal(tmp_path):
    if not own_mounts():
        pytest.skip("unshare -m is not permitted here")
    file = write_yaml(tmp_path, one_case("ring-simple"))
    words = [*mpirun_words(2), "--mca", "btl", "self,tcp", PROGRAM, "run", file]
    small = "mount -t tmpfs -o size=64k tmpfs /dev/shm && exec " + shlex.join(str(word) for word in words)
    done = finish(start("unshare", "-m", "bash", "-c", small), 60)
    done.complains(5, "shared memory", "/dev/shm")
