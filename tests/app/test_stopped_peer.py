# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""A rank that stops or dies ends the job in bounded time, with one line, and leaves nothing behind."""

import os
import re
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from program import PROGRAM, Done, attributes, finish, lint, mpirun_words, start, table, write_yaml

RANKS = 3

# A case that is soon finished, and a long one of long messages, so that a rank is often inside an operation.
TWO_CASES = """
sweep: {{algorithms: [ring-simple], sizes: [4, 16MiB]}}
measure: {{warmup: 0, iterations: 400, cold_start: false}}
timeout: {{wait: 2s, case: 120s}}
output: {output}
"""

WAITS = re.compile(
    r"rank (\d) waits for (?:"
    r"(?:data from|a free slot at) rank (\d) at step (\d+), chunk (\d+), slice \d+"
    r"|rank (\d) to begin the operation \(step (\d+), chunk (\d+)\))"
)


def shared_memory() -> set[str]:
    return {file.name for file in Path("/dev/shm").glob("ringscope.*")}


@pytest.fixture(autouse=True)
def _nothing_is_left():
    """Names that another job holds for a moment go away by themselves; what this one left would stay."""
    before = shared_memory()
    yield
    deadline = time.monotonic() + 5
    while shared_memory() - before and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not shared_memory() - before


def process_of_rank(mpirun: int, rank: int) -> int:
    wanted = f"OMPI_COMM_WORLD_RANK={rank}".encode()
    children = Path(f"/proc/{mpirun}/task/{mpirun}/children").read_text(encoding="utf-8").split()
    [pid] = [int(pid) for pid in children if wanted in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")]
    return pid


def wait_for_first_case(csv: Path) -> None:
    """Returns when rank 0 has reported one case, below the line of names."""
    deadline = time.monotonic() + 30
    while csv.read_text(encoding="utf-8").count("\n") < 2:
        assert time.monotonic() < deadline, "no case was finished"
        time.sleep(0.05)
    time.sleep(0.5)


@dataclass(frozen=True)
class Ended:
    """A job in which a rank got a signal."""

    done: Done
    seconds: float
    output: Path


def job_with_signal(folder: Path, rank: int, number: signal.Signals) -> Ended:
    folder.mkdir()
    output, csv = folder / "trace.h5", folder / "cases.csv"
    file = write_yaml(folder, TWO_CASES.format(output=output))
    with csv.open("w", encoding="utf-8") as stdout:
        job = start(*mpirun_words(RANKS), PROGRAM, "run", file, "--csv", stdout=stdout)
        try:
            wait_for_first_case(csv)
            os.kill(process_of_rank(job.pid, rank), number)
            begin = time.monotonic()
        finally:
            done = finish(job, 40)
    return Ended(done, time.monotonic() - begin, output)


def stopped_job(tmp_path: Path, rank: int) -> Ended:
    """The signal may meet a rank between two operations, which is reported too; some try meets one inside."""
    for attempt in range(4):
        ended = job_with_signal(tmp_path / str(attempt), rank, signal.SIGSTOP)
        check_words(ended.done.complains(4, "timeout.wait"), rank)
        if "to begin the operation" not in ended.done.complaints[0]:
            break
    return ended


def check_words(complaint: str, stopped: int) -> None:
    """The root of the chain comes first: a living neighbour that waits for the stopped rank."""
    first = WAITS.search(complaint)
    assert first, complaint
    waiting, peer, step, chunk = (int(word) for word in first.groups() if word is not None)
    assert peer == stopped and waiting != stopped
    assert 0 <= step < 2 * (RANKS - 1) and 0 <= chunk < RANKS
    assert "which does not answer" in complaint


@pytest.mark.parametrize("rank", [1, 2])
def test_stopped_rank_is_named_and_the_file_is_complete(tmp_path, rank):
    ended = stopped_job(tmp_path, rank)
    assert ended.seconds < 15
    cases = table(ended.output, "cases")
    assert list(cases["status"]) == ["ok", "timeout"]
    assert "waits for" in cases["reason"][1]
    assert attributes(ended.output)["complete"] == 1
    assert set(table(ended.output, "samples")["case"]) == {0}
    assert lint(ended.output).code == 0, lint(ended.output)


def test_stopped_rank_0_is_named_by_another(tmp_path):
    ended = stopped_job(tmp_path, 0)
    assert ended.seconds < 20
    # mpirun wakes the stopped rank before it ends it; in between rank 0 can complete the file.
    assert not ended.output.exists() or attributes(ended.output)["complete"] == 1


def test_sigusr1_ends_the_job_and_completes_the_file(tmp_path):
    ended = job_with_signal(tmp_path / "told", 1, signal.SIGUSR1)
    assert ended.done.code == 4, ended.done
    assert ended.seconds < 15
    [complaint] = ended.done.complaints
    assert f"signal {signal.SIGUSR1.value}:" in complaint
    assert list(table(ended.output, "cases")["status"]) == ["ok", "timeout"]
    assert attributes(ended.output)["complete"] == 1


def test_killed_rank_ends_the_job(tmp_path):
    ended = job_with_signal(tmp_path / "killed", 1, signal.SIGKILL)
    assert ended.done.code == 137, ended.done
    assert ended.seconds < 15
    [complaint] = ended.done.complaints
    assert "SIGTERM" in complaint
    check_words(complaint, 1)
    assert list(table(ended.output, "cases")["status"]) == ["ok", "timeout"]
    assert attributes(ended.output)["complete"] == 1
