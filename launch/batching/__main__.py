# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Lets `python launch/batching` find the package that it lies in."""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])

from batching.main import main  # noqa: E402

sys.exit(main())
