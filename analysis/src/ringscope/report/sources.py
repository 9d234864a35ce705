# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""What a report is made of: run files and batches, opened as far as they can be, and their settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from ringscope import metrics
from ringscope.batch import Batch, launch_times, load_batch
from ringscope.run import Run, RunError, load_file, salvage

#: What cases of one picture have in common: only the algorithm and the size differ within it.
SETTING = ["mode", "dtype", "op", "in_place", "offset"]
MODES = ("isolated", "back-to-back", "graph")
#: What computing with tables that contradict each other, or hold what they should not, ends in.
MISFITS = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, pd.errors.InvalidIndexError)


@dataclass
class Source:
    """One run, or one arm of a batch with its first launch as the run that is shown in detail."""

    place: int
    name: str
    run: Run
    #: One row per case: the columns of ``metrics.bandwidth``.
    rates: pd.DataFrame
    #: What a time of ``rates`` is, in words.
    statistic: str
    #: The file or folder that was given, and the rows of ``launch_times`` that are of this source.
    origin: Path
    times: pd.DataFrame
    #: What is wrong with the file itself, one sentence each.
    faults: list[str] = field(default_factory=list)

    def events(self, columns: Sequence[str], later: Sequence[str] = ()) -> pd.DataFrame:
        """Give these columns of the events, and those of a later version that the file has.

        Where they cannot be read there are no rows, and a fault.
        """
        wanted = [*columns, *later]
        if "events" in self.run.__dict__:
            return self.run.events.reindex(columns=[*columns, *(set(later) & set(self.run.events))])
        try:
            events = self.run.read_events(wanted)
            lacking = [f"/events/{column}" for column in columns if column not in events]
            if not lacking:
                return events
            fault = f"columns are missing: {', '.join(lacking)}"
        except RunError as error:
            fault = str(error)
        self.faults.append(f"its events cannot be read: {fault}")
        self.run.__dict__["events"] = pd.DataFrame({name: pd.Series(dtype="int64") for name in columns})
        return self.run.events.copy()

    def case_key(self, case: int) -> str:
        """Name a case among those of all sources."""
        return f"{self.place}-{case}"


@dataclass(frozen=True)
class Setting:
    """The cases of one source that may share a picture."""

    key: int
    source: Source
    label: str
    #: Rows of ``source.rates`` with the columns series, the name of the curve, and shape, the number of the
    #: curve among those of its algorithm.
    rates: pd.DataFrame


def open_sources(paths: Sequence[str | Path]) -> tuple[list[Source], list[str]]:
    """Open every file or folder; give what can be shown, and one line for each that cannot."""
    sources: list[Source] = []
    refused: list[str] = []
    for path in map(Path, paths):
        try:
            sources += _open(path, len(sources))
        except RunError as error:
            refused.append(str(error))
        except MISFITS as error:
            refused.append(f"{path}: its tables do not fit together ({type(error).__name__}: {error})")
    return _distinct(sources), refused


def _open(path: Path, place: int) -> list[Source]:
    if path.is_dir():
        return _sources_of_batch(load_batch(path), place)
    run, faults = _load(path)
    if run.cases.empty:
        raise RunError(f"{path}: has no cases, so there is nothing to show")
    if run.cases["case"].duplicated().any():
        raise RunError(f"{path}: cases are not numbered uniquely, so nothing can be told apart")
    if run.world_size < 1:
        raise RunError(f"{path}: world_size is {run.world_size}; it cannot be read as a run")
    statistic = "median of untraced samples, with its 95 % interval within this launch"
    times = launch_times(run)
    return [Source(place, path.name, run, metrics.bandwidth(times), statistic, path, times, faults)]


def _load(path: Path) -> tuple[Run, list[str]]:
    try:
        return load_file(path), []
    except RunError:
        return salvage(path)


def _distinct(sources: list[Source]) -> list[Source]:
    """Name files of equal names by their folders as well."""
    names = [source.name for source in sources]
    for source in sources:
        if names.count(source.name) > 1:
            source.name = f"{source.run.path.parent.name}/{source.name}"
    return sources


def _sources_of_batch(batch: Batch, place: int) -> list[Source]:
    groups = batch.times.groupby(["experiment", "arm", "ranks"], sort=False)
    return [_source_of_arm(batch, place + number, key, times) for number, (key, times) in enumerate(groups)]


def _source_of_arm(batch: Batch, place: int, key: tuple, times: pd.DataFrame) -> Source:
    launches = list(dict.fromkeys(times["launch"]))
    file = batch.launches.set_index("index").loc[launches[0], "file"]
    run = load_file(batch.path / file)
    experiment, arm, ranks = key
    name = " ".join(word for word in (experiment, arm, f"{ranks} ranks") if word)
    statistic = (
        f"median over {len(launches)} launches of their medians, with its 95 % interval between launches; "
        f"everything but times is of {file}"
    )
    rates = metrics.bandwidth(_over_launches(run, times))
    return Source(place, name, run, rates, statistic, batch.path, times)


def _over_launches(run: Run, times: pd.DataFrame) -> pd.DataFrame:
    """Give the frame of ``metrics.case_times`` with figures over launches in the place of those over "
    "samples."""
    cases = metrics.case_times(run)
    medians = dict(tuple(times.dropna(subset=["median_ns"]).groupby("case")["median_ns"]))
    none = pd.Series(dtype=float)
    rows = pd.DataFrame([metrics.summary(medians.get(case, none)) for case in cases["case"]])
    return cases.assign(**rows)


# ------------------------------------------------------------------------------------------------- settings


def settings_of(sources: Sequence[Source]) -> list[Setting]:
    """Part the cases of all sources into settings."""
    found: list[Setting] = []
    for source in sources:
        parts = source.rates.groupby(SETTING, sort=False)
        for values, rates in sorted(parts, key=lambda part: _mode_place(part[0][0])):
            label = _label(values) if len(sources) == 1 else f"{source.name}: {_label(values)}"
            found.append(Setting(len(found), source, label, with_series(rates)))
    return found


def _mode_place(mode: str) -> int:
    return MODES.index(mode) if mode in MODES else len(MODES)


def _label(values: tuple) -> str:
    mode, dtype, op, in_place, offset = values
    place = "in place" if in_place else "out of place"
    shift = [f"shifted by {offset}"] if offset else []
    return ", ".join([str(mode), str(dtype), str(op), place, *shift])


def with_series(rates: pd.DataFrame) -> pd.DataFrame:
    """Name the curve of each case: algorithm with parameters, and its engine where there are several.

    Cases that are alike in all that the file says of them are numbered in their order.
    """
    name = rates["algorithm"].astype(str)
    several = rates.groupby(name)["engine"].transform("nunique") > 1
    name = name.where(~several, name + ", " + rates["engine"].astype(str))
    again = rates.groupby([name, rates["bytes"]]).cumcount()
    name = name.where(again == 0, name + " (" + (again + 1).astype(str) + ")")
    frame = rates.assign(series=name)
    shapes = {
        series: shape
        for _, family in frame.groupby("base", sort=False)
        for shape, series in enumerate(dict.fromkeys(family["series"]))
    }
    return frame.assign(shape=frame["series"].map(shapes)).reset_index(drop=True)
