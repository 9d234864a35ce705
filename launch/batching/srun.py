# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""The command line of Slurm's srun, which starts the ranks of an Open MPI with PMIx."""

from __future__ import annotations

import re
import shutil

from batching.codes import USAGE, BatchError
from batching.plan import Launch

_BINDINGS = {
    "none": "none",
    "hwthread": "threads",
    "core": "cores",
    "numa": "ldoms",
    "socket": "sockets",
    "package": "sockets",
}


class Srun:
    """srun of the allocation that the batch runs in."""

    def words(self, launch: Launch) -> list[str]:
        """Give srun and its options; the program's own words follow."""
        words = ["srun", "--mpi=pmix", "--export=ALL", f"--ntasks={launch.np}"]
        if launch.hostfile:
            words.append(f"--nodefile={launch.hostfile}")
        return words + self._mapping(launch) + self._binding(launch)

    def environment(self, launch: Launch) -> dict[str, str]:
        """Give the variables of the ranks: srun hands them on, and needs no quoting that way."""
        return launch.env | {f"OMPI_MCA_{name}": value for name, value in launch.mca.items()}

    def notes(self, plan: list[Launch]) -> list[str]:
        """Say nothing: srun asks Slurm for all it does."""
        return []

    def _mapping(self, launch: Launch) -> list[str]:
        if not launch.map_by:
            return []
        per_node = re.fullmatch(r"ppr:([1-9]\d*):node", launch.map_by)
        if not per_node:
            raise BatchError(
                USAGE,
                f"{launch.experiment}: srun has no `map_by: {launch.map_by}`: say ppr:N:node, or use mpirun",
            )
        return [f"--ntasks-per-node={per_node.group(1)}"]

    def _binding(self, launch: Launch) -> list[str]:
        if not launch.bind_to:
            return []
        if launch.bind_to not in _BINDINGS:
            raise BatchError(USAGE, f"{launch.experiment}: srun has no `bind_to: {launch.bind_to}`")
        return [f"--cpu-bind={_BINDINGS[launch.bind_to]}"]


def find_srun() -> Srun:
    """Refuse where there is no Slurm."""
    if not shutil.which("srun"):
        raise BatchError(USAGE, "there is no srun on PATH: use --launcher mpirun")
    return Srun()
