# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""A batch of synthetic launches whose medians are known, and what is said of its arms."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from ringscope import Batch, RunError, load_run
from ringscope.batch import batch_overview, launch_medians
from ringscope.cli import main
from ringscope.compare import (
    FASTER,
    SAME,
    SLOWER,
    TOO_SMALL,
    UNDECIDED,
    arms,
    compare,
    compare_results,
    comparison_summary,
    differing_facts,
    judge,
    ratio_interval,
    ratios_within,
    verdict,
)

MEDIAN_NS = 50_000 + 1_000 * 9.5 + 300  # of the synthetic file, see synthetic.py


def test_folder_is_a_batch_and_figures_are_medians_over_launches(make):
    batch = load_run(make([1, 2, 3, 4, 5, 7], [1, 1, 1, 1, 1, None]))
    assert isinstance(batch, Batch) and len(batch.launches) == 12
    assert len(list(batch.runs())) == 11
    frame = launch_medians(batch).query("bytes == 1000 and algorithm == 'ring-ll'").set_index("arm")
    assert frame.loc["a", "median_ns"] == pytest.approx(3.5 * MEDIAN_NS)
    # Of 6 launches the extremes enclose the median in 1 - 2/64 = 97 % of cases.
    assert frame.loc["a", "low_ns"] == pytest.approx(MEDIAN_NS)
    assert frame.loc["a", "high_ns"] == pytest.approx(7 * MEDIAN_NS)
    assert frame.loc["b", "n"] == 5 and np.isnan(frame.loc["b", "low_ns"])
    assert batch_overview(batch)["launches"].tolist() == [6] * 6 + [5] * 6


def test_folder_without_results_or_of_another_kind_is_refused(make, tmp_path):
    with pytest.raises(RunError, match="no launch is finished"):
        launch_medians(load_run(make([None], [None])))
    with pytest.raises(RunError, match="batch.json"):
        load_run(tmp_path)
    (tmp_path / "batch.json").write_text('{"format": "ringscope-batch", "version": 2}', encoding="utf-8")
    with pytest.raises(RunError, match="version 1"):
        load_run(tmp_path)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.98, 1.02, SAME),
        (0.97, 1.03, SAME),
        (0.90, 0.96, FASTER),
        (1.04, 1.20, SLOWER),
        (1.01, 1.06, UNDECIDED),
        (0.90, 1.10, UNDECIDED),
        (0.90, 0.98, UNDECIDED),
        (np.nan, np.nan, TOO_SMALL),
    ],
)
def test_verdicts(low, high, said):
    assert verdict(low, high, 0.03) == said


def test_arms_are_named_by_what_differs(make):
    times = load_run(make([1], [1])).times
    assert set(arms(times)) == {f"{arm} {rest}" for arm in "ab" for rest in
                                ("ring-ll host-shm", "ring-simple host-shm", "mpi mpi")}  # fmt: skip
    rings = times[times["algorithm"] == "ring-ll"]
    assert set(arms(rings)) == {"a", "b"}
    assert set(arms(rings[rings["arm"] == "a"])) == {"ring-ll"}


def test_compare_takes_the_first_arm_or_the_one_named(make):
    batch = load_run(make([1.0] * 6, [1.2] * 6))
    frame = compare(batch, base="a ring-ll host-shm").query("arm == 'b ring-ll host-shm'")
    assert frame["ratio"].tolist() == pytest.approx([1.2, 1.2])
    assert frame["verdict"].tolist() == [SLOWER, SLOWER]
    back = compare(batch, base="b ring-ll host-shm").query("arm == 'a ring-ll host-shm'")
    assert back["verdict"].tolist() == [FASTER, FASTER]
    assert set(compare(batch)["base"]) == {"a ring-ll host-shm"}
    with pytest.raises(RunError, match="no arm `c`; arms: a ring-ll"):
        compare(batch, base="c")


def test_five_launches_are_too_few(make):
    frame = compare(load_run(make([1.0] * 6, [1.5] * 5 + [None])))
    assert set(frame[frame["arm"].str.startswith("b")]["verdict"]) == {TOO_SMALL}


def test_summary_counts_verdicts_and_takes_the_median_of_half_widths():
    frame = pd.DataFrame(
        [
            ("a", "b", 0.99, 1.01, SAME),  # half-widths in percent: 1, 2, 9
            ("a", "b", 0.91, 1.09, UNDECIDED),
            ("a", "slow", 1.08, 1.12, SLOWER),
            ("a", "b", 0.98, 1.02, SAME),
            ("a", "new", np.nan, np.nan, TOO_SMALL),
        ],
        columns=["base", "arm", "low", "high", "verdict"],
    )
    assert comparison_summary(frame) == [
        "b against a: 3 cases: 2 SAME, 1 UNDECIDED; half-width of the interval: median 2.0 %",
        "slow against a: 1 case: 1 SLOWER; half-width of the interval: median 2.0 %",
        "new against a: 1 case: 1 n too small",
    ]


def medians(rng, size, level=1.0, spread=0.02):
    return pd.Series(level * np.exp(rng.normal(0, spread, size)))


def test_equal_arms_are_not_told_apart_and_ten_percent_are():
    """The requirement: of 20 cases of 6 launches each, at most one false alarm, and 18 found."""
    rng = np.random.default_rng(5)
    alike, slowed, widths = [], [], []
    for _ in range(20):
        base, again = medians(rng, 6), medians(rng, 6)
        again.index += 6  # other launches
        alike.append(judge(base, again, 0.03, rng))
        slowed.append(judge(base, medians(rng, 6, 1.1).set_axis(again.index), 0.03, rng)["verdict"])
        widths.append((alike[-1]["high"] - alike[-1]["low"]) / 2)
    assert sum(case["verdict"] in (SAME, UNDECIDED) for case in alike) >= 19
    assert slowed.count(SLOWER) >= 18
    assert np.median(widths) <= 0.05


def test_arms_of_the_same_launches_are_drawn_in_pairs():
    rng = np.random.default_rng(1)
    base = medians(rng, 8, spread=0.5)
    low, high = ratio_interval(base, 1.1 * base, rng)
    assert low == pytest.approx(1.1) and high == pytest.approx(1.1), "what launches share cancels out"
    other = (1.1 * base).set_axis(base.index + 8)
    low, high = ratio_interval(base, other, rng)
    assert low < 0.9 and high > 1.3, "between different launches it does not"


def test_bootstrap_is_that_of_its_seed():
    rng = np.random.default_rng(1)
    base, other = medians(rng, 12), medians(rng, 12)
    intervals = [ratio_interval(base, other, np.random.default_rng(seed)) for seed in (3, 3, 4)]
    assert intervals[0] == intervals[1] != intervals[2]


def test_commands_take_the_folder(make, capsys):
    folder = str(make([1.0] * 6, [1.2] * 6))
    assert main(["table", folder]) == 0
    assert capsys.readouterr().out.startswith("# 12 of 12 launches")
    assert main(["compare", folder, "--base", "a mpi mpi", "--delta", "0.05"]) == 0
    out = capsys.readouterr().out
    assert "base: a mpi mpi" in out and "b mpi mpi" in out and "SLOWER" in out
    assert "# b mpi mpi against a mpi mpi: 2 cases: 2 SLOWER; half-width of the interval: median 0.0 %" in out
    assert main(["compare", folder, "--base", "nobody"]) == 7


def test_one_file_is_no_comparison(pristine, capsys):
    assert main(["compare", str(pristine)]) == 7
    assert "name the folder of a batch" in capsys.readouterr().err


def test_runs_and_batches_are_compared_case_by_case(make, run):
    slow = load_run(make([1.2] * 6, [1.2] * 6, "slow"))
    batches = compare_results({"base": load_run(make([1.0] * 6, [1.0] * 6, "base")), "slow": slow})
    assert len(batches) == 6 and set(batches["n"]) == {12} and set(batches["verdict"]) == {SLOWER}
    assert batches["ratio"].tolist() == pytest.approx([1.2] * 6)
    mixed = compare_results({"one launch": run, "slow": slow})
    assert set(mixed["verdict"]) == {TOO_SMALL} and set(mixed["n_base"]) == {1}


def test_what_only_one_has_is_left_out(run):
    rings = dataclasses.replace(run, cases=run.cases.assign(algorithm=run.cases["algorithm"] + "-2"))
    with pytest.raises(RunError, match="nothing to compare"):
        compare_results({"a": run, "b": rings})


def test_ratios_within_a_launch_divide_bounds_by_opposite_bounds():
    over = pd.DataFrame(
        {"bytes": [1, 2, 3], "median_ns": [20, 10, 9], "low_ns": [18, 9, 8], "high_ns": [22, 11, 10]}
    )
    under = pd.DataFrame({"bytes": [1, 2], "median_ns": [10, 10], "low_ns": [9, 9], "high_ns": [12, 11]})
    frame = ratios_within(over, under)
    assert frame["ratio"].tolist() == [2, 1]
    assert frame["low"].tolist() == pytest.approx([18 / 12, 9 / 11])
    assert frame["high"].tolist() == pytest.approx([22 / 9, 11 / 9])
    assert frame["verdict"].tolist() == [SLOWER, UNDECIDED]
    assert ratios_within(under, over)["verdict"].tolist() == [FASTER, UNDECIDED]


def test_facts_that_agree_are_not_shown(run):
    other = dataclasses.replace(run, facts={"compiler": "g++ 13", "os": "Debian"})
    same = dataclasses.replace(run, facts={"compiler": "g++ 12", "os": "Debian"})
    assert differing_facts({"a": run, "b": run}).empty
    frame = differing_facts({"a": same, "b": other, "c": run})
    assert frame.loc["compiler"].tolist() == ["g++ 12", "g++ 13", "g++ 12"]
    assert frame.loc["os"].tolist() == ["Debian", "Debian", "-"]
