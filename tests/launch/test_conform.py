# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""launch/conform.sh with a stand-in for the program: what passed is remembered, what failed is not."""

import json
import subprocess

import pytest
from test_scripts import ROOT

IDS = ["ring-ll", "mpi", "nccl"]


@pytest.fixture(name="checkout")
def fixture_checkout(tmp_path):
    """A build of release with a program that notes how it was called, and fails where a file `bad` names its algorithm."""
    bin_folder = tmp_path / "build" / "release" / "bin"
    bin_folder.mkdir(parents=True)
    (bin_folder.parent / "plugins").mkdir()
    (bin_folder.parent / "plugins" / "ring.so").write_text("ring", encoding="utf-8")
    listed = json.dumps({"algorithms": [{"id": one} for one in IDS]})
    program = bin_folder / "ringscope"
    program.write_text(
        f"""#!/bin/sh
[ "$1" = list ] && echo '{listed}' && exit
echo "$@" >>calls
if grep -qx "$2" bad 2>/dev/null; then echo "ringscope: conform $2: wrong" >&2; exit 3; fi
echo "conform $2 on 4 ranks: 7 passed, 0 failed"
""",
        encoding="utf-8",
    )
    program.chmod(0o755)
    return tmp_path


def full_gate(checkout, again="no"):
    """The gate, with ranks that are one process; the calls of the program since the last time."""
    calls = checkout / "calls"
    calls.unlink(missing_ok=True)
    script = f"""
source "{ROOT}/launch/conform.sh"
VENV_PYTHON=python3
run_ranks() {{ shift 2; "$@"; }}
full_gate release {again}
"""
    done = subprocess.run(
        ["bash", "-uc", script], cwd=checkout, capture_output=True, text=True, check=False, timeout=60
    )
    made = calls.read_text(encoding="utf-8").splitlines() if calls.exists() else []
    return done, made


def test_every_algorithm_on_paper_and_on_1_to_8_ranks(checkout):
    done, calls = full_gate(checkout)
    assert done.returncode == 0, done
    assert calls.count("conform ring-ll --full") == 1
    assert calls.count("conform ring-ll --full --engine host-shm") == 8
    assert calls.count("conform mpi --full --engine host-shm") == 8
    assert len(calls) == 17
    lines = done.stdout.splitlines()
    assert lines[0].startswith("ring-ll.paper: 7 passed, ")
    assert lines[-1] == "17 passed, 0 failed"


def test_what_passed_is_skipped_what_failed_is_not(checkout):
    bad = checkout / "bad"
    bad.write_text("mpi\n", encoding="utf-8")
    done, calls = full_gate(checkout)
    assert done.returncode == 1 and len(calls) == 17
    assert done.stdout.splitlines()[-1] == "9 passed, 8 failed"
    assert "mpi.ranks3: failed with 3" in done.stdout and "ringscope: conform mpi: wrong" in done.stdout
    bad.unlink()
    done, calls = full_gate(checkout)
    assert done.returncode == 0 and calls == ["conform mpi --full --engine host-shm"] * 8
    assert "ring-ll.ranks8: passed before" in done.stdout


def test_again_and_another_plugin_begin_anew(checkout):
    full_gate(checkout)
    assert full_gate(checkout)[1] == []
    assert len(full_gate(checkout, again="yes")[1]) == 17
    (checkout / "build/release/plugins/ring.so").write_text("another", encoding="utf-8")
    assert len(full_gate(checkout)[1]) == 17
