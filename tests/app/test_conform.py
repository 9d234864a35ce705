# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""The conformance gate: what is right passes, and every negative control fails for the reason that it was built for."""

import pytest
from program import FIXTURES, PLUGINS, PROGRAM, call, mpirun_words, ringscope

CONTROLS = FIXTURES / "controls"

FAULTS = {
    "control-does-nothing": "never written",
    "control-leaves-a-rank-out": "which looks like",
    "control-flips-an-element": "expected",
    "control-replays": "iteration 1",
    "control-right-on-rank-0-only": "rank 1",
    "control-sends-once-more": "closed form",
}


def conform(ranks: int, *words, seconds: float = 120):
    return call(PROGRAM, "conform", *words, "--virtual-ranks", ranks, seconds=seconds)


@pytest.mark.parametrize("ranks", [2, 3, 5, 8])
@pytest.mark.parametrize("control", FAULTS)
def test_negative_control_fails_the_gate(control, ranks):
    done = conform(ranks, control, "--plugin-path", CONTROLS)
    done.complains(3, f"conform {control} on {ranks} ranks", FAULTS[control])


def test_rank_that_others_wait_for_is_a_hang():
    done = conform(2, "control-never-comes", "--plugin-path", CONTROLS)
    done.complains(4, "no progress", "rank 0 waits for", "rank 1")
    assert "conform control-never-comes on 2 ranks: 18 passed, 1 failed" in done.out
    assert "case 0 (control-never-comes, 262148 bytes of float32, isolated): no progress" in done.out


@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_the_same_plugin_without_a_fault_passes(ranks):
    done = conform(ranks, "control-honest", "--plugin-path", CONTROLS).is_good()
    assert f"conform control-honest on {ranks} ranks: " in done.out and ", 0 failed" in done.out


@pytest.mark.parametrize("again", ["0", "2", "10"])
def test_ring_of_tenths_passes_whatever_is_gathered_again(again):
    words = ("tenths", "--plugin-path", FIXTURES / "tenths")
    ringscope("conform", *words, TENTHS_AGAIN=again).is_good()
    running = (PROGRAM, "conform", *words, "--virtual-ranks", 3)
    done = call(*running, seconds=120, TENTHS_AGAIN=again).is_good()
    assert "conform tenths on 3 ranks: " in done.out and ", 0 failed" in done.out


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_number_of_ranks_without_a_schedule_must_be_refused(ranks):
    done = conform(ranks, "control-even-ranks-only", "--plugin-path", CONTROLS, "--json").is_good()
    [control] = done.json
    names = [group["group"] for group in control["groups"]]
    assert names == ["refusal"] if ranks == 3 else "types" in names
    assert control["passed"] > 0


@pytest.mark.parametrize(
    "mutant", ["mutant-extra-send", "mutant-dropped-op", "mutant-sent-twice", "mutant-law"]
)
def test_mutant_fails_on_paper_and_running(mutant):
    ringscope("conform", mutant, "--plugin-path", FIXTURES / "mutants").complains(3, mutant, "on paper")
    conform(3, mutant, "--plugin-path", FIXTURES / "mutants").complains(3, mutant)


def test_processes_pass_and_every_group_is_told():
    done = call(*mpirun_words(3), PROGRAM, "conform", "ring-ll", "--json", "--engine", "host-shm", seconds=120)
    [ring] = done.is_good().json
    groups = {group["group"]: group for group in ring["groups"]}
    assert ring["failed"] == 0 and ring["passed"] == sum(group["passed"] for group in groups.values())
    assert set(groups) == {"proofs", "law", "counts", "types", "slots", "queued", "again", "mantissa", "real"}
    assert groups["types"]["passed"] == 10 * 5
    assert all(group["passed"] > 0 and group["skipped"] == 0 for group in groups.values())


@pytest.mark.parametrize("ranks", [2, 3])
def test_baseline_mpi_passes_with_what_mpi_lacks(ranks):
    done = call(*mpirun_words(ranks), PROGRAM, "conform", "mpi", "--json", seconds=120)
    [mpi] = done.is_good().json
    [types] = [group for group in mpi["groups"] if group["group"] == "types"]
    # 8-bit floats are NCCL's alone.
    assert types["passed"] == 10 * 5 and types["skipped"] == 2 * 5


def test_all_algorithms_of_a_plugin_are_checked_on_paper():
    done = ringscope("conform", PLUGINS / "ring.so", "--json").is_good()
    assert [one["algorithm"] for one in done.json] == ["ring-ll", "ring-ll128", "ring-simple"]
    # 11 numbers of ranks, 3 to 8 slots each.
    assert [one["groups"][0]["passed"] for one in done.json] == [66, 66, 66]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["ring-lll"], "ring-ll"),
        ([], "conform needs"),
        (["missing.so"], "missing.so"),
        (["mpi"], "mpirun"),
        ([FIXTURES / "refused" / "other_abi.so"], "plugin ABI version"),
    ],
)
def test_what_cannot_be_checked_is_usage(words, complaint):
    ringscope("conform", *words).complains(2, complaint)


def test_unknown_engine_is_usage():
    conform(2, "ring-ll", "--engine", "cuda-p3p").complains(2, "cuda-p3p", "host-shm")
