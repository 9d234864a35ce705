# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""What the machine allows at best, by the figures of /machine that were taken in the same launch."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from ringscope.run import Run


def least_times(run: Run) -> np.ndarray:
    """Give, per row of ``run.cases``, the least time in ns that the links of its engine allow.

    That is latency + 2(N-1)M/N / rate, both of the slowest link: what leaves a rank on average, over one
    link, and one way of a flag. Links were measured one at a time: busy both ways they may allow less.
    NaN where nothing was measured of the engine, as for baselines, and for one rank.
    """
    machine = run.machine if "engine" in run.machine else run.machine.assign(engine="")
    by_engine = {engine: _links(machine, engine) for engine in run.cases["engine"].unique()}
    share = 2 * (run.world_size - 1) / run.world_size
    points = zip(run.cases["engine"], run.cases["bytes"], strict=True)
    return np.array(
        [_least_time(by_engine[engine], int(size), share) for engine, size in points], dtype=float
    )


def _links(machine: pd.DataFrame, engine: str) -> pd.DataFrame:
    """Give the rows of an engine, with the better of both rates (byte/s); files before 1.2 name no engine."""
    rows = machine[machine["engine"].isin([engine, ""])]
    return rows.assign(rate=rows[["bandwidth", "copy_engine_bandwidth"]].max(axis=1))


def _least_time(links: pd.DataFrame, size: int, share: float) -> float:
    rate = slowest_rate(links, size)
    if share == 0 or not rate > 0:
        return math.nan
    known = links[links["latency_ns"] >= 0]
    latency = known.groupby(["src", "dst"])["latency_ns"].min().max() if len(known) else 0
    return float(latency + share * size / rate * 1e9)


def slowest_rate(links: pd.DataFrame, size: int) -> float:
    """Give the rate in byte/s of the slowest ordered pair, NaN where nothing was measured.

    A pair's rate is its best at any size of so many bytes or more, or at its largest size where all are
    smaller: what a small transfer reaches in a cache says nothing of a large one.
    """
    known = links.dropna(subset=["rate"])
    rates = [_rate(pair, size) for _, pair in known.groupby(["src", "dst"])]
    return min(rates, default=math.nan)


def _rate(pair: pd.DataFrame, size: int) -> float:
    enough = pair[pair["bytes"] >= min(size, pair["bytes"].max())]
    return float(enough["rate"].max())
