# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""What the machine's own tools say of it, as files beside the results. A tool that is not there leaves none."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from pathlib import Path

#: File and command. The first word's tools stand for each other.
TOOLS = {
    "topology.xml": (("lstopo-no-graphics", "lstopo"), ("--of", "xml")),
    "nvidia-smi-topo.txt": (("nvidia-smi",), ("topo", "-m")),
    "nvidia-smi.xml": (("nvidia-smi",), ("-q", "-x")),
}
#: Seconds; nvidia-smi can hang for minutes on a machine with a broken driver.
_PATIENCE = 20


def capture(folder: Path) -> None:
    """Write what is not there yet into the folder of this host, below ``folder``."""
    place = folder / platform.node()
    for name, (tools, words) in TOOLS.items():
        tool = next(filter(None, map(shutil.which, tools)), None)
        if tool is not None and not (place / name).exists():
            _write(place / name, [tool, *words])


def _write(file: Path, command: list[str]) -> None:
    said = _output(command)
    if not said:
        print(f"machine: {' '.join(command)} failed, {file.name} is left out", file=sys.stderr)
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(said)


def _output(command: list[str]) -> bytes:
    try:
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=_PATIENCE
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return b""


if __name__ == "__main__":
    capture(Path(sys.argv[1]))
