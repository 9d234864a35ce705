# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Time and bus bandwidth against size, with intervals, the machine's ceiling and the model 2(N-1)M/N."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

import pandas as pd

from ringscope import metrics, text
from ringscope.report import svg, words
from ringscope.report.page import Report, Section, figure, folded, note, panel, table
from ringscope.report.sources import Setting, Source

_COLUMNS = (
    "case series base engine protocol bytes count dtype op in_place mode channels status n "
    "median_ns low_ns high_ns q05_ns q95_ns algbw_gb_s busbw_gb_s"
).split()


@dataclass(frozen=True)
class Ceiling:
    """What the slowest link of the machine carries at best, in GB/s, and how that was measured."""

    gb_s: float
    name: str


def section(report: Report) -> Section:
    html = note(
        "Median time of one operation, bars: its 95 % interval. Bus bandwidth is M/t x 2(N-1)/N: it "
        "compares with the "
        "rate of a link only where an algorithm loads all links alike. Both axes are logarithmic; curves "
        "are set apart sideways by a little."
    )
    html += "".join(panel(setting, _panel(report, setting)) for setting in report.settings)
    data = {
        "cases": [record for setting in report.settings for record in _records(setting)],
        "ceilings": [
            {"setting": setting.key, "name": ceiling.name, "gb_s": ceiling.gb_s}
            for setting in report.settings
            for ceiling in ceilings(setting)
        ],
    }
    return Section("curves", "Time and bandwidth", html, data)


def _records(setting: Setting) -> list[dict]:
    cases = setting.source.run.cases.set_index("case")
    frame = setting.rates[_COLUMNS].assign(
        key=[setting.source.case_key(case) for case in setting.rates["case"]],
        setting=setting.key,
        trace_overhead=setting.rates["case"].map(cases["trace_overhead"]),
        first_ns=setting.rates["case"].map(first_times(setting.source)),
        reason=setting.rates["case"].map(cases["reason"]),
    )
    return words.records(frame)


def first_times(source: Source) -> pd.Series:
    """Give, per case, the time of its first operation in ns."""
    if source.run.samples.empty:
        return pd.Series(dtype=float)
    cold = metrics.sample_times(source.run.samples).query("state == 'cold'")
    return cold.groupby("case")["ns_per_op"].first()


# ---------------------------------------------------------------------------------------------- ceilings


def ceilings(setting: Setting) -> list[Ceiling]:
    """Give the ceilings that were measured for the engines of a setting: by load and store, by copy "
    "engine."""
    machine = setting.source.run.machine
    if machine.empty:
        return []
    if "engine" not in machine:
        machine = machine.assign(engine="")
    engines = {*setting.rates["engine"], ""}
    found = []
    for engine, rows in machine[machine["engine"].isin(engines)].groupby("engine"):
        for column, way in (("bandwidth", "load and store"), ("copy_engine_bandwidth", "copy engine")):
            gb_s = _slowest_link(rows, column)
            if gb_s > 0:
                found.append(Ceiling(gb_s, ", ".join(filter(None, ["slowest link", str(engine), way]))))
    return found


def _slowest_link(machine: pd.DataFrame, column: str) -> float:
    known = machine[machine[column] > 0]
    return 0.0 if known.empty else float(known.groupby(["src", "dst"])[column].max().min() / 1e9)


def empty_kernel_ns(setting: Setting) -> float:
    """Give the time of an empty kernel in the mode of the setting, below which nothing can be; NaN "
    "without."""
    cases = setting.source.run.cases
    if "empty_kernel_ns" not in cases:
        return math.nan
    known = cases.loc[cases["case"].isin(setting.rates["case"]), "empty_kernel_ns"].dropna()
    return float(known.median()) if len(known) else math.nan


def model_times(sizes: list[float], ranks: int, gb_s: float) -> list[float]:
    """Give the time in ns that 2(N-1)M/N bytes take at a rate."""
    return [2 * (ranks - 1) * size / ranks / gb_s for size in sizes]


# ------------------------------------------------------------------------------------------------ panels


def _panel(report: Report, setting: Setting) -> str:
    drawn = setting.rates[(setting.rates["bytes"] > 0) & (setting.rates["median_ns"] > 0)]
    if drawn.empty:
        return note("No case of this setting has a time.") + folded("Numbers", numbers(report, setting))
    pictures = figure("Time of one operation", _times(report, setting, drawn))
    if setting.source.run.world_size > 1:
        pictures += figure("Bus bandwidth", _rates(report, setting, drawn), _ceiling_words(setting, drawn))
    alike = [series for series in dict.fromkeys(drawn["series"]) if series.endswith(")")]
    numbered = (
        note(
            "Numbered in their order, for the file says nothing that tells them apart: "
            f"{words.listed(alike, 8)}."
        )
        if alike
        else ""
    )
    below = folded("Numbers", numbers(report, setting))
    return f'{numbered}{legend(report, drawn)}<div class="pair">{pictures}</div>{below}'


def _ceiling_words(setting: Setting, drawn: pd.DataFrame) -> str:
    found = ceilings(setting)
    if found:
        return (
            "; ".join(f"{one.name}: {words.rate(one.gb_s)}" for one in found)
            + ", as measured on this machine."
        )
    return (
        "The file has no measured ceiling of this machine. The model in the picture of times is drawn at "
        "the best bus "
        f"bandwidth seen here, {words.rate(float(drawn['busbw_gb_s'].max()))}."
    )


def legend(report: Report, drawn: pd.DataFrame) -> str:
    """Name the curves; a press hides or shows one in every picture of its panel."""
    items = [
        f'<button type="button" class="key" aria-pressed="true" data-series="{escape(series)}" '
        f"{report.colour(row['base'])}>"
        f"{svg.swatch(row['shape'], _dash(row['shape']))}{escape(series)}</button>"
        for series, row in _first_rows(drawn)
    ]
    return f'<div class="legend" role="group" aria-label="Curves">{"".join(items)}</div>'


def _first_rows(drawn: pd.DataFrame) -> Iterator[tuple[str, pd.Series]]:
    for series, rows in drawn.groupby("series", sort=False):
        yield str(series), rows.iloc[0]


def _dash(shape: int) -> str:
    return svg.DASHES[shape % len(svg.DASHES)]


def _times(report: Report, setting: Setting, drawn: pd.DataFrame) -> str:
    empty = empty_kernel_ns(setting)
    chart = size_chart(drawn, [*drawn["median_ns"], *drawn["low_ns"], *drawn["high_ns"], empty])
    chart.vertical_axis([(tick, words.tick(tick, words.duration)) for tick in svg.log_ticks(chart.y)], "")
    _draw_model(chart, setting, drawn)
    if empty > 0:
        _level(chart, empty, f"empty kernel: {words.duration(empty)}")
    draw_curves(chart, report, drawn, ["median_ns", "low_ns", "high_ns"], words.duration)
    return chart.canvas.render(f"Time of one operation against size, {setting.label}")


def _rates(report: Report, setting: Setting, drawn: pd.DataFrame) -> str:
    found = ceilings(setting)
    # A rate's interval is that of the time, turned over.
    scale = drawn["busbw_gb_s"] * drawn["median_ns"]
    drawn = drawn.assign(low_gb_s=scale / drawn["high_ns"], high_gb_s=scale / drawn["low_ns"])
    chart = size_chart(
        drawn, [*drawn["busbw_gb_s"], *drawn["low_gb_s"], *drawn["high_gb_s"], *(one.gb_s for one in found)]
    )
    chart.vertical_axis(
        [(tick, words.tick(tick)) for tick in svg.log_ticks(chart.y)], "bus bandwidth in GB/s"
    )
    for ceiling in found:
        _level(chart, ceiling.gb_s, ceiling.name)
    draw_curves(chart, report, drawn, ["busbw_gb_s", "low_gb_s", "high_gb_s"], words.rate)
    return chart.canvas.render(f"Bus bandwidth against size, {setting.label}")


def _level(chart: svg.Chart, value: float, name: str) -> None:
    """Draw a level that nothing passes, with its name."""
    at = chart.y(value)
    chart.canvas.line(svg.LEFT, at, svg.WIDTH - svg.RIGHT, at, "model")
    chart.canvas.text(svg.LEFT + 6, at - 5, name, "model-name", "start")


def size_chart(drawn: pd.DataFrame, heights: list[float]) -> svg.Chart:
    """Give a chart whose bottom axis has the sizes of the rows, and whose height has all these values."""
    sizes = sorted({int(size) for size in drawn["bytes"]})
    x = svg.log_scale(sizes, svg.LEFT, svg.WIDTH - svg.RIGHT, 0.04)
    known = [height for height in heights if math.isfinite(height) and height > 0]
    chart = svg.Chart(x, svg.log_scale(known, svg.HEIGHT - svg.BOTTOM, svg.TOP))
    chart.horizontal_axis([(size, text.size(size)) for size in thinned(sizes, x)], "size of the buffer")
    return chart


def thinned(sizes: list[int], x: svg.Scale) -> list[int]:
    """Leave out sizes whose names would run into each other."""
    kept: list[int] = []
    for size in sorted(sizes, key=lambda size: (len(text.size(size)) > 8, size)):
        if all(
            abs(x(size) - x(other)) > 4 * (len(text.size(size)) + len(text.size(other))) for other in kept
        ):
            kept.append(size)
    return sorted(kept)


def _draw_model(chart: svg.Chart, setting: Setting, drawn: pd.DataFrame) -> None:
    ranks = setting.source.run.world_size
    rates = [one.gb_s for one in ceilings(setting)] or [float(drawn["busbw_gb_s"].max())]
    if ranks < 2:
        return
    # The part of the straight line that lies in the picture.
    per_byte = 2 * (ranks - 1) / ranks / max(rates)
    start, end = max(chart.x.low, chart.y.low / per_byte), min(chart.x.high, chart.y.high / per_byte)
    if start >= end:
        return
    # Its name stands low, where the curves are not.
    times = model_times([start, start**0.8 * end**0.2, end], ranks, max(rates))
    points = [(chart.x(time / per_byte), chart.y(time)) for time in times]
    chart.canvas.path(points, "model")
    (left, top), is_right = points[1], points[1][0] > 0.8 * svg.WIDTH
    chart.canvas.text(
        left + (-8 if is_right else 8), top + 14, "2(N−1)M/N", "model-name", "end" if is_right else "start"
    )


def draw_curves(chart: svg.Chart, report: Report, drawn: pd.DataFrame, columns: list[str], write) -> None:
    """Draw every curve with its intervals; columns are the value and its low and high bound.

    Curves are set apart sideways by a few pixels, or their intervals would cover each other.
    """
    groups = list(drawn.groupby("series", sort=False))
    places = sorted({chart.x(size) for size in drawn["bytes"]})
    gap = min((right - left for left, right in zip(places, places[1:], strict=False)), default=svg.WIDTH)
    step = min(3.0, 16 / len(groups), gap / 2 / len(groups))
    for place, (series, rows) in enumerate(groups):
        aside = step * (place - (len(groups) - 1) / 2)
        _draw_curve(chart, report, str(series), rows.sort_values("bytes"), columns, write, aside)


def _draw_curve(
    chart: svg.Chart, report: Report, series: str, rows: pd.DataFrame, columns: list[str], write, aside: float
) -> None:
    column, low, high = columns
    canvas, shape = chart.canvas, int(rows["shape"].iloc[0])
    points = [(chart.x(row["bytes"]) + aside, chart.y(row[column])) for _, row in rows.iterrows()]
    canvas.add(f'<g class="series" data-series="{escape(series)}" {report.colour(rows["base"].iloc[0])}>')
    canvas.path(points, "curve", _dash(shape))
    for (left, top), (_, row) in zip(points, rows.iterrows(), strict=True):
        if row[low] > 0 and row[high] > 0:
            canvas.line(left, chart.y(row[low]), left, chart.y(row[high]), "interval")
        canvas.marker(left, top, shape, _tip(series, row, columns, write))
    canvas.add("</g>")


def _tip(series: str, row: pd.Series, columns: list[str], write) -> str:
    value, low, high = (write(float(row[column])) for column in columns)
    interval = f"\n95 %: {low} to {high}" if row[columns[1]] > 0 else "\nno interval"
    return f"{series}, {text.size(int(row['bytes']))}\n{value}{interval}"


# ------------------------------------------------------------------------------------------------ numbers


def numbers(report: Report, setting: Setting) -> str:
    """Lay out the figures of every case; its name leads to its time line."""
    first = first_times(setting.source)
    head = [
        "case",
        "algorithm",
        "engine",
        "protocol",
        "size",
        "channels",
        "n",
        "median",
        "95 % from",
        "95 % to",
    ]
    head += ["95th percentile", "bus bandwidth", "first operation", "status"]
    rows = [
        [
            _case_button(setting, row["case"]),
            f'<td {report.colour(row["base"])}><i class="dot"></i>{escape(row["series"])}</td>',
            escape(str(row["engine"])),
            escape(str(row["protocol"])),
            text.size(int(row["bytes"])),
            str(row["channels"]),
            str(int(row["n"])),
            *(words.duration(row[column]) for column in ("median_ns", "low_ns", "high_ns", "q95_ns")),
            words.rate(row["busbw_gb_s"]),
            words.duration(float(first.get(row["case"], math.nan))),
            escape(str(row["status"])),
        ]
        for _, row in setting.rates.iterrows()
    ]
    return table(head, rows, "numbers")


def _case_button(setting: Setting, case: int) -> str:
    key = setting.source.case_key(case)
    return f'<td><button type="button" class="case" data-case="{key}">{case}</button></td>'
