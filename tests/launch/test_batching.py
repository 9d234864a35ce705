# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""The pieces of launch/batching that need no program: command lines, order, codes, texts."""

import random
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "launch"))

from batching.codes import BatchError, worst  # noqa: E402
from batching.experiment import Experiment  # noqa: E402
from batching.mpirun import Mpirun, count_cores  # noqa: E402
from batching.plan import Launch, expand, make_plan, shard_of  # noqa: E402
from batching.progress import current_case, duration  # noqa: E402
from batching.runner import last_complaint  # noqa: E402
from batching.srun import Srun  # noqa: E402

LAUNCH = Launch("x", 4, None, None, "none", {}, {}, 60.0, "", 1)


def experiment(name="x", **launch):
    spec = {key: [None] for key in ("hostfile", "map_by")} | {"np": [2], "bind_to": ["none"]}
    spec |= {key: [{"name": None, "values": {}}] for key in ("env", "mca")}
    return Experiment(
        f"{name}.yaml", name, "", spec | {"timeout_s": 60.0, "launches": 1} | launch, [], "", ""
    )


@pytest.mark.parametrize(
    ("major", "slots", "change", "words"),
    [
        (4, 8, {}, "-np 4 --bind-to none"),
        (5, 8, {}, "-np 4 --bind-to none"),
        (4, 2, {}, "-np 4 --oversubscribe --mca mpi_yield_when_idle 1 --bind-to none"),
        (5, 2, {}, "-np 4 --map-by :OVERSUBSCRIBE --mca mpi_yield_when_idle 1 --bind-to none"),
        (
            4,
            2,
            {"map_by": "core"},
            "-np 4 --map-by core --oversubscribe --mca mpi_yield_when_idle 1 --bind-to none",
        ),
        (
            5,
            2,
            {"map_by": "core"},
            "-np 4 --map-by core:OVERSUBSCRIBE --mca mpi_yield_when_idle 1 --bind-to none",
        ),
        (4, 8, {"bind_to": "package"}, "-np 4 --bind-to socket"),
        (5, 8, {"bind_to": "socket"}, "-np 4 --bind-to package"),
        (4, 8, {"bind_to": None}, "-np 4"),
        (4, 2, {"hostfile": "/h"}, "-np 4 --hostfile /h --bind-to none"),
        (4, 8, {"env": {"A": "1"}, "mca": {"btl": "self"}}, "-np 4 --bind-to none -x A=1 --mca btl self"),
    ],
)
def test_words_of_both_open_mpi_versions(major, slots, change, words):
    assert Mpirun(major, slots).words(replace(LAUNCH, **change)) == ["mpirun", *words.split()]


def test_values_stay_single_words():
    words = Mpirun(4, 8).words(replace(LAUNCH, env={"A": 'it\'s "x"; $HOME, b'}))
    assert words[-1] == 'A=it\'s "x"; $HOME, b'


def test_slurm_counts_slots_itself():
    assert "--oversubscribe" not in Mpirun(4, 2, allocated=True).words(LAUNCH)
    assert Mpirun(4, 2, allocated=True).notes([LAUNCH]) == Mpirun(4, 8).notes([LAUNCH])


def test_oversubscription_is_said_once():
    plan = [replace(LAUNCH, np=np) for np in (2, 8, 4, 8)]
    (said,) = [note for note in Mpirun(4, 2).notes(plan) if "cores" in note]
    assert said == "4 or 8 ranks share 2 cores (oversubscribed): times are no measurement"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "--ntasks=4 --cpu-bind=none"),
        ({"bind_to": "numa"}, "--ntasks=4 --cpu-bind=ldoms"),
        ({"bind_to": None, "map_by": "ppr:2:node"}, "--ntasks=4 --ntasks-per-node=2"),
        ({"bind_to": None, "hostfile": "/h"}, "--ntasks=4 --nodefile=/h"),
    ],
)
def test_words_of_srun(change, words):
    assert Srun().words(replace(LAUNCH, **change)) == ["srun", "--mpi=pmix", "--export=ALL", *words.split()]


def test_srun_takes_variables_from_the_environment():
    launch = replace(LAUNCH, env={"A": "b, c"}, mca={"btl": "self"})
    assert Srun().environment(launch) == {"A": "b, c", "OMPI_MCA_btl": "self"}


@pytest.mark.parametrize("change", [{"map_by": "numa"}, {"bind_to": "l3cache"}])
def test_what_srun_has_not_is_refused(change):
    with pytest.raises(BatchError) as caught:
        Srun().words(replace(LAUNCH, **change))
    assert caught.value.code == 2


def test_every_combination_is_launched_as_often_as_said():
    one = experiment(np=[2, 4], bind_to=["none", "core"], launches=3)
    launches = list(expand(one, None))
    assert len(launches) == 12 == len(set((launch.np, launch.arm, launch.repeat) for launch in launches))
    assert len(list(expand(one, 5))) == 20


def test_plan_is_a_shuffle_of_everything_that_the_seed_decides():
    experiments = [experiment(name, launches=20) for name in "ab"]
    plan = make_plan(experiments, None, 1, lambda launch: True)
    assert plan == make_plan(experiments, None, 1, lambda launch: True)
    assert plan != make_plan(experiments, None, 2, lambda launch: True)
    assert [launch.index for launch in plan] == list(range(40))
    first_half = sum(launch.experiment == "a" for launch in plan[:20])
    assert 4 <= first_half <= 16, "one arm after the other is no shuffle"


def test_shards_are_disjoint_and_whole():
    plan = make_plan([experiment(launches=23)], None, 1, lambda launch: True)
    for parts in (1, 2, 5, 23, 30):
        shards = [shard_of(plan, (part, parts)) for part in range(1, parts + 1)]
        assert sorted(launch.index for shard in shards for launch in shard) == list(range(23))


def test_worst_code_is_that_of_the_documented_order():
    order = [8, 3, 4, 7, 6, 5, 2, 77, 0]
    for place, code in enumerate(order):
        rest = order[place:]
        random.Random(place).shuffle(rest)
        assert worst(rest) == code
    assert worst([]) == 0
    assert worst([3, 137]) == worst([1]) == 8, "what the program does not say itself is a fault in it"


def test_cores_are_counted_not_hardware_threads(tmp_path, monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {0, 1, 4, 5})
    for cpu in (0, 1, 4, 5):
        folder = tmp_path / f"sys/devices/system/cpu/cpu{cpu}/topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(f"{cpu % 4},{cpu % 4 + 4}\n")
    assert count_cores(tmp_path) == 2
    assert count_cores(tmp_path / "nothing") == 4


def test_current_case_is_the_last_row_of_the_last_attempt(tmp_path):
    log = tmp_path / "log"
    both = "1024 256 float sum -1 4.0 0.2 0.39 0 4.0 0.2 0.40 0 ring-ll host-shm 0.39 37.34\n"
    inside = "2048 512 float sum -1 N/A N/A N/A N/A 4.0 0.2 0.50 0 ring-simple host-shm 0.39 37.34\n"
    log.write_text(f"# attempt 1\n{both}")
    assert current_case(log) == "ring-ll 1024 B 0.39 GB/s"
    log.write_text(f"# attempt 1\n{both}{inside}# Out of bounds\n12 lines of 34 things\n")
    assert current_case(log) == "ring-simple 2048 B 0.50 GB/s"
    log.write_text(f"# attempt 1\n{both}# attempt 2\n")
    assert current_case(log) == "starting"


def test_complaint_is_whole_where_open_mpi_5_breaks_it(tmp_path):
    log = tmp_path / "log"
    dashes = "-" * 74
    words = "prterun noticed that process rank 1 with PID 7 on node a exited on\nsignal 9 (Killed)."
    notice = f"{dashes}\n{words}\n{dashes}\n"
    log.write_text(f"# attempt 1\n{notice}")
    assert last_complaint(log) == words.replace("\n", " ")
    log.write_text(f"# attempt 1\n{dashes}\n\0ringscope: rank 0 waits for rank 1\n{notice}")
    assert last_complaint(log) == "rank 0 waits for rank 1"


def test_complaint_is_the_last_of_the_last_attempt(tmp_path):
    log = tmp_path / "log"
    log.write_text(
        "# attempt 1\nringscope: old\n# attempt 2\nmpirun noticed that process rank 0 was killed.\n"
    )
    assert last_complaint(log) == "mpirun noticed that process rank 0 was killed."
    log.write_text("# attempt 1\nringscope: first\nringscope: last\nmpirun noticed that process rank 0\n")
    assert last_complaint(log) == "last"
    log.write_text("# attempt 1\n")
    assert "nothing" in last_complaint(log)


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0:00"), (59.6, "1:00"), (3723, "1:02:03")])
def test_durations_are_short(seconds, text):
    assert duration(seconds) == text
