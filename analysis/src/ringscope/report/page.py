# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Puts sections together to one HTML page that needs nothing but itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from typing import Any

from ringscope.colours import DARK_LANE_COLOURS, DARK_PART_COLOURS, LANE_COLOURS, PART_COLOURS, colour_of
from ringscope.report.sources import Setting, Source


@dataclass(frozen=True)
class Section:
    """A part of the page, and the numbers on it as data that programs can read."""

    id: str
    title: str
    html: str
    #: Name -> value of each ``<script type="application/json" id="data-NAME">``.
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Report:
    """What every section is made from."""

    sources: list[Source]
    settings: list[Setting]
    #: Lines about files that could not be shown.
    refused: list[str] = field(default_factory=list)

    @property
    def algorithms(self) -> list[str]:
        """The ids of all algorithms, in the order in which they appear."""
        return list(dict.fromkeys(base for source in self.sources for base in source.rates["base"]))

    def colour(self, base: str) -> str:
        """Give the style that sets the colour of an algorithm for all that is inside."""
        return f'style="--c:var(--a{self.algorithms.index(base)})"'


# ------------------------------------------------------------------------------------------------ pieces


def note(words: str) -> str:
    return f'<p class="note">{escape(words)}</p>'


def figure(title: str, picture: str, caption: str = "") -> str:
    below = f'<p class="caption">{escape(caption)}</p>' if caption else ""
    return f"<figure><figcaption>{escape(title)}</figcaption>{picture}{below}</figure>"


def panel(setting: Setting, html: str) -> str:
    """Wrap what belongs to one setting: the page shows one at a time."""
    return f'<div class="panel" data-setting="{setting.key}"><h3>{escape(setting.label)}</h3>{html}</div>'


def of_source(report: Report, source: Source, html: str) -> str:
    """Wrap what belongs to one file, with its name where there are several."""
    title = f"<h3>{escape(source.name)}</h3>" if len(report.sources) > 1 else ""
    return f'<div class="source" data-source="{source.place}">{title}{html}</div>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]], name: str = "") -> str:
    """Lay out cells that are HTML already; a column of numbers stands to the right."""
    cells = [list(row) for row in rows]
    right = [bool(cells) and all(_is_number(row[place]) for row in cells) for place in range(len(head))]
    top = "".join(
        f'<th scope="col"{_side(number)}>{escape(word)}</th>'
        for word, number in zip(head, right, strict=True)
    )
    body = "".join(f"<tr>{''.join(map(_cell, row, right))}</tr>" for row in cells)
    return (
        f'<div class="scroll"><table class="{name}"><thead><tr>{top}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _is_number(cell: str) -> bool:
    return cell[:1].isdigit() or cell[:1] in "-+–"


def _side(number: bool) -> str:
    return ' class="number"' if number else ""


def _cell(cell: str, number: bool) -> str:
    return cell if cell.startswith(("<td", "<th")) else f"<td{_side(number)}>{cell}</td>"


def folded(title: str, html: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{html}</details>"


# ------------------------------------------------------------------------------------------------ page


def render(report: Report, title: str, sections: list[Section]) -> str:
    """Give the whole page."""
    islands = {name: value for section in sections for name, value in section.data.items()}
    return "".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">',
            f"<title>{escape(title)}</title><style>{_asset('page.css')}{_colour_rules(report)}</style></head><body>",
            '<a class="skip" href="#main">Skip to the results</a>',
            _header(report, title, sections),
            '<main id="main">',
            *(_section(section) for section in sections),
            "</main>",
            "<footer><p>Made by ringscope-analysis. This page needs no network; its numbers are in it as "
            "JSON, "
            "in script elements whose ids begin with <code>data-</code>.</p></footer>",
            '<div id="tip" role="tooltip" hidden></div>',
            *(_island(name, value) for name, value in islands.items()),
            f"<script>{_asset('page.js')}</script></body></html>\n",
        ]
    )


def _header(report: Report, title: str, sections: list[Section]) -> str:
    links = "".join(f'<a href="#{section.id}">{escape(section.title)}</a>' for section in sections)
    options = "".join(
        f'<option value="{setting.key}">{escape(setting.label)}</option>' for setting in report.settings
    )
    return (
        f'<header class="top"><h1>{escape(title)}</h1></header>'
        f'<div class="bar"><nav aria-label="Sections">{links}</nav><div class="choosers">'
        f'<label>Shown <select id="setting">{options}</select></label>'
        '<label>Case <select id="case"></select></label></div></div>'
    )


def _section(section: Section) -> str:
    return (
        f'<section id="{section.id}" aria-labelledby="{section.id}-title">'
        f'<h2 id="{section.id}-title">{escape(section.title)}</h2>{section.html}</section>'
    )


def _asset(name: str) -> str:
    return files("ringscope.report").joinpath(name).read_text(encoding="utf-8")


def _island(name: str, value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    # "</script" inside a string would end the element.
    return f'<script type="application/json" id="data-{name}">{text.replace("<", chr(92) + "u003c")}</script>'


def _colour_rules(report: Report) -> str:
    light, dark = _variables(report, False), _variables(report, True)
    return f":root{{{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"


def _variables(report: Report, dark: bool) -> str:
    lanes = DARK_LANE_COLOURS if dark else LANE_COLOURS
    rules = [f"--a{place}:{colour_of(base, dark)}" for place, base in enumerate(report.algorithms)]
    rules += [f"--{direction}-{kind}:{colour}" for (direction, kind), colour in lanes.items()]
    rules += [f"--{part}:{colour}" for part, colour in (DARK_PART_COLOURS if dark else PART_COLOURS).items()]
    return ";".join(rules)
