# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""The results in words: right or wrong, what wins, what tracing costs, what is not to be believed."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from ringscope import lint, metrics, text
from ringscope.report import health, words
from ringscope.report.health import BAD, GOOD, REMARK, WARNING, Finding
from ringscope.report.machine import findings
from ringscope.report.page import Report, Section, of_source
from ringscope.report.ratios import winners
from ringscope.report.sources import Setting, Source


def section(report: Report) -> Section:
    html, data = "", []
    for source in report.sources:
        mine = [setting for setting in report.settings if setting.source is source]
        found = list(verdicts(source, mine))
        data += [{"source": source.place, "level": one.level, "words": one.words} for one in found]
        html += of_source(report, source, findings(found))
    return Section("verdicts", "Verdicts", html, {"verdicts": data})


def verdicts(source: Source, settings: list[Setting]) -> Iterator[Finding]:
    yield results(source.run.cases)
    yield traffic(source)
    for setting in settings:
        yield from wins(setting, several=len(settings) > 1)
    yield from overhead(source.run.cases, source.run.samples)
    yield causality(source)
    yield belief(source)


def results(cases: pd.DataFrame) -> Finding:
    """Say whether every result was right."""
    ok, wrong = int((cases["status"] == "ok").sum()), int((cases["status"] == "wrong").sum())
    if wrong:
        return Finding(
            BAD, f"Results: {words.count(wrong, 'case')} of {len(cases)} gave wrong results or traffic."
        )
    rest = f"; {len(cases) - ok} did not finish" if ok < len(cases) else ""
    return Finding(
        GOOD if not rest else WARNING, f"Results: {ok} of {words.count(len(cases), 'case')} verified{rest}."
    )


def traffic(source: Source) -> Finding:
    """Say whether declared, traced and closed-form bytes are equal on every link."""
    links = metrics.traffic_check(source.run)
    said = f"Traffic: {metrics.traffic_verdict(source.run)}."
    if links.empty:
        return Finding(REMARK, said)
    return Finding(GOOD if links["equal"].all() else BAD, said)


# -------------------------------------------------------------------------------------------------- wins


def wins(setting: Setting, several: bool) -> Iterator[Finding]:
    """Say which curve is the fastest from which size to which, and where it cannot be told."""
    best = winners(setting.rates)
    if best.empty or setting.rates["series"].nunique() < 2:
        return
    spans = [
        f"{series} {_span(sizes)}" for series, sizes in _runs(best["bytes"].tolist(), best["best"].tolist())
    ]
    unclear = best[best["tied"].map(len) > 0]
    doubt = (
        f"; not told apart from others at {words.listed([text.size(int(size)) for size in unclear['bytes']])}"
        if len(unclear)
        else ""
    )
    where = f" ({setting.label})" if several else ""
    yield Finding(REMARK, f"Fastest{where}: {'; '.join(spans)}{doubt}.")


def _runs(sizes: list[int], names: list[str]) -> Iterator[tuple[str, list[int]]]:
    begin = 0
    for place in range(1, len(names) + 1):
        if place == len(names) or names[place] != names[begin]:
            yield names[begin], sizes[begin:place]
            begin = place


def _span(sizes: list[int]) -> str:
    first, last = text.size(int(sizes[0])), text.size(int(sizes[-1]))
    return f"at {first}" if len(sizes) == 1 else f"from {first} to {last}"


# ------------------------------------------------------------------------------------------------- trace


def overhead(cases: pd.DataFrame, samples: pd.DataFrame) -> Iterator[Finding]:
    """Say what tracing costs: median and range over cases, and how many are perturbed."""
    known = cases["trace_overhead"].dropna()
    if known.empty:
        yield Finding(REMARK, "Trace overhead: not measured.")
        return
    traced = samples[samples["traced"].astype(bool)].groupby("case")["iteration"].nunique()
    few = f", of {int(traced.min())} traced iterations each at least" if len(traced) else ""
    said = (
        f"Trace overhead: {words.percent(known.median(), True)} (median of "
        f"{words.count(len(known), 'case')}{few}), "
        f"from {words.percent(known.min(), True)} to {words.percent(known.max(), True)}"
    )
    perturbed, certain = _perturbed(cases)
    if perturbed:
        kind = "certainly " if certain else ""
        said += f"; {kind}above {words.percent(health.PERTURBED)} in {words.count(perturbed, 'case')}"
    yield Finding(WARNING if perturbed else GOOD, said + ".")


def _perturbed(cases: pd.DataFrame) -> tuple[int, bool]:
    """Count the cases above the limit; by the lower end of the interval where the file has one."""
    if "trace_overhead_low" in cases and cases["trace_overhead_low"].notna().any():
        return int((cases["trace_overhead_low"] > health.PERTURBED).sum()), True
    return int((cases["trace_overhead"] > health.PERTURBED).sum()), False


def causality(source: Source) -> Finding:
    """Say whether any chunk was received before it was sent, within the error of the clocks."""
    cases = source.run.cases
    if "causality_pairs" in cases and (cases["causality_pairs"] >= 0).any():
        return _checked_causality(cases[cases["causality_pairs"] >= 0])
    columns = ["case", "direction"]
    sends = int((source.events(columns)["direction"] == "send").sum())
    if not sends:
        return Finding(REMARK, "Causality: there are no events to check.")
    problems = lint.message_pairs(source.run)
    if problems:
        return Finding(BAD, f"Causality: {words.listed(problems, 3)}.")
    bound = source.run.clock["error_bound_ns"].max()
    error = f" within the clocks' error of {words.duration(float(bound))}" if bound > 0 else ""
    return Finding(
        GOOD, f"Causality: none of {words.count(sends, 'message')} was received before it was sent{error}."
    )


def _checked_causality(cases: pd.DataFrame) -> Finding:
    pairs, decisive, violations = (
        int(cases[f"causality_{name}"].clip(lower=0).sum()) for name in ("pairs", "decisive", "violations")
    )
    said = (
        f"{words.count(pairs, 'message')} checked, {decisive:,} of them further apart than the clocks' error"
    )
    if violations:
        return Finding(BAD, f"Causality: {violations:,} received before they were sent ({said}).")
    return Finding(GOOD, f"Causality: none was received before it was sent ({said}).")


def belief(source: Source) -> Finding:
    """Sum up what is not to be believed."""
    against = [one for one in health.health(source) if one.level in (BAD, WARNING)]
    if not against:
        return Finding(
            GOOD,
            "Nothing recorded speaks against these numbers. They are of one launch; the next may differ.",
        )
    reasons = "; ".join(one.words.split(": ")[0].split(". ")[0].rstrip(".") for one in against)
    level = BAD if any(one.level == BAD for one in against) else WARNING
    return Finding(level, f"Not to be believed without a second look: {reasons}.")
