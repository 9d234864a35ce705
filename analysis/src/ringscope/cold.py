# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""What a start costs: the phases before the first operation, and the first operation of each case."""

from __future__ import annotations

import pandas as pd

from ringscope import metrics, schema
from ringscope.run import Run

#: Phases of a start, in the order in which they happen.
PHASES = [
    *("process_start", "mpi_init", "plugin_load", "config", "bootstrap", "nccl_init", "ipc_open"),
    *("first_launch", "machine", "output", "health", "prepare", "first_collective", "total", "steady_state"),
]
#: Those that are no part of the total.
_BESIDE = ["total", "steady_state"]


def phases(run: Run) -> pd.DataFrame:
    """Give one row per phase of the start of the run: phase, and ns, that of the slowest rank.

    Phases that belong to a case (since schema 1.2) are those of the first case that has them.
    """
    cold = run.cold[run.cold["ns"] != schema.NOT_AVAILABLE]
    if "case" in cold:
        first = cold[cold["case"] != schema.NOT_AVAILABLE].groupby("phase")["case"].min()
        own = cold["phase"].map(first)
        cold = cold[own.isna() | (cold["case"] == own)]
    slowest = cold.groupby("phase")["ns"].max()
    known = [phase for phase in PHASES if phase in slowest.index]
    others = [phase for phase in slowest.index if phase not in PHASES]
    return slowest.reindex([*known, *others]).reset_index()


def ladder(run: Run) -> pd.DataFrame:
    """Give one row per rank: the sum of its phases up to the end of the first collective, and the total.

    Columns: rank, sum_ns, total_ns. The total is a difference of two moments of one clock, so that the two
    say whether a phase is missing. No rows for files before schema 1.3, and where no operation was cold.
    """
    cold = run.cold
    total = cold[cold["phase"] == "total"].rename(columns={"case": "of", "ns": "total_ns"})
    if total.empty:
        return pd.DataFrame({name: pd.Series(dtype="int64") for name in ("rank", "sum_ns", "total_ns")})
    parts = cold[~cold["phase"].isin(_BESIDE)].merge(total[["rank", "of", "total_ns"]], on="rank")
    parts = parts[(parts["case"] == schema.NOT_AVAILABLE) | (parts["case"] == parts["of"])]
    summed = parts.groupby(["rank", "total_ns"])["ns"].sum().rename("sum_ns").reset_index()
    return summed[["rank", "sum_ns", "total_ns"]]


def first_operations(run: Run) -> pd.DataFrame:
    """Give one row per case with a cold sample: the columns of ``case_times``, cold_ns, and ratio.

    ``ratio`` is the time of the cold operation divided by the median of the warm ones.
    """
    samples = metrics.sample_times(run.samples)
    cold = samples[samples["state"] == "cold"].groupby("case")["ns_per_op"].first().rename("cold_ns")
    frame = metrics.case_times(run).merge(cold, left_on="case", right_index=True)
    return frame.assign(ratio=frame["cold_ns"] / frame["median_ns"])
