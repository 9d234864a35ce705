# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""One HTML page of one or several runs, for a person to read: one module per section."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ringscope.report import cold, curves, machine, ratios, samples, split, timeline, traffic, verdicts
from ringscope.report.page import Report, render
from ringscope.report.sources import open_sources, settings_of
from ringscope.run import RunError

#: The sections in the order of their making: those that read events come first, for what cannot be read is
#: then known to the others.
_MAKERS = (timeline, split, machine, verdicts, curves, ratios, traffic, cold, samples)
#: The sections in the order of the page.
_ORDER = "machine verdicts curves ratios traffic split timeline cold samples".split()


def make_page(paths: Sequence[str | Path]) -> tuple[str, list[str]]:
    """Give the page, and one line for each file that is not on it; where nothing can be shown, a RunError."""
    sources, refused = open_sources(paths)
    if not sources:
        raise RunError("; ".join(refused))
    report = Report(sources, settings_of(sources), refused)
    made = {section.id: section for section in (maker.section(report) for maker in _MAKERS)}
    names = [source.name for source in sources]
    title = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
    page = render(report, f"ringscope report: {title}", [made[name] for name in _ORDER])
    return page, [*refused, *(f"{source.run.path}: {fault}" for source in sources for fault in source.faults)]


def write_page(paths: Sequence[str | Path], output: Path) -> list[str]:
    """Write the page; give the lines that ``make_page`` gives."""
    page, said = make_page(paths)
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(page, encoding="utf-8")
    except OSError as error:
        raise RunError(f"{output}: cannot be written ({error})") from error
    return said
