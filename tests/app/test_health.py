# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""The machine's health from case to case: a tree of files stands for the machine, and is altered while it runs.

One of its files is a pipe. Rank 0 reads it last, whenever it reads the machine, and waits there until the test
has written: so what the test alters meanwhile lies between this reading and the next one of rank 0.
"""

import errno
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from program import PROGRAM, finish, lint, mpirun_words, run, start, table, write_yaml

GPUS = ("0000:17:00.0", "0000:65:00.0")
BRIDGES = ("0000:15:01.0", "0000:64:01.0")
HEALTHY = {
    "sm_clock_mhz": 1980,
    "throttle": ["idle"],
    "throttled_ns": 0,
    "temperature_c": 40,
    "power_w": 100.0,
    "active_nvlinks": 0,
}
BEFORE, AFTER = -1, -2
CASES = 5
TEXT = """
sweep: {algorithms: [ring-simple], sizes: [4KiB, 8KiB, 12KiB, 16KiB, 20KiB]}
measure: {warmup: 1, iterations: 3, start: barrier}
trace: {enabled: false}
machine: {enabled: false}
"""


class Machine:
    """A host with two GPUs, Gen5 x16, each below a port of the root complex."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._gpus = [{"pci_id": gpu, **HEALTHY} for gpu in GPUS]
        for bridge, gpu in zip(BRIDGES, GPUS, strict=True):
            self._add_device(f"pci{bridge[:7]}/{bridge}", "0x060400", "0x8086")
            self._add_device(f"pci{bridge[:7]}/{bridge}/{gpu}", "0x030200", "0x10de")
        self.write("nvml.json", json.dumps(self._gpus))
        self.write("dev/kmsg", "")
        self._pipe = root / "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count"
        self._pipe.parent.mkdir(parents=True)
        self._make_pipe()

    def write(self, name: str, text: str) -> None:
        """Replaces a file as a whole."""
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.with_name("new").write_text(text, encoding="utf-8")
        os.replace(file.with_name("new"), file)

    def _add_device(self, place: str, kind: str, vendor: str) -> None:
        address = place.rpartition("/")[2]
        (self.root / "sys/devices" / place).mkdir(parents=True)
        links = self.root / "sys/bus/pci/devices"
        links.mkdir(parents=True, exist_ok=True)
        (links / address).symlink_to(f"../../../devices/{place}")
        for name, value in {
            "class": kind,
            "vendor": vendor,
            **dict.fromkeys(["current_link_speed", "max_link_speed"], "32.0 GT/s PCIe"),
            **dict.fromkeys(["current_link_width", "max_link_width"], "16"),
        }.items():
            self.set(address, name, value)
        for kind_of_error in ("correctable", "nonfatal", "fatal"):
            self.errors(address, kind_of_error, 0)

    def set(self, address: str, name: str, value: str) -> None:
        self.write(f"sys/bus/pci/devices/{address}/{name}", value + "\n")

    def errors(self, address: str, kind: str, count: int) -> None:
        word = {"correctable": "COR", "nonfatal": "NONFATAL", "fatal": "FATAL"}[kind]
        self.set(address, f"aer_dev_{kind}", f"RxErr {count}\nBadTLP 0\nTOTAL_ERR_{word} {count}")

    def gpu(self, number: int, **state) -> None:
        self._gpus[number] |= state
        self.write("nvml.json", json.dumps(self._gpus))

    def xid(self, gpu: str, number: int) -> None:
        self.write("dev/kmsg", f"4,7,8,-;NVRM: Xid (PCI:{gpu[:-2]}): {number}, pid=1, name=x\n")

    def hold(self, process) -> Callable[[], None]:
        """Waits until rank 0 has read all but the pipe; gives what lets it go on."""
        pipe = self._open_pipe(process)
        self._make_pipe()  # for the next reading, which thus cannot be taken for this one

        def release() -> None:
            os.write(pipe, b"0\n")
            os.close(pipe)

        return release

    def _make_pipe(self) -> None:
        new = self._pipe.with_name("new")
        os.mkfifo(new)
        os.replace(new, self._pipe)

    def _open_pipe(self, process) -> int:
        deadline = time.monotonic() + 60
        while True:
            try:
                return os.open(self._pipe, os.O_WRONLY | os.O_NONBLOCK)
            except OSError as error:
                assert error.errno == errno.ENXIO and process.poll() is None, process.communicate()
                assert time.monotonic() < deadline, "the machine is not read"
                time.sleep(0.002)


@pytest.fixture(name="machine")
def fixture_machine(tmp_path):
    return Machine(tmp_path / "root")


def play(machine, folder, alter, *words, text=TEXT, cases=CASES):
    """Runs on two ranks. `alter(moment)` is called once everything was read at that moment: -1, 0, 1, ..."""
    file = folder / "health.h5"
    words = ["run", write_yaml(folder, text), "--root", machine.root, "--output", file, *words]
    process = start(*mpirun_words(2), PROGRAM, *words)
    try:
        for moment in [BEFORE, *range(cases), AFTER]:
            release = machine.hold(process)
            alter(moment)
            release()
    finally:
        done = finish(process, 30)
    return file, done.is_good()


def marks(file) -> list[set[str]]:
    """Those of health, by case."""
    of_health = {"link-changed", "aer-errors", "throttled", "xid"}
    return [of_health & set(words.split()) for words in table(file, "cases")["marks"]]


def rows_of(file, device):
    """Column by column, the readings of a device."""
    health = table(file, "health")
    kept = [place for place, name in enumerate(health["device"]) if name == device]
    return {name: [values[place] for place in kept] for name, values in health.items()}


def test_an_undisturbed_machine_is_read_and_marks_nothing(machine, tmp_path):
    file, done = play(machine, tmp_path, lambda moment: None)
    assert marks(file) == [set()] * CASES and "Health" not in done.out + done.err
    for rank, gpu in enumerate(GPUS):
        rows = rows_of(file, gpu)
        assert rows["case"] == [BEFORE, *range(CASES), AFTER] and set(rows["rank"]) == {rank}
        assert set(zip(rows["link_gts"], rows["link_width"], rows["sm_clock_mhz"], strict=True)) == {
            (32, 16, 1980)
        }
        assert all(abs(rate - 32 * 16 * 128 / 130 / 8) < 1e-9 for rate in rows["path_gbps"])
        assert rows["aer_correctable"] == rows["xids"] == [0] * (CASES + 2)
    assert len(rows_of(file, "host")["case"]) == CASES + 2
    assert lint(file).code == 0, lint(file)


def test_what_changes_marks_its_cases_and_is_said_at_the_end(machine, tmp_path):
    def alter(moment):
        if moment == 0:
            machine.errors(BRIDGES[0], "correctable", 3)
        if moment == 1:
            machine.set(GPUS[0], "current_link_width", "4")
        if moment == 2:
            machine.xid(GPUS[0], 79)
        if moment == 3:
            machine.gpu(0, throttled_ns=60_000_000_000, throttle=["hardware_thermal"])
        if moment == 4:
            machine.errors(GPUS[0], "fatal", 1)

    file, done = play(machine, tmp_path, alter)
    assert marks(file) == [
        set(),
        {"aer-errors"},
        {"link-changed"},
        {"link-changed", "xid"},
        {"link-changed", "throttled"},
    ]
    reasons = table(file, "cases")["reason"]
    assert reasons[1] == "0000:17:00.0: 3 more corrected PCIe errors"
    assert reasons[2] == "0000:17:00.0: PCIe x16 became x4"
    assert "1 more Xid" in reasons[3] and "(hardware_thermal)" in reasons[4]
    closing = "aer-errors in case 1; link-changed in cases 2-4; throttled in case 4; xid in case 3"
    assert f"# Health: {closing} (reasons above, readings in /health)\n" in done.out
    assert done.err == "note: after the last case: 0000:17:00.0: 1 more fatal PCIe errors\n"
    assert lint(file).code == 0, lint(file)


LONG_AND_SHORT = """
sweep: {algorithms: [ring-simple], sizes: [4KiB, 32MiB, 8KiB]}
measure: {warmup: 1, iterations: 60, start: barrier}
trace: {enabled: false}
machine: {enabled: false}
"""


def test_a_slow_link_counts_after_cases_that_loaded_it(machine, tmp_path):
    def alter(moment):
        if moment == BEFORE:
            machine.set(GPUS[0], "current_link_speed", "2.5 GT/s PCIe")

    file, done = play(machine, tmp_path, alter, "--json", text=LONG_AND_SHORT, cases=3)
    samples = table(file, "samples")
    busy_ns = [0, 0, 0]
    for case, rank, enter, leave in zip(
        *(samples[name] for name in ("case", "rank", "enter_ns", "exit_ns")), strict=True
    ):
        busy_ns[case] += leave - enter if rank == 0 else 0
    expected = [["link-changed"] if ns >= 100_000_000 else [] for ns in busy_ns]
    assert expected[1], "the long case has to load the link"
    assert marks(file) == [set(words) for words in expected]
    told = [[word for word in case["marks"] if word == "link-changed"] for case in done.json["cases"]]
    assert told == expected
    assert set(rows_of(file, GPUS[0])["link_gts"][1:]) == {2.5}


def test_another_root_must_be_a_folder(tmp_path):
    run(1, write_yaml(tmp_path, TEXT), "--root", tmp_path / "none").complains(2, "--root", "no folder")
