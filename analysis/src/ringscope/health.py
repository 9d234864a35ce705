# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""What became of the machine during a run: the readings of /health, device by device."""

from __future__ import annotations

import pandas as pd

from ringscope import schema
from ringscope.run import Run

_ERRORS = ["aer_correctable", "aer_nonfatal", "aer_fatal"]


def changes(run: Run) -> pd.DataFrame:
    """Give one row per device that was read: what the run did to it.

    Columns: rank, device (a PCI address, or ``host``), readings; errors and xids, by how much the counters
    grew; width and least_width, the most and the fewest lanes of its link; throttled, the share of the time
    between the first reading and the last for which a clock was held down (0..1). What is not known is NaN.
    """
    rows = [
        {"rank": rank, "device": device, "readings": len(readings), **_change(readings)}
        for (rank, device), readings in run.health.groupby(["rank", "device"], sort=False)
    ]
    names = ["rank", "device", "readings", "errors", "xids", "width", "least_width", "throttled"]
    return pd.DataFrame(rows, columns=names)


def _change(readings: pd.DataFrame) -> dict[str, float]:
    passed = readings["time_ns"].iloc[-1] - readings["time_ns"].iloc[0]
    width = readings.loc[readings["link_width"] != schema.NOT_AVAILABLE, "link_width"]
    errors = pd.Series([_growth(readings[name]) for name in _ERRORS])
    return {
        "errors": errors.sum(min_count=1),
        "xids": _growth(readings["xids"]),
        "width": width.max(),
        "least_width": width.min(),
        "throttled": _growth(readings["throttled_ns"]) / passed if passed > 0 else float("nan"),
    }


def _growth(counter: pd.Series) -> float:
    known = counter[counter != schema.NOT_AVAILABLE]
    return float(known.iloc[-1] - known.iloc[0]) if len(known) else float("nan")
