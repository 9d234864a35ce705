# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Starts the built program, alone or under mpirun, always with a time limit."""

import functools
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import h5py

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("RINGSCOPE_BUILD_DIR") or ROOT / "build" / "release").resolve()
PROGRAM = BUILD / "bin" / "ringscope"
PLUGINS = BUILD / "plugins"
FIXTURES = BUILD / "tests" / "plugins"

TIMED_OUT = 124


@dataclass(frozen=True)
class Done:
    """What a finished command leaves."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def complaints(self) -> list[str]:
        return [line for line in self.err.splitlines() if line.startswith("ringscope:")]

    def complains(self, code: int, *words: str) -> str:
        """Asserts the exit code and exactly one complaint that holds all words; gives the complaint."""
        assert self.code == code, self
        assert len(self.complaints) == 1, self
        for word in words:
            assert word in self.complaints[0], self
        return self.complaints[0]

    def is_good(self) -> "Done":
        assert self.code == 0 and not self.complaints, self
        return self


def environment(**variables: str) -> dict[str, str]:
    """The caller's, without plugins of the caller's own, and with root's permission to run mpirun."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RINGSCOPE_")}
    if os.geteuid() == 0:
        kept |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return kept | variables


def start(*words, stdout=subprocess.PIPE, **variables: str) -> subprocess.Popen:
    """Starts a command in a session of its own, so that nothing of it can outlive `finish`."""
    return subprocess.Popen(
        [str(word) for word in words],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=environment(**variables),
        start_new_session=True,
    )


def finish(process: subprocess.Popen, seconds: float) -> Done:
    """Waits for the command; one that takes too long is ended and gives TIMED_OUT."""
    try:
        out, err = process.communicate(timeout=seconds)
        return Done(process.returncode, out or "", err)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return Done(TIMED_OUT, out or "", err)


def call(*words, seconds: float = 60, **variables: str) -> Done:
    return finish(start(*words, **variables), seconds)


def ringscope(*words, program: Path = PROGRAM, **variables: str) -> Done:
    """Runs the program without mpirun."""
    return call(program, *words, seconds=20, **variables)


@functools.cache
def mpirun_major() -> int:
    return int(re.search(r"\(Open MPI\) (\d+)\.", call("mpirun", "--version").out).group(1))


def mpirun_words(ranks: int) -> list[str]:
    """More ranks than cores are wanted here, and must not spin."""
    crowded = ["--map-by", ":OVERSUBSCRIBE"] if mpirun_major() >= 5 else ["--oversubscribe"]
    yielding = ["--mca", "mpi_yield_when_idle", "1"] if ranks > os.cpu_count() else []
    return ["mpirun", "-np", str(ranks), "--bind-to", "none", *crowded, *yielding]


def run(ranks: int, *words, seconds: float = 60, program: Path = PROGRAM, **variables: str) -> Done:
    """Runs `ringscope run` on a number of ranks."""
    return call(*mpirun_words(ranks), program, "run", *words, seconds=seconds, **variables)


def write_yaml(folder: Path, text: str, name: str = "experiment.yaml") -> Path:
    """Writes an experiment. It has no output file unless its text names one."""
    output = "" if re.search("^output:", text, re.MULTILINE) else "output: null\n"
    file = folder / name
    file.write_text(f"version: 1\n{output}{text}\n", encoding="utf-8")
    return file


def one_case(algorithm: str, size: str = "4KiB", **params: int) -> str:
    """The shortest experiment: one algorithm, one size, two iterations."""
    return (
        f"sweep: {{algorithms: [{{id: {algorithm}, params: {json.dumps(params)}}}], sizes: [{size}]}}\n"
        "measure: {warmup: 1, iterations: 2}"
    )


def reason_of(case: dict) -> str | None:
    """A case's reason without what happened to the machine, which comes last and has a mark of its own."""
    reason = case["reason"]
    if "throttled" not in case["marks"]:
        return reason
    return re.split(r"(?:^|; )(?:the host of rank \d+|[0-9a-f:.]+): ", reason, maxsplit=1)[0] or None


def table(file: Path, group: str):
    """One group of a trace as a dict from column to values; texts as str, named values by name."""
    with h5py.File(file) as trace:
        return {name: column(item) for name, item in trace[group].items()}


def column(item: h5py.Dataset):
    values = item[()]
    if "flag_meanings" in item.attrs:
        names = dict(
            zip(item.attrs["flag_values"], text_of(item.attrs["flag_meanings"]).split(), strict=True)
        )
        return [names[value] for value in values]
    return [text_of(value) for value in values] if values.dtype.kind in "SO" else values


def text_of(value) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def attributes(file: Path) -> dict:
    with h5py.File(file) as trace:
        values = dict(trace.attrs)
    return {name: text_of(value) if isinstance(value, bytes) else value for name, value in values.items()}


def lint(file: Path) -> Done:
    """Runs ringscope-analysis lint, of this checkout."""
    code = "from ringscope.cli import main; raise SystemExit(main())"
    return call(sys.executable, "-c", code, "lint", file, PYTHONPATH=str(ROOT / "analysis" / "src"))
