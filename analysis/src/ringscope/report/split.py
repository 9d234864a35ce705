# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Where the time of a traced operation went: waiting, moving, reducing, as far as a trace can tell."""

from __future__ import annotations

from html import escape

import pandas as pd

from ringscope import text
from ringscope import metrics
from ringscope.report import words
from ringscope.report.page import Report, Section, figure, folded, note, panel, table
from ringscope.report.sources import Setting, Source
from ringscope.report.svg import Canvas

#: Parts of an operation's time: column -> name.
PARTS = {
    "wait_data_ns": "waiting for data",
    "wait_credit_ns": "waiting for a free slot",
    "reduce_phase_ns": "moving, in reduce phases",
    "copy_phase_ns": "moving, in copy phases",
    "other_ns": "outside of ops",
}
REDUCING = ["reduce_scatter", "reduce"]
_KEYS = ["case", "iteration", "rank", "channel"]
_READ = [*_KEYS, "slice", "op", "direction", "peer", "phase", "begin_ns", "end_ns", "wait_data_ns", "wait_credit_ns"]


def section(report: Report) -> Section:
    frames = {source.place: time_parts(source) for source in report.sources}
    html = note(
        "Mean over ranks, channels and traced iterations. An op that adds reads, adds and stores in one "
        "pass: its moving and its "
        "reducing cannot be told apart. What is told apart is the phase that the schedule names: ops of the "
        "phases "
        "reduce_scatter and reduce, and ops of all_gather and broadcast. A ring's last addition belongs to "
        "its all_gather. "
        "Outside of ops are launch, start and end of a rank. Where a traced sample has several operations, as a "
        "graph has, these are means over them; back to back single operations are traced."
    )
    html += _key()
    html += "".join(
        panel(setting, _panel(report, setting, frames[setting.source.place])) for setting in report.settings
    )
    data = [{"source": place} | row for place, frame in frames.items() for row in words.records(frame)]
    return Section("split", "Where the time went", html, {"split": data})


# ------------------------------------------------------------------------------------------------- frame


def time_parts(source: Source) -> pd.DataFrame:
    """Give the parts of one operation's time in ns, one row per traced case.

    As one channel sees them: waits as traced, an op of several peers counted once from its first begin to its
    last end, the rest of it moving. ``other_ns`` is what remains between the rank's entry and exit.
    """
    per_rank = _per_rank(source.events(_READ))
    samples = source.run.samples
    usable = samples[~samples["state"].isin(["aborted"])][
        ["case", "iteration", "rank", "ops", "enter_ns", "exit_ns"]
    ]
    joined = per_rank.merge(usable, on=["case", "iteration", "rank"])
    inside = joined["exit_ns"] - joined["enter_ns"]
    parts = [part for part in PARTS if part != "other_ns"]
    joined["other_ns"] = (inside - joined[parts].sum(axis=1)).clip(lower=0)
    joined[list(PARTS)] = joined[list(PARTS)].div(joined["ops"], axis=0)
    return joined.groupby("case")[list(PARTS)].mean().reset_index()


def _per_rank(events: pd.DataFrame) -> pd.DataFrame:
    ops = metrics.op_times(events.assign(reduces=events["phase"].isin(REDUCING)), reduces=("reduces", "max"))
    reduces = ops["reduces"].astype(bool)
    ops["reduce_phase_ns"] = ops["moving_ns"].where(reduces, 0)
    ops["copy_phase_ns"] = ops["moving_ns"].where(~reduces, 0)
    per_channel = ops.groupby(_KEYS)[[part for part in PARTS if part != "other_ns"]].sum()
    return per_channel.groupby(["case", "iteration", "rank"]).mean().reset_index()


# ------------------------------------------------------------------------------------------------ panels


def _key() -> str:
    items = "".join(f'<span class="part"><i class="{part}"></i>{name}</span>' for part, name in PARTS.items())
    return f'<div class="legend">{items}</div>'


def _panel(report: Report, setting: Setting, parts: pd.DataFrame) -> str:
    frame = setting.rates[["case", "series", "base", "bytes"]].merge(parts, on="case")
    opaque = sorted(set(setting.rates["series"]) - set(frame["series"]))
    left_out = note(f"No events, so nothing to part: {words.listed(opaque, 6)}.") if opaque else ""
    if frame.empty:
        return left_out or note("No case of this setting has events.")
    pictures = "".join(
        figure(str(series), _bars(rows.sort_values("bytes")), "")
        for series, rows in frame.groupby("series", sort=False)
    )
    return f'<div class="small-multiples">{pictures}</div>{left_out}{folded("Numbers", _numbers(frame))}'


def _bars(rows: pd.DataFrame) -> str:
    """Draw one bar per size: shares of the whole, whose length in time stands at its end."""
    left, right, height = 66, 66, 20
    canvas = Canvas(360, height * len(rows) + 6)
    width = canvas.width - left - right
    for place, (_, row) in enumerate(rows.iterrows()):
        top, total, x = height * place + 3, row[list(PARTS)].sum(), left
        canvas.text(left - 6, top + 12, text.size(int(row["bytes"])), anchor="end")
        for part, name in PARTS.items():
            wide = width * row[part] / total if total > 0 else 0
            tip = f"{name}\n{words.duration(row[part])}, {words.percent(row[part] / total if total else 0)}"
            canvas.rect(x, top, wide, height - 5, part, f'data-tip="{escape(tip)}"')
            x += wide
        canvas.text(canvas.width - right + 6, top + 12, words.duration(total), anchor="start")
    series = rows["series"].iloc[0]
    return canvas.render(f"Parts of the time of {series}, by size", "chart bars")


def _numbers(frame: pd.DataFrame) -> str:
    rows = [
        [
            escape(row["series"]),
            text.size(int(row["bytes"])),
            *(words.duration(row[part]) for part in PARTS),
        ]
        for _, row in frame.iterrows()
    ]
    return table(["algorithm", "size", *PARTS.values()], rows)
