# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""The scripts of launch/: their options, and the pieces of lib.sh with stand-ins for the commands they ask."""

import os
import platform
import shutil
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAYS_VERSION_4 = '[ "$1" = --version ] && echo "mpirun (Open MPI) 4.1.4" && exit;'


def call(*command, **variables):
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    return subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        stdin=subprocess.DEVNULL,
        env=environment | variables,
    )


@pytest.fixture(name="checkout")
def fixture_checkout(tmp_path):
    """A checkout in a path with a space, holding the scripts alone, and a folder `bin` for stand-ins."""
    checkout = tmp_path / "a checkout"
    shutil.copytree(ROOT / "launch", checkout / "launch")
    (checkout / "bin").mkdir()
    return checkout


def stand_in(checkout, name, script):
    file = checkout / "bin" / name
    file.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    file.chmod(0o755)


def shell(checkout, script, **variables):
    """Runs a script that has lib.sh sourced and finds the stand-ins first."""
    text = f'set -euo pipefail; source "{checkout}/launch/lib.sh"; decide_colour; {script}'
    path = f"{checkout}/bin:{os.environ['PATH']}"
    return call("bash", "-c", text, **({"PATH": path, "RINGSCOPE_LOCKED": ""} | variables))


@pytest.mark.parametrize("script", ["quickstart", "test", "batch"])
def test_script_help_is_the_usage_text(script):
    done = call(ROOT / "launch" / script, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith(f"Usage: launch/{script} ")
    assert "set -euo" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["quickstart", "--np", "none"], "number of ranks"),
        (["quickstart", "--np"], "number of ranks"),
        (["quickstart", "--np", "0"], "number of ranks"),
        (["quickstart", "--npp", "4"], "unknown option --npp"),
        (["test", "--fast"], "unknown option --fast"),
    ],
)
def test_script_wrong_usage_is_exit_2_in_one_line(arguments, word):
    done = call(ROOT / "launch" / arguments[0], *arguments[1:])
    assert done.returncode == 2
    assert word in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_what_tools_say_of_the_machine_is_kept_once(checkout):
    stand_in(checkout, "lstopo-no-graphics", 'echo "topology $*"')
    stand_in(checkout, "nvidia-smi", '[ "$1" = topo ] && echo "matrix $*"; [ "$1" = topo ]')
    done = shell(checkout, "capture_machine data/machine")
    assert done.returncode == 0 and "nvidia-smi -q -x failed, nvidia-smi.xml is left out" in done.stderr, done
    (folder,) = (checkout / "data" / "machine").iterdir()
    assert folder.name == platform.node()
    kept = {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()}
    assert kept == {"topology.xml": "topology --of xml\n", "nvidia-smi-topo.txt": "matrix topo -m\n"}
    stand_in(checkout, "lstopo-no-graphics", "echo another")
    shell(checkout, "capture_machine data/machine")
    assert (folder / "topology.xml").read_text(encoding="utf-8") == "topology --of xml\n"


def test_a_machine_without_tools_leaves_no_files(checkout):
    text = f'source "{checkout}/launch/lib.sh"; PATH=/nowhere; capture_machine data/machine'
    done = call("bash", "-c", text)
    assert done.returncode == 0 and not (checkout / "data").exists(), done


def test_gpu_tests_without_a_gpu_are_an_error_and_not_a_silent_pass(checkout):
    stand_in(checkout, "nvidia-smi", "exit 9")
    done = call(checkout / "launch" / "test", "--gpu", PATH=f"{checkout}/bin:{os.environ['PATH']}")
    assert done.returncode == 6, done
    assert "shows no GPU" in done.stderr


@pytest.mark.parametrize(
    ("call_of", "options"),
    [
        ("4 2 8", "-np 2 --bind-to none"),
        ("4 4 2", "-np 4 --bind-to none --oversubscribe --mca mpi_yield_when_idle 1"),
        ("5 2 2", "-np 2 --bind-to none"),
        ("5 4 2", "-np 4 --bind-to none --map-by :OVERSUBSCRIBE --mca mpi_yield_when_idle 1"),
    ],
)
def test_mpirun_options_of_both_open_mpi_versions(checkout, call_of, options):
    done = shell(checkout, f"mpirun_options {call_of}")
    assert done.stdout.split() == options.split()


@pytest.mark.parametrize(("line", "major"), [("mpirun (Open MPI) 4.1.4", "4"), ("mpirun (Open MPI) 5.0.11", "5")])
def test_mpirun_major_is_read_from_the_version(checkout, line, major):
    stand_in(checkout, "mpirun", f"echo '{line}'")
    assert shell(checkout, "mpirun_major").stdout.strip() == major


def test_mpirun_of_another_mpi_is_refused(checkout):
    stand_in(checkout, "mpirun", "echo HYDRA build details:")
    done = shell(checkout, "run_ranks 2 5 true")
    assert done.returncode == 2
    assert "not Open MPI's" in done.stderr


def test_run_ranks_hands_the_exit_code_through_and_closes_the_lock(checkout):
    stand_in(checkout, "mpirun", f"{SAYS_VERSION_4} [ ! -e /proc/$$/fd/9 ] && exit 3")
    assert shell(checkout, "lock_checkout; run_ranks 2 5 program").returncode == 3


def test_run_ranks_that_takes_too_long_is_exit_4(checkout):
    stand_in(checkout, "mpirun", f"{SAYS_VERSION_4} exec sleep 30")
    done = shell(checkout, "run_ranks 2 1 program")
    assert done.returncode == 4
    assert "stopped after 1 s" in done.stderr


def test_packages_only_what_is_missing_is_installed(checkout):
    listing = 'case $p in -*|cmake) ;; git) echo "config-files git";; *) echo "installed $p";; esac'
    stand_in(checkout, "dpkg-query", f"for p; do {listing}; done; exit 1")
    stand_in(checkout, "apt-get", f'echo "$@" >>"{checkout}/calls"')
    stand_in(checkout, "sudo", '"$@"')
    assert shell(checkout, "install_packages").returncode == 0
    calls = (checkout / "calls").read_text(encoding="utf-8").splitlines()
    assert calls == ["--yes update", "--yes install --no-install-recommends cmake git"]


def test_packages_all_there_calls_no_apt(checkout):
    stand_in(checkout, "dpkg-query", 'for p; do case $p in -*) ;; *) echo "installed $p";; esac; done')
    stand_in(checkout, "apt-get", f'touch "{checkout}/calls"')
    done = shell(checkout, "install_packages")
    assert done.returncode == 0
    assert "are there" in done.stderr
    assert not (checkout / "calls").exists()


@pytest.mark.parametrize(
    ("name", "root", "wanted"), [("debian", "true", True), ("ubuntu", "true", False), ("debian", "false", False)]
)
def test_packages_have_a_browser_on_debian_for_who_may_install_it(checkout, name, root, wanted):
    circumstances = f"distribution() {{ echo {name}; }}; is_root() {{ {root}; }}; have() {{ false; }}"
    done = shell(checkout, f'{circumstances}; add_browser; echo "${{PACKAGES[@]}}"')
    assert done.returncode == 0
    assert ("chromium chromium-driver" in done.stdout) == wanted


def test_packages_failing_install_shows_the_end_of_its_log(checkout):
    stand_in(checkout, "dpkg-query", "exit 1")
    stand_in(checkout, "apt-get", "echo E: no such mirror; exit 100")
    stand_in(checkout, "sudo", '"$@"')
    done = shell(checkout, "install_packages")
    assert done.returncode == 8
    assert "E: no such mirror" in done.stderr


def test_packages_without_a_right_to_install_gives_the_line_to_run(checkout):
    stand_in(checkout, "dpkg-query", "exit 1")
    stand_in(checkout, "apt-get", "exit 99")
    done = shell(checkout, "have() { [[ $1 != sudo ]]; }; is_root() { false; }; install_packages")
    assert done.returncode == 2
    assert "apt-get install --yes --no-install-recommends ca-certificates g++" in done.stderr


def test_packages_on_another_system_names_what_is_needed(checkout):
    done = shell(checkout, "have() { [[ $1 != apt-get ]]; }; install_packages")
    assert done.returncode == 2
    assert "--no-packages" in done.stderr
    assert "valijson" in done.stderr


@pytest.mark.parametrize(
    ("listing", "count"),
    [("No devices found.", "0"), ("GPU 0: H200 (UUID: x)\n  MIG 1g\nGPU 1: H200 (UUID: y)", "2")],
)
def test_gpu_count_counts_gpus_alone(checkout, listing, count):
    stand_in(checkout, "nvidia-smi", f"echo '{listing}'")
    assert shell(checkout, "gpu_count").stdout.strip() == count


def test_gpu_architectures_are_those_of_the_machine(checkout):
    stand_in(checkout, "nvidia-smi", "printf '9.0\\n8.6\\n9.0\\n[N/A]\\n'")
    assert shell(checkout, "gpu_architectures").stdout.strip() == "86;90"


def test_preset_is_cuda_only_with_a_gpu_and_a_compiler(checkout):
    stand_in(checkout, "nvcc", "true")
    stand_in(checkout, "nvidia-smi", "exit 9")
    assert shell(checkout, "choose_preset").stdout.strip() == "release"
    stand_in(checkout, "nvidia-smi", "echo 'GPU 0: H200 (UUID: x)'")
    assert shell(checkout, "choose_preset").stdout.strip() == "cuda"
    assert shell(checkout, "find_nvcc() { :; }; choose_preset").stdout.strip() == "release"


def test_configuration_of_a_moved_checkout_is_not_trusted(checkout):
    build = checkout / "build" / "release"
    build.mkdir(parents=True)
    (build / "build.ninja").touch()
    cache = build / "CMakeCache.txt"
    cache.write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={checkout}\n", encoding="utf-8")
    assert shell(checkout, "is_configured release").returncode == 0
    cache.write_text("CMAKE_HOME_DIRECTORY:INTERNAL=/elsewhere\n", encoding="utf-8")
    assert shell(checkout, "is_configured release").returncode == 1


@pytest.mark.parametrize(("planted", "code"), [("", 0), ("planted", 1)])
def test_leak_suppressions_hide_open_mpi_alone(checkout, planted, code):
    source = ROOT / "tests" / "launch" / "leak.c"
    compiled = call("mpicc", "-g", "-fsanitize=address,undefined", source, "-o", checkout / "leak")
    assert compiled.returncode == 0, compiled.stderr
    done = shell(checkout, f"export_asan_options; run_ranks 2 50 ./leak {planted}")
    assert done.returncode == code, done.stderr
    assert ("leak of 77 byte" in done.stderr) == bool(planted)


def test_lock_makes_the_second_script_wait(checkout):
    holder = subprocess.Popen(["flock", str(checkout / "launch"), "sleep", "2"])
    time.sleep(0.5)
    begin = time.monotonic()
    done = shell(checkout, "lock_checkout")
    holder.wait()
    assert done.returncode == 0
    assert "waiting for it" in done.stderr
    assert time.monotonic() - begin > 1


def test_colour_is_off_where_stdout_is_no_terminal(checkout):
    done = shell(checkout, 'say word text; echo "$NO_COLOR"')
    assert done.stderr == "word: text\n"
    assert done.stdout == "1\n"
