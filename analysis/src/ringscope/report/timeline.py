# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""The time line of one case: every chunk that moved, as far as the page has room for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ringscope import metrics
from ringscope.report import words
from ringscope.report.page import Report, Section, note
from ringscope.report.sources import Source

#: Events that the page holds at most, in all and of one case, and lanes of one picture.
MOST_EVENTS, LEAST_OF_CASE, MOST_OF_CASE, MOST_LANES = 90_000, 120, 2_000, 32
_STAMPS = ["begin_ns", "ready_ns", "end_ns"]
_WAITS = ["wait_data_ns", "wait_credit_ns"]
_PLAIN = ["rank", "peer", "channel", "slice", "op", "step", "seq", "chunk", "payload_bytes"]
#: Since schema 1.2.
_LATER = ["posted_ns"]
_CODED = ["direction", "phase"]


def section(report: Report) -> Section:
    room = room_of_case(sum(_traced_cases(source) for source in report.sources))
    lines = {key: line for source in report.sources for key, line in time_lines(source, room).items()}
    thin = sum(line["shown"] < line["of_iteration"] for line in lines.values())
    html = note(
        "One traced operation of the chosen case. A lane is a rank, or a channel of a rank: receives in its "
        "upper half, sends in "
        "its lower half. Faint: waiting for the first data or for a free slot; strong: moving, and reducing "
        "where the op adds."
    )
    if thin:
        html += note(
            f"Thinned to keep the page small: {words.count(thin, 'time line')} of {len(lines)} show a part "
            "of their "
            "operation; which stands above each."
        )
    html += "".join(note(text) for source in report.sources for text in metrics.out_of_order(source.run))
    html += _KEY + '<div id="timeline-view" class="focus"></div>'
    return Section("timeline", "Time line", html, {"timelines": lines})


_KEY = (
    '<div class="legend">'
    + "".join(
        f'<span class="part"><i class="{direction}-{kind}"></i>{direction}, {kind}</span>'
        for direction in ("recv", "send")
        for kind in ("waiting", "moving")
    )
    + "</div>"
)


def _traced_cases(source: Source) -> int:
    return int((source.run.cases["events_written"] > 0).sum())


def room_of_case(cases: int) -> int:
    """Give how many events of each case the page can hold."""
    return int(np.clip(MOST_EVENTS // max(cases, 1), LEAST_OF_CASE, MOST_OF_CASE))


def time_lines(source: Source, room: int) -> dict[str, dict[str, Any]]:
    """Give the time line of every case with events: one traced iteration, thinned to the room there is."""
    events = source.events(["case", "iteration", *_PLAIN, *_CODED, *_STAMPS, *_WAITS], _LATER)
    sizes = events.groupby("case").size()
    iterations = _good_iterations(source, events)
    chosen = events[events["iteration"] == events["case"].map(iterations)]
    return {
        source.case_key(case): time_line(rows, room, int(sizes[case]))
        for case, rows in chosen.groupby("case")
    }


def _good_iterations(source: Source, events: pd.DataFrame) -> dict[int, int]:
    """Give, per case, the first traced iteration, of those in which no rank failed where there is one."""
    pairs = events[["case", "iteration"]].drop_duplicates()
    samples = source.run.samples
    bad = samples[samples["state"] != "ok"][["case", "iteration"]].drop_duplicates().assign(bad=1)
    pairs = pairs.merge(bad, on=["case", "iteration"], how="left").fillna({"bad": 0})
    return pairs.sort_values(["bad", "iteration"]).groupby("case")["iteration"].first().to_dict()


def time_line(rows: pd.DataFrame, room: int, of: int) -> dict[str, Any]:
    """Give the events of one iteration as columns for the page, in order of their begin.

    Begins are differences to the begin before; ready and end are differences to begin and ready. A column
    whose values are all the same is that value alone.
    """
    kept = thin(rows, room)
    kept = kept.sort_values(["begin_ns", "rank", "channel"], kind="stable")
    origin = int(rows["begin_ns"].min())
    columns = {name.removesuffix("_bytes"): kept[name] for name in _PLAIN}
    columns |= {name: kept[name].astype(str) for name in _CODED}
    columns |= {
        "begin": kept["begin_ns"].diff().fillna(kept["begin_ns"].iloc[0] - origin).astype("int64"),
        "waits": kept["ready_ns"] - kept["begin_ns"],
        "moves": kept["end_ns"] - kept["ready_ns"],
        "waited": kept[_WAITS].sum(axis=1),
    }
    if "posted_ns" in kept:
        columns["posted"] = (kept["posted_ns"] - kept["begin_ns"]).where(kept["posted_ns"] >= 0, -1)
    return {
        "iteration": int(rows["iteration"].iloc[0]),
        "span": int(rows["end_ns"].max() - origin),
        "shown": len(kept),
        "of_iteration": len(rows),
        "of": of,
        "left_out": _left_out(rows, kept, of),
        "columns": {name: _packed(column) for name, column in columns.items()},
    }


def thin(rows: pd.DataFrame, room: int) -> pd.DataFrame:
    """Keep whole channels, the first ones, while there is room; of a single one that is too long, its "
    "begin."""
    lanes_each = rows["rank"].nunique()
    counts = rows.groupby("channel").size().sort_index().cumsum()
    number = max(1, min(int((counts <= room).sum()), MOST_LANES // max(lanes_each, 1)))
    kept = rows[rows["channel"].isin(counts.index[:number])]
    return kept if len(kept) <= room else kept.sort_values("begin_ns", kind="stable").head(room)


def _left_out(rows: pd.DataFrame, kept: pd.DataFrame, of: int) -> str:
    """Say in words what part of the case's events is shown."""
    if len(kept) == of:
        return ""
    said = [f"{len(kept):,} of {of:,} events are shown: one traced iteration"]
    channels, all_channels = kept["channel"].nunique(), rows["channel"].nunique()
    if channels < all_channels:
        said.append(f"{channels} of its {all_channels} channels")
    if len(kept) < int(rows["channel"].isin(set(kept["channel"])).sum()):
        shown = kept["end_ns"].max() - rows["begin_ns"].min()
        said.append(f"its first {words.duration(float(shown))}")
    return ", ".join(said) + "."


def _packed(column: pd.Series) -> Any:
    values = column.tolist()
    return values[0] if len(set(values)) == 1 else values
