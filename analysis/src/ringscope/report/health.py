# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""What speaks against believing a run: facts of its machine, marks of its cases, gaps of its file."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from ringscope import metrics
from ringscope.health import changes
from ringscope.report import words
from ringscope.report.sources import Source
from ringscope.run import Run

BAD, WARNING, REMARK, GOOD = "bad", "warning", "remark", "good"

#: What the marks of ``cases.marks`` mean, and how much they matter.
MARKS = {
    "sync-limited": (WARNING, "the ranks' starts lie further apart than 5 % of the time"),
    "timer-limited": (WARNING, "the time is too short for its clock"),
    "batched": (REMARK, "several operations are one sample, because one is too short for the clock"),
    "not-warm": (WARNING, "the first timed samples are slower than the rest: more warm-up is needed"),
    "trace-perturbed": (
        WARNING,
        "tracing slows them by more than 5 %: waits and time lines are of a disturbed operation",
    ),
    "suspect": (BAD, "faster than the machine's own links as measured"),
    "throttled": (BAD, "a clock was held down while they ran"),
    "link-changed": (BAD, "the link of a GPU to the host was slower or narrower than before"),
    "aer-errors": (BAD, "links to GPUs had errors while they ran"),
    "xid": (BAD, "the driver reported an error of a GPU"),
    "clock-moved": (WARNING, "clocks disagree on how long a sample took"),
    "causality": (
        BAD,
        "messages were received before they were sent: draw no conclusions from the order of events",
    ),
}
#: From which overhead on a traced operation is another operation.
PERTURBED = 0.05
LEAST_SAMPLES = 6
#: The share of a run for which a clock may be held down.
MOST_THROTTLED = 0.01


@dataclass(frozen=True)
class Finding:
    """One sentence, and how much it matters."""

    level: str
    words: str


def health(source: Source) -> list[Finding]:
    """Give what the reader must know before any number of this source, the worst first."""
    run = source.run
    found = [*_of_devices(run), *_of_file(source), *_of_machine(run), *_of_cases(source)]
    return sorted(found, key=lambda finding: [BAD, WARNING, REMARK].index(finding.level))


# ---------------------------------------------------------------------------------------------- devices


def _of_devices(run: Run) -> Iterator[Finding]:
    """Say what the run, or what happened during it, did to GPUs, their links and processors."""
    for row in changes(run).itertuples(index=False):
        for said in _said_of(row):
            name = "The host" if row.device == "host" else f"GPU {row.device}"
            yield Finding(BAD, f"{name} (rank {row.rank}) {said} during the run.")


def _said_of(row) -> Iterator[str]:
    if row.least_width < row.width:
        yield f"had a link of {row.least_width:.0f} lanes instead of {row.width:.0f}"
    if row.errors > 0:
        yield f"had {words.count(int(row.errors), 'PCIe error')}"
    if row.xids > 0:
        yield f"had {words.count(int(row.xids), 'driver error')} (Xid)"
    if row.throttled > MOST_THROTTLED:
        yield f"had its clock held down for {words.percent(row.throttled)} of the time"


# ------------------------------------------------------------------------------------------------- file


def _of_file(source: Source) -> Iterator[Finding]:
    attributes = source.run.attributes
    if attributes.get("complete") != 1:
        yield Finding(
            BAD, "The file is incomplete: its writer did not finish. Cases, samples or events may lack."
        )
    if attributes["recovered"]:
        yield Finding(WARNING, "The file was recovered from a crashed run: cases may lack samples or events.")
    if attributes["lossy"]:
        yield Finding(
            WARNING, "The file is lossy: a trace buffer was full, and events of some cases were dropped."
        )
    if attributes["source"] == "simulated":
        yield Finding(REMARK, "The times are simulated, not measured.")
    for fault in source.faults:
        yield Finding(BAD, f"Of this file not all can be shown: {fault}.")


# ---------------------------------------------------------------------------------------------- machine


def _of_machine(run: Run) -> Iterator[Finding]:
    yield from _crowded(run)
    yield from _build(run)
    yield from _surroundings(run)


def _crowded(run: Run) -> Iterator[Finding]:
    for host, ranks in _by_host(run.environment):
        processors = {cpu for cpuset in ranks.get("cpuset", []) for cpu in cpus_of(str(cpuset))}
        if processors and len(processors) < len(ranks):
            yield Finding(
                BAD,
                f"Oversubscribed: {words.count(len(ranks), 'rank')} on {host} share "
                f"{words.count(len(processors), 'processor')}. Times are those of the scheduler, no "
                "measurement.",
            )
    shared = _shared_gpus(run.environment)
    if shared:
        yield Finding(BAD, f"Ranks share a GPU ({words.listed(shared)}): times are no measurement.")


def _by_host(environment: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    if "host" not in environment:
        return []
    # Containers may share a name; a boot id tells their systems apart.
    key = environment["host"].astype(str) + environment.get(
        "boot_id", pd.Series("", environment.index)
    ).astype(str)
    return [(group["host"].iloc[0], group) for _, group in environment.groupby(key)]


def _shared_gpus(environment: pd.DataFrame) -> list[str]:
    if "gpu_uuid" not in environment:
        return []
    uuids = environment["gpu_uuid"].astype(str)
    return sorted(set(uuids[(uuids != "") & uuids.duplicated()]))


def cpus_of(cpuset: str) -> set[int]:
    """Give the processors that a list such as ``0-3,8`` names; none where it is not such a list."""
    found: set[int] = set()
    for part in filter(None, cpuset.split(",")):
        first, _, last = part.partition("-")
        if not first.isdigit() or not (last or first).isdigit():
            return set()
        found.update(range(int(first), int(last or first) + 1))
    return found


def _build(run: Run) -> Iterator[Finding]:
    sanitizer, kind = run.facts.get("build.sanitizer", ""), run.facts.get("build.type", "Release")
    if sanitizer:
        yield Finding(BAD, f"The program was built with the sanitizer {sanitizer}: times are no measurement.")
    if kind not in ("Release", "RelWithDebInfo", "unavailable", ""):
        yield Finding(
            BAD, f"The program was built as {kind}, without optimisation: times are no measurement."
        )


def _surroundings(run: Run) -> Iterator[Finding]:
    facts = run.facts
    governor = facts.get("cpu.governor", "unavailable")
    if governor not in ("unavailable", "performance", ""):
        yield Finding(WARNING, f"The processor's governor is {governor}: its clock moves with the load.")
    load, online = _first_number(facts.get("load.average", "")), len(cpus_of(facts.get("cpu.online", "")))
    if online and load > max(0.25 * online, 0.5):
        yield Finding(
            WARNING,
            f"The machine was not idle: load {load:g} on {words.count(online, 'processor')} at the start.",
        )
    quota = cpu_quota(facts.get("cgroup.cpu.max", ""))
    if quota < run.world_size:
        yield Finding(
            WARNING,
            f"The container may use {quota:g} processors, fewer than the {run.world_size} ranks: "
            "it stops them now and then.",
        )


def _first_number(text: str) -> float:
    first = text.split(" ")[0]
    return float(first) if first.replace(".", "", 1).isdigit() else 0.0


def cpu_quota(limit: str) -> float:
    """Give how many processors the cgroup's ``QUOTA PERIOD`` allows; infinite without a limit."""
    parts = limit.split()
    if len(parts) != 2 or not all(part.isdigit() for part in parts) or int(parts[1]) == 0:
        return math.inf
    return int(parts[0]) / int(parts[1])


# ------------------------------------------------------------------------------------------------ cases


def _of_cases(source: Source) -> Iterator[Finding]:
    cases, rates = source.run.cases, source.rates
    yield from _failed(cases)
    yield from _marked(cases)
    yield from _late(source.run)
    few = rates[(rates["n"] > 0) & (rates["n"] < LEAST_SAMPLES)]
    if len(few):
        yield Finding(
            WARNING,
            f"{words.count(len(few), 'case')} of {len(rates)} have fewer than {LEAST_SAMPLES} samples: no "
            "interval.",
        )
    perturbed = cases[cases["trace_overhead"] > PERTURBED]
    if len(perturbed) and "marks" not in cases:
        yield Finding(
            WARNING,
            f"Tracing slows {words.count(len(perturbed), 'case')} by more than {words.percent(PERTURBED)}: "
            "waits and time lines of these are of a disturbed operation.",
        )


def _failed(cases: pd.DataFrame) -> Iterator[Finding]:
    for status, group in cases[cases["status"] != "ok"].groupby("status"):
        said = [case_words(row) for row in group.itertuples(index=False)]
        level = REMARK if status == "skipped" else BAD
        yield Finding(level, f"{words.count(len(group), 'case')} {status}: {words.listed(said, 3)}.")


def case_words(row) -> str:
    """Name a case and, where it did not end well, why."""
    reason = f" ({row.reason})" if row.reason else ""
    return f"{row.algorithm} {metrics.text.size(int(row.bytes))}, {row.mode}{reason}"


def _marked(cases: pd.DataFrame) -> Iterator[Finding]:
    if "marks" not in cases:
        return
    marks = cases["marks"].astype(str).str.split()
    for mark in sorted({word for marked in marks for word in marked}):
        hit = cases[[mark in marked for marked in marks]]
        level, meaning = MARKS.get(mark, (WARNING, "a mark that this package does not know"))
        named = [
            f"{row.algorithm} {metrics.text.size(int(row.bytes))}" for row in hit.itertuples(index=False)
        ]
        yield Finding(
            level, f"{words.count(len(hit), 'case')} marked {mark}: {meaning} ({words.listed(named)})."
        )


def _late(run: Run) -> Iterator[Finding]:
    samples = run.samples
    if samples.empty:
        return
    timed = samples[~samples["state"].isin(["cold", "warmup"]) & ~samples["traced"].astype(bool)]
    for state, meaning in UNCOUNTED.items():
        share = float((timed["state"] == state).mean()) if len(timed) else 0.0
        if share > 0.01:
            yield Finding(WARNING, f"{words.percent(share)} of the samples do not count: {meaning}.")


#: States of samples that were meant to count, and what happened to them.
UNCOUNTED = {
    "late_start": "a rank missed the common start",
    "aborted": "a rank did not answer",
    "verify_failed": "their results are wrong",
    "clock_moved": "a clock was set meanwhile",
    "throttled": "the clock of the processor or GPU was lowered",
}
