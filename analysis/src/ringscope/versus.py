# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Ours against the baselines: the fastest of ours beside the fastest of theirs, size by size.

The fastest of several looks faster than it is, and the more so the more there are, if it is chosen by the
times that are then reported. So the launches of each arm are parted into even and odd ones, in their order:
the even ones choose for the odd ones and the odd ones for the even ones, and no figure is of a launch that
chose it. A baseline is the fastest of all its cases in all arms; ours is the fastest in the launches of that
arm, so that both times of a ratio are of the same launches.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from ringscope import text
from ringscope.compare import DELTA, judge
from ringscope.run import RunError

BASELINES = ("mpi", "nccl")
#: What cases of one table have in common.
SETTING = ["experiment", "ranks", "mode", "dtype", "op", "in_place", "offset"]
BEST = "best"
#: Our algorithms that NCCL has too: id -> algorithm and protocol in its words.
LIKE = {
    f"{way}-{protocol}": f"{way} {protocol}"
    for way in ("ring", "tree")
    for protocol in ("ll", "ll128", "simple")
}
#: What a reader must know of the figures.
CHOICE = (
    "fastest: even launches choose for odd ones, and odd for even; no figure is of a launch that chose it; "
    "under 6 launches n is too small for an interval"
)
CHOICE_OF_ONE = "fastest: chosen by the one launch that is shown, which favours the side with more variants"
LIMIT = (
    "limit: latency + 2(N-1)M/N / rate, of the slowest link as measured in the same launches (/machine); "
    "share: limit / ours; blocks: ours/theirs, - where not told"
)
_CASE = ["experiment", "ranks", "arm", "algorithm", "engine"]


def versus(times: pd.DataFrame, delta: float = DELTA, seed: int = 1) -> pd.DataFrame:
    """Set ours against the baselines; ``times`` are those of ``launch_times``.

    Give one row per setting, size and ``pair``: ``best``, or the id of an algorithm that NCCL has too.
    Columns: ``ours`` and ``theirs`` (names; two where the halves chose differently), ``did`` (what the
    baseline told of itself), ``n`` (launches), ``ours_ns`` and ``theirs_ns`` (medians over launches),
    ``ratio`` of these (below 1: ours is faster) with ``low``, ``high`` and ``verdict`` as in ``compare``,
    ``ours_blocks`` and ``theirs_blocks``, ``limit_ns`` (what the machine allows) and ``share`` of it that
    ours reaches. A side without a time is NaN, its names are ``-``.
    """
    known = _labelled(times[times["median_ns"] > 0])
    _check(known)
    rng = np.random.default_rng(seed)
    rows = [
        dict(zip([*SETTING, "bytes"], point, strict=True))
        | {"pair": pair}
        | _contest(ours, theirs, delta, rng)
        for point, group in known.groupby([*SETTING, "bytes"])
        for pair, ours, theirs in _opponents(group)
    ]
    return pd.DataFrame(rows)


def _check(known: pd.DataFrame) -> None:
    are_theirs = known["base"].isin(BASELINES)
    if not are_theirs.any():
        raise RunError(
            f"no case of a baseline ({', '.join(BASELINES)}) has a time: nothing to set ours against"
        )
    if are_theirs.all():
        raise RunError("no case of ours has a time: nothing to set against the baselines")


def _labelled(times: pd.DataFrame) -> pd.DataFrame:
    """Add half (0 for even launches of an arm, 1 for odd ones), did, name, and variant, a number per case.

    Cases of one launch that the file does not tell apart are numbered in their order.
    """
    place = times.groupby(["experiment", "ranks", "arm"])["launch"].rank("dense").astype(int) - 1
    again = times.groupby([*SETTING, "bytes", *_CASE[2:], "launch"]).cumcount()
    frame = times.assign(half=place % 2, again=again, did=_did(times))
    name = frame["algorithm"].where(again == 0, frame["algorithm"] + " (" + (again + 1).astype(str) + ")")
    are_theirs = frame["base"].isin(BASELINES)
    several = frame.groupby(are_theirs)["engine"].transform("nunique") > 1
    name = name.where(are_theirs | ~several, name + ", " + frame["engine"])
    name = name.where(~are_theirs | (frame["arm"] == ""), name + ", " + frame["arm"])
    return frame.assign(name=name, variant=frame.groupby([*_CASE, "again"], sort=False).ngroup())


def _did(times: pd.DataFrame) -> pd.Series:
    """Give algorithm and protocol that NCCL told it chose, `ring ll`, else those that it was held to."""
    told = times["reason"].str.extract(r"^chose (\S+ \S+) \d+ channels?$", expand=False)
    held = times["algorithm"].str.extract(r"algo=(\S+) proto=(\S+)")
    return told.fillna(held[0] + " " + held[1]).fillna("")


def _opponents(group: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame, pd.DataFrame]]:
    """Give the pairs of one setting and size: all against all, then like against like."""
    are_theirs = group["base"].isin(BASELINES)
    ours, theirs = group[~are_theirs], group[are_theirs]
    yield BEST, ours, theirs
    for algorithm, like in LIKE.items():
        mine, its = ours[ours["base"] == algorithm], theirs[theirs["did"] == like]
        if len(mine) and len(its):
            yield algorithm, mine, its


# ------------------------------------------------------------------------------------------------ one contest


def _contest(ours: pd.DataFrame, theirs: pd.DataFrame, delta: float, rng: np.random.Generator) -> dict:
    """Choose on both sides, and compare."""
    ours, theirs = reported(ours, theirs)
    judged = {"ratio": math.nan, "low": math.nan, "high": math.nan, "verdict": "-"}
    if len(ours) and len(theirs):
        ours, theirs = _of_same_launches(ours, theirs)
        judged |= judge(theirs["median_ns"], ours["median_ns"], delta, rng)
    ours_ns, limit_ns = float(ours["median_ns"].median()), float(ours["limit_ns"].median())
    return {
        "ours": _words(ours["name"]),
        "theirs": _words(theirs["name"]),
        "did": _words(theirs.loc[theirs["did"] != "", "did"]),
        "n": max(len(ours), len(theirs)),
        "ours_ns": ours_ns,
        "theirs_ns": float(theirs["median_ns"].median()),
        **{name: judged[name] for name in ("ratio", "low", "high", "verdict")},
        "ours_blocks": _words(ours["channels"].where(ours["channels"] > 0, "-")),
        "theirs_blocks": _words(theirs["channels"].where(theirs["channels"] > 0, "-")),
        "limit_ns": limit_ns,
        "share": limit_ns / ours_ns,
    }


def reported(ours: pd.DataFrame, theirs: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Give the rows of both sides that count: in each half of the launches the case that the other chose.

    Where no arm has more than one launch, it chooses for itself.
    """
    rows = pd.concat([ours, theirs])
    alone = rows.groupby("arm")["launch"].nunique().max() == 1
    halves = sorted(set(rows["half"])) if alone else [0, 1]
    ours, theirs = _in_all(ours, halves), _in_all(theirs, halves)
    parts = [
        _of_half(ours, theirs, chooser, half) for chooser, half in zip(reversed(halves), halves, strict=True)
    ]
    return pd.concat([mine for mine, _ in parts]), pd.concat([its for _, its in parts])


def _in_all(rows: pd.DataFrame, halves: list[int]) -> pd.DataFrame:
    """Leave out cases without a time in one of the halves."""
    return rows[rows.groupby("variant")["half"].transform("nunique") == len(halves)]


def _of_half(
    ours: pd.DataFrame, theirs: pd.DataFrame, chooser: int, half: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    its = _fastest(theirs, chooser)
    here = ours[ours["arm"].isin(its["arm"])] if len(its) else ours
    mine = _fastest(here, chooser)
    return mine[mine["half"] == half], its[its["half"] == half]


def _fastest(rows: pd.DataFrame, chooser: int) -> pd.DataFrame:
    """Give all rows of the case with the least median in one half; of equal ones the first."""
    medians = rows[rows["half"] == chooser].groupby("variant")["median_ns"].median()
    return rows[rows["variant"] == medians.idxmin()] if len(medians) else rows


def _of_same_launches(ours: pd.DataFrame, theirs: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    ours, theirs = ours.set_index("launch"), theirs.set_index("launch")
    common = theirs.index.intersection(ours.index)
    return ours.loc[common], theirs.loc[common]


def _words(column: pd.Series) -> str:
    return " or ".join(dict.fromkeys(column.astype(str))) or "-"


# ---------------------------------------------------------------------------------------------------- tables


def versus_tables(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Give, per setting, its name and a frame of texts with one row per size; then like against like."""
    for values, rows in frame.groupby(SETTING):
        name = _setting_words(dict(zip(SETTING, values, strict=True)))
        yield name, _best_table(rows[rows["pair"] == BEST])
        alike = rows[rows["pair"] != BEST]
        if len(alike):
            yield f"{name}: like against like, ratio [interval] blocks of both", _alike_table(alike)


def _setting_words(setting: dict) -> str:
    place = "in place" if setting["in_place"] else "out of place"
    shift = f", shifted by {setting['offset']}" if setting["offset"] else ""
    begin = [setting["experiment"]] if setting["experiment"] else []
    what = [f"{setting['ranks']} ranks", setting["mode"], f"{setting['dtype']} {setting['op']}"]
    return ", ".join([*begin, *what, place]) + shift


def _best_table(rows: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "size": rows["bytes"].map(text.size),
            "ours": rows["ours"],
            "us": (rows["ours_ns"] / 1e3).map(text.number),
            "baseline": rows["theirs"] + rows["did"].map(lambda did: "" if did == "-" else f" ({did})"),
            "its us": (rows["theirs_ns"] / 1e3).map(text.number),
            "ratio": rows["ratio"].map(_ratio),
            "from": rows["low"].map(_ratio),
            "to": rows["high"].map(_ratio),
            "verdict": rows["verdict"],
            "launches": rows["n"],
            "blocks": _blocks(rows),
            "limit us": (rows["limit_ns"] / 1e3).map(text.number),
            "share": rows["share"].map(text.number),
        }
    )


def _alike_table(rows: pd.DataFrame) -> pd.DataFrame:
    cells = rows.assign(cell=[_cell(row) for row in rows.itertuples()], blocks=_blocks(rows))
    wide = cells.assign(cell=cells["cell"] + " " + cells["blocks"]).pivot(
        index="bytes", columns="pair", values="cell"
    )
    wide = wide[[algorithm for algorithm in LIKE if algorithm in wide]].fillna("-").reset_index()
    return wide.rename(columns={"bytes": "size"}).assign(size=wide["bytes"].map(text.size))


def _cell(row) -> str:
    interval = "" if math.isnan(row.low) else f" [{row.low:.2f}, {row.high:.2f}]"
    return f"{text.number(row.ratio)}{interval}"


def _ratio(value: float) -> str:
    return text.number(value, 3)


def _blocks(rows: pd.DataFrame) -> pd.Series:
    return rows["ours_blocks"] + "/" + rows["theirs_blocks"]
