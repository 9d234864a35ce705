# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Checks a trace file: each check takes a run and gives its findings, one line of text each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import pandas as pd

from ringscope import cold, metrics, schema
from ringscope.run import (
    Run,
    RunError,
    check_header,
    load_file,
    minor_version,
    misfits,
    missing_columns,
    open_file,
    uneven_tables,
)

_STAMPS = ["begin_ns", "ready_ns", "end_ns"]
_LINK = ["case", "iteration", "src", "dst"]
_MESSAGE = ["case", "iteration", "channel", "src", "dst", "seq"]
_BROKEN = ["aborted"]
_COUNTERS = ["aer_correctable", "aer_nonfatal", "aer_fatal", "xids", "throttled_ns"]
#: How far the phases of a start may be from their total.
_LADDER = 0.05


def lint_file(path: str | Path) -> list[str]:
    """Give everything that is wrong with the file; an empty list means that it can be trusted."""
    try:
        with open_file(path) as file:
            check_header(file)
            structure = structure_findings(file)
        return structure or lint_run(load_file(path))
    except RunError as error:
        return [str(error)]


def structure_findings(file: h5py.File) -> list[str]:
    """Check that all tables, columns and their descriptions are there and fit together."""
    missing = [f"{path}: missing" for path in missing_columns(file, minor_version(file))]
    return missing + uneven_tables(file) + misfits(file) + _undescribed(file)


def _undescribed(file: h5py.File) -> list[str]:
    found = []
    for table in schema.TABLES:
        columns = [item for item in file.get(table, {}).items() if isinstance(item[1], h5py.Dataset)]
        for name, item in columns:
            lacking = [word for word in ("units", "long_name") if word not in item.attrs]
            if name != "row" and lacking:
                found.append(f"/{table}/{name}: no {' and no '.join(lacking)}")
    return found


def lint_run(run: Run) -> list[str]:
    """Check what the tables of a run say against each other."""
    return [
        *known_cases(run),
        *one_sample_per_rank(run),
        *sample_order(run),
        *event_order(run),
        *event_counts(run),
        *message_pairs(run),
        *causality(run),
        *event_traffic(run),
        *link_traffic(run),
        *health_readings(run),
        *ladders(run),
    ]


def known_cases(run: Run) -> list[str]:
    """Check that case numbers are unique and that every table refers to one of them."""
    cases = run.cases["case"]
    found = [f"/cases: case {case} occurs twice" for case in sorted(set(cases[cases.duplicated()]))]
    for table in ("samples", "traffic", "events"):
        strangers = sorted(set(getattr(run, table)["case"]) - set(cases))
        found += [f"/{table}: case {case} is not in /cases" for case in strangers]
    return found


def one_sample_per_rank(run: Run) -> list[str]:
    """Check that every iteration of a case has one sample of each rank."""
    keys = ["case", "iteration", "rank"]
    twice = run.samples[run.samples.duplicated(keys)]
    found = _first_of_each_case(
        twice, lambda row: f"iteration {row.iteration}, rank {row.rank}: more than one sample"
    )
    samples = run.samples[~run.samples["case"].isin(_unfinished_cases(run))]
    times = metrics.sample_times(samples)
    incomplete = times[times["ranks"] != run.world_size]
    return found + _first_of_each_case(
        incomplete,
        lambda row: f"iteration {row.iteration}: samples of {row.ranks} ranks, expected {run.world_size}",
    )


def sample_order(run: Run) -> list[str]:
    """Check that every sample has its stamps (an aborted one may lack its exit) and no exit before entry."""
    samples = run.samples[~run.samples["state"].isin(_BROKEN)]
    blank = samples[_is_blank(run, samples[["enter_ns", "exit_ns"]])]
    whole = samples.drop(index=blank.index)
    backward = whole[whole["exit_ns"] < whole["enter_ns"]]
    return [
        *_first_of_each_case(blank, lambda row: f"{_sample(row)}: a stamp of the sample is missing"),
        *_first_of_each_case(backward, lambda row: f"{_sample(row)}: exit before entry"),
    ]


def event_order(run: Run) -> list[str]:
    """Check that every event has its three stamps and that begin <= ready <= end."""
    events = _whole_events(run)
    blank = events[_is_blank(run, events[_STAMPS])]
    whole = events.drop(index=blank.index)
    disordered = whole[(whole["begin_ns"] > whole["ready_ns"]) | (whole["ready_ns"] > whole["end_ns"])]
    return [
        *_first_of_each_case(blank, lambda row: f"{_event(row)}: a stamp is missing ({_stamps(row)})"),
        *_first_of_each_case(
            disordered, lambda row: f"{_event(row)}: not begin <= ready <= end ({_stamps(row)})"
        ),
    ]


def _is_blank(run: Run, stamps: pd.DataFrame) -> pd.Series:
    # A clock that was never read leaves 0, which lies before the epoch; simulated time begins at 0.
    first = 0 if run.attributes["source"] == "simulated" else 1
    return (stamps < first).any(axis=1)


def event_counts(run: Run) -> list[str]:
    """Check that written + dropped = expected per case, that the rows exist, and that a loss is announced."""
    cases = run.cases.assign(
        rows=run.cases["case"].map(run.events["case"].value_counts()).fillna(0).astype(int)
    )
    complete = cases[cases["status"].isin(["ok", "wrong"])]
    lost = complete[complete["events_written"] + complete["events_dropped"] != complete["events_expected"]]
    absent = cases[cases["rows"] != cases["events_written"]]
    found = [
        f"case {row.case}: {row.events_written} events written + {row.events_dropped} dropped, "
        f"expected {row.events_expected}"
        for row in lost.itertuples(index=False)
    ]
    found += [
        f"case {row.case}: {row.events_written} events written, but /events holds {row.rows}"
        for row in absent.itertuples(index=False)
    ]
    if bool(run.attributes["lossy"]) != bool((cases["events_dropped"] > 0).any()):
        found.append("root attribute lossy does not say whether events were dropped")
    return found


def message_pairs(run: Run) -> list[str]:
    """Check that every send has its receive, of as many bytes, and that none is received before it is sent.

    Cases that lost events and iterations that were aborted are not checked: there a partner may rightly be
    missing.
    """
    events = _whole_events(run)
    sends, receives = _messages(events, "send", "rank", "peer"), _messages(events, "recv", "peer", "rank")
    twice = pd.concat([sends[sends.duplicated(_MESSAGE)], receives[receives.duplicated(_MESSAGE)]])
    pairs = sends.merge(receives, on=_MESSAGE, how="outer", suffixes=("_send", "_recv"), indicator=True)
    both = pairs[pairs["_merge"] == "both"]
    return [
        *_first_of_each_case(twice, lambda row: f"{_message(row)}: occurs twice"),
        *_first_of_each_case(
            pairs[pairs["_merge"] == "left_only"], lambda row: f"{_message(row)}: never received"
        ),
        *_first_of_each_case(
            pairs[pairs["_merge"] == "right_only"], lambda row: f"{_message(row)}: never sent"
        ),
        *_unequal_pairs(both),
        *_early_pairs(run, both),
    ]


def _messages(events: pd.DataFrame, direction: str, src: str, dst: str) -> pd.DataFrame:
    rows = events[events["direction"] == direction].rename(columns={src: "src", dst: "dst"})
    posted = rows.get("posted_ns", rows["ready_ns"])
    rows = rows.assign(sent_ns=posted.where(posted != schema.NOT_AVAILABLE, rows["ready_ns"]))
    return rows[[*_MESSAGE, "payload_bytes", "wire_bytes", "ready_ns", "sent_ns"]]


def _unequal_pairs(pairs: pd.DataFrame) -> list[str]:
    differ = pairs[
        (pairs["payload_bytes_send"] != pairs["payload_bytes_recv"])
        | (pairs["wire_bytes_send"] != pairs["wire_bytes_recv"])
    ]
    return _first_of_each_case(
        differ,
        lambda row: (
            f"{_message(row)}: sent {row.payload_bytes_send:.0f} bytes "
            f"({row.wire_bytes_send:.0f} on the wire), "
            f"received {row.payload_bytes_recv:.0f} ({row.wire_bytes_recv:.0f})"
        ),
    )


def _early_pairs(run: Run, pairs: pd.DataFrame) -> list[str]:
    # A message cannot be there before it was handed over; files before 1.2 say when it could be.
    bound = run.clock.groupby("rank")["error_bound_ns"].max()
    slack = pairs["src"].map(bound).fillna(0) + pairs["dst"].map(bound).fillna(0)
    early = pairs[pairs["ready_ns_recv"] + slack < pairs["sent_ns_send"]]
    return _first_of_each_case(early, lambda row: f"{_message(row)}: received before it was sent")


def causality(run: Run) -> list[str]:
    """Check that no case was found out of order by the program, which knows the clocks' error of each sample."""
    return metrics.out_of_order(run)


def event_traffic(run: Run) -> list[str]:
    """Check that the events of every iteration add up, at both ends, to the traced bytes of /traffic."""
    events = _whole_events(run)
    ops = run.samples.groupby(["case", "iteration"])["ops"].max()
    found = []
    for direction, src, dst in (("send", "rank", "peer"), ("recv", "peer", "rank")):
        summed = _messages(events, direction, src, dst).groupby(_LINK)["payload_bytes"].sum().reset_index()
        joined = summed.merge(run.traffic, on=["case", "src", "dst"], how="left").join(
            ops, on=["case", "iteration"]
        )
        joined["traced"] = joined["traced_payload"] * joined["ops"].fillna(1)
        off = joined[joined["payload_bytes"] != joined["traced"]]
        verb = "sends" if direction == "send" else "receives"
        found += _first_of_each_case(off, partial(_summed, verb=verb))
    return found


def _summed(row: Any, verb: str) -> str:
    stated = "no traced bytes" if pd.isna(row.traced) else f"{row.traced:.0f} bytes"
    link = f"iteration {row.iteration}, link {row.src} -> {row.dst}"
    return f"{link}: its {verb} add up to {row.payload_bytes} bytes, /traffic says {stated}"


def link_traffic(run: Run) -> list[str]:
    """Check that declared, traced and closed-form bytes agree on every link."""
    links = metrics.traffic_check(run)
    return [metrics.describe_difference(row) for row in links[~links["equal"]].itertuples(index=False)]


def health_readings(run: Run) -> list[str]:
    """Check that the readings of a device follow each other in time and that its counters never go back."""
    known = {schema.BEFORE_THE_RUN, schema.AFTER_THE_RUN, *run.cases["case"]}
    found = [f"/health: case {case} is not in /cases" for case in sorted({*run.health["case"]} - known)]
    for (rank, device), rows in run.health.groupby(["rank", "device"], sort=False):
        place = f"/health, rank {rank}, {device}"
        if not rows["time_ns"].is_monotonic_increasing:
            found.append(f"{place}: readings are not in the order of time")
        for counter in _COUNTERS:
            values = rows.loc[rows[counter] != schema.NOT_AVAILABLE, counter]
            if not values.is_monotonic_increasing:
                found.append(f"{place}: {counter} goes back")
    return found


def ladders(run: Run) -> list[str]:
    """Check that the phases of a start add up to the time from the start to the first result."""
    ranks = cold.ladder(run)
    off = ranks[(ranks["sum_ns"] / ranks["total_ns"] - 1).abs() > _LADDER]
    return [
        f"/cold, rank {row.rank}: its phases add up to {row.sum_ns} ns of a total of {row.total_ns}"
        for row in off.itertuples(index=False)
    ]


def _unfinished_cases(run: Run) -> pd.Series:
    """Give the cases of a recovered file within which the run ended: they may lack any of their rows."""
    unfinished = run.cases["status"].isin(["failed", "timeout"]) & bool(run.attributes["recovered"])
    return run.cases.loc[unfinished, "case"]


def _whole_events(run: Run) -> pd.DataFrame:
    """Leave out the events of cases that lost some or did not end, and of iterations that were aborted."""
    samples, cases = run.samples, run.cases
    aborted = samples.loc[samples["state"].isin(_BROKEN), ["case", "iteration"]].drop_duplicates()
    lossy = cases.loc[cases["events_dropped"] > 0, "case"]
    events = run.events[~run.events["case"].isin(pd.concat([lossy, _unfinished_cases(run)]))]
    marked = events.merge(aborted, on=["case", "iteration"], how="left", indicator=True)
    return marked[marked["_merge"] == "left_only"].drop(columns="_merge").reset_index(drop=True)


def _first_of_each_case(rows: pd.DataFrame, describe: Callable[[Any], str]) -> list[str]:
    """Describe the first of the rows of each case and count the others, so that one fault is one line."""
    found = []
    for case, group in rows.groupby("case"):
        first = next(group.head(1).itertuples(index=False))
        more = f" (and {len(group) - 1} more)" if len(group) > 1 else ""
        found.append(f"case {case}, {describe(first)}{more}")
    return found


def _sample(row: Any) -> str:
    return f"iteration {row.iteration}, rank {row.rank}"


def _event(row: Any) -> str:
    place = f"iteration {row.iteration}, rank {row.rank}, channel {row.channel}, op {row.op}"
    return f"{place}, {row.direction} {row.peer}"


def _stamps(row: Any) -> str:
    return f"begin {row.begin_ns}, ready {row.ready_ns}, end {row.end_ns}"


def _message(row: Any) -> str:
    return f"iteration {row.iteration}, channel {row.channel}, link {row.src} -> {row.dst}, message {row.seq}"
