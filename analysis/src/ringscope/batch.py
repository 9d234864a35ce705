# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Opens the result folder of a batch: many launches, each a run of its own.

Launches differ from each other by more than the samples of one launch do, so figures of a batch are medians
over launches of each launch's own median, and their intervals are those between launches.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd

from ringscope import text
from ringscope.limits import least_times
from ringscope.metrics import bandwidth, case_times, median_interval
from ringscope.run import Run, RunError, load_file

FORMAT, VERSION = "ringscope-batch", 1
#: Columns that say what was measured; launches and cases that agree in all of them repeat each other.
POINT = ["ranks", "bytes", "dtype", "op", "in_place", "mode", "offset"]
#: Columns that say how.
MANNER = ["experiment", "arm", "algorithm", "engine"]
_LAUNCH_COLUMNS = ["index", "experiment", "arm", "file"]
#: A run that belongs to no batch.
_ALONE = SimpleNamespace(index=0, experiment="", arm="")


@dataclass(frozen=True)
class Batch:
    """A batch: what was to be launched, and the runs that there are of it."""

    path: Path
    #: What batch.json says, but for its launches.
    attributes: dict[str, Any]
    #: One row per launch of the plan, in the order in which they run: index, experiment, arm, np, repeat,
    #: state, exit_code, seconds, file, ...
    launches: pd.DataFrame = field(repr=False)

    def runs(self) -> Iterator[tuple[Any, Run]]:
        """Give each finished launch, a row of ``launches``, with its run. Only one is in memory at a time."""
        for launch in self.launches.itertuples(index=False):
            file = self.path / launch.file
            if file.is_file():
                yield launch, load_file(file)

    @cached_property
    def times(self) -> pd.DataFrame:
        """One row per launch and case, as ``launch_times`` gives them."""
        frames = [_times_of(launch, run) for launch, run in self.runs()]
        if not frames:
            raise RunError(f"{self.path}: no launch is finished; run `launch/batch --resume {self.path}`")
        return pd.concat(frames, ignore_index=True)


def load_batch(path: str | Path) -> Batch:
    """Read the folder of a batch that is finished, or not yet."""
    file = Path(path) / "batch.json"
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RunError(f"{file}: cannot be read ({error}); name the folder of a batch") from error
    if not isinstance(content, dict) or (content.get("format"), content.get("version")) != (FORMAT, VERSION):
        raise RunError(f"{file}: not a batch that this package reads (version {VERSION})")
    launches = pd.DataFrame(content.pop("launches", []))
    lacking = [name for name in _LAUNCH_COLUMNS if name not in launches]
    if lacking:
        raise RunError(f"{file}: launches without {', '.join(lacking)}; start the batch again")
    return Batch(Path(path), content, launches)


def _times_of(launch: Any, run: Run) -> pd.DataFrame:
    frame = case_times(run).assign(limit_ns=least_times(run))
    return frame.assign(launch=launch.index, experiment=launch.experiment, arm=launch.arm)


def launch_times(result: Run | Batch) -> pd.DataFrame:
    """Give one row per launch and case: the columns of ``case_times``, launch, experiment, arm, and limit_ns,
    the least time that the links allow; of a single run as of one launch without an arm.
    """
    if isinstance(result, Batch):
        return result.times
    return _times_of(_ALONE, result)


def launch_medians(batch: Batch) -> pd.DataFrame:
    """Give one row per manner and point: median over launches, its 95 % interval, and n, the launches.

    The interval is NaN for fewer than 6 launches. Cases without a time are left out.
    """
    good = batch.times.dropna(subset=["median_ns"])
    grouped = good.groupby(MANNER + POINT)["median_ns"]
    frame = grouped.agg(median_ns="median", n="size").reset_index()
    bounds = [median_interval(times) for _, times in grouped]
    return frame.assign(low_ns=[low for low, _ in bounds], high_ns=[high for _, high in bounds])


def batch_overview(batch: Batch) -> pd.DataFrame:
    """Give what ran as a frame of texts, one row per manner and point, for a table on the screen."""
    rates = bandwidth(launch_medians(batch))
    return pd.DataFrame(
        {
            "experiment": rates["experiment"],
            "arm": rates["arm"].replace("", "-"),
            "ranks": rates["ranks"],
            "algorithm": rates["algorithm"],
            "engine": rates["engine"],
            "size": rates["bytes"].map(text.size),
            "type": rates["dtype"],
            "op": rates["op"],
            "in place": rates["in_place"].map({True: "yes", False: "no"}),
            "mode": rates["mode"],
            "launches": rates["n"],
            "median us": (rates["median_ns"] / 1e3).map(text.number),
            "from us": (rates["low_ns"] / 1e3).map(text.number),
            "to us": (rates["high_ns"] / 1e3).map(text.number),
            "busbw GB/s": rates["busbw_gb_s"].map(lambda value: text.number(value, 3)),
        }
    )
