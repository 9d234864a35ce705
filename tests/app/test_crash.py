# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""What a run leaves that is killed, or that has no room: every case that was written reads back.

RINGSCOPE_KILL_MOMENTS says how many runs are killed, 9 where nothing is said.
"""

import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy
import pytest
from program import (
    FIXTURES,
    PROGRAM,
    attributes,
    call,
    finish,
    lint,
    mpirun_words,
    ringscope,
    run,
    start,
    table,
    write_yaml,
)

RANKS = 2
CASES = 10
MOMENTS = int(os.environ.get("RINGSCOPE_KILL_MOMENTS", "9"))

# Short measurements of many messages: most of the time goes into writing.
WRITING = """
sweep:
  algorithms: [{{id: ring-simple, params: {{slots: 4, slot_bytes: 1KiB, channels: 1}}}}]
  sizes: {{from: 60KiB, to: 69KiB, step: 1KiB}}
measure: {{warmup: 0, iterations: 1, cold_start: false, start: barrier}}
trace: {{iterations: 40, max_events_in_memory: 3000}}
machine: {{enabled: false}}
timeout: {{wait: 5s}}
output: {output}
"""


@dataclass
class Run:
    """A run that goes on, with what it says on stderr in a file."""

    process: subprocess.Popen
    output: Path
    told: Path

    def lines(self) -> list[str]:
        return self.told.read_text(encoding="utf-8").splitlines()

    def written(self) -> set[int]:
        return {int(m[1]) for m in map(re.compile(r"case (\d+): written").fullmatch, self.lines()) if m}

    def is_writing(self) -> bool:
        """Whether the last thing said of a case is that it is being written."""
        said = [line for line in self.lines() if line.startswith("case ")]
        return bool(said) and said[-1].endswith("writing")

    def wait_for_case(self, case: int) -> None:
        deadline = time.monotonic() + 60
        while f"case {case}: writing" not in self.lines():
            assert time.monotonic() < deadline and self.process.poll() is None, self.lines()
            time.sleep(0.005)

    def ranks(self) -> dict[int, int]:
        """The process of each rank."""
        pids = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        found = {}
        for pid in pids:
            rank = re.search(
                rb"OMPI_COMM_WORLD_RANK=(\d+)",
                Path(f"/proc/{pid}/environ").read_bytes(),
            )
            if rank:
                found[int(rank[1])] = int(pid)
        return found

    def spills(self) -> list[Path]:
        return sorted(self.output.parent.glob(self.output.name + ".spill*"))


def begin(folder: Path, text: str = WRITING) -> Run:
    folder.mkdir()
    output = folder / "run.h5"
    file = write_yaml(folder, text.format(output=output))
    told = folder / "stderr"
    told.touch()
    words = shlex.join(str(word) for word in [*mpirun_words(RANKS), PROGRAM, "run", file, "-v"])
    process = start("bash", "-c", f"exec {words} > {folder}/stdout 2> {told}")
    return Run(process, output, told)


def end(ran: Run, pids: list[int]) -> None:
    finish(ran.process, 30)
    deadline = time.monotonic() + 20
    while any(is_alive(pid) for pid in pids):
        assert time.monotonic() < deadline, "a rank outlives its run"
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture(name="seconds", scope="module")
def fixture_seconds(tmp_path_factory) -> float:
    """How long a case lasts, if nobody disturbs it."""
    ran = begin(tmp_path_factory.mktemp("whole") / "run")
    ran.wait_for_case(0)
    began = time.monotonic()
    end(ran, [])
    seconds = (time.monotonic() - began) / CASES
    assert ran.written() == set(range(CASES)) and not ran.spills(), ran.lines()
    assert not faults(ran.output)
    return seconds


def faults(file: Path) -> list[str]:
    """What lint finds."""
    done = lint(file)
    assert done.code in (0, 7), done
    return done.out.splitlines()


def rows_of(tables: dict, case: int) -> dict:
    mine = numpy.asarray(tables["case"]) == case
    return {name: numpy.asarray(values)[mine].tolist() for name, values in tables.items() if name != "row"}


def assert_equal_cases(one: Path, other: Path, cases: set[int]) -> None:
    for group in ("cases", "samples", "events", "traffic"):
        first, second = table(one, group), table(other, group)
        for case in cases:
            # As text, because a NaN is not equal to itself.
            assert str(rows_of(first, case)) == str(rows_of(second, case)), (
                group,
                case,
            )
            assert rows_of(first, case)["case"], (group, case)


def check_what_is_left(ran: Run) -> None:
    """The final file is whole or absent; the log gives all cases that were written, as the partial has them."""
    written = ran.written()
    partial = ran.output.with_name("run.h5.partial")
    if ran.output.exists():
        assert attributes(ran.output)["complete"] == 1
        assert written <= set(table(ran.output, "cases")["case"])
    if not ran.spills():
        assert ran.output.exists()
        return
    recovered = ran.output.with_name("recovered.h5")
    done = ringscope("convert", *ran.spills(), "--output", recovered).is_good()
    assert attributes(recovered)["complete"] == attributes(recovered)["recovered"] == 1
    statuses = table(recovered, "cases")
    assert written <= {c for c, s in zip(statuses["case"], statuses["status"], strict=True) if s == "ok"}, (
        done
    )
    if is_readable(partial):
        assert_equal_cases(partial, recovered, written)
    if ran.output.exists():
        assert_equal_cases(ran.output, recovered, written)


def is_readable(partial: Path) -> bool:
    try:
        for group in ("cases", "samples", "events", "traffic"):
            table(partial, group)
    except (OSError, RuntimeError, KeyError, ValueError):
        return False
    return True


def kill(ran: Run, who: str, case: int, seconds: float) -> bool:
    """Kill mpirun or a rank some time after a case was measured; say whether one was being written."""
    ran.wait_for_case(case)
    ranks = ran.ranks()
    time.sleep(seconds)
    try:
        os.kill(ran.process.pid if who == "mpirun" else ranks[int(who)], signal.SIGKILL)
    except ProcessLookupError:  # it has just ended
        pass
    writing = ran.is_writing()
    end(ran, list(ranks.values()))
    return writing


@pytest.mark.parametrize("who", ["0", "1", "mpirun"])
def test_killed_at_any_moment(tmp_path, seconds, who):
    """Moments are uniform over the cases, every third at the beginning of a write: a fifth or more meet one."""
    chance = random.Random(who)
    count = -(-MOMENTS // 3)
    met = 0
    for i in range(count):
        ran = begin(tmp_path / str(i))
        case, share = chance.randrange(CASES), chance.random() if i % 3 else 0
        met += kill(ran, who, case, share * seconds)
        print(f"run {i}, killed {share:.3f} after case {case}, written: {sorted(ran.written())}, met {met}")
        check_what_is_left(ran)
    assert met >= count // 5
    assert not faults(ran.output.with_name("recovered.h5") if ran.spills() else ran.output)


# A case that measures for as long as the test wants.
MEASURING = """
sweep: {{algorithms: [{{id: ring-simple, params: {{slots: 4, slot_bytes: 1KiB}}}}], sizes: [64KiB]}}
measure: {{warmup: 0, iterations: 20, start: barrier}}
trace: {{iterations: 100000}}
machine: {{enabled: false}}
timeout: {{wait: 5s}}
output: {output}
"""


def measuring(folder: Path) -> Run:
    ran = begin(folder, MEASURING)
    deadline = time.monotonic() + 20
    while not ran.spills():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(1)
    return ran


def test_message_of_a_killed_rank_names_the_spills_and_the_command(tmp_path):
    ran = measuring(tmp_path / "run")
    pids = ran.ranks()
    os.kill(pids[0], signal.SIGKILL)
    end(ran, list(pids.values()))
    [note] = [line for line in ran.lines() if line.startswith("note: what was measured")]
    command = re.search(r"ringscope (convert .*)", note)
    assert command, note
    done = call("bash", "-c", f"{shlex.quote(str(PROGRAM))} {command[1]}", seconds=20).is_good()
    recovered = ran.output.with_name("run.h5.recovered.h5")
    assert done.out.startswith(f"{recovered}: 0 finished cases, ")
    assert "not finished: case 0, of which nothing is left by rank 0\n" in done.out
    assert set(table(recovered, "samples")["rank"]) == {1}
    assert attributes(recovered)["recovered"] == 1


def test_told_to_end_a_rank_leaves_what_it_has_of_the_case(tmp_path):
    ran = measuring(tmp_path / "run")
    os.kill(ran.process.pid, signal.SIGUSR1)
    end(ran, [])
    assert list(table(ran.output, "cases")["status"]) == ["timeout"]
    assert [spill.name for spill in ran.spills()] == ["run.h5.spill", "run.h5.spill.0", "run.h5.spill.1"]
    recovered = ran.output.with_name("recovered.h5")
    done = ringscope("convert", *ran.spills(), "--output", recovered).is_good()
    assert "not finished: case 0" in done.out and "nothing is left" not in done.out
    samples = table(recovered, "samples")
    assert set(samples["rank"]) == {0, 1} and any(samples["traced"])
    assert set(table(recovered, "events")["rank"]) == {0, 1}
    assert list(table(recovered, "cases")["status"]) == ["timeout"]
    assert not faults(recovered)


def own_mounts() -> bool:
    return call("unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt").code == 0


def shell_words(*words) -> str:
    """A run for a shell, whose MPI needs no /dev/shm of its own."""
    return shlex.join(str(w) for w in [*mpirun_words(RANKS), "--mca", "btl", "self,tcp", PROGRAM, "run", *words])


def test_full_disk_keeps_what_was_written(tmp_path):
    """A file system of 4 MiB, within which some of the cases fit."""
    if not own_mounts():
        pytest.skip("unshare -m is not permitted here")
    small, kept = tmp_path / "small", tmp_path / "kept"
    small.mkdir()
    kept.mkdir()
    file = write_yaml(
        tmp_path,
        WRITING.format(output=small / "run.h5").replace("iterations: 40", "iterations: 100"),
    )
    words = shell_words(file, "-v")
    script = f"mount -t tmpfs -o size=4m tmpfs {small} && {words}; code=$?; cp {small}/* {kept}; exit $code"
    done = call("unshare", "-m", "bash", "-c", script)
    done.complains(7, str(small / "run.h5."))
    ran = Run(None, kept / "run.h5", tmp_path / "stderr")
    ran.told.write_text(done.err, encoding="utf-8")
    assert ran.written() and ran.spills() and not ran.output.exists()
    check_what_is_left(ran)


def test_wrong_case_counts_more_than_the_disk_that_is_full_later(tmp_path):
    """And what is known until then is said: the report ends as it should."""
    if not own_mounts():
        pytest.skip("unshare -m is not permitted here")
    small = tmp_path / "small"
    small.mkdir()
    text = WRITING.format(output=small / "run.h5").replace("iterations: 40", "iterations: 100")
    file = write_yaml(tmp_path, text.replace("algorithms: [", "algorithms: [mutant-sent-twice, "))
    words = shell_words(file, "--json", "--plugin-path", FIXTURES / "mutants")
    done = call("unshare", "-m", "bash", "-c", f"mount -t tmpfs -o size=4m tmpfs {small} && exec {words}")
    done.complains(3, str(small / "run.h5."))
    assert done.json["exit_code"] == 3
    assert "wrong" in {case["status"] for case in done.json["cases"]}


def test_full_shared_memory_ends_a_case_and_not_the_others(tmp_path):
    if not own_mounts():
        pytest.skip("unshare -m is not permitted here")
    text = """
sweep:
  algorithms: [ring-simple, {{id: ring-simple, params: {{slots: 64, slot_bytes: 1MiB}}}}, ring-ll]
  sizes: [64KiB]
measure: {{warmup: 0, iterations: 1}}
output: {output}
"""
    output = tmp_path / "run.h5"
    file = write_yaml(tmp_path, text.format(output=output))
    words = shell_words(file)
    small = f"mount -t tmpfs -o size=32m tmpfs /dev/shm && exec {words}"
    call("unshare", "-m", "bash", "-c", small).complains(5, "/dev/shm")
    assert list(table(output, "cases")["status"]) == ["ok", "failed", "ok"]
    assert attributes(output)["complete"] == 1 and not faults(output)
    assert not list(tmp_path.glob("*.spill*"))


def test_user_buffers_take_at_most_half_of_the_shared_memory_that_is_left(tmp_path):
    if not own_mounts():
        pytest.skip("unshare -m is not permitted here")
    output = tmp_path / "run.h5"
    text = "sweep: {{algorithms: [ring-simple], sizes: [64KiB, 8MiB]}}\nmeasure: {{iterations: 1}}\noutput: {output}\n"
    words = shell_words(write_yaml(tmp_path, text.format(output=output)))
    small = f"mount -t tmpfs -o size=32m tmpfs /dev/shm && exec {words}"
    call("unshare", "-m", "bash", "-c", small).is_good()
    cases = table(output, "cases")
    assert list(cases["status"]) == ["ok", "ok"]
    too_little = "all through slots, for there is too little"
    assert [too_little in reason for reason in cases["reason"]] == [False, True]


def test_log_that_cannot_be_made_is_an_error_before_anything_is_measured(tmp_path):
    output = tmp_path / "run.h5"
    (tmp_path / "run.h5.spill" / "folder").mkdir(parents=True)
    done = run(RANKS, write_yaml(tmp_path, WRITING.format(output=output)))
    done.complains(7, "run.h5.spill")
    assert not output.exists()


MEMORY = "import resource, subprocess, sys; code = subprocess.call(sys.argv[1:]); "
MEMORY += "print('peak', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(code)"

# 3840 events of each rank in an iteration.
MANY = """
sweep: {{algorithms: [{{id: ring-simple, params: {{slots: 64, slot_bytes: 256, channels: 1}}}}], sizes: [960KiB]}}
measure: {{warmup: 0, iterations: 1, start: barrier}}
trace: {{iterations: {iterations}, max_events_in_memory: {held}}}
machine: {{enabled: false}}
output: {output}
"""


def peak_bytes(folder: Path, iterations: int, held: int) -> int:
    """The largest memory that a process of the run ever had."""
    output = folder / f"{iterations}-{held}.h5"
    file = write_yaml(folder, MANY.format(iterations=iterations, held=held, output=output))
    done = call(
        sys.executable,
        "-c",
        MEMORY,
        *mpirun_words(RANKS),
        PROGRAM,
        "run",
        file,
        "--json",
    ).is_good()
    assert list(table(output, "cases")["events_written"]) == [RANKS * 3840 * iterations]
    assert not list(folder.glob("*.spill*"))
    return 1024 * int(re.search(r"peak (\d+)", done.out)[1])


def test_events_past_the_limit_take_no_memory(tmp_path):
    """80 iterations are 307200 events of each rank, 56 MB; 20 are more than a slice that travels."""
    base = peak_bytes(tmp_path, 20, 4000)
    growth = peak_bytes(tmp_path, 80, 4000) - base
    assert growth < 25 << 20
    assert peak_bytes(tmp_path, 80, 1_000_000) - base > 40 << 20


def test_convert_says_what_is_no_spill(tmp_path):
    empty, other = tmp_path / "empty.h5.spill", tmp_path / "other.h5.spill"
    empty.touch()
    other.write_text("a text", encoding="utf-8")
    ringscope("convert", empty).complains(7, "empty.h5.spill", "is empty")
    ringscope("convert", other).complains(7, "other.h5.spill", "is no spill")
    ringscope("convert", tmp_path / "absent").complains(7, "absent", "No such file")
    ringscope("convert").complains(2, "SPILL")
