# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""The samples of one case: each in its order, and how they are distributed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ringscope import metrics
from ringscope.report import words
from ringscope.report.page import Report, Section, note
from ringscope.report.sources import Source

#: Samples that the page holds at most, in all and of one case.
MOST_SAMPLES, LEAST_OF_CASE, MOST_OF_CASE = 60_000, 60, 1_000


def section(report: Report) -> Section:
    cases = sum(len(source.run.cases) for source in report.sources)
    room = int(np.clip(MOST_SAMPLES // max(cases, 1), LEAST_OF_CASE, MOST_OF_CASE))
    found = {key: value for source in report.sources for key, value in sample_series(source, room).items()}
    thin = sum(value["shown"] < value["of"] for value in found.values())
    html = note(
        "Every sample of the chosen case: left in the order in which they ran, right as the share of "
        "samples that took no longer. "
        "Only filled dots count for the median; the line is the median."
    )
    if thin:
        html += note(
            f"Thinned to keep the page small: of {words.count(thin, 'case')} every k-th sample is shown."
        )
    html += '<div id="samples-view" class="focus" aria-live="polite"></div>'
    return Section("samples", "Samples", html, {"samples": found})


def sample_series(source: Source, room: int) -> dict[str, dict[str, Any]]:
    """Give, per case, the time of one operation of each sample in ns with its state, thinned evenly."""
    if source.run.samples.empty:
        return {}
    times = metrics.sample_times(source.run.samples).dropna(subset=["ns_per_op"])
    return {source.case_key(case): _series(rows, room) for case, rows in times.groupby("case")}


def _series(rows: pd.DataFrame, room: int) -> dict[str, Any]:
    stride = -(-len(rows) // room)
    kept = rows.iloc[::stride]
    return {
        "iteration": kept["iteration"].tolist(),
        "ns": [float(f"{value:.6g}") for value in kept["ns_per_op"]],
        "state": kept["state"].astype(str).tolist(),
        "traced": kept["traced"].astype(int).tolist(),
        "shown": len(kept),
        "of": len(rows),
    }
