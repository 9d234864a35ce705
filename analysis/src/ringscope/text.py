# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Words for numbers, as the harness prints them."""

from __future__ import annotations

import math

import pandas as pd


def size(nbytes: int) -> str:
    """Write a number of bytes in binary units, exactly: ``4 KiB``, but ``1000 B``."""
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if nbytes >= unit and nbytes % unit == 0:
            return f"{nbytes // unit} {name}"
    return f"{nbytes} B"


def number(value: float, digits: int = 2) -> str:
    """Write a number with the given digits after the point, or ``-`` where there is none."""
    return "-" if value is None or math.isnan(value) else f"{value:.{digits}f}"


def table(frame: pd.DataFrame) -> str:
    """Lay out a frame of texts as aligned columns, text to the left and numbers to the right."""
    cells = [list(map(str, frame.columns)), *(list(map(str, row)) for row in frame.itertuples(index=False))]
    widths = [max(len(row[column]) for row in cells) for column in range(len(frame.columns))]
    right = [_all_numbers([row[column] for row in cells[1:]]) for column in range(len(frame.columns))]
    return "\n".join(_line(row, widths, right) for row in cells)


def _all_numbers(values: list[str]) -> bool:
    return all(value[:1].isdigit() or value == "-" for value in values)


def _line(row: list[str], widths: list[int], right: list[bool]) -> str:
    padded = [
        value.rjust(width) if is_right else value.ljust(width)
        for value, width, is_right in zip(row, widths, right, strict=True)
    ]
    return "  ".join(padded).rstrip()
