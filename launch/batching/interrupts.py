# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, counted: the first lets the running launch finish, the second ends it, the third kills it."""

from __future__ import annotations

import signal


class Interrupts:
    """The number of SIGINT and SIGTERM so far; Slurm and people mean the same by them."""

    def __init__(self) -> None:
        self.count = 0
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._note)

    def _note(self, number: int, frame: object) -> None:
        self.count += 1

    def __bool__(self) -> bool:
        return self.count > 0
