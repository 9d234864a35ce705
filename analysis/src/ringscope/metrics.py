# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Answers computed from the rows of a run: each function takes a run or a frame and gives a frame.

M is the size of a buffer in bytes (column ``bytes``), N the number of ranks. Every time is in nanoseconds,
every traffic figure in bytes of one operation.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from ringscope import schema, text
from ringscope.run import Run, RunError

_CASE_COLUMNS = """
    case algorithm engine protocol bytes count dtype op in_place offset mode channels status reason
""".split()


# ------------------------------------------------------------------------------------------------------ times


def sample_times(samples: pd.DataFrame) -> pd.DataFrame:
    """Give one row per case and iteration, over all ranks.

    ``time_ns`` is the largest ``device_ns`` where every rank has one, else last exit minus first entry; it is
    NaN where a rank has neither. ``ns_per_op`` is that divided by ``ops``. ``state`` is the worst state of
    any rank.
    """
    ranked = samples.assign(
        severity=_severity(samples["state"]),
        enter=_available(samples["enter_ns"]),
        exit=_available(samples["exit_ns"]),
        device=_available(samples["device_ns"]),
    )
    keys = [ranked["case"], ranked["iteration"]]
    whole = ranked[["enter", "exit", "device"]].isna().groupby(keys).any()
    frame = ranked.groupby(["case", "iteration"], sort=True).agg(
        ranks=("rank", "nunique"),
        severity=("severity", "max"),
        traced=("traced", "any"),
        ops=("ops", "max"),
        first_enter_ns=("enter", "min"),
        last_exit_ns=("exit", "max"),
        device_ns=("device", "max"),
    )
    host = (frame["last_exit_ns"] - frame["first_enter_ns"]).mask(whole["enter"] | whole["exit"])
    frame["time_ns"] = frame["device_ns"].mask(whole["device"]).fillna(host)
    frame["ns_per_op"] = frame["time_ns"] / frame["ops"]
    state = pd.Categorical.from_codes(frame.pop("severity"), categories=list(schema.STATES), ordered=True)
    frame.insert(1, "state", state)
    return frame.reset_index()


def _labels(cases: pd.DataFrame) -> pd.Series:
    """Give the algorithm with its parameters, which files before schema 1.1 do not have."""
    if "params" not in cases:
        return cases["algorithm"]
    return (cases["algorithm"].astype(str) + " " + cases["params"].astype(str)).str.strip()


def _severity(state: pd.Series) -> pd.Series:
    order = {name: place for place, name in enumerate(schema.STATES)}
    return state.astype(object).map(order).astype(np.int8)


def _available(column: pd.Series) -> pd.Series:
    return column.astype(float).mask(column == schema.NOT_AVAILABLE)


def case_times(run: Run) -> pd.DataFrame:
    """Give one row per case: median, 5 % and 95 % quantile of the time of one operation, and n, the samples
    used.

    ``algorithm`` is the id with its parameters, ``base`` the bare one. Only untraced samples in state ok count.
    ``low_ns`` and ``high_ns`` bound the median with 95 % confidence; they are NaN for fewer than 6 samples. A case whose status is not ok has no times.
    """
    usable = sample_times(run.samples).query("state == 'ok' and not traced")
    per_case = {case: summary(group["ns_per_op"].dropna()) for case, group in usable.groupby("case")}
    cases = run.cases[_CASE_COLUMNS].assign(
        algorithm=_labels(run.cases), base=run.cases["algorithm"].astype(str)
    )
    nothing = summary(pd.Series(dtype=float))
    rows = [
        per_case.get(case, nothing) if status == "ok" else nothing
        for case, status in zip(cases["case"], cases["status"], strict=True)
    ]
    frame = pd.concat([cases.reset_index(drop=True), pd.DataFrame(rows, columns=list(nothing))], axis=1)
    return frame.assign(ranks=run.world_size)


def summary(times: pd.Series) -> dict[str, float]:
    """Give n, the median, the 5 % and 95 % quantile, and the 95 % interval of the median of some times."""
    low, high = median_interval(times)
    return {
        "n": len(times),
        "median_ns": float(times.median()),
        "q05_ns": float(times.quantile(0.05)),
        "q95_ns": float(times.quantile(0.95)),
        "low_ns": low,
        "high_ns": high,
    }


def median_interval(times: pd.Series) -> tuple[float, float]:
    """Give two of the times that enclose the true median with 95 % confidence, or NaN for fewer than 6."""
    ranks = median_interval_ranks(len(times))
    if ranks is None:
        return math.nan, math.nan
    ordered = np.sort(times.to_numpy(dtype=float))
    return float(ordered[ranks[0] - 1]), float(ordered[ranks[1] - 1])


def median_interval_ranks(n: int) -> tuple[int, int] | None:
    """Give the places (from 1) of the two bounds among n sorted samples, or None where 95 % cannot be had.

    Whether a sample lies below the median is a fair coin, so the places follow from the binomial
    distribution, exactly up to n = 1000 and by its normal limit above.
    """
    if n < 6:
        return None
    if n > 1000:
        low = math.floor((n - 1.959964 * math.sqrt(n)) / 2)
        return low, n + 1 - low
    low, below = 0, 1
    while 40 * below <= 2**n:  # P(at most `low` heads) <= 2.5 %
        low += 1
        below += math.comb(n, low)
    return low, n + 1 - low


def bandwidth(times: pd.DataFrame) -> pd.DataFrame:
    """Add algbw = M / t and busbw = algbw * 2(N-1)/N to the frame of ``case_times``, in GB/s (1e9 bytes/s).

    busbw compares with the peak of a link only for algorithms that load all links alike.
    """
    algbw = times["bytes"] / times["median_ns"]
    return times.assign(algbw_gb_s=algbw, busbw_gb_s=algbw * 2 * (times["ranks"] - 1) / times["ranks"])


def overview(run: Run) -> pd.DataFrame:
    """Give what ran as a frame of texts, one row per case, for a table on the screen."""
    rates = bandwidth(case_times(run))
    checked = traffic_check(run).groupby("case")["equal"].all()
    marked = dict(zip(run.cases["case"], run.cases["marks"], strict=True)) if "marks" in run.cases else {}
    marks = rates["case"].map(lambda case: marked.get(case, ""))
    frame = pd.DataFrame(
        {
            "algorithm": rates["algorithm"],
            "engine": rates["engine"],
            "size": rates["bytes"].map(text.size),
            "type": rates["dtype"],
            "op": rates["op"],
            "in place": rates["in_place"].map({True: "yes", False: "no"}),
            "mode": rates["mode"],
            "channels": rates["channels"],
            "status": rates["status"],
            "n": rates["n"],
            "median us": (rates["median_ns"] / 1e3).map(text.number),
            "from us": (rates["low_ns"] / 1e3).map(text.number),
            "to us": (rates["high_ns"] / 1e3).map(text.number),
            "algbw GB/s": rates["algbw_gb_s"].map(lambda value: text.number(value, 3)),
            "busbw GB/s": rates["busbw_gb_s"].map(lambda value: text.number(value, 3)),
            "traffic": rates["case"].map(checked).map({True: "exact", False: "OFF"}).fillna("not checked"),
        }
    )
    return frame.assign(marks=marks) if (marks != "").any() else frame


def case_labels(cases: pd.DataFrame) -> pd.Series:
    """Name the curve of each case: its algorithm, and whatever else tells curves of that algorithm apart."""
    label = cases["algorithm"].astype(str)
    for column in ("engine", "dtype", "op", "mode", "in_place"):
        varies = cases.groupby("algorithm")[column].transform("nunique") > 1
        label = label.where(~varies, label + ", " + _described(cases[column]))
    for column in ("channels", "slots", "slot_bytes", "offset"):
        if column in cases:
            # The tuning of an algorithm may follow the size, so these count only where one size would appear
            # twice.
            varies = cases.groupby([label, cases["bytes"]])[column].transform("nunique") > 1
            ambiguous = varies.groupby(label).transform("any")
            label = label.where(~ambiguous, label + ", " + _described(cases[column]))
    return label


def _described(column: pd.Series) -> pd.Series:
    if column.name == "in_place":
        return column.map({True: "in place", False: "out of place"})
    if column.dtype.kind in "iu":
        return column.astype(str) + " " + str(column.name)
    return column.astype(str)


# ---------------------------------------------------------------------------------------------------- traffic


def traffic_check(run: Run) -> pd.DataFrame:
    """Compare, per case and directed link, the bytes declared, traced and of the closed form.

    ``expected`` is the closed form where one exists, else the declared bytes. ``difference`` is the first of
    (declared - expected, traced - expected, wire traced - wire declared) that is not 0, and ``equal`` says
    that there is none. What is not available is not compared: a traced figure is also taken for unavailable
    where events of its case were dropped. Links of cases that did not finish (status neither ok nor wrong)
    are left out.
    """
    columns = ["case", "algorithm", "bytes", "status", "events_dropped"]
    frame = run.traffic.merge(run.cases[columns], on="case", how="left")
    frame = frame[frame["status"].isin(["ok", "wrong"])].reset_index(drop=True)
    frame["traced"] = (frame["traced_payload"] != schema.NOT_AVAILABLE) & (frame["events_dropped"] == 0)
    frame["has_closed_form"] = frame["closed_form"] != schema.NOT_AVAILABLE
    frame["expected"] = frame["closed_form"].where(frame["has_closed_form"], frame["declared_payload"])
    frame["difference"] = _first_difference(frame)
    frame["equal"] = frame["difference"] == 0
    return frame.drop(columns=["status", "events_dropped"])


def _first_difference(frame: pd.DataFrame) -> pd.Series:
    declared = frame["declared_payload"] - frame["expected"]
    traced = (frame["traced_payload"] - frame["expected"]).where(frame["traced"], 0)
    has_wire = frame["traced"] & (frame["traced_wire"] != schema.NOT_AVAILABLE)
    wire = (frame["traced_wire"] - frame["declared_wire"]).where(has_wire, 0)
    return declared.where(declared != 0, traced.where(traced != 0, wire))


def traffic_verdict(run: Run) -> str:
    """Say in words whether the traffic of a run is what it should be, and what could not be judged."""
    links = traffic_check(run)
    wrong = links[~links["equal"]]
    sentences = [_off(wrong, len(links)) if len(wrong) else _exact(links)]
    return "; ".join([*sentences, *_not_judged(run, links)])


def _exact(links: pd.DataFrame) -> str:
    if links.empty:
        return "no link could be checked"
    proven = links[links["has_closed_form"]]
    said = []
    if len(proven):
        said.append(f"every link of {_cases(proven)} carries exactly its closed form ({_evidence(proven)})")
    rest = links[~links["has_closed_form"]]
    if len(rest):
        said.append(
            f"every link of {_cases(rest)} without a closed form carries what was declared "
            f"({_evidence(rest)})"
        )
    return "; ".join(said)


def _evidence(links: pd.DataFrame) -> str:
    traced = int(links["traced"].sum())
    seen = "all traced" if traced == len(links) else f"{traced} traced, the others only declared"
    return f"{len(links)} {'link' if len(links) == 1 else 'links'}, {seen}"


def _cases(links: pd.DataFrame) -> str:
    count = links["case"].nunique()
    return f"{count} {'case' if count == 1 else 'cases'}"


def _off(wrong: pd.DataFrame, checked: int, shown: int = 5) -> str:
    described = [describe_difference(row) for row in wrong.head(shown).itertuples(index=False)]
    more = f", and {len(wrong) - shown} more" if len(wrong) > shown else ""
    return f"{len(wrong)} of {checked} links off: " + ", ".join(described) + more


def describe_difference(row: Any) -> str:
    """Say in words by how much a row of ``traffic_check`` is off."""
    what, value, expected, against = _deviation(row)
    sign = "more" if value > expected else "less"
    return (
        f"case {row.case} ({row.algorithm}, {row.bytes} bytes) link {row.src} -> {row.dst}: "
        f"{what} {value} bytes, {abs(value - expected)} bytes {sign} than {against} ({expected})"
    )


def _deviation(row: Any) -> tuple[str, int, int, str]:
    against = "the closed form" if row.has_closed_form else "declared"
    if row.declared_payload != row.expected:
        return "declared", row.declared_payload, row.expected, against
    if row.traced and row.traced_payload != row.expected:
        return "traced", row.traced_payload, row.expected, against
    return "traced on the wire", row.traced_wire, row.declared_wire, "declared on the wire"


def _not_judged(run: Run, links: pd.DataFrame) -> list[str]:
    cases = run.cases
    finished = cases["status"].isin(["ok", "wrong"])
    opaque = cases[finished & ~cases["case"].isin(run.traffic["case"])]
    lossy = cases[finished & cases["case"].isin(links["case"]) & (cases["events_dropped"] > 0)]
    said = []
    if run.world_size > 1 and len(opaque):
        said.append(f"the traffic of {', '.join(sorted(set(opaque['algorithm'])))} is not observable")
    if len(lossy):
        said.append(f"traced bytes of {_list(lossy)} are not compared, because events were dropped")
    if not finished.all():
        said.append(f"{_list(cases[~finished])} did not finish and is left out")
    return said


def _list(cases: pd.DataFrame) -> str:
    return ", ".join(f"case {row.case} ({row.status})" for row in cases.itertuples(index=False))


def rank_traffic(run: Run) -> pd.DataFrame:
    """Give, per case and rank, the payload bytes sent and received, beside the model 2(N-1)M/N.

    Bytes are traced ones where the whole case has them, else declared ones (column ``source``). The model is
    the mean over ranks of any algorithm that moves 2(N-1)M in total; one rank may lie above it and another
    below.
    """
    links = _with_payload(run)
    sent = links.groupby(["case", "src"])["payload"].sum().rename_axis(["case", "rank"])
    received = links.groupby(["case", "dst"])["payload"].sum().rename_axis(["case", "rank"])
    every = pd.MultiIndex.from_product(
        [sorted(set(links["case"])), range(run.world_size)], names=["case", "rank"]
    )
    frame = pd.DataFrame(
        {
            "sent_bytes": sent.reindex(every, fill_value=0).astype(np.int64),
            "received_bytes": received.reindex(every, fill_value=0).astype(np.int64),
        },
        index=every,
    ).reset_index()
    frame = frame.merge(run.cases[["case", "algorithm", "bytes"]], on="case", how="left")
    frame["model_bytes"] = 2 * (run.world_size - 1) * frame["bytes"] / run.world_size
    return frame.assign(source=frame["case"].map(links.groupby("case")["source"].first()))


def link_matrix(run: Run, case: int) -> pd.DataFrame:
    """Give the payload bytes of one operation as an N x N frame of int64, sources down, receivers across."""
    links = _with_payload(run)
    links = links[links["case"] == case]
    if links.empty:
        raise RunError(
            f"{run.path}: case {case} has no traffic rows; its algorithm is not observable, or it did not run"
        )
    ranks = pd.RangeIndex(run.world_size)
    matrix = links.pivot_table(index="src", columns="dst", values="payload", aggfunc="sum", fill_value=0)
    return (
        matrix.reindex(index=ranks, columns=ranks, fill_value=0)
        .astype(np.int64)
        .rename_axis(index="src", columns="dst")
    )


def _with_payload(run: Run) -> pd.DataFrame:
    links = run.traffic
    available = (
        (links["traced_payload"] != schema.NOT_AVAILABLE).groupby(links["case"]).transform("all").astype(bool)
    )
    return links.assign(
        payload=links["traced_payload"].where(available, links["declared_payload"]),
        source=np.where(available, "traced", "declared"),
    )


# ----------------------------------------------------------------------------------------------------- events


def largest_traced_case(run: Run, algorithm: str | None = None) -> int:
    """Give the case with the most bytes that is ok and traced, of one algorithm if it is named."""
    traced = run.cases[(run.cases["status"] == "ok") & (run.cases["events_written"] > 0)]
    if algorithm is not None:
        traced = traced[traced["algorithm"] == algorithm]
    if traced.empty:
        raise RunError(f"{run.path}: no case is ok and traced; set `trace: {{enabled: true}}` and run again")
    return int(traced.loc[traced["bytes"].idxmax(), "case"])


def events_of(run: Run, case: int, iteration: int | None = None) -> pd.DataFrame:
    """Give the events of one iteration in order of time, by default of the first traced one that is ok."""
    iteration = _first_traced(run, case) if iteration is None else iteration
    events = run.events
    chosen = events[(events["case"] == case) & (events["iteration"] == iteration)]
    return chosen.sort_values(["begin_ns", "rank", "channel"], kind="stable").reset_index(drop=True)


def _first_traced(run: Run, case: int) -> int:
    iterations = set(run.events.loc[run.events["case"] == case, "iteration"])
    ok = sample_times(run.samples[run.samples["case"] == case]).query("state == 'ok'")
    candidates = sorted(iterations & set(ok["iteration"])) or sorted(iterations)
    if not candidates:
        raise RunError(
            f"{run.path}: case {case} has no events; its algorithm is opaque, or it was not traced"
        )
    return int(candidates[0])


def time_split(run: Run) -> pd.DataFrame:
    """Say where the time of a traced operation went, per case and rank, as mean over iterations and channels.

    ``wait_data_ns`` is spent waiting for a peer's data, ``wait_credit_ns`` for a free slot at a peer,
    ``moving_ns`` copying and reducing, and ``other_ns`` is the rest between the rank's entry and exit. The
    first three are as one channel sees them, an op of several peers counted once, from its first begin to its
    last end. Aborted iterations do not count.
    """
    keys = ["case", "iteration", "rank", "channel"]
    per_channel = op_times(run.events).groupby(keys)[["wait_data_ns", "wait_credit_ns", "moving_ns"]].sum()
    per_rank = per_channel.groupby(["case", "iteration", "rank"]).mean().reset_index()
    finished = run.samples[run.samples["state"] != "aborted"]
    samples = finished[["case", "iteration", "rank", "ops", "enter_ns", "exit_ns"]]
    joined = per_rank.merge(samples, on=["case", "iteration", "rank"], how="inner")
    inside = joined["exit_ns"] - joined["enter_ns"]
    split = ["wait_data_ns", "wait_credit_ns", "moving_ns"]
    joined["other_ns"] = (inside - joined[split].sum(axis=1)).clip(lower=0)
    split = [*split, "other_ns"]
    joined[split] = joined[split].div(joined["ops"], axis=0)
    frame = joined.groupby(["case", "rank"])[split].mean().reset_index()
    return frame.merge(run.cases[["case", "algorithm", "bytes"]], on="case", how="left")


def operation_numbers(events: pd.DataFrame) -> pd.Series:
    """Number the operations of each sample from 0, one number per event.

    A sample of a graph, or of operations too short for the clock, has several; each repeats the rows of the one
    before, later.
    """
    keys = ["case", "iteration", "rank", "channel", "slice", "op", "direction", "peer"]
    return events.sort_values("begin_ns", kind="stable").groupby(keys, observed=True).cumcount()


def op_times(events: pd.DataFrame, **more: tuple[str, str]) -> pd.DataFrame:
    """Give the waiting and moving time in ns of every op, an op of several peers counted once.

    ``more`` names further columns, each made of a column of the events by an aggregation.
    """
    keys = ["case", "iteration", "rank", "channel", "operation", "slice", "op"]
    ops = (
        events.assign(operation=operation_numbers(events))
        .groupby(keys, sort=False)
        .agg(
            begin_ns=("begin_ns", "min"),
            end_ns=("end_ns", "max"),
            wait_data_ns=("wait_data_ns", "sum"),
            wait_credit_ns=("wait_credit_ns", "sum"),
            **more,
        )
    )
    span = (ops["end_ns"] - ops["begin_ns"]).astype(float)
    # Waits for several peers may overlap; together they never fill more than the op itself.
    waits = ops["wait_data_ns"] + ops["wait_credit_ns"]
    scale = (span / waits.where(waits > 0)).clip(upper=1).fillna(1)
    frame = ops[["wait_data_ns", "wait_credit_ns"]].mul(scale, axis=0)
    return frame.assign(
        moving_ns=span - frame.sum(axis=1), **{name: ops[name] for name in more}
    ).reset_index()


def messages(events: pd.DataFrame) -> pd.DataFrame:
    """Give one row per message that has both ends: case, iteration, channel, src, dst, seq, and every other
    column of the events twice, with the suffixes ``_send`` and ``_recv``.
    """
    keys = ["case", "iteration", "channel", "src", "dst", "seq"]
    ends = {
        direction: events[events["direction"] == direction]
        .drop(columns="direction")
        .rename(columns={"rank": own, "peer": other})
        for direction, own, other in (("send", "src", "dst"), ("recv", "dst", "src"))
    }
    return ends["send"].merge(ends["recv"], on=keys, suffixes=("_send", "_recv"))


def lanes(spans: pd.DataFrame) -> pd.Series:
    """Give each row the lowest lane, from 0, on which it overlaps no other of its rank, channel and direction.

    A row lasts from ``begin_ns`` to ``until_ns``.
    """
    lane = pd.Series(0, index=spans.index)
    for _, group in spans.groupby(["rank", "channel", "direction"], observed=True):
        ends: list[int] = []
        ordered = group.sort_values("begin_ns", kind="stable")
        for row, begin, until in zip(ordered.index, ordered["begin_ns"], ordered["until_ns"], strict=True):
            free = next((place for place, end in enumerate(ends) if end <= begin), len(ends))
            ends[free : free + 1] = [until]
            lane[row] = free
    return lane


def out_of_order(run: Run, case: int | None = None) -> list[str]:
    """Say which cases (or whether this one) have a trace that cannot be right: nothing of its order is to be believed.

    The program checks every message when it writes the file, and knows the error of its clocks then. Files before
    schema 1.2 do not say.
    """
    if "causality_violations" not in run.cases:
        return []
    cases = run.cases[run.cases["causality_violations"] > 0]
    if case is not None:
        cases = cases[cases["case"] == case]
    return [
        f"case {row.case} ({row.algorithm}, {row.bytes} bytes): the trace is out of order, {row.causality_violations} "
        f"of {row.causality_pairs} messages were received before they were sent; do not read an order from it"
        for row in cases.itertuples(index=False)
    ]
