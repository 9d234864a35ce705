# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Reads trace files of ringscope: ``load_run`` gives the tables, ``metrics`` and ``plots`` the answers."""

from ringscope.run import Run, RunError, load_run

__all__ = ["Run", "RunError", "load_run"]
