# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Every algorithm against the baselines, and against the fastest of each size."""

from __future__ import annotations

import math
from html import escape
from pathlib import Path

import pandas as pd

from ringscope import text
from ringscope.report import svg, words
from ringscope.report.curves import draw_curves, legend, size_chart
from ringscope.report.page import Report, Section, figure, folded, note, panel, table
from ringscope.report.sources import Setting
from ringscope.run import RunError
from ringscope.versus import BASELINES, CHOICE, CHOICE_OF_ONE, LIMIT, versus, versus_tables

#: Sizes of a heat map that still has room beside a chart.
MOST_SIZES_BESIDE = 7


def section(report: Report) -> Section:
    html = note(
        "Ratios of median times; above 1 is slower. The bars are as wide as the two intervals allow. They "
        "are of one "
        "launch: ringscope-analysis compare judges over several."
    )
    html += "".join(panel(setting, _panel(report, setting)) for setting in report.settings)
    fastest = {
        origin: _fastest(report, origin) for origin in dict.fromkeys(one.origin for one in report.sources)
    }
    html += "".join(_fastest_tables(origin, frame) for origin, frame in fastest.items() if len(frame))
    data = {
        "versus": [
            {"origin": origin.name} | row for origin, frame in fastest.items() for row in words.records(frame)
        ],
        "ratios": [record for setting in report.settings for record in _ratio_records(setting)],
        "winners": [record for setting in report.settings for record in _winner_records(setting)],
    }
    return Section("ratios", "Against the baselines", html, data)


# ------------------------------------------------------------------------------------------------ frames


def baselines_of(rates: pd.DataFrame) -> list[str]:
    """Name the curves of the baselines, each as it comes where it also ran with parameters."""
    found = []
    for base in BASELINES:
        series = list(dict.fromkeys(rates.loc[rates["base"] == base, "series"]))
        if series:
            found.append(base if base in series else series[0])
    return found


def ratios(rates: pd.DataFrame, baseline: str) -> pd.DataFrame:
    """Give median / median of the baseline per other case, with the widest interval that both allow.

    Columns: those of the rates, and ratio, ratio_low, ratio_high; the last two are NaN without an interval.
    """
    known = rates[(rates["median_ns"] > 0) & (rates["bytes"] > 0)]
    reference = known[known["series"] == baseline].set_index("bytes")
    others = known[(known["series"] != baseline) & known["bytes"].isin(reference.index)]
    base = {column: others["bytes"].map(reference[column]) for column in ("median_ns", "low_ns", "high_ns")}
    return others.assign(
        ratio=others["median_ns"] / base["median_ns"],
        ratio_low=others["low_ns"] / base["high_ns"],
        ratio_high=others["high_ns"] / base["low_ns"],
    )


def winners(rates: pd.DataFrame) -> pd.DataFrame:
    """Give, per size, the curve with the least median, and those whose intervals overlap its own."""
    known = rates[rates["median_ns"] > 0]
    rows = []
    for size, group in known.groupby("bytes"):
        best = group.loc[group["median_ns"].idxmin()]
        others = group[group["series"] != best["series"]]
        # Without an interval on either side nothing can be told apart.
        apart = others["low_ns"] > best["high_ns"]
        rows.append(
            {"bytes": int(size), "best": best["series"], "tied": others.loc[~apart, "series"].tolist()}
        )
    return pd.DataFrame(rows, columns=["bytes", "best", "tied"])


def _ratio_records(setting: Setting) -> list[dict]:
    return [
        {"setting": setting.key, "baseline": baseline} | row
        for baseline in baselines_of(setting.rates)
        for row in words.records(
            ratios(setting.rates, baseline)[["case", "series", "bytes", "ratio", "ratio_low", "ratio_high"]]
        )
    ]


def _winner_records(setting: Setting) -> list[dict]:
    return [{"setting": setting.key} | row for row in winners(setting.rates).to_dict(orient="records")]


def _fastest(report: Report, origin: Path) -> pd.DataFrame:
    """Set the fastest of ours against the fastest baseline over all arms of a batch; empty without either."""
    times = pd.concat([one.times for one in report.sources if one.origin == origin])
    try:
        return versus(times)
    except RunError:
        return pd.DataFrame()


# ------------------------------------------------------------------------------------------------ panels


def _fastest_tables(origin: Path, frame: pd.DataFrame) -> str:
    choice = CHOICE if frame["n"].max() > 1 else CHOICE_OF_ONE
    html = note(f"{choice[0].upper()}{choice[1:]}. {LIMIT[0].upper()}{LIMIT[1:]}.")
    for name, texts in versus_tables(frame):
        cells = [[escape(str(cell)) for cell in row] for row in texts.itertuples(index=False)]
        html += figure(name, table(list(texts.columns), cells))
    return folded(f"Fastest of ours against the fastest baseline: {origin.name}", html)


def _panel(report: Report, setting: Setting) -> str:
    pictures = "".join(_against(report, setting, baseline) for baseline in baselines_of(setting.rates))
    missing = "" if pictures else note("No baseline (mpi, nccl) ran in this setting.")
    heat = _heat_map(report, setting)
    if setting.rates["bytes"].nunique() <= MOST_SIZES_BESIDE:
        return f'{missing}<div class="pair">{pictures}{heat}</div>'
    return f'{missing}{heat}<div class="pair">{pictures}</div>'


def _against(report: Report, setting: Setting, baseline: str) -> str:
    frame = ratios(setting.rates, baseline)
    if frame.empty:
        return note(f"No other case has a size of {baseline}.")
    chart = size_chart(frame, [*frame["ratio"], *frame["ratio_low"], *frame["ratio_high"], 0.9, 1.1])
    chart.vertical_axis([(tick, _tick(tick)) for tick in _ratio_ticks(chart.y)], f"time / time of {baseline}")
    chart.canvas.line(svg.LEFT, chart.y(1), svg.WIDTH - svg.RIGHT, chart.y(1), "one")
    draw_curves(chart, report, frame, ["ratio", "ratio_low", "ratio_high"], _times)
    picture = chart.canvas.render(f"Ratio to {baseline} against size, {setting.label}")
    return figure(f"Against {baseline}", legend(report, frame) + picture)


def _times(ratio: float) -> str:
    return f"{words.digits(ratio)}x"


def _tick(ratio: float) -> str:
    halvings = -math.log2(ratio)
    return f"1/{2**halvings:g}x" if halvings >= 1 and halvings.is_integer() else f"{ratio:g}x"


def _ratio_ticks(scale: svg.Scale) -> list[float]:
    doublings = math.log2(scale.high / scale.low)
    if doublings < 2:
        return [
            tick
            for tick in (0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.5, 1.7, 2)
            if scale.low <= tick <= scale.high
        ]
    stride = max(1, math.ceil(doublings / 8))
    powers = range(math.floor(math.log2(scale.low)), math.ceil(math.log2(scale.high)) + 1)
    return [2.0**power for power in powers if power % stride == 0 and scale.low <= 2.0**power <= scale.high]


def _heat_map(report: Report, setting: Setting) -> str:
    known = setting.rates[setting.rates["median_ns"] > 0]
    if known.empty:
        return ""
    best = winners(setting.rates).set_index("bytes")
    sizes = sorted(set(known["bytes"]))
    rows = [
        [
            _row_head(report, str(series), group),
            *(_heat_cell(group, int(size), known, best) for size in sizes),
        ]
        for series, group in known.groupby("series", sort=False)
    ]
    grid = table(["time / least time", *(text.size(int(size)) for size in sizes)], rows, "heat")
    words_below = (
        "1.00 is the fastest of its size; ≈ marks those whose intervals overlap the fastest one's, "
        "which cannot be told from it."
    )
    return figure("Fastest by size", grid, words_below)


def _row_head(report: Report, series: str, group: pd.DataFrame) -> str:
    return f'<th scope="row" {report.colour(group["base"].iloc[0])}><i class="dot"></i>{escape(series)}</th>'


def _heat_cell(group: pd.DataFrame, size: int, known: pd.DataFrame, best: pd.DataFrame) -> str:
    mine = group[group["bytes"] == size]
    if mine.empty:
        return "<td></td>"
    ratio = float(mine["median_ns"].iloc[0] / known.loc[known["bytes"] == size, "median_ns"].min())
    series = mine["series"].iloc[0]
    tied = series in best.loc[size, "tied"]
    name = "best" if series == best.loc[size, "best"] else "tied" if tied else ""
    # Full colour at the fastest, none from four times its time on.
    depth = max(0.0, 1 - math.log2(ratio) / 2)
    sign = "≈ " if tied else ""
    return f'<td class="{name}" style="--depth:{depth:.2f}">{sign}{words.digits(ratio)}</td>'
