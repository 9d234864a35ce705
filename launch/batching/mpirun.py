# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""The command line of Open MPI's mpirun, versions 4.1 and 5, whose words differ."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from batching.codes import USAGE, BatchError
from batching.plan import Launch

ROOT_VARIABLES = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")


@dataclass(frozen=True)
class Mpirun:
    """An mpirun of a known version on this machine."""

    major: int
    slots: int
    #: Whether somebody else (Slurm) says where ranks may run; slots are then not ours to count.
    allocated: bool = False

    def words(self, launch: Launch) -> list[str]:
        """Give mpirun and its options; the program's own words follow."""
        words = ["mpirun", "-np", str(launch.np)]
        if launch.hostfile:
            words += ["--hostfile", launch.hostfile]
        words += self._mapping(launch)
        if launch.bind_to:
            words += ["--bind-to", self._binding(launch.bind_to)]
        for name, value in launch.env.items():
            words += ["-x", f"{name}={value}"]
        for name, value in launch.mca.items():
            words += ["--mca", name, value]
        return words

    def environment(self, launch: Launch) -> dict[str, str]:
        """Give the variables that mpirun itself needs."""
        return dict.fromkeys(ROOT_VARIABLES, "1") if os.geteuid() == 0 else {}

    def is_crowded(self, launch: Launch) -> bool:
        """Say whether ranks outnumber the cores, where it is this machine that counts."""
        return not launch.hostfile and not self.allocated and launch.np > self.slots

    def _mapping(self, launch: Launch) -> list[str]:
        crowded = self.is_crowded(launch)
        if crowded and self.major >= 5:
            words = ["--map-by", f"{launch.map_by or ''}:OVERSUBSCRIBE"]
        else:
            words = ["--map-by", launch.map_by] if launch.map_by else []
            words += ["--oversubscribe"] if crowded else []
        # A rank that spins inside MPI would keep the core from the rank that it waits for.
        return words + (["--mca", "mpi_yield_when_idle", "1"] if crowded else [])

    def _binding(self, word: str) -> str:
        if self.major >= 5:
            return "package" if word == "socket" else word
        return "socket" if word == "package" else word

    def notes(self, plan: list[Launch]) -> list[str]:
        """Say in words what is done without having been asked for."""
        said = []
        crowded = sorted({launch.np for launch in plan if self.is_crowded(launch)})
        if crowded:
            ranks = " or ".join(map(str, crowded))
            said.append(f"{ranks} ranks share {self.slots} cores (oversubscribed): times are no measurement")
        if os.geteuid() == 0 and not all(os.environ.get(name) for name in ROOT_VARIABLES):
            said.append(f"this is root: {' and '.join(ROOT_VARIABLES)} are set for the launches")
        return said


def find_mpirun() -> Mpirun:
    """Ask the mpirun on PATH for its version."""
    if not shutil.which("mpirun"):
        raise BatchError(
            USAGE, "there is no mpirun on PATH: install Open MPI 4.1 or 5, or use --launcher srun"
        )
    done = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False)
    version = re.search(r"\(Open MPI\) (\d+)\.", done.stdout)
    if not version:
        raise BatchError(USAGE, "the mpirun on PATH is not Open MPI's: put Open MPI 4.1 or 5 first on PATH")
    return Mpirun(int(version.group(1)), count_cores(), "SLURM_JOB_ID" in os.environ)


def count_cores(root: Path = Path("/")) -> int:
    """Count the cores that this process may use: Open MPI counts cores, not hardware threads, as slots."""
    cpus = os.sched_getaffinity(0)
    folder = root / "sys/devices/system/cpu"
    try:
        cores = {(folder / f"cpu{cpu}/topology/thread_siblings_list").read_text() for cpu in cpus}
    except OSError:
        return len(cpus)
    return len(cores)
