# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Exit codes, which are those of the program, and the error that ends a batch."""

from __future__ import annotations

from collections.abc import Iterable

OK, USAGE, TIMEOUT, OUTPUT, INTERNAL, SKIPPED = 0, 2, 4, 7, 8, 77
#: What a shell says of a command that Ctrl-C ended; a batch that was interrupted ends with it.
INTERRUPTED = 130
#: The worst first.
ORDER = (8, 3, 4, 7, 6, 5, 2, 77, 0)


class BatchError(Exception):
    """Ends the batch with an exit code; the message says what happened, where, and what to do."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def worst(codes: Iterable[int]) -> int:
    """Give the worst of several codes; one that is not the program's own (a killed rank: 137) counts as 8."""
    known = [code if code in ORDER else INTERNAL for code in codes]
    return min(known, key=ORDER.index, default=OK)
