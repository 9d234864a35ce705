# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Bytes per directed link: declared, traced and closed form, and the busiest link against the ranks."""

from __future__ import annotations

from html import escape

import pandas as pd

from ringscope import schema, text
from ringscope.report import svg, words
from ringscope.report.curves import legend
from ringscope.report.page import Report, Section, figure, folded, note, panel, table
from ringscope.report.sources import Setting

ACCOUNTS = ["declared_payload", "traced_payload", "closed_form"]
#: Rows of /traffic that the page holds at most; smaller messages of a curve are left out first.
MOST_ROWS = 60_000


def section(report: Report) -> Section:
    links, left_out = chosen_links(report)
    busiest = pd.concat([busiest_links(setting) for setting in report.settings], ignore_index=True)
    html = note("Payload bytes of one operation per directed link, sender down, receiver across.")
    if left_out:
        html += note(
            f"To keep the page small, the links of {words.count(left_out, 'case')} are left out: those of "
            "small messages."
        )
    html += '<div id="matrix" class="focus" aria-live="polite"></div>'
    html += "".join(
        panel(setting, _busiest_table(report, busiest[busiest["setting"] == setting.key]))
        for setting in report.settings
    )
    html += _against_ranks(report, busiest)
    return Section("traffic", "Traffic per link", html, {"links": links, "busiest": words.records(busiest)})


# ------------------------------------------------------------------------------------------------ frames


def chosen_links(report: Report) -> tuple[dict[str, dict], int]:
    """Give the links of each case as rows [src, dst, declared, traced, closed form, traced on the wire].

    Where there are more rows than the page can hold, cases of large messages come first. Give also how many
    cases were left out.
    """
    found: dict[str, dict] = {}
    room, left_out = MOST_ROWS, 0
    for setting in report.settings:
        groups = dict(tuple(setting.source.run.traffic.groupby("case")))
        for case in setting.rates.sort_values("bytes", ascending=False)["case"]:
            links = groups.get(case)
            if links is None:
                continue
            room -= len(links)
            left_out += room < 0
            if room >= 0:
                found[setting.source.case_key(case)] = {
                    "ranks": setting.source.run.world_size,
                    "rows": links[["src", "dst", *ACCOUNTS, "traced_wire"]].to_numpy().tolist(),
                }
    return found, left_out


def busiest_links(setting: Setting) -> pd.DataFrame:
    """Give, per case, links, total and busiest: the bytes on all links and on the fullest, divided by M.

    ``model`` is 2(N-1)/N, what a rank sends at least on average where no link does better.
    """
    run = setting.source.run
    traffic = run.traffic
    traced = (
        (traffic["traced_payload"] != schema.NOT_AVAILABLE)
        .groupby(traffic["case"])
        .transform("all")
        .astype(bool)
    )
    payload = traffic["traced_payload"].where(traced, traffic["declared_payload"])
    per_case = payload.groupby(traffic["case"]).agg(links="size", total="sum", busiest="max").reset_index()
    frame = setting.rates[["case", "series", "base", "shape", "bytes", "ranks"]].merge(per_case, on="case")
    frame = frame[frame["bytes"] > 0]
    return frame.assign(
        setting=setting.key,
        total=frame["total"] / frame["bytes"],
        busiest=frame["busiest"] / frame["bytes"],
        model=2 * (frame["ranks"] - 1) / frame["ranks"],
    )


# ------------------------------------------------------------------------------------------------ panels


def _busiest_table(report: Report, busiest: pd.DataFrame) -> str:
    if busiest.empty:
        return note("No case of this setting has observable traffic.")
    rows = []
    for series, group in busiest.groupby("series", sort=False):
        largest = group.loc[group["bytes"].idxmax()]
        rows.append(
            [
                f'<td {report.colour(largest["base"])}><i class="dot"></i>{escape(str(series))}</td>',
                text.size(int(largest["bytes"])),
                str(int(largest["links"])),
                *(f"{largest[column]:.4g} M" for column in ("busiest", "model", "total")),
            ]
        )
    head = ["algorithm", "at size", "links", "busiest link", "2(N−1)M/N", "all links together"]
    return folded("Busiest link of each algorithm", table(head, rows))


def _against_ranks(report: Report, busiest: pd.DataFrame) -> str:
    """Draw the busiest link against N, where the files have several N."""
    largest = (
        busiest.loc[busiest.groupby(["base", "series", "ranks"])["bytes"].idxmax()]
        if len(busiest)
        else busiest
    )
    ranks = sorted(set(largest["ranks"])) if len(largest) else []
    if len(ranks) < 2:
        return note("Give files of several numbers of ranks to see the busiest link against N.")
    x = svg.log_scale(ranks, svg.LEFT, svg.WIDTH - svg.RIGHT, 0.1)
    high = max(largest["busiest"].max(), largest["model"].max())
    chart = svg.Chart(x, svg.Scale(0, high * 1.15, svg.HEIGHT - svg.BOTTOM, svg.TOP, is_log=False))
    chart.vertical_axis(
        [(tick, f"{tick:g} M") for tick in svg.even_ticks(0, high * 1.15)], "bytes on the busiest link"
    )
    chart.horizontal_axis([(number, str(number)) for number in ranks], "ranks N")
    chart.canvas.path([(x(number), chart.y(2 * (number - 1) / number)) for number in ranks], "model")
    groups = list(largest.groupby("series", sort=False))
    for place, (series, rows) in enumerate(groups):
        # Many algorithms load their links alike: set apart sideways, or one would cover the others.
        aside = 5 * (place - (len(groups) - 1) / 2)
        _draw_ranks(chart, report, str(series), rows.sort_values("ranks").drop_duplicates("ranks"), aside)
    picture = chart.canvas.render("Bytes on the busiest link against the number of ranks")
    words_below = "Dashed: the model 2(N−1)M/N. Curves are set apart sideways by a little."
    return figure("Busiest link against N", legend(report, largest) + picture, words_below)


def _draw_ranks(chart: svg.Chart, report: Report, series: str, rows: pd.DataFrame, aside: float) -> None:
    points = [(chart.x(row["ranks"]) + aside, chart.y(row["busiest"])) for _, row in rows.iterrows()]
    shape = int(rows["shape"].iloc[0])
    chart.canvas.add(
        f'<g class="series" data-series="{escape(series)}" {report.colour(rows["base"].iloc[0])}>'
    )
    chart.canvas.path(points, "curve", svg.DASHES[shape % len(svg.DASHES)])
    for (left, top), (_, row) in zip(points, rows.iterrows(), strict=True):
        chart.canvas.marker(left, top, shape, f"{series}, N = {row['ranks']}\n{row['busiest']:.4g} M")
    chart.canvas.add("</g>")
