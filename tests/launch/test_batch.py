# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""launch/batch from outside: the program judges the experiments, mostly a stand-in plays mpirun."""

import json
import os
import platform
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import h5py
import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("RINGSCOPE_BUILD_DIR") or ROOT / "build" / "release").resolve()
BATCH = ROOT / "launch" / "batch"

# It notes when each launch begins and ends. A file named after a launch's index says what else it does:
# sleep, end with a code, or leave no result.
STAND_IN = r"""#!/bin/bash
[[ $1 == --version ]] && { echo "mpirun (Open MPI) 4.1.4"; exit; }
before=
for word; do
    [[ $before == --output ]] && output=$word
    [[ $before == --launch-index ]] && index=$word
    before=$word
done
printf '%s\0' "$@" >"$STAND_IN/words.$index"
echo "begin $index" >>"$STAND_IN/calls"
[[ -e $STAND_IN/all ]] && source "$STAND_IN/all"
[[ -e $STAND_IN/do.$index ]] && source "$STAND_IN/do.$index"
echo "result of $index" >"$output"
echo "end $index" >>"$STAND_IN/calls"
"""


READY = ': >"$STAND_IN/ready"; '


def until(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "the batch does not get there"
        time.sleep(0.02)


class Place:
    """A folder in a path with blanks and quotes, with experiments, results, and a stand-in for mpirun."""

    def __init__(self, tmp_path):
        self.path = tmp_path / 'it\'s a "place"'
        self.bin, self.notes, self.data = self.path / "bin", self.path / "notes", self.path / "data"
        for folder in (self.bin, self.notes):
            folder.mkdir(parents=True)
        (self.bin / "mpirun").write_text(STAND_IN, encoding="utf-8")
        (self.bin / "mpirun").chmod(0o755)

    def write(self, name, launch, text="sweep: {sizes: [1KiB]}"):
        file = self.path / f"{name}.yaml"
        file.write_text(f"version: 1\nname: {name}\nlaunch: {launch}\n{text}\n", encoding="utf-8")
        return file

    def do(self, index, script):
        (self.notes / (f"do.{index}" if index != "all" else "all")).write_text(script, encoding="utf-8")

    def scontrol(self):
        """A stand-in for Slurm's; gives the file that it writes down its words in."""
        (self.bin / "scontrol").write_text('#!/bin/sh\necho "$@" >>"$STAND_IN/told"\n', encoding="utf-8")
        (self.bin / "scontrol").chmod(0o755)
        return self.notes / "told"

    def undo(self):
        for file in [*self.notes.glob("do.*"), *self.notes.glob("all")]:
            file.unlink()

    def environment(self, real=False):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "SLURM_"))}
        path = kept["PATH"] if real else f"{self.bin}:{kept['PATH']}"
        return kept | {"RINGSCOPE_BUILD_DIR": str(BUILD), "PATH": path, "STAND_IN": str(self.notes)}

    def start(self, *words, real=False, **streams):
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
        command = [str(word) for word in (BATCH, *words, "--data", self.data)]
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, text=True, cwd=self.path, env=self.environment(real), **streams
        )

    def batch(self, *words, real=False, seconds=100):
        process = self.start(*words, real=real)
        out, err = process.communicate(timeout=seconds)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def calls(self, word="begin"):
        file = self.notes / "calls"
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        return [int(line.split()[1]) for line in lines if line.startswith(word)]

    def wait_for(self, count, word="begin"):
        until(lambda: len(self.calls(word)) >= count)

    def wait_until_ready(self):
        """Wait for a launch whose script says READY, and take the sign away."""
        until((self.notes / "ready").exists)
        (self.notes / "ready").unlink()

    def words(self, index):
        return (self.notes / f"words.{index}").read_text(encoding="utf-8").split("\0")[:-1]

    @property
    def folder(self):
        (file,) = self.data.glob("*/*/batch.json")
        return file.parent

    def state(self):
        return json.loads((self.folder / "batch.json").read_text(encoding="utf-8"))

    def states(self):
        return [launch["state"] for launch in self.state()["launches"]]

    def results(self):
        return {file.name: file.read_text(encoding="utf-8") for file in self.folder.glob("launches/*")}


@pytest.fixture(name="place")
def fixture_place(tmp_path):
    return Place(tmp_path)


SIX = "{np: [1, 2], launches: 3}"


def complains(done, code, *words):
    assert done.returncode == code, done
    for word in words:
        assert word in done.stderr, done


def is_alive(process):
    """A process that ended may stay in the table, as a zombie, until somebody asks for its code."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def is_whole(place, count):
    """Every launch has its result, and the one that belongs to it."""
    assert place.states() == ["done"] * count
    assert [launch["index"] for launch in place.state()["launches"]] == list(range(count))
    expected = {
        Path(launch["file"]).name: f"result of {launch['index']}\n" for launch in place.state()["launches"]
    }
    assert place.results() == expected
    assert len(expected) == count


def test_what_tools_say_of_the_machine_lies_beside_the_results(place):
    for name in ("lstopo-no-graphics", "nvidia-smi"):
        (place.bin / name).write_text('#!/bin/sh\necho "$0 $*" | sed "s,.*/,,"\n', encoding="utf-8")
        (place.bin / name).chmod(0o755)
    assert place.batch(place.write("one", "{np: 1}")).returncode == 0
    (folder,) = (place.folder / "machine").iterdir()
    kept = {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()}
    assert folder.name == platform.node() and kept == {
        "topology.xml": "lstopo-no-graphics --of xml\n",
        "nvidia-smi-topo.txt": "nvidia-smi topo -m\n",
        "nvidia-smi.xml": "nvidia-smi -q -x\n",
    }


def test_two_ranks_for_real(place):
    file = place.write(
        "real",
        '{np: 2, launches: 2, env: [plain: {}, louder: {RINGSCOPE_WORD: "it\'s; \\"a, b\\" $HOME"}]}',
        "sweep: {algorithms: [ring-ll], sizes: [1KiB, 4KiB]}\nmeasure: {iterations: 3}  # a comment",
    )
    done = place.batch(file, "--seed", 7, real=True)
    assert done.returncode == 0, done
    assert done.stdout.splitlines()[-1] == str(place.folder)
    state = place.state()
    assert (state["choices"]["seed"], state["name"]) == (7, "real")
    assert sorted(launch["arm"] for launch in state["launches"]) == ["louder"] * 2 + ["plain"] * 2
    for launch in state["launches"]:
        with h5py.File(place.folder / launch["file"]) as trace:
            assert trace.attrs["batch_uuid"].decode() == state["uuid"]
            assert trace.attrs["launch_index"] == launch["index"]
            assert (trace.attrs["seed"], trace.attrs["world_size"], trace.attrs["complete"]) == (7, 2, 1)
            assert "# a comment" in trace["config/original"][()].decode()
            facts = dict(zip(trace["environment/facts/name"], trace["environment/facts/value"]))
        told = facts.get(b"env.RINGSCOPE_WORD", b"").decode()
        assert told == ('it\'s; "a, b" $HOME' if launch["arm"] == "louder" else "")


def test_arms_of_ten_percent_send_so_much_more(place, monkeypatch):
    monkeypatch.setenv("RINGSCOPE_PLUGIN_PATH", str(BUILD / "tests" / "plugins" / "tenths"))
    text = (ROOT / "tests" / "launch" / "ten-percent.yaml").read_text(encoding="utf-8")
    text = re.sub("engines: .*", "engines: [host-shm]", text)
    text = re.sub("sizes: .*", "sizes: [64000]", text)
    file = place.path / "ten-percent.yaml"
    file.write_text(text, encoding="utf-8")
    done = place.batch(file, "--launches", 1, real=True)
    assert done.returncode == 0, done
    sent = {}
    for launch in place.state()["launches"]:
        with h5py.File(place.folder / launch["file"]) as trace:
            assert list(trace["cases/engine"].asstr()) == ["host-shm"]
            sent[launch["arm"]] = list(trace["traffic/declared_payload"])
            assert list(trace["traffic/closed_form"]) == sent[launch["arm"]]
    # 2(N-1)M/N bytes over each of the two links.
    assert sent == {"a": [64000] * 2, "b": [64000] * 2, "slow": [70400] * 2}


@pytest.mark.parametrize(
    ("algorithms", "says", "row"),
    [
        ("[ring-ll, mpi]", "fastest of the baselines", "1 KiB  ring-ll "),
        ("[ring-ll, ring-simple]", "above 1 is slower", "ring-simple"),
        ("[ring-ll]", "2 of 2 launches", "ring-ll"),
    ],
)
def test_batch_ends_with_what_it_is_about(place, monkeypatch, algorithms, says, row):
    monkeypatch.setenv("RINGSCOPE_PYTHON", sys.executable)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "analysis" / "src"))
    sweep = f"sweep: {{algorithms: {algorithms}, sizes: [1KiB]}}"
    done = place.batch(place.write("x", "{np: 2, launches: 2}", sweep), real=True)
    assert done.returncode == 0, done
    assert done.stdout.startswith("#") and says in done.stdout.splitlines()[0]
    assert any(row in line for line in done.stdout.splitlines()), done.stdout


def test_arms_have_names_in_labels_files_and_words(place):
    env = "[{}, {A: 1, B: x}, no-p2p: {NCCL_P2P_DISABLE: 1}]"
    file = place.write("arms", f"{{np: 2, env: {env}, bind_to: [none, core]}}")
    assert place.batch(file).returncode == 0
    launches = place.state()["launches"]
    arms = {launch["arm"] for launch in launches}
    assert arms == {
        f"bind_to={bind} {env}" for bind in ("none", "core") for env in ("plain", "A=1,B=x", "no-p2p")
    }
    for launch in launches:
        words = place.words(launch["index"])
        assert ("NCCL_P2P_DISABLE=1" in words) == ("no-p2p" in launch["arm"])
        assert words[words.index("--bind-to") + 1] == words[words.index("--expect-binding") + 1]
        assert words[words.index("--expect-ranks") + 1] == "2"
    assert any("no-p2p" in name and "core" in name for name in place.results())


def test_order_is_that_of_the_seed_and_mixes_all_files(place):
    files = [place.write(name, SIX) for name in ("a", "b")]
    orders = []
    for seed in (1, 1, 2):
        done = place.batch(*files, "--seed", seed, "--dry-run")
        orders.append(re.findall(r"^# \d+ (\S+ np=\d #\d)$", done.stdout, re.MULTILINE))
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2]) and len(set(orders[0])) == 12
    experiments = [label[0] for label in orders[0]]
    assert experiments != sorted(experiments), "one file after the other is no shuffle"
    assert not place.data.exists() and not place.calls(), "a dry run leaves nothing"


def test_failing_launches_stop_nothing_and_resume_redoes_just_them(place):
    file = place.write("x", SIX)
    place.do(2, "echo 'ringscope: case 0: wrong'; echo bad >\"$output\"; exit 3")
    place.do(3, "kill -KILL $$")
    place.do(4, "exit 0")  # no result
    done = place.batch(file, "--seed", 1)
    complains(
        done,
        8,
        "3 of 6 launches done, 3 failed",
        "exit code 3: case 0: wrong",
        "exit code 7: it left no file",
    )
    assert place.states() == ["done", "done", "failed", "failed", "failed", "done"]
    assert [launch["exit_code"] for launch in place.state()["launches"]] == [0, 0, 3, 137, 7, 0]
    assert [file.read_text() for file in place.folder.glob("failed/*")] == ["bad\n"]
    place.undo()
    assert place.batch(file, "--resume").returncode == 0
    assert place.calls() == [0, 1, 2, 3, 4, 5, 2, 3, 4]
    is_whole(place, 6)
    assert place.batch(file, "--resume").returncode == 0
    assert len(place.calls()) == 9, "nothing was left to do"


def test_codes_of_launches_give_the_worst(place):
    file = place.write("x", "{np: 1, launches: 3}")
    place.do(0, 'echo skipped >"$output"; exit 77')
    assert place.batch(file, "--seed", 1).returncode == 77
    assert place.states()[0] == "skipped"
    assert place.batch(place.folder, "--resume").returncode == 77
    assert len(place.calls()) == 3, "what has nothing to run on is not run again"


def test_resume_after_a_kill_at_any_moment(place):
    file = place.write("x", SIX)
    place.do("all", 'sleep 0.15; echo begun >"$output"; sleep 0.1')
    for number, moment in enumerate((0.0, 0.12, 0.2, 0.27, 0.5)):
        process = place.start(file, "--seed", 5, *(["--resume"] if number else []))
        place.wait_for(len(place.calls()) + 1)
        time.sleep(moment)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=20)
    assert place.states() != ["done"] * 6
    assert place.batch(place.folder, "--resume").returncode == 0
    is_whole(place, 6)
    assert not list(place.folder.glob("running/*"))


def test_killed_batch_takes_its_launch_along(place):
    place.do("all", f'echo $$ >"$STAND_IN/pid"; {READY} sleep 60')
    process = place.start(place.write("x", "{np: 1}"))
    place.wait_until_ready()
    child = int((place.notes / "pid").read_text())
    assert is_alive(child)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=20)
    until(lambda: not is_alive(child))


def test_resume_waits_for_a_launch_that_still_runs(place):
    file = place.write("x", "{np: 1, launches: 2}")
    place.do(0, f"trap '' TERM; {READY} while [[ ! -e $STAND_IN/go ]]; do sleep 0.05; done")
    process = place.start(file, "--seed", 1)
    place.wait_until_ready()
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=20)
    process = place.start(file, "--resume")
    said = ""
    while "waiting" not in said:
        said = process.stderr.readline()
        assert said, "it ended without having waited"
    assert len(place.calls()) == 1
    place.undo()
    (place.notes / "go").touch()
    process.communicate(timeout=20)
    assert process.returncode == 0
    lines = (place.notes / "calls").read_text().splitlines()
    assert lines[:3] == ["begin 0", "end 0", "begin 0"], "never two at once"
    is_whole(place, 2)


def test_resume_refuses_another_configuration_and_shows_what_changed(place):
    file = place.write("x", SIX)
    place.do(1, "exit 3")
    place.batch(file, "--seed", 1)
    changed = place.write("x", SIX, "sweep: {sizes: [2KiB]}")
    complains(
        place.batch(changed, "--resume"), 2, "another configuration", "-  sizes: [1024]", "+  sizes: [2048]"
    )
    place.write("x", SIX)
    complains(place.batch(file, "--resume", "--seed", 2), 2, "--seed was 1, is now 2")
    complains(place.batch(file, "--resume", "--launches", 2), 2, "--launches was None, is now 2")
    assert len(place.calls()) == 6
    place.undo()
    place.write("x", SIX, "sweep: {sizes: [1024]}  # the same, in other words")
    assert place.batch(file, "--resume").returncode == 0


def test_shards_together_are_the_whole(place):
    files = [place.write(name, SIX) for name in ("a", "b")]
    complains(place.batch(*files, "--shard", "1/3"), 2, "--seed")
    assert place.batch(*files, "--seed", 4, "--shard", "1/3").returncode == 0
    shards = [place.calls()]
    for part in (2, 3):
        before = len(place.calls())
        assert place.batch(place.folder, "--resume", "--shard", f"{part}/3").returncode == 0
        shards.append(place.calls()[before:])
    assert shards == [[0, 3, 6, 9], [1, 4, 7, 10], [2, 5, 8, 11]]
    is_whole(place, 12)


def test_shards_at_the_same_time_lose_nothing(place):
    file = place.write("x", "{np: 1, launches: 12}")
    assert place.batch(file, "--seed", 4, "--shard", "1/12").returncode == 0
    running = [place.start(place.folder, "--resume", "--shard", f"{part}/3") for part in (1, 2, 3)]
    assert [process.communicate(timeout=60) and process.returncode for process in running] == [0, 0, 0]
    assert sorted(place.calls()) == list(range(12))
    is_whole(place, 12)


def test_first_interrupt_lets_the_launch_finish(place):
    file = place.write("x", SIX)
    place.do("all", "sleep 0.7")
    process = place.start(file, "--seed", 1)
    place.wait_for(2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Ctrl-C again" in err and "2 of 6 launches done, 0 failed, 4 not run" in err
    assert place.calls("end") == [0, 1]
    place.undo()
    assert place.batch(file, "--resume").returncode == 0
    is_whole(place, 6)


def test_second_interrupt_ends_the_launch_kindly_and_a_third_kills_it(place):
    file = place.write("x", "{np: 1, launches: 2}")
    forever = "while :; do sleep 0.05; done"
    place.do(0, f"trap 'echo whole >\"$output\"; echo rest >\"$output.spill.1\"; exit 4' USR1; {READY} {forever}")
    assert interrupted(place, signal.SIGINT, 2, file, "--seed", 1) == 130
    assert [file.read_text() for file in sorted(place.folder.glob("failed/*"))] == ["whole\n", "rest\n"]
    assert place.states() == ["interrupted", "waiting"]
    place.do(0, f"trap '' USR1 TERM; {READY} {forever}")
    assert interrupted(place, signal.SIGTERM, 3, file, "--resume") == 130
    place.undo()
    assert place.batch(file, "--resume").returncode == 0
    is_whole(place, 2)


def interrupted(place, number, times, *words):
    """Start a batch, send it a signal so many times while its launch runs, and give its exit code."""
    process = place.start(*words)
    place.wait_until_ready()
    for _ in range(times):
        process.send_signal(number)
        time.sleep(0.4)
    process.communicate(timeout=20)
    return process.returncode


def test_launch_that_takes_too_long_is_ended_and_the_next_one_runs(place):
    file = place.write("x", "{np: 1, launches: 2, timeout: 500ms}")
    place.do(0, "sleep 60 & wait")
    done = place.batch(file, "--seed", 1, seconds=20)
    complains(done, 4, "exit code 4: longer than launch.timeout, 0.5 s")
    assert place.states() == ["failed", "done"]


def test_where_keeps_what_it_says(place):
    file = place.write("x", "{np: [1, 2], env: [a: {}, b: {}], launches: 2}")
    done = place.batch(file, "--where", "np == 2 and env in ['b'] and not repeat > 1")
    assert done.returncode == 0
    assert [launch["label"] for launch in place.state()["launches"]] == ["x np=2 b #1"]
    complains(place.batch(file, "--where", "np > 2"), 2, "leaves no launch")
    complains(place.batch(file, "--where", "ranks > 2"), 2, "unknown name `ranks`", "bind_to")
    complains(place.batch(file, "--where", "__import__('os')"), 2, "--where knows")
    complains(place.batch(file, "--where", "env < 2"), 2, "cannot be judged")
    complains(place.batch(file, "--where", "np =="), 2, "no expression")


@pytest.mark.parametrize(
    ("launch", "words"),
    [
        ("{launches: 2}", ["launch.np"]),
        ("{np: 2, hostfile: no-such-file}", ["no host file no-such-file"]),
        ("{np: 2, nproc: 2}", ["x.yaml:3:17: unknown key `nproc`"]),
        ("{np: 2, env: [a: {}, a: {}]}", ["listed twice"]),
    ],
)
def test_wrong_experiments_are_refused_before_anything_is_made(place, launch, words):
    complains(place.batch(place.write("x", launch)), 2, *words)
    assert not place.data.exists()


def test_wrong_usage_is_one_line(place):
    file = place.write("x", SIX)
    for words, hint in [
        ([], "name one or more"),
        ([file, "--shard", "3/2"], "i from 1 to n"),
        ([file, "--launches", "0"], "from 1 to 1000"),
        ([file, "--sed", "1"], "--sed"),
        ([file, "--resume"], "nothing to resume"),
        ([file, file], "both named"),
        ([place.path, "--resume"], "batch.json"),
        ([file, "--shards", 2], "--slurm"),
    ]:
        done = place.batch(*words)
        complains(done, 2, hint)
        assert len(done.stderr.splitlines()) == 1, done


def test_mpirun_of_another_mpi_is_refused(place):
    (place.bin / "mpirun").write_text("#!/bin/sh\necho HYDRA build details:\n", encoding="utf-8")
    complains(place.batch(place.write("x", SIX)), 2, "not Open MPI's")


def test_dry_run_of_2000_cases_is_quick(place):
    sizes = "sweep: {algorithms: [ring-ll], sizes: {from: 8, to: 16000, step: 8}}"
    begin = time.monotonic()
    done = place.batch(place.write("x", SIX, sizes), "--dry-run")
    assert time.monotonic() - begin < 2
    assert done.stdout.count(" bytes\n") == 2000
    assert done.stdout.count("mpirun -np") == 6


def test_plain_lines_without_a_terminal(place):
    done = place.batch(place.write("x", "{np: 1, launches: 2}"), "--seed", 1)
    lines = [
        line
        for line in done.stderr.splitlines()
        if re.match(r"batch: \d/2 x np=1 #\d: done in .* s, ETA", line)
    ]
    assert len(lines) == 2
    assert "\r" not in done.stderr


def test_one_live_line_on_a_terminal(place):
    row = "1024 256 float sum -1 3.94 0.26 0.39 0 N/A N/A N/A N/A ring-ll host-shm 0.39 37.34"
    place.do("all", f"echo '{row}'; sleep 1.6")
    ours, theirs = pty.openpty()
    process = place.start(place.write("x", "{np: 1, launches: 2}"), "--seed", 1, stderr=theirs)
    os.close(theirs)
    seen = b""
    while chunk := _read(ours):
        seen += chunk
    assert process.wait(20) == 0
    text = seen.decode()
    assert "0/2 done, 0 failed, ETA unknown | x np=1" in text
    assert "1/2 done, 0 failed, ETA 0:0" in text
    assert "ring-ll 1024 B 0.39 GB/s" in text
    assert ": done in" not in text, "a good launch needs no line of its own"


def _read(handle):
    try:
        return os.read(handle, 65536)
    except OSError:
        return b""


def test_slurm_file_is_an_array_that_holds_and_resumes(place):
    file = place.write("x", "{np: [1, 2], launches: 3, timeout: 20m}")
    done = place.batch(file, "--slurm", "--shards", 3, "--seed", 1)
    assert done.returncode == 0, done
    script = place.folder / "batch.sbatch"
    assert done.stdout.startswith("sbatch ") and "batch.sbatch" in done.stdout
    text = script.read_text(encoding="utf-8")
    for line in ("--array=1-3", "--ntasks=2", "--time=0:50:00", "--requeue", "--signal=B:TERM@300"):
        assert f"\n#SBATCH {line}\n" in text
    assert "--time=0:50:00" in text, "two launches of 20 minutes a shard, and ten more"
    assert not place.calls(), "Slurm starts it, not we"


def slurm_job(shard):
    """What Slurm tells the last job of array 17, whose own number is that of the array."""
    return {"SLURM_ARRAY_JOB_ID": "17", "SLURM_ARRAY_TASK_ID": str(shard), "SLURM_JOB_ID": "17"}


@pytest.mark.parametrize(("code", "calls"), [(0, []), (3, ["requeuehold 17_2"])])
def test_slurm_script_runs_its_shard(place, code, calls):
    place.batch(place.write("x", SIX), "--slurm", "--shards", 2, "--seed", 1)
    place.do(1, f"[[ {code} == 0 ]] || exit {code}")
    told = place.scontrol()
    environment = place.environment() | slurm_job(2)
    done = subprocess.run(
        ["bash", place.folder / "batch.sbatch"], env=environment, capture_output=True, check=False, timeout=60
    )
    assert done.returncode == code, done
    assert place.calls() == [1, 3, 5]
    assert (told.read_text().splitlines() if told.exists() else []) == calls


def test_slurm_script_that_is_out_of_time_goes_on_later(place):
    place.batch(place.write("x", SIX), "--slurm", "--seed", 1)
    place.do(0, "sleep 1")
    told = place.scontrol()
    environment = place.environment() | slurm_job(1)
    process = subprocess.Popen(["bash", place.folder / "batch.sbatch"], env=environment)
    place.wait_for(1)
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 130
    assert told.read_text() == "requeue 17_1\n"
    assert place.states()[:2] == ["done", "waiting"]
