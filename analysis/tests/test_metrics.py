# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Each metric against the closed forms the synthetic file was made from."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
import synthetic

from ringscope import RunError, load_run, metrics


def test_sample_times_are_last_exit_minus_first_entry(run):
    times = metrics.sample_times(run.samples)
    timed = times.query("case == 0 and iteration == 2").iloc[0]
    assert timed["time_ns"] == 50_300  # rank 3 starts and ends 300 ns after rank 0
    assert timed["ranks"] == 4 and timed["state"] == "ok" and not timed["traced"]
    assert len(times) == 4 * 24 + 2 * 22


def test_sample_times_state_is_the_worst_of_the_ranks():
    times = metrics.sample_times(samples(state=["ok", "aborted", "late_start"]))
    assert times["state"].tolist() == ["aborted"]


def test_sample_times_prefer_the_device_and_divide_by_ops():
    times = metrics.sample_times(samples(device_ns=[400, 900, 500], ops=[10] * 3))
    assert times["time_ns"].tolist() == [900] and times["ns_per_op"].tolist() == [90]


def test_sample_times_without_a_device_on_one_rank_use_the_host():
    assert metrics.sample_times(samples(device_ns=[400, -1, 500]))["time_ns"].tolist() == [1_200]


def test_sample_times_with_a_missing_exit_are_nan():
    assert metrics.sample_times(samples(exit_ns=[1_000, -1, 1_200]))["time_ns"].isna().all()


def samples(**changed) -> pd.DataFrame:
    columns = {
        "case": [0] * 3,
        "iteration": [0] * 3,
        "rank": [0, 1, 2],
        "state": ["ok"] * 3,
        "traced": [False] * 3,
        "ops": [1] * 3,
        "enter_ns": [100, 150, 200],
        "exit_ns": [1_000, 1_300, 1_200],
        "device_ns": [-1] * 3,
    }
    frame = pd.DataFrame({**columns, **changed})
    return frame.assign(state=pd.Categorical(frame["state"], categories=synthetic.STATES))


def test_case_times_use_untraced_ok_samples_only(run):
    times = metrics.case_times(run).set_index("case")
    assert (times["n"] == 20).all()
    # 20 times from 50.3 us in steps of 1 us: the median is the mean of the 10th and the 11th.
    assert times.loc[0, "median_ns"] == 59_800
    assert times.loc[0, "q05_ns"] == pytest.approx(50_300 + 0.95 * 1_000)
    assert times.loc[0, "q95_ns"] == pytest.approx(50_300 + 18.05 * 1_000)
    # 95 % interval of the median of 20: the 6th and the 15th.
    assert (times.loc[0, "low_ns"], times.loc[0, "high_ns"]) == (55_300, 64_300)


def test_case_times_of_a_wrong_case_are_nan(spoiled):
    run = load_run(spoiled(lambda file: file["cases/status"].__setitem__(1, b"wrong")))
    times = metrics.bandwidth(metrics.case_times(run)).set_index("case")
    assert math.isnan(times.loc[1, "median_ns"]) and math.isnan(times.loc[1, "busbw_gb_s"])
    assert times.loc[0, "median_ns"] == 59_800


@pytest.mark.parametrize(
    ("n", "ranks"),
    # From published tables of the binomial interval of a median.
    [
        (5, None),
        (6, (1, 6)),
        (8, (1, 8)),
        (10, (2, 9)),
        (15, (4, 12)),
        (20, (6, 15)),
        (30, (10, 21)),
        (50, (18, 33)),
    ]
    + [(100, (40, 61)), (200, (86, 115)), (500, (228, 273)), (1000, (469, 532))],
)
def test_median_interval_ranks_are_those_of_the_binomial(n, ranks):
    assert metrics.median_interval_ranks(n) == ranks


def test_median_interval_of_five_samples_is_nan():
    assert all(math.isnan(bound) for bound in metrics.median_interval(pd.Series([1.0, 2, 3, 4, 5])))


def test_bandwidth_of_four_ranks():
    rates = metrics.bandwidth(pd.DataFrame({"bytes": [4096], "median_ns": [1024.0], "ranks": [4]}))
    assert rates["algbw_gb_s"].tolist() == [4] and rates["busbw_gb_s"].tolist() == [6]


def test_bandwidth_of_one_rank_has_no_bus():
    rates = metrics.bandwidth(pd.DataFrame({"bytes": [4096], "median_ns": [1024.0], "ranks": [1]}))
    assert rates["busbw_gb_s"].tolist() == [0]


def test_traffic_check_of_a_faithful_file(run):
    links = metrics.traffic_check(run)
    assert len(links) == 16 and links["equal"].all() and links["traced"].all()


def test_traffic_verdict_of_a_faithful_file(run):
    assert metrics.traffic_verdict(run) == (
        "every link of 4 cases carries exactly its closed form (16 links, all traced); "
        "the traffic of mpi is not observable"
    )


@pytest.mark.parametrize(("column", "word"), [("traced_payload", "traced"), ("declared_payload", "declared")])
@pytest.mark.parametrize(("change", "sign"), [(16, "more"), (-16, "less")])
def test_traffic_verdict_names_case_link_and_bytes(spoiled, column, word, change, sign):
    verdict = metrics.traffic_verdict(load_run(spoiled(shifted(column, 9, change))))
    right = 2 * 1000 - 256 - 240  # ring-simple, 1000 bytes, rank 1: chunks of 256, 256, 240 and 248 bytes
    assert "1 of 16 links off" in verdict and "every link" not in verdict
    assert f"case 2 (ring-simple, 1000 bytes) link 1 -> 2: {word} {right + change} bytes" in verdict
    assert f"16 bytes {sign} than the closed form ({right})" in verdict


def test_traffic_verdict_sees_the_wire(spoiled):
    verdict = metrics.traffic_verdict(load_run(spoiled(shifted("traced_wire", 0, 16))))
    assert (
        "case 0 (ring-ll, 1000 bytes) link 0 -> 1: traced on the wire" in verdict
        and "16 bytes more" in verdict
    )


def test_traffic_verdict_without_closed_form_says_so(spoiled):
    def drop(file):
        file["traffic/closed_form"][...] = -1

    assert metrics.traffic_verdict(load_run(spoiled(drop))).startswith(
        "every link of 4 cases without a closed form carries what was declared (16 links, all traced)"
    )


def test_traffic_verdict_untraced_says_so(spoiled):
    def drop(file):
        file["traffic/traced_payload"][:4] = -1

    run = load_run(spoiled(drop))
    assert "16 links, 12 traced, the others only declared" in metrics.traffic_verdict(run)
    assert set(metrics.rank_traffic(run).query("case == 0")["source"]) == {"declared"}


def test_traffic_verdict_of_a_lossy_case_compares_no_traced_bytes(spoiled):
    def lose(file):
        shifted("traced_payload", 9, -240)(file)
        file["cases/events_dropped"][2] = 1

    verdict = metrics.traffic_verdict(load_run(spoiled(lose)))
    assert "12 traced" in verdict and "traced bytes of case 2 (ok) are not compared" in verdict


def test_traffic_verdict_leaves_out_a_case_that_hung(spoiled):
    def hang(file):
        shifted("traced_payload", 9, -240)(file)
        file["cases/status"][2] = b"timeout"

    verdict = metrics.traffic_verdict(load_run(spoiled(hang)))
    assert "every link of 3 cases" in verdict and "case 2 (timeout) did not finish" in verdict


def shifted(column, row, change):
    """The mutant: one figure of /traffic is off by so many bytes."""

    def shift(file):
        file[f"traffic/{column}"][row] += change

    return shift


def test_rank_traffic_is_the_ring_law_and_its_mean_the_model(run):
    ranks = metrics.rank_traffic(run).query("case == 0")
    # Chunks of 256, 256, 240 and 248 bytes; rank r sends 2M - L[r] - L[r+1] and receives what rank r - 1
    # sends.
    assert ranks["sent_bytes"].tolist() == [1488, 1504, 1512, 1496]
    assert ranks["received_bytes"].tolist() == [1496, 1488, 1504, 1512]
    assert ranks["sent_bytes"].mean() == ranks["model_bytes"].iloc[0] == 1500
    assert set(ranks["source"]) == {"traced"}


def test_rank_traffic_of_even_chunks_is_the_model_on_every_rank(run):
    ranks = metrics.rank_traffic(run).query("case == 3")
    assert ranks["sent_bytes"].tolist() == [6144] * 4 and set(ranks["model_bytes"]) == {6144}


def test_link_matrix_is_a_ring(run):
    expected = np.zeros((4, 4), dtype=np.int64)
    expected[[0, 1, 2, 3], [1, 2, 3, 0]] = [1488, 1504, 1512, 1496]
    assert (metrics.link_matrix(run, 2).to_numpy() == expected).all()


def test_link_matrix_of_an_opaque_case_is_refused(run):
    with pytest.raises(RunError, match="case 4 has no traffic rows"):
        metrics.link_matrix(run, 4)


def test_largest_traced_case_is_of_the_algorithm_asked_for(run):
    assert metrics.largest_traced_case(run) == 1
    assert metrics.largest_traced_case(run, "ring-simple") == 3
    with pytest.raises(RunError, match="no case is ok and traced"):
        metrics.largest_traced_case(run, "mpi")


def test_events_of_takes_the_first_traced_iteration(run):
    events = metrics.events_of(run, 0)
    assert set(events["iteration"]) == {22} and len(events) == 48
    assert events["begin_ns"].is_monotonic_increasing
    assert set(metrics.events_of(run, 0, 23)["iteration"]) == {23}


def test_events_of_an_opaque_case_is_refused(run):
    with pytest.raises(RunError, match="case 4 has no events"):
        metrics.events_of(run, 4)


def test_time_split_counts_an_op_once(run):
    split = metrics.time_split(run)
    assert len(split) == 4 * 4
    # 7 ops of 9 us; 6 of them wait 3 us for data, 6 wait 1 us for credit; the sample lasts 70 us.
    assert set(split["wait_data_ns"]) == {18_000} and set(split["wait_credit_ns"]) == {6_000}
    assert set(split["moving_ns"]) == {39_000} and set(split["other_ns"]) == {7_000}


def test_time_split_never_waits_longer_than_the_op():
    columns = {
        "case": 0,
        "iteration": 0,
        "rank": 0,
        "channel": 0,
        "slice": 0,
        "op": 0,
        "begin_ns": 10,
        "end_ns": 110,
    }
    columns |= {"direction": "recv", "wait_data_ns": 80, "wait_credit_ns": 0}
    events = pd.DataFrame([{**columns, "peer": peer} for peer in (1, 2)])
    times = metrics.op_times(events).iloc[0]
    assert (times["wait_data_ns"], times["moving_ns"]) == (100, 0)


def test_case_labels_name_what_differs_and_nothing_else(run):
    assert metrics.case_labels(run.cases).tolist() == run.cases["algorithm"].tolist()
    two = pd.concat([run.cases, run.cases.assign(channels=2)], ignore_index=True)
    assert metrics.case_labels(two).tolist()[:1] + metrics.case_labels(two).tolist()[6:7] == [
        *("ring-ll, 1 channels", "ring-ll, 2 channels"),
    ]


def test_case_labels_follow_no_tuning_by_size(run):
    tuned = run.cases.assign(channels=[1, 2] * 3)
    assert metrics.case_labels(tuned).tolist() == run.cases["algorithm"].tolist()


def test_overview_has_one_line_per_case(run):
    overview = metrics.overview(run)
    assert overview["size"].tolist() == ["1000 B", "4 KiB"] * 3
    assert overview["traffic"].tolist() == ["exact"] * 4 + ["not checked"] * 2
    assert overview["median us"].tolist() == ["59.80"] * 6


def test_the_parts_of_several_operations_in_a_sample_are_those_of_one(run):
    """The same operation twice in one sample, a gap between: every part is a mean over both."""
    once = metrics.time_split(run)
    length = int(run.events["end_ns"].max() - run.events["begin_ns"].min()) + 1_000
    stamps = ["begin_ns", "ready_ns", "end_ns"]
    later = run.events.assign(**{stamp: run.events[stamp] + length for stamp in stamps})
    later["seq"] += 1_000
    samples = run.samples.assign(ops=run.samples["ops"].where(~run.samples["traced"], 2))
    twice = dataclasses.replace(run, samples=samples)
    twice.__dict__["events"] = pd.concat([run.events, later], ignore_index=True)
    frame = metrics.time_split(twice)
    for part in ("wait_data_ns", "wait_credit_ns", "moving_ns"):
        assert frame[part].to_numpy() == pytest.approx(once[part].to_numpy())
    assert set(metrics.operation_numbers(twice.events)) == {0, 1}
