# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Whether one arm is faster than another: the ratio of launch medians, with an interval over launches.

The interval is a percentile bootstrap: launches are drawn again, with replacement, and the ratio of the two
medians is taken anew each time. Where both arms were measured in the same launches (two algorithms of one
sweep), launches are drawn in pairs. A verdict needs 6 launches of each arm. Verdicts are per case and not
corrected for their number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from ringscope import text
from ringscope.batch import MANNER, POINT, Batch, launch_times
from ringscope.run import Run, RunError

SAME, FASTER, SLOWER, UNDECIDED, TOO_SMALL = "SAME", "FASTER", "SLOWER", "UNDECIDED", "n too small"
LEAST_LAUNCHES, RESAMPLES = 6, 10_000
#: A difference that nobody cares about, unless the caller says otherwise: 3 %.
DELTA = 0.03


def arms(times: pd.DataFrame) -> pd.Series:
    """Name the arm of each row by whatever of experiment, arm, algorithm and engine differs in the frame."""
    varied = [column for column in MANNER if times[column].nunique() > 1]
    named = times[varied or ["algorithm"]].astype(str)
    return named.apply(lambda row: " ".join(word for word in row if word), axis=1)


def compare(batch: Batch, base: str | None = None, delta: float = DELTA, seed: int = 1) -> pd.DataFrame:
    """Compare every arm of a batch with one of them, by default with the first in the order of launches.

    Give one row per other arm and point: n of both, medians in ns, ratio (above 1: slower than the base) with
    ``low`` and ``high``, and the verdict: SAME where the interval lies within 1 +- delta, FASTER or SLOWER
    where it lies wholly outside on one side, else UNDECIDED.
    """
    times = batch.times
    try:
        return compare_times(times, base, delta, seed)
    except RunError as error:
        raise RunError(f"{batch.path}: {error}") from error


def compare_times(
    times: pd.DataFrame, base: str | None = None, delta: float = DELTA, seed: int = 1
) -> pd.DataFrame:
    """As ``compare``, of a frame such as ``Batch.times``."""
    times = times.dropna(subset=["median_ns"])
    times = times.assign(name=arms(times))
    names = list(dict.fromkeys(times.sort_values(["launch", "case"])["name"]))
    base = _checked_base(names, base)
    rng = np.random.default_rng(seed)
    rows = []
    for point, group in times.groupby(POINT, sort=False):
        launches = {name: arm.set_index("launch")["median_ns"] for name, arm in group.groupby("name")}
        for name in names:
            if name != base and base in launches and name in launches:
                judged = judge(launches[base], launches[name], delta, rng)
                rows.append(dict(zip(POINT, point, strict=True)) | {"base": base, "arm": name} | judged)
    if not rows:
        raise RunError(f"no other arm shares a case with `{base}`")
    return pd.DataFrame(rows)


def compare_results(results: Mapping[str, Run | Batch], delta: float = DELTA, seed: int = 1) -> pd.DataFrame:
    """Compare runs or batches, of two machines or two commits, say: each with the first, case by case.

    Give the columns of ``compare``, and algorithm and engine; the arms are the names given. What only one of
    them measured is left out. A run is one launch, which is too few for a verdict.
    """
    times = _side_by_side(results)
    frames = []
    for (algorithm, engine), group in times.groupby(["algorithm", "engine"], sort=False):
        if group["arm"].nunique() > 1:
            compared = compare_times(group, next(iter(results)), delta, seed)
            frames.append(compared.assign(algorithm=algorithm, engine=engine))
    if not frames:
        raise RunError(f"{', '.join(results)}: no algorithm and engine that all have: nothing to compare")
    return pd.concat(frames, ignore_index=True)


def ratios_within(
    over: pd.DataFrame, under: pd.DataFrame, delta: float = DELTA, on: str | list[str] = "bytes"
) -> pd.DataFrame:
    """Divide the medians of two sets of cases of one launch, rows of ``case_times`` that agree in ``on``.

    ``low`` and ``high`` are the quotients of the bounds of both medians, which are right together in at least
    90 % of cases; NaN where a median has none. They say nothing of the next launch. The verdict is as in
    ``compare``: SLOWER where ``over`` is.
    """
    keys = [on] if isinstance(on, str) else on
    bounds = [*keys, "median_ns", "low_ns", "high_ns"]
    pairs = over[bounds].merge(under[bounds], on=keys, suffixes=("", "_under"))
    frame = pairs[keys].assign(
        over_ns=pairs["median_ns"],
        under_ns=pairs["median_ns_under"],
        ratio=pairs["median_ns"] / pairs["median_ns_under"],
        low=pairs["low_ns"] / pairs["high_ns_under"],
        high=pairs["high_ns"] / pairs["low_ns_under"],
    )
    said = [verdict(low, high, delta) for low, high in zip(frame["low"], frame["high"], strict=True)]
    return frame.assign(verdict=said)


def differing_facts(results: Mapping[str, Run | Batch]) -> pd.DataFrame:
    """Give what the files say of machine, build and environment where it differs: a row per fact, a column
    per run; of a batch that of its first finished launch.
    """
    facts = {name: pd.Series(_first_run(result).facts, dtype=object) for name, result in results.items()}
    frame = pd.DataFrame(facts).fillna("-")
    return frame[frame.nunique(axis=1) > 1]


def _first_run(result: Run | Batch) -> Run:
    if isinstance(result, Run):
        return result
    for _, run in result.runs():
        return run
    raise RunError(f"{result.path}: no launch is finished")


def _side_by_side(results: Mapping[str, Run | Batch]) -> pd.DataFrame:
    """Lay the times of all together: one arm each, and launches numbered on."""
    frames, first = [], 0
    for name, result in results.items():
        times = launch_times(result).dropna(subset=["median_ns"])
        frames.append(times.assign(arm=name, experiment="", launch=times["launch"] + first))
        first += 1 + int(times["launch"].max()) if len(times) else 0
    return pd.concat(frames, ignore_index=True)


def _checked_base(names: list[str], base: str | None) -> str:
    if not names:
        raise RunError("no case has a time: nothing to compare")
    if len(names) < 2:
        raise RunError(f"there is one arm only, `{names[0]}`: nothing to compare")
    if base is not None and base not in names:
        raise RunError(f"there is no arm `{base}`; arms: {', '.join(names)}")
    return base or names[0]


def judge(
    base: pd.Series, other: pd.Series, delta: float, rng: np.random.Generator
) -> dict[str, float | int | str]:
    """Compare the launch medians of two arms, each indexed by launch."""
    low, high = math.nan, math.nan
    if min(len(base), len(other)) >= LEAST_LAUNCHES:
        low, high = ratio_interval(base, other, rng)
    return {
        "n_base": len(base),
        "n": len(other),
        "base_ns": float(base.median()),
        "median_ns": float(other.median()),
        "ratio": float(other.median() / base.median()),
        "low": low,
        "high": high,
        "verdict": verdict(low, high, delta),
    }


def ratio_interval(base: pd.Series, other: pd.Series, rng: np.random.Generator) -> tuple[float, float]:
    """Give the 95 % interval of median(other) / median(base) by bootstrap over launches."""
    paired = base.index.is_unique and set(base.index) == set(other.index)
    first = rng.integers(0, len(base), (RESAMPLES, len(base)))
    second = first if paired else rng.integers(0, len(other), (RESAMPLES, len(other)))
    others = other.loc[base.index].to_numpy() if paired else other.to_numpy()
    ratios = np.median(others[second], axis=1) / np.median(base.to_numpy()[first], axis=1)
    low, high = np.quantile(ratios, [0.025, 0.975])
    return float(low), float(high)


def verdict(low: float, high: float, delta: float) -> str:
    """Say in a word what an interval of the ratio means."""
    if math.isnan(low):
        return TOO_SMALL
    if 1 - delta <= low and high <= 1 + delta:
        return SAME
    if high < 1 - delta:
        return FASTER
    return SLOWER if low > 1 + delta else UNDECIDED


def comparison_summary(frame: pd.DataFrame) -> list[str]:
    """Say of each arm in a line how often it got which verdict, and how narrow its intervals are: the median
    over cases of (high - low) / 2, in percent of the base's time.
    """
    return [_summary(base, arm, group) for (base, arm), group in frame.groupby(["base", "arm"], sort=False)]


def _summary(base: str, arm: str, group: pd.DataFrame) -> str:
    verdicts = ", ".join(f"{count} {said}" for said, count in group["verdict"].value_counts().items())
    cases = "1 case" if len(group) == 1 else f"{len(group)} cases"
    half_width = ((group["high"] - group["low"]) / 2).median()
    width = "" if math.isnan(half_width) else f"; half-width of the interval: median {100 * half_width:.1f} %"
    return f"{arm} against {base}: {cases}: {verdicts}{width}"


def comparison_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Give a comparison as a frame of texts; of the case's columns those that vary."""
    shown = {"op": frame["op"], "type": frame["dtype"], "mode": frame["mode"], "offset": frame["offset"]}
    shown["in place"] = frame["in_place"].map({True: "yes", False: "no"})
    varied = {name: column for name, column in shown.items() if column.nunique() > 1}
    return pd.DataFrame(
        {"arm": frame["arm"], "ranks": frame["ranks"], "size": frame["bytes"].map(text.size)}
        | varied
        | {
            "launches": frame["n_base"].astype(str) + "/" + frame["n"].astype(str),
            "base us": (frame["base_ns"] / 1e3).map(text.number),
            "us": (frame["median_ns"] / 1e3).map(text.number),
            "ratio": frame["ratio"].map(lambda value: text.number(value, 3)),
            "from": frame["low"].map(lambda value: text.number(value, 3)),
            "to": frame["high"].map(lambda value: text.number(value, 3)),
            "verdict": frame["verdict"],
        }
    )
