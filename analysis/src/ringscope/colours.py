# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""The colours of every picture, for a light ground and for a dark one."""

from __future__ import annotations

import zlib

#: The colour of each algorithm in every picture: one hue per family, so that two runs can be laid side by
#: side.
COLOURS = {
    "ring-ll": "#6baed6",
    "ring-ll128": "#2171b5",
    "ring-simple": "#08306b",
    "tree-ll": "#74c476",
    "tree-simple": "#006d2c",
    "parameter-server": "#9e5fc1",
    "ipc-pcie": "#d95f0e",
    "ipc-pcie-naive": "#fe9929",
    "one-shot": "#e7298a",
    "two-shot": "#980043",
    "halving-doubling": "#c9a400",
    "hierarchical": "#8c564b",
    "nccl": "#000000",
    "mpi": "#7f7f7f",
}

#: The same hues where the ground is dark: what is darkest on white would vanish there.
DARK_COLOURS = {
    "ring-ll": "#9ecae1",
    "ring-ll128": "#4a9be0",
    "ring-simple": "#3a6ff0",
    "tree-ll": "#a1d99b",
    "tree-simple": "#31a354",
    "parameter-server": "#b98ad6",
    "ipc-pcie": "#e6732b",
    "ipc-pcie-naive": "#fdb863",
    "one-shot": "#f368b0",
    "two-shot": "#d02f78",
    "halving-doubling": "#e3c53d",
    "hierarchical": "#b98376",
    "nccl": "#f2f2f2",
    "mpi": "#a0a0a0",
}

#: For algorithms that are not known here: chosen by their names alone.
_OTHERS = (
    "#393b79 #5254a3 #6b6ecf #9c9ede #637939 #8ca252 #b5cf6b #cedb9c #8c6d31 #bd9e39 #e7ba52 #e7cb94 "
    "#843c39 #ad494a #d6616b #e7969c #7b4173 #a55194 #ce6dbd #de9ed6"
).split()

#: Waiting is light, moving is dark; receiving is blue, sending is orange.
LANE_COLOURS = {
    ("recv", "waiting"): "#c6dbef",
    ("recv", "moving"): "#2171b5",
    ("send", "waiting"): "#fdd0a2",
    ("send", "moving"): "#d94801",
}

#: On a dark ground waiting recedes by being darker.
DARK_LANE_COLOURS = {
    ("recv", "waiting"): "#26415f",
    ("recv", "moving"): "#5aa9e6",
    ("send", "waiting"): "#5c3a1c",
    ("send", "moving"): "#f08a3c",
}

SPLIT_COLOURS = {
    "wait_data_ns": ("waiting for data", "#9ecae1"),
    "wait_credit_ns": ("waiting for credit", "#fdae6b"),
    "moving_ns": ("moving", "#31a354"),
    "other_ns": ("other", "#d9d9d9"),
}

#: Parts of an operation's time on the page, where moving is told apart by phase.
PART_COLOURS = {
    "wait_data_ns": "#9ecae1",
    "wait_credit_ns": "#fdae6b",
    "reduce_phase_ns": "#238b45",
    "copy_phase_ns": "#8fd19e",
    "other_ns": "#d9d9d9",
}

DARK_PART_COLOURS = {
    "wait_data_ns": "#3f6f95",
    "wait_credit_ns": "#a5672b",
    "reduce_phase_ns": "#41b873",
    "copy_phase_ns": "#1e6b3c",
    "other_ns": "#4a5159",
}

#: States of a sample: what counts is dark, the rest shows why it does not.
STATE_COLOURS = {
    "ok": "#238b45",
    "cold": "#2171b5",
    "warmup": "#9ecae1",
    "late_start": "#fdae6b",
    "throttled": "#e6550d",
    "clock_moved": "#9e9ac8",
    "aborted": "#cb181d",
    "verify_failed": "#67000d",
}


def colour_of(algorithm: str, dark: bool = False) -> str:
    """Give the fixed colour of an algorithm, whatever its parameters; one that is not known here gets a
    colour that depends on its name alone.
    """
    name = algorithm.partition(" ")[0]
    known = (DARK_COLOURS if dark else COLOURS).get(name)
    return known or _OTHERS[zlib.crc32(name.encode()) % len(_OTHERS)]
