# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Reads trace files of ringscope: ``load_run`` gives the tables, ``metrics`` and ``plots`` the answers."""

from __future__ import annotations

from pathlib import Path

from ringscope.batch import Batch, load_batch
from ringscope.run import Run, RunError, load_file

__all__ = ["Batch", "Run", "RunError", "load_run"]


def load_run(path: str | Path, allow_incomplete: bool = False) -> Run | Batch:
    """Read the run in a file, or the batch in a folder.

    What is not of this schema is refused with a ``RunError``. So is a file that its writer did not finish,
    unless ``allow_incomplete`` is true; a folder has finished files only, and may lack some.
    """
    return load_batch(path) if Path(path).is_dir() else load_file(path, allow_incomplete)
