# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers as a person reads them: three digits that count, and the unit that fits."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

NONE = "–"  # an en dash


def digits(value: float) -> str:
    """Write a number with three digits that count: 1.23, 12.3, 123, 1234."""
    if not math.isfinite(value):
        return NONE
    if value == 0:
        return "0"
    places = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{places}f}"


def duration(ns: float) -> str:
    """Write a time in the unit that fits, from ns to s."""
    if not math.isfinite(ns):
        return NONE
    for factor, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if abs(ns) >= factor:
            return f"{digits(ns / factor)} {unit}"
    return f"{digits(ns)} ns"


def tick(value: float, write=digits) -> str:
    """Write a round number of an axis, without the zeros behind its point."""
    number, _, unit = write(value).partition(" ")
    number = number.rstrip("0").rstrip(".") if "." in number else number
    return f"{number} {unit}".rstrip()


def rate(gb_s: float) -> str:
    """Write a bandwidth in GB/s (1e9 bytes/s)."""
    return f"{digits(gb_s)} GB/s" if math.isfinite(gb_s) else NONE


def percent(fraction: float, signed: bool = False) -> str:
    """Write a fraction in percent, with its sign where it is a change."""
    if not math.isfinite(fraction):
        return NONE
    value = 100 * fraction
    places = 0 if abs(value) >= 10 or abs(value - round(value)) < 0.05 else 1
    return f"{value:{'+' if signed else ''}.{places}f} %"


def count(number: int, noun: str, plural: str = "") -> str:
    """Write how many: 1 case, 2 cases."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def listed(items: list[str], shown: int = 4) -> str:
    """Join some words, and count those beyond the first few."""
    more = [f"{len(items) - shown} more"] if len(items) > shown else []
    return ", ".join([*items[:shown], *more])


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Give a frame as rows for JSON: plain values, and None where there is no number."""
    return [
        {key: _plain(value) for key, value in row.items()}
        for row in frame.astype(object).to_dict(orient="records")
    ]


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float):
        return None if not math.isfinite(value) else float(f"{value:.10g}")
    return value
