# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""The cold start: what passes between the start of a process and its first fast operation."""

from __future__ import annotations

from html import escape

import pandas as pd

from ringscope.cold import PHASES
from ringscope.report import svg, words
from ringscope.report.page import Report, Section, figure, folded, note, of_source, table
from ringscope.report.sources import Source


def section(report: Report) -> Section:
    html = note(
        "Each phase of the start, on a logarithmic axis. A ring is a rank; a dot is a case, in the colour "
        "of its algorithm. "
        "The number is the longest."
    )
    html += "".join(of_source(report, source, _ladder(report, source)) for source in report.sources)
    data = [
        {"source": source.place} | row for source in report.sources for row in words.records(phases(source))
    ]
    return Section("cold", "Cold start", html, {"cold": data})


def phases(source: Source) -> pd.DataFrame:
    """Give the rows of /cold in the order of the start, with case -1 for phases that belong to none."""
    cold = source.run.cold
    cold = cold if "case" in cold else cold.assign(case=-1)
    place = {phase: number for number, phase in enumerate(PHASES)}
    order = cold["phase"].map(lambda phase: place.get(phase, len(PHASES)))
    known = cold.assign(order=order)[cold["ns"] >= 0]
    return known.sort_values(["order", "case", "rank"], kind="stable")[["phase", "case", "rank", "ns"]]


def _ladder(report: Report, source: Source) -> str:
    frame = phases(source)
    drawn = frame[frame["ns"] > 0]
    if drawn.empty:
        return note("The file records no phase of the start.")
    height, left, right = 30, 130, 90
    names = list(dict.fromkeys(drawn["phase"]))
    canvas = svg.Canvas(760, height * len(names) + 34)
    x = svg.log_scale(drawn["ns"].tolist(), left, canvas.width - right, 0.05)
    bottom = height * len(names) + 8
    for tick in svg.log_ticks(x):
        canvas.line(x(tick), 4, x(tick), bottom, "grid")
        canvas.text(x(tick), bottom + 16, words.tick(tick, words.duration))
    for place, name in enumerate(names):
        _rung(canvas, report, source, x, height * place + 20, drawn[drawn["phase"] == name])
    return figure("Phases of the start", canvas.render("Phases of the cold start", "chart wide")) + folded(
        "Numbers", _numbers(frame)
    )


def _rung(
    canvas: svg.Canvas, report: Report, source: Source, x: svg.Scale, y: float, rows: pd.DataFrame
) -> None:
    name, longest = str(rows["phase"].iloc[0]), float(rows["ns"].max())
    canvas.text(118, y + 4, name.replace("_", " "), "label", "end")
    canvas.line(x(rows["ns"].min()), y, x(longest), y, "rung")
    bases = source.rates.set_index("case")["base"]
    for row in rows.itertuples(index=False):
        of_case = row.case in bases.index
        style = report.colour(bases[row.case]) if of_case else ""
        what = f"case {row.case}, {bases[row.case]}" if of_case else f"rank {row.rank}"
        tip = escape(f"{name}, {what}\n{words.duration(float(row.ns))}")
        kind = "dot-case" if of_case else "dot-rank"
        canvas.add(f'<circle class="{kind}" {style} cx="{x(row.ns):.1f}" cy="{y}" r="4.5" data-tip="{tip}"/>')
    canvas.text(canvas.width - 82, y + 4, words.duration(longest), "value", "start")


def _numbers(frame: pd.DataFrame) -> str:
    grouped = frame.groupby("phase", sort=False)["ns"]
    rows = [
        [
            escape(str(phase)),
            str(len(ns)),
            *(words.duration(float(value)) for value in (ns.min(), ns.median(), ns.max())),
        ]
        for phase, ns in grouped
    ]
    return table(["phase", "rows", "shortest", "median", "longest"], rows)
