# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""The whole program under mpirun: the build in RINGSCOPE_BUILD_DIR, or build/release."""

import pytest
from program import PROGRAM


def pytest_sessionstart():
    if not PROGRAM.is_file():
        pytest.exit(f"{PROGRAM} is missing: build first, or set RINGSCOPE_BUILD_DIR", returncode=2)
