# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""One HTML page of one or several runs, for a person to read: one module per section."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ringscope.report import cold, curves, machine, ratios, samples, split, timeline, traffic, verdicts
from ringscope.report.page import Report, Section, note, render
from ringscope.report.sources import MISFITS, open_sources, settings_of
from ringscope.run import RunError

#: The sections in the order of the page.
_SECTIONS = {
    "machine": machine,
    "verdicts": verdicts,
    "curves": curves,
    "ratios": ratios,
    "traffic": traffic,
    "split": split,
    "timeline": timeline,
    "cold": cold,
    "samples": samples,
}
#: The order of their making: those that read events come first, for the others say what could not be read.
_MAKING = ["timeline", "split", *(name for name in _SECTIONS if name not in ("timeline", "split"))]


def make_page(paths: Sequence[str | Path]) -> tuple[str, list[str]]:
    """Give the page, and one line for each file that is not on it; where nothing can be shown, a RunError."""
    sources, refused = open_sources(paths)
    if not sources:
        raise RunError("; ".join(refused))
    faults: list[str] = []
    report = Report(sources, settings_of(sources), refused)
    made = {name: _section(report, name, faults) for name in _MAKING}
    names = [source.name for source in sources]
    title = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
    page = render(report, f"ringscope report: {title}", [made[name] for name in _SECTIONS])
    return page, [
        *refused,
        *faults,
        *(f"{source.run.path}: {fault}" for source in sources for fault in source.faults),
    ]


def _section(report: Report, name: str, faults: list[str]) -> Section:
    """Make a section; one whose tables contradict each other says so in its place, and among the faults."""
    try:
        return _SECTIONS[name].section(report)
    except MISFITS as error:
        words = (
            f"section {name} is left out: the tables do not fit together ({type(error).__name__}: {error})"
        )
        faults.append(words)
        return Section(name, name.capitalize(), note(words))


def write_page(paths: Sequence[str | Path], output: Path) -> list[str]:
    """Write the page; give the lines that ``make_page`` gives."""
    page, said = make_page(paths)
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(page, encoding="utf-8")
    except OSError as error:
        raise RunError(f"{output}: cannot be written ({error})") from error
    return said
