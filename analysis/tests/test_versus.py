# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Ours against the baselines, on frames whose answers are known."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from ringscope import RunError, load_run
from ringscope import versus as module
from ringscope.batch import launch_times
from ringscope.cli import main
from ringscope.compare import FASTER, SAME, SLOWER, TOO_SMALL
from ringscope.limits import least_times
from ringscope.versus import BEST, versus, versus_tables

POINT = {
    "experiment": "x",
    "ranks": 2,
    "bytes": 1024,
    "dtype": "float32",
    "op": "sum",
    "in_place": False,
    "offset": 0,
    "mode": "isolated",
}


def case(algorithm, medians, launches=None, **changed):
    """Rows of one case: a median per launch, None where it has no time."""
    base = algorithm.split()[0]
    engine = base if base in module.BASELINES else "host-shm"
    rest = {"arm": "", "algorithm": algorithm, "base": base, "engine": engine, "channels": 1, "reason": ""}
    launches = range(len(medians)) if launches is None else launches
    rows = [
        POINT
        | rest
        | {"limit_ns": np.nan, "launch": launch, "median_ns": np.nan if one is None else one}
        | changed
        for launch, one in zip(launches, medians, strict=True)
    ]
    return pd.DataFrame(rows)


def best(*cases, **chosen):
    """The one row of the fastest against the fastest."""
    frame = versus(pd.concat(cases, ignore_index=True))
    rows = frame[frame["pair"] == BEST].to_dict("records")
    (row,) = [row for row in rows if all(row[name] == value for name, value in chosen.items())]
    return row


def test_each_half_of_the_launches_chooses_for_the_other():
    # A wins the even launches by far, B the odd ones; reported are A in the odd and B in the even ones.
    row = best(
        case("ring-ll", [14] * 6),
        case("nccl a=1", [1, 9, 1, 9, 1, 9]),
        case("nccl b=1", [5, 4, 5, 4, 5, 4]),
    )
    assert row["theirs"] == "nccl b=1 or nccl a=1" and row["n"] == 6
    assert row["theirs_ns"] == 7, (
        "the median of 5, 5, 5, 9, 9, 9; by their own choice it were that of 1 and 4"
    )
    assert row["ours_ns"] == 14 and row["ratio"] == 2


def test_ours_are_chosen_in_the_same_way():
    row = best(case("ring-ll", [1, 9, 1, 9]), case("one-shot", [5, 4, 5, 4]), case("mpi", [7] * 4))
    assert row["ours"] == "one-shot or ring-ll" and row["ours_ns"] == 7 and row["ratio"] == 1


def test_of_equal_ones_the_first_is_taken():
    row = best(
        case("one-shot", [5] * 6),
        case("ring-ll", [5] * 6),
        case("nccl b=1", [4] * 6),
        case("nccl a=1", [4] * 6),
    )
    assert (row["ours"], row["theirs"], row["ratio"]) == ("one-shot", "nccl b=1", 1.25)


def test_baseline_that_is_missing_at_a_size_leaves_ours_without_a_ratio():
    cases = case("ring-ll", [8] * 6), case("ring-ll", [80] * 6, bytes=4096), case("mpi", [4] * 6)
    row = best(*cases, bytes=4096)
    assert row["ours_ns"] == 80 and row["theirs"] == "-" and row["verdict"] == "-" and np.isnan(row["ratio"])
    assert best(*cases, bytes=1024)["ratio"] == 2
    ((_, table),) = versus_tables(versus(pd.concat(cases)))
    assert table["size"].tolist() == ["1 KiB", "4 KiB"] and table["its us"].tolist() == ["0.00", "-"]


def test_ours_that_is_missing_at_a_size_leaves_the_baseline():
    row = best(case("ring-ll", [8] * 6, bytes=4), case("mpi", [4] * 6), bytes=1024)
    assert (row["ours"], row["theirs"], row["theirs_ns"]) == ("-", "mpi", 4) and np.isnan(row["ratio"])


def test_cases_that_failed_are_left_out():
    row = best(
        case("ring-ll", [8, 8, 8, 8, 8, None]),
        case(
            "nccl a=1", [1, None, 1, None, 1, None]
        ),  # never in an odd launch: nobody could check the choice
        case("nccl b=1", [4] * 6),
        case("nccl c=1", [None] * 6),
    )
    assert (row["theirs"], row["ratio"], row["n"], row["verdict"]) == ("nccl b=1", 2, 5, TOO_SMALL)


def test_launches_of_one_half_do_not_choose_for_themselves():
    half = [4, None, 4, None, 4, None]
    cases = case("ring-ll", half, bytes=4), case("mpi", half, bytes=4), case("mpi", [4] * 6)
    row = best(*cases, bytes=4)
    assert (row["ours"], row["theirs"], row["n"]) == ("-", "-", 0) and np.isnan(row["ratio"])


def test_nothing_to_compare_is_said():
    with pytest.raises(RunError, match="no case of a baseline"):
        versus(case("ring-ll", [1]))
    with pytest.raises(RunError, match="no case of ours"):
        versus(case("mpi", [1]))


def test_interval_is_of_pairs_of_one_launch():
    levels = np.array([100.0, 300, 200, 500, 400, 250])
    row = best(case("ring-ll", 0.8 * levels), case("mpi", levels))
    assert [row[name] for name in ("ratio", "low", "high")] == pytest.approx([0.8] * 3), "launches cancel out"
    assert row["verdict"] == FASTER
    assert best(case("ring-ll", 1.2 * levels), case("mpi", levels))["verdict"] == SLOWER
    assert best(case("ring-ll", levels), case("mpi", levels))["verdict"] == SAME


def test_interval_is_the_bootstrap_over_all_launches():
    # Ratios of launches, 0.5 and 1 in turn, of equal baselines: 3 of 6 draws or more may be of either kind.
    row = best(case("ring-ll", [50, 100, 50, 100, 50, 100]), case("mpi", [100] * 6))
    assert (row["ratio"], row["low"], row["high"]) == (0.75, 0.5, 1.0)


def test_under_six_launches_there_is_a_figure_without_an_interval():
    row = best(case("ring-ll", [2] * 5), case("mpi", [4] * 5))
    assert (row["ratio"], row["n"], row["verdict"]) == (0.5, 5, TOO_SMALL)
    assert np.isnan(row["low"]) and np.isnan(row["high"])
    alone = best(case("ring-ll", [2]), case("one-shot", [1]), case("mpi", [4]))
    assert (alone["ours"], alone["ratio"], alone["verdict"]) == ("one-shot", 0.25, TOO_SMALL)


def test_ours_is_of_the_launches_of_the_fastest_arm():
    # Arms are shuffled: even and odd are counted within an arm, here of launches 0, 2, 4, ....
    plain, tuned = [0, 2, 4, 6, 8, 10], [1, 3, 5, 7, 9, 11]
    cases = [
        case("ring-ll", [30] * 6, plain, arm="plain"),
        case("mpi", [40] * 6, plain, arm="plain"),
        case("ring-ll", [12] * 6, tuned, arm="tuned"),
        case("mpi", [24] * 6, tuned, arm="tuned"),
    ]
    row = best(*cases)
    assert (row["theirs"], row["ours_ns"], row["theirs_ns"], row["n"]) == ("mpi, tuned", 12, 24, 6)


def test_settings_and_experiments_have_a_table_each():
    modes = [case(name, [4] * 6, mode=mode) for name in ("ring-ll", "nccl") for mode in ("graph", "isolated")]
    other = [case(name, [4] * 6, experiment="y", in_place=True) for name in ("ring-ll", "nccl")]
    names = [name for name, _ in versus_tables(versus(pd.concat([*modes, *other])))]
    assert names == [
        "x, 2 ranks, graph, float32 sum, out of place",
        "x, 2 ranks, isolated, float32 sum, out of place",
        "y, 2 ranks, isolated, float32 sum, in place",
    ]


def test_like_is_set_against_like():
    cases = [
        case("ring-ll", [5] * 6, channels=8),
        case("ring-simple channels=2", [12] * 6, channels=2),
        case("tree-ll", [9] * 6),
        case("two-shot", [3] * 6),
        case("nccl", [4] * 6, reason="chose tree simple 24 channels", channels=24),
        # What NCCL told counts; where it told nothing, what it was held to.
        case("nccl algo=ring proto=ll", [10] * 6, reason="chose ring ll 4 channels", channels=4),
        case("nccl algo=ring proto=simple", [16] * 6, channels=0),
        case("nccl algo=tree proto=ll", [2] * 6, reason="chose ring ll128 1 channel"),
    ]
    frame = versus(pd.concat(cases)).set_index("pair")
    assert frame["ratio"].to_dict() == {BEST: 1.5, "ring-ll": 0.5, "ring-simple": 0.75}
    assert frame.loc["ring-ll", ["ours_blocks", "theirs_blocks"]].tolist() == ["8", "4"]
    _, (title, alike) = versus_tables(frame.reset_index())
    assert title.endswith("like against like, ratio [interval] blocks of both")
    assert alike.to_dict("records") == [
        {"size": "1 KiB", "ring-ll": "0.50 [0.50, 0.50] 8/4", "ring-simple": "0.75 [0.75, 0.75] 2/-"}
    ]


def test_limit_and_share_are_of_the_fastest_of_ours():
    row = best(
        case("ring-ll", [40] * 6, limit_ns=10), case("one-shot", [20] * 6, limit_ns=5), case("mpi", [50] * 6)
    )
    assert (row["limit_ns"], row["share"]) == (5, 0.25)


def test_cases_that_a_file_does_not_tell_apart_are_numbered():
    row = best(case("ring-ll", [6] * 6), case("nccl", [4] * 6), case("nccl", [3] * 6))
    assert (row["theirs"], row["ratio"]) == ("nccl (2)", 2)


def test_what_a_baseline_tells_is_shown_where_it_tells():
    told = case("nccl", [5, 9, 5, 9, 5, 9], reason="chose ring ll 1 channel")
    frame = versus(pd.concat([case("ring-ll", [6] * 6), told, case("nccl window=symmetric", [9, 5] * 3)]))
    _, table = next(versus_tables(frame))
    assert table["baseline"].tolist() == ["nccl window=symmetric or nccl (ring ll)"]
    _, table = next(versus_tables(versus(pd.concat([case("ring-ll", [6] * 6), case("mpi", [5] * 6)]))))
    assert table["baseline"].tolist() == ["mpi"]


def test_engines_are_named_where_ours_have_several():
    row = best(case("ring-ll", [6] * 6), case("ring-ll", [3] * 6, engine="cuda-p2p"), case("nccl", [3] * 6))
    assert row["ours"] == "ring-ll, cuda-p2p"


# ----------------------------------------------------------------------------------------------------- noise


@pytest.fixture(name="noise", scope="module")
def fixture_noise():
    """One case of ours and 20 of a baseline, at 25 sizes, all equally fast, 5 % of noise between launches."""
    rng = np.random.default_rng(7)
    launches = [case("ring-ll", [1] * 6), *(case(f"nccl v={number}", [1] * 6) for number in range(20))]
    frame = pd.concat(
        [rows.assign(bytes=4 * size) for rows in launches for size in range(25)], ignore_index=True
    )
    return frame.assign(median_ns=1e4 * np.exp(rng.normal(0, 0.05, len(frame))))


def bias(frame):
    """The mean of log(ratio), 0 where nobody is favoured."""
    return float(np.log(frame.loc[frame["pair"] == BEST, "ratio"]).mean())


def test_who_has_more_variants_is_not_favoured(noise):
    """The mean of 25 ratios with some 4 % of noise each is known within 0.8 %; 2 % are 2.5 of these."""
    frame = versus(noise)
    assert abs(bias(frame)) < 0.02
    # The intervals are of 95 %: they hold the true ratio in all but a few.
    assert ((frame["low"] <= 1) & (frame["high"] >= 1)).mean() >= 0.85


def test_choosing_on_the_launches_that_are_reported_is_caught(noise, monkeypatch):
    """The mutant: the fastest of 20 looks 5 % faster than it is."""
    chosen_here = module._of_half
    monkeypatch.setattr(
        module, "_of_half", lambda ours, theirs, _, half: chosen_here(ours, theirs, half, half)
    )
    assert bias(versus(noise)) > 0.04


# ---------------------------------------------------------------------------------------------------- limits


def machine(engine="host-shm"):
    """Two ranks: 1 and 2 GB/s and more, by copy engine 4 GB/s from 1 to 0; flags of 100 and 300 ns."""
    nan = np.nan
    columns = ["engine", "src", "dst", "bytes", "latency_ns", "bandwidth", "copy_engine_bandwidth"]
    rows = [
        (engine, 0, 1, 8, 100, nan, nan),
        (engine, 0, 1, 1024, -1, 1e9, nan),
        (engine, 0, 1, 4096, -1, 2e9, nan),
        (engine, 1, 0, 8, 300, nan, nan),
        (engine, 1, 0, 1024, -1, 3e9, nan),
        (engine, 1, 0, 4096, -1, 1e9, 4e9),
    ]
    return pd.DataFrame(rows, columns=columns).assign(reduction_rate=nan)


def limits(run, ranks, rows):
    cases = pd.DataFrame({"engine": ["host-shm"] * 3 + ["mpi"], "bytes": [512, 4096, 8192, 512]})
    attributes = run.attributes | {"world_size": ranks}
    return least_times(dataclasses.replace(run, cases=cases, machine=rows, attributes=attributes)).tolist()


def test_limit_is_one_latency_and_the_bytes_at_the_rate_of_the_slowest_link(run):
    # The best at this size or above: 2 GB/s from 0 to 1, 4 GB/s back; of two ranks each sends M.
    expected = [300 + 512 / 2, 300 + 4096 / 2, 300 + 8192 / 2, np.nan]
    assert limits(run, 2, machine()) == pytest.approx(expected, nan_ok=True)
    # Of four ranks each sends 2 * 3/4 M.
    assert limits(run, 4, machine())[1] == pytest.approx(300 + 1.5 * 4096 / 2)


def test_limit_of_a_size_is_not_that_of_a_smaller_one(run):
    rows = machine()
    rows.loc[rows["bytes"] == 1024, "bandwidth"] = 100e9  # in a cache
    assert limits(run, 2, rows)[:2] == pytest.approx([300 + 512 / 100, 300 + 4096 / 2])


def test_without_figures_there_is_no_limit(run):
    assert np.isnan(limits(run, 2, machine().iloc[:0])).all()
    assert np.isnan(limits(run, 1, machine())).all()
    old = machine().drop(columns="engine").assign(latency_ns=-1)
    assert limits(run, 2, old)[0] == pytest.approx(512 / 2), "no latency was taken, and no engine named"


# --------------------------------------------------------------------------------------------------- command


def test_command_takes_a_batch_or_a_file(make, pristine, capsys):
    # In the synthetic file all algorithms take the same time.
    folder = str(make([1.0] * 6, [0.5] * 6))
    assert main(["versus", folder]) == 0
    out = capsys.readouterr().out
    assert "even launches choose for odd ones" in out and "x, 4 ranks, isolated" in out
    row = next(line for line in out.splitlines() if " 4 KiB" in line).split()
    assert row[2:] == "ring-ll 29.90 mpi, b 29.90 1.000 1.000 1.000 SAME 6 1/1 - -".split()
    assert main(["versus", str(pristine)]) == 0
    out = capsys.readouterr().out
    assert "chosen by the one launch" in out and "n too small" in out


def test_command_refuses_what_has_no_baseline(spoiled, capsys):
    path = spoiled(lambda file: file["cases/algorithm"].__setitem__(slice(None), b"ring-ll"))
    assert main(["versus", str(path)]) == 7
    assert f"{path}: no case of a baseline" in capsys.readouterr().err


def test_times_of_a_run_are_those_of_a_batch_of_one(run, make):
    batch = load_run(make([1], [None]))
    alone = launch_times(run).drop(columns=["experiment", "arm"])
    pd.testing.assert_frame_equal(
        alone, launch_times(batch).drop(columns=["experiment", "arm"]), check_dtype=False
    )
