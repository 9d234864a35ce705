# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the events of one operation in the JSON format of Chrome's tracer, which https://ui.perfetto.dev opens.

A process is a rank. A thread is a channel and a direction, and where events of those would overlap, there are
as many threads as it takes: nothing overlaps within one. An event is a slice of waiting and a slice of moving;
an arrow leads from each send to its receive.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ringscope import metrics, text
from ringscope.run import Run, RunError

#: (direction, kind) -> name of the slice. Perfetto colours by name, so names say the kind and nothing else.
NAMES = {
    ("recv", "waiting"): "wait for data",
    ("recv", "moving"): "receive",
    ("send", "waiting"): "wait for a free slot",
    ("send", "moving"): "send",
}
#: What a slice shows when it is clicked on.
_DETAILS = ["peer", "payload_bytes", "wire_bytes", "chunk", "slice", "op", "step", "phase", "seq"]


def trace(run: Run, case: int, iteration: int | None = None) -> dict[str, Any]:
    """Give one traced operation, by default the first that is ok, as an object for ``json.dump``.

    Times are microseconds since the first event, to the nanosecond. An event that its rank never finished is
    left out, and so is the arrow of a message that has one end only.
    """
    events = placed(_finished(run, case, iteration))
    chosen = run.cases[run.cases["case"] == case].iloc[0]
    origin = int(events["begin_ns"].min())
    return {
        "displayTimeUnit": "ns",
        "otherData": {
            "file": str(run.path),
            "case": int(case),
            "iteration": int(events["iteration"].iloc[0]),
            "events": len(events),
            "algorithm": chosen["algorithm"],
            "engine": chosen["engine"],
            "bytes": int(chosen["bytes"]),
            "ranks": run.world_size,
        },
        "traceEvents": [*_names(events), *_slices(events, origin), *_arrows(events, origin)],
    }


def _finished(run: Run, case: int, iteration: int | None) -> pd.DataFrame:
    events = metrics.events_of(run, case, iteration)
    ended = (
        (events["begin_ns"] >= 0)
        & (events["begin_ns"] <= events["ready_ns"])
        & (events["ready_ns"] <= events["end_ns"])
    )
    if not ended.any():
        traced = sorted(set(run.events.loc[run.events["case"] == case, "iteration"]))
        raise RunError(
            f"{run.path}: case {case} has no events of iteration {iteration} that ended; "
            f"traced iterations: {', '.join(map(str, traced)) or 'none'}"
        )
    return events[ended]


def write(run: Run, path: str | Path, case: int, iteration: int | None = None) -> dict[str, Any]:
    """Write what ``trace`` gives to a file, and give it back."""
    content = trace(run, case, iteration)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file, separators=(",", ":"))
    return content


def summary(content: dict[str, Any]) -> str:
    """Say in words what ``trace`` gave: the operation, its events and its arrows."""
    about, count = content["otherData"], Counter(event["ph"] for event in content["traceEvents"])
    said = (
        f"case {about['case']} ({about['algorithm']} on {about['engine']}, {text.size(about['bytes'])}), "
        f"iteration {about['iteration']}: {about['ranks']} ranks, {count['X']} slices, {count['s']} arrows"
    )
    lone = about["events"] - 2 * count["s"]
    return said + (f"; {lone} events have lost their other end and have no arrow" if lone else "")


def placed(events: pd.DataFrame) -> pd.DataFrame:
    """Add ``until_ns``, ``lane`` and ``thread`` to events of one iteration.

    ``until_ns`` is ``end_ns``, but at least a nanosecond after ``ready_ns``: a slice without length would
    show nowhere and carry no arrow. ``thread`` numbers the tracks of a rank from 0.
    """
    frame = events.assign(until_ns=np.maximum(events["end_ns"], events["ready_ns"] + 1))
    frame = frame.assign(lane=metrics.lanes(frame))
    number = frame.groupby(["rank", "channel", "direction", "lane"], observed=True).ngroup()
    return frame.assign(thread=number - number.groupby(frame["rank"]).transform("min"))


def _names(events: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for rank in sorted(set(events["rank"])):
        yield _label("process_name", rank, 0, {"name": f"rank {rank}"})
        yield _label("process_sort_index", rank, 0, {"sort_index": int(rank)})
    for row in events.drop_duplicates(["rank", "thread"]).itertuples(index=False):
        more = f" {row.lane + 1}" if row.lane else ""
        name = f"channel {row.channel} {row.direction}{more}"
        yield _label("thread_name", row.rank, row.thread, {"name": name})
        yield _label("thread_sort_index", row.rank, row.thread, {"sort_index": int(row.thread)})


def _label(kind: str, rank: int, thread: int, content: dict[str, Any]) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": int(rank), "tid": int(thread), "args": content}


def _slices(events: pd.DataFrame, origin: int) -> Iterator[dict[str, Any]]:
    details = events[_DETAILS].astype({"phase": str}).to_dict("records")
    for row, shown in zip(events.itertuples(index=False), details, strict=True):
        spans = (("waiting", row.begin_ns, row.ready_ns), ("moving", row.ready_ns, row.until_ns))
        for kind, first, last in spans:
            if last > first:
                yield {
                    "ph": "X",
                    "name": NAMES[row.direction, kind],
                    "cat": kind,
                    "pid": int(row.rank),
                    "tid": int(row.thread),
                    "ts": _us(first - origin),
                    "dur": _us(last - first),
                    "args": shown,
                }


def _arrows(events: pd.DataFrame, origin: int) -> Iterator[dict[str, Any]]:
    """An arrow leads from where a sender begins to move to where the first data are there."""
    columns = ["src", "dst", "ready_ns_send", "ready_ns_recv", "thread_send", "thread_recv"]
    messages = metrics.messages(events)[columns]
    for number, row in enumerate(messages.itertuples(index=False)):
        ends = (
            ("s", row.src, row.thread_send, row.ready_ns_send),
            ("f", row.dst, row.thread_recv, row.ready_ns_recv),
        )
        for kind, rank, thread, moment in ends:
            yield {
                "ph": kind,
                "bp": "e",
                "id": number,
                "name": "message",
                "cat": "message",
                "pid": int(rank),
                "tid": int(thread),
                "ts": _us(moment - origin),
            }


def _us(nanoseconds: int) -> float:
    return round(int(nanoseconds) / 1000, 3)
