# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Time lines for Perfetto: a checker of the format that shares no code with the writer, its mutants, and runs."""

from __future__ import annotations

import copy
import json
from collections import Counter, defaultdict
from pathlib import Path

import pandas as pd
import pytest

from ringscope import RunError, load_run, metrics, perfetto
from ringscope.cli import main

RECORDED = sorted((Path(__file__).parents[2] / "data" / "recorded").glob("*.h5"))
TRACED = [path for path in RECORDED if "article" not in path.name]


def faults(content: dict) -> list[str]:
    """Say what Perfetto would refuse or draw wrong: overlapping slices, and arrows that begin or end nowhere."""
    events = content["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    flows = [event for event in events if event["ph"] in "sf"]
    named = {(event["pid"], event["tid"]) for event in events if event["name"] == "thread_name"}
    found = [f"no name for {track(event)}" for event in slices if track(event) not in named]
    found += [f"no length: {event}" for event in slices if event["dur"] <= 0]
    return found + overlaps(slices) + loose(flows) + outside(slices, flows)


def track(event: dict) -> tuple[int, int]:
    return event["pid"], event["tid"]


def ns(microseconds: float) -> int:
    return round(microseconds * 1000)


def span(event: dict) -> tuple[int, int]:
    return ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])


def overlaps(slices: list[dict]) -> list[str]:
    found, busy = [], dict.fromkeys(map(track, slices), 0)
    for event in sorted(slices, key=span):
        begin, end = span(event)
        if begin < busy[track(event)]:
            found.append(f"overlap on {track(event)} at {begin} ns")
        busy[track(event)] = end
    return found


def loose(flows: list[dict]) -> list[str]:
    numbered = defaultdict(list)
    for event in sorted(flows, key=lambda event: event["ph"], reverse=True):
        numbered[event["id"]].append(event)
    found = []
    for number, ends in numbered.items():
        if [event["ph"] for event in ends] != ["s", "f"]:
            found.append(f"flow {number} has not one start and one end")
        elif ends[0]["ts"] > ends[1]["ts"]:
            found.append(f"flow {number} goes back in time")
    return found


def outside(slices: list[dict], flows: list[dict]) -> list[str]:
    """An arrow must touch a slice that moves bytes in its direction; the end of a slice no longer belongs to it."""
    spans = defaultdict(list)
    for event in slices:
        spans[track(event), event["name"]].append(span(event))
    return [
        f"flow {event['id']} ({event['ph']}) lies in no slice that is a {name}"
        for event in flows
        for name in [{"s": "send", "f": "receive"}[event["ph"]]]
        if not any(begin <= ns(event["ts"]) < end for begin, end in spans[track(event), name])
    ]


@pytest.fixture(name="content")
def fixture_content(run) -> dict:
    return perfetto.trace(run, 0)


def of_kind(content: dict, kind: str) -> list[dict]:
    return [event for event in content["traceEvents"] if event["ph"] == kind]


def test_a_ring_of_four_has_its_slices_and_its_arrows(content):
    # 4 ranks send and receive 6 messages each; every one waits and moves.
    assert faults(content) == []
    assert len(of_kind(content, "X")) == 4 * 6 * 2 * 2
    assert len(of_kind(content, "s")) == len(of_kind(content, "f")) == 4 * 6
    assert Counter(event["name"] for event in of_kind(content, "X")) == dict.fromkeys(
        perfetto.NAMES.values(), 24
    )
    names = {event["args"]["name"] for event in of_kind(content, "M") if "_name" in event["name"]}
    assert names == {f"rank {rank}" for rank in range(4)} | {"channel 0 send", "channel 0 recv"}


def test_times_are_those_of_the_events(content):
    # Rank 0's second op begins 10 us after its first: a receive waits 3 us of 9, its send 1 us of 9.
    second = [event for event in of_kind(content, "X") if event["pid"] == 0 and event["args"]["op"] == 1]
    assert {event["name"]: (event["ts"], event["dur"]) for event in second} == {
        "wait for data": (10, 3),
        "receive": (13, 6),
        "wait for a free slot": (10, 1),
        "send": (11, 8),
    }


def test_an_arrow_leads_from_a_send_to_its_receive(content):
    starts = {event["id"]: event for event in of_kind(content, "s")}
    ends = {event["id"]: event for event in of_kind(content, "f")}
    assert {(starts[key]["pid"], ends[key]["pid"]) for key in starts} == {(0, 1), (1, 2), (2, 3), (3, 0)}
    # A message of the op that begins at 10 k us is sent from 1 us on and there at 3 us of the next op.
    assert {round(ends[key]["ts"] - starts[key]["ts"], 3) for key in starts} == {12}


def test_overlapping_events_of_a_channel_get_tracks_of_their_own(run):
    events = metrics.events_of(run, 0)
    stretched = events.assign(end_ns=events["end_ns"] + 2 * 10_000)
    placed = perfetto.placed(stretched)
    assert set(placed["lane"]) == {0, 1, 2}
    assert placed.groupby("rank")["thread"].agg(["min", "max"]).to_numpy().tolist() == [[0, 5]] * 4


def test_lanes_are_as_few_as_they_can_be():
    spans = pd.DataFrame({"begin_ns": [0, 5, 10, 12, 20], "until_ns": [10, 12, 20, 14, 30]})
    spans = spans.assign(rank=0, channel=0, direction="send")
    assert metrics.lanes(spans).tolist() == [0, 1, 0, 1, 0]
    assert metrics.lanes(spans.assign(rank=range(5))).tolist() == [0] * 5


def test_an_event_without_length_lasts_a_nanosecond(spoiled):
    def shrink(file):
        file["events/ready_ns"][...] = file["events/begin_ns"][...]
        file["events/end_ns"][...] = file["events/begin_ns"][...]

    content = perfetto.trace(load_run(spoiled(shrink)), 0)
    moving = of_kind(content, "X")
    # All receives begin 10 us after the send that they belong to.
    assert faults(content) == [] and {event["dur"] for event in moving} == {0.001} and len(moving) == 48


def test_what_has_lost_its_partner_has_no_arrow_and_is_counted(spoiled):
    def lose(file):
        file["events/seq"][0] = 99  # the first send of rank 0 in the first traced iteration

    content = perfetto.trace(load_run(spoiled(lose)), 0)
    assert faults(content) == [] and len(of_kind(content, "s")) == 23
    assert "2 events have lost their other end" in perfetto.summary(content)


def test_what_never_ended_is_left_out(spoiled):
    def stop(file):
        file["events/end_ns"][0] = -1

    content = perfetto.trace(load_run(spoiled(stop)), 0)
    assert faults(content) == [] and len(of_kind(content, "X")) == 94 and len(of_kind(content, "s")) == 23


def longer(content):
    of_kind(content, "X")[0]["dur"] += 20


def drop_end(content):
    content["traceEvents"].remove(of_kind(content, "f")[0])


def double_start(content):
    content["traceEvents"].append(of_kind(content, "s")[0])


def move_start(content):
    of_kind(content, "s")[0]["ts"] += 9_000


def other_thread(content):
    of_kind(content, "f")[0]["tid"] += 5


def unnamed(content):
    content["traceEvents"] = [event for event in content["traceEvents"] if event["name"] != "thread_name"]


@pytest.mark.parametrize("mutant", [longer, drop_end, double_start, move_start, other_thread, unnamed])
def test_the_checker_finds_the_mutant(content, mutant):
    spoilt = copy.deepcopy(content)
    mutant(spoilt)
    assert faults(spoilt)


@pytest.mark.parametrize("path", TRACED, ids=lambda path: path.stem)
def test_every_traced_case_of_a_recorded_run_is_sound(path):
    run = load_run(path)
    for case in run.cases.loc[run.cases["events_written"] > 0, "case"]:
        content = perfetto.trace(run, case)
        assert faults(content) == [], case
        assert 2 * len(of_kind(content, "s")) == content["otherData"]["events"], case


def test_command_writes_the_largest_case(pristine, tmp_path, capsys):
    output = tmp_path / "out.json"
    assert main(["timeline", str(pristine), "--perfetto", str(output)]) == 0
    assert (
        "case 1 (ring-ll on host-shm, 4 KiB), iteration 22: 4 ranks, 96 slices, 24 arrows"
        in capsys.readouterr().out
    )
    assert faults(json.loads(output.read_text(encoding="utf-8"))) == []


def test_command_takes_case_and_iteration_and_replaces_nothing(pristine, tmp_path, capsys):
    output = tmp_path / "out.json"
    chosen = ["timeline", str(pristine), "--perfetto", str(output), "--case", "2", "--iteration", "23"]
    assert main(chosen) == 0
    assert json.loads(output.read_text(encoding="utf-8"))["otherData"]["iteration"] == 23
    assert main(chosen) == 7 and "replace it with --force" in capsys.readouterr().err
    assert main([*chosen, "--force"]) == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--case", "77"], "case 77"),
        (["--case", "4"], "case 4 has no events"),
        (["--iteration", "5"], "traced iterations: 22, 23"),
    ],
)
def test_command_says_what_there_is_not(pristine, tmp_path, capsys, options, words):
    output = tmp_path / "out.json"
    assert main(["timeline", str(pristine), "--perfetto", str(output), *options]) == 7
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1 and not output.exists()


def test_a_trace_of_nothing_is_refused(run):
    with pytest.raises(RunError, match="no events of iteration 0"):
        perfetto.trace(run, 0, 0)
