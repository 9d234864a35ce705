# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""`ringscope doctor` on recorded machines, and on this one."""

import shutil
import threading
import time

import pytest
from program import ROOT, ringscope

MACHINES = ROOT / "data" / "recorded" / "machines"

EXPECTED = {
    "healthy": [],
    "fell-back-to-x1": ["harm pcie-width", "harm pcie-speed", "note aer-errors", "note aer-errors"],
    "network-card-below-the-switch": ["note shared-switch"],
    "narrow-switch": ["harm narrow-path"],
    "aspm-powersave": ["harm aspm"],
    "virtual-machine": [],
    "two-h200-of-a-virtual-machine": [],
    "sleeps-when-idle": [],
    "container-of-two-cores": ["note shm-small"],
    "container-with-a-quota": ["harm cpu-quota"],
    "gpu-off-the-bus": ["harm xid"],
}


def ids(done):
    return [f"{finding['severity']} {finding['id']}" for finding in done.json["findings"]]


def copied(name, folder):
    return shutil.copytree(MACHINES / name, folder / name, symlinks=True)


def test_every_recorded_machine_has_its_findings_written_down():
    assert {entry.name for entry in MACHINES.iterdir() if entry.is_dir()} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_recorded_machine(name):
    begin = time.monotonic()
    done = ringscope("doctor", "--root", MACHINES / name, "--json")
    assert time.monotonic() - begin < 5
    assert ids(done) == EXPECTED[name]
    assert done.code == any(line.startswith("harm") for line in EXPECTED[name])
    assert not done.err
    for finding in done.json["findings"]:
        assert set(finding) == {"severity", "id", "where", "evidence", "effect", "advice"}
        assert all(finding.values())


def test_text_says_the_machine_then_the_findings():
    done = ringscope("doctor", "--root", MACHINES / "fell-back-to-x1")
    assert done.code == 1
    machine, first, *_ = done.out.split("\n\n")
    assert len(machine.splitlines()) <= 12
    assert "Tesla V100-PCIE-32GB, PCIe 2.5 GT/s x1 (0.2 GB/s)" in machine
    assert first.startswith("harm: pcie-width at 0000:3b:00.0 below 0000:3a:00.0\n")
    assert "effect:" in first and "advice:" in first


def test_healthy_machine_says_so():
    done = ringscope("doctor", "--root", MACHINES / "healthy").is_good()
    assert done.out.endswith("nothing found that hurts an all-reduce\n")


def test_json_tells_the_machine():
    machine = ringscope("doctor", "--root", MACHINES / "sleeps-when-idle", "--json").is_good().json["machine"]
    (gpu,) = machine["gpus"]
    assert gpu["link_at_rest"]["gigatransfers"] == 2.5
    assert gpu["link"]["gigatransfers"] == gpu["link_most"]["gigatransfers"] == 32
    assert gpu["loaded"] and gpu["path"] == ["0000:3b:00.0", "0000:3a:00.0"]
    assert gpu["nvml"]["name"] == "NVIDIA H200"
    assert machine["pair_test"] is None and machine["cpus"] == "0-15"


def test_link_that_only_sleeps_is_a_note_without_load(tmp_path):
    machine = copied("sleeps-when-idle", tmp_path)
    shutil.rmtree(machine / "loaded")
    done = ringscope("doctor", "--root", machine, "--json").is_good()
    assert ids(done) == ["note pcie-speed"]


def test_machine_that_changes_while_it_is_looked_at(tmp_path):
    machine = copied("healthy", tmp_path)
    counter = machine / "sys/bus/pci/devices/0000:3d:00.0/aer_dev_correctable"
    stop = threading.Event()

    def count():
        number = 0
        while not stop.wait(0.05):
            number += 1
            fresh = counter.with_name("fresh")
            fresh.write_text(f"TOTAL_ERR_COR {number}\n")
            fresh.replace(counter)

    thread = threading.Thread(target=count)
    thread.start()
    done = ringscope("doctor", "--root", machine, "--json")
    stop.set()
    thread.join()
    assert ids(done) == ["harm aer-errors"] and done.code == 1
    assert "growing" in done.json["findings"][0]["evidence"]


@pytest.mark.parametrize("name", ["fell-back-to-x1", "sleeps-when-idle", "container-with-a-quota"])
def test_recording_of_a_machine_is_as_good_as_it(tmp_path, name):
    first = ringscope("doctor", "--root", MACHINES / name, "--record", tmp_path / "kept", "--json")
    second = ringscope("doctor", "--root", tmp_path / "kept", "--json")
    assert first.json == second.json and first.code == second.code


def test_this_machine(tmp_path):
    """Whatever it is: in time, with findings that agree with the exit code, and the same when replayed."""
    begin = time.monotonic()
    done = ringscope("doctor", "--json", "--no-pair-test", "--record", tmp_path / "kept")
    assert time.monotonic() - begin < 5
    assert done.code == any(finding["severity"] == "harm" for finding in done.json["findings"])
    assert done.json["machine"]["memory_bytes"] > 0
    again = ringscope("doctor", "--json", "--root", tmp_path / "kept")
    assert again.json["machine"]["shm_bytes"] == done.json["machine"]["shm_bytes"]
    assert again.json["findings"] == done.json["findings"]


def test_recording_holds_no_secrets(tmp_path):
    ringscope("doctor", "--no-pair-test", "--record", tmp_path / "kept")
    kept = {str(file.relative_to(tmp_path / "kept")) for file in (tmp_path / "kept").rglob("*") if file.is_file()}
    assert "proc/meminfo" in kept
    assert not [name for name in kept if "environ" in name or "hostname" in name or "cmdline" in name]
    mounts = (tmp_path / "kept/proc/mounts").read_text().splitlines()
    assert len(mounts) == 1 and " /dev/shm " in mounts[0]


def test_what_cannot_be_looked_at_is_refused(tmp_path):
    ringscope("doctor", "--root", tmp_path / "nowhere").complains(2, "nowhere", "is no folder")
    ringscope("doctor", "--root", MACHINES / "healthy", "--record", ROOT).complains(7, "is not empty")
    broken = copied("healthy", tmp_path)
    (broken / "nvml.json").write_text("{")
    ringscope("doctor", "--root", broken).complains(2, "nvml.json")
    ringscope("doctor", "machine").complains(2, "machine")


def test_exit_code_is_in_the_help():
    assert "1 something on this machine will hurt" in ringscope("--help").out
    assert "--record" in ringscope("doctor", "--help").out
