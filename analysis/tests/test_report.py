# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""The numbers of a report against the closed forms that the synthetic file was made from."""

from __future__ import annotations

import json
import shutil

import h5py
import numpy as np
import pandas as pd
import pytest
import synthetic
from report_data import Page

from ringscope import RunError
from ringscope.cli import main
from ringscope.report import make_page, svg, timeline, words
from ringscope.report.health import cpu_quota, cpus_of
from ringscope.report.ratios import winners

# Sample i takes 50,000 + 1,000 i ns and 300 ns pass between the first entry and the last.
MEDIAN_NS = 50_000 + 9_500 + 300
# Of 20 sorted samples the 6th and the 15th enclose the median in 95 % of cases (binomial, n = 20).
LOW_NS, HIGH_NS = 50_000 + 5_000 + 300, 50_000 + 14_000 + 300


@pytest.fixture(scope="module", name="page")
def fixture_page(pristine) -> Page:
    html, said = make_page([pristine])
    assert said == []
    return Page(html)


# ----------------------------------------------------------------------------------------------- numbers


def test_times_and_bandwidths_of_every_case(page):
    assert len(page.data["cases"]) == 6
    for number, (algorithm, engine, _, nbytes) in enumerate(synthetic.CASES):
        case = page.one("cases", case=number)
        assert (case["series"], case["engine"], case["bytes"]) == (algorithm, engine, nbytes)
        assert (case["median_ns"], case["low_ns"], case["high_ns"]) == (MEDIAN_NS, LOW_NS, HIGH_NS)
        assert (case["n"], case["first_ns"], case["trace_overhead"]) == (20, 900_300, 0.01)
        assert case["algbw_gb_s"] == pytest.approx(nbytes / MEDIAN_NS)
        assert case["busbw_gb_s"] == pytest.approx(nbytes / MEDIAN_NS * 2 * 3 / 4)


def test_table_of_numbers_shows_them_to_a_person(page):
    row = page.row_of("3", "ring-simple")
    assert row[4] == "4 KiB" and row[6:10] == ["20", "59.8 µs", "55.3 µs", "64.3 µs"]
    assert row[11:] == ["0.103 GB/s", "900 µs", "ok"]  # 4096 / 59,800 x 1.5 = 0.1027


def test_curves_have_a_marker_per_case_at_its_value(page):
    markers = [tag["data-tip"] for _, tag in page.tags if tag.get("class") == "marker" and "data-tip" in tag]
    times = [tip for tip in markers if tip.startswith("ring-ll, 4 KiB\n59.8 µs")]
    assert times == ["ring-ll, 4 KiB\n59.8 µs\n95 %: 55.3 µs to 64.3 µs"]
    rates = [tip for tip in markers if tip.startswith("ring-ll, 4 KiB\n0.103 GB/s")]
    # 6144 bytes / 64.3 us = 0.0956, / 55.3 us = 0.111
    assert rates == ["ring-ll, 4 KiB\n0.103 GB/s\n95 %: 0.0956 GB/s to 0.111 GB/s"]


def test_ratios_to_the_baseline_with_the_widest_interval(page):
    assert len(page.data["ratios"]) == 4
    ratio = page.one("ratios", baseline="mpi", case=2)
    assert ratio["ratio"] == 1
    assert ratio["ratio_low"] == pytest.approx(LOW_NS / HIGH_NS)
    assert ratio["ratio_high"] == pytest.approx(HIGH_NS / LOW_NS)


def test_fastest_of_ours_is_set_against_the_fastest_baseline(page):
    row = page.one("versus", bytes=4096, pair="best")
    assert (row["ours"], row["theirs"], row["ratio"], row["n"]) == ("ring-ll", "mpi", 1, 1)
    assert row["verdict"] == "n too small" and row["limit_ns"] is None
    assert page.row_of("4 KiB", "ring-ll", "59.80", "mpi", "59.80", "1.000", "-", "-", "n too small")


def test_winners_say_who_cannot_be_told_apart(page):
    assert page.one("winners", bytes=1000) == {
        "setting": 0,
        "bytes": 1000,
        "best": "ring-ll",
        "tied": ["ring-simple", "mpi"],
    }
    assert page.row_of("ring-simple", "≈ 1.00") == ["ring-simple", "≈ 1.00", "≈ 1.00"]


def test_links_are_the_closed_form_in_all_accounts(page):
    assert set(page.data["links"]) == {"0-0", "0-1", "0-2", "0-3"}
    rows = page.data["links"]["0-2"]["rows"]
    sent = [synthetic.ring_bytes(1000, rank) for rank in range(4)]
    assert rows == [[rank, (rank + 1) % 4, *[sent[rank]] * 4] for rank in range(4)]


def test_busiest_link_beside_the_model(page):
    busiest = page.one("busiest", case=0)
    # Chunks of 1000 bytes are 256, 256, 240, 248: rank 2 sends all but its own 240 and the next one's 248.
    assert busiest["busiest"] == pytest.approx((2000 - 240 - 248) / 1000)
    assert (busiest["total"], busiest["model"], busiest["links"]) == (6, 1.5, 4)


def test_parts_of_the_time_add_up_to_the_sample(page):
    # Seven ops of 9,000 ns: six wait 3,000 for data, six 1,000 for credit. Ops 0 to 3 have a row in
    # reduce_scatter; they move 8,000 and three times 5,000. Ops 4 and 5 move 5,000 each, op 6 moves 6,000.
    expected = {
        "wait_data_ns": 18_000,
        "wait_credit_ns": 6_000,
        "reduce_phase_ns": 23_000,
        "copy_phase_ns": 16_000,
        "other_ns": 7_000,
    }
    assert page.data["split"] == [{"source": 0, "case": case} | expected for case in range(4)]
    assert sum(expected.values()) == 70_000


def test_time_line_holds_every_event_of_one_iteration(page):
    line = page.data["timelines"]["0-1"]
    wanted = [row for row in synthetic.event_rows() if row["case"] == 1 and row["iteration"] == 22]
    origin = min(row["begin_ns"] for row in wanted)
    assert (line["iteration"], line["shown"], line["of_iteration"], line["of"]) == (22, 48, 48, 96)
    assert line["span"] == 69_000 and line["left_out"] == "48 of 96 events are shown: one traced iteration."
    found = unpacked(line)
    names = ["rank", "peer", "step", "seq", "chunk", "op", "channel", "slice"]
    assert sorted(found) == sorted(
        (
            *(row[name] for name in names),
            synthetic.DIRECTIONS[row["direction"]],
            row["payload_bytes"],
            *(row[stamp] - origin for stamp in ("begin_ns", "ready_ns", "end_ns")),
        )
        for row in wanted
    )


def unpacked(line):
    """Read a time line as the page does: single values stand for whole columns, stamps are differences."""
    spread = {
        name: value if isinstance(value, list) else [value] * line["shown"]
        for name, value in line["columns"].items()
    }
    begins = np.cumsum(spread["begin"]).tolist()
    ready = [begin + waits for begin, waits in zip(begins, spread["waits"], strict=True)]
    end = [start + moves for start, moves in zip(ready, spread["moves"], strict=True)]
    names = ["rank", "peer", "step", "seq", "chunk", "op", "channel", "slice", "direction", "payload"]
    return list(zip(*(spread[name] for name in names), begins, ready, end, strict=True))


def test_samples_of_a_case_are_all_there(page):
    series = page.data["samples"]["0-4"]
    durations = [duration for _, _, _, duration in synthetic.iterations(4)]
    assert series["ns"] == [duration + 300 for duration in durations]
    assert series["state"] == ["cold", "warmup", *["ok"] * 20] and sum(series["traced"]) == 0
    assert sum(page.data["samples"]["0-0"]["traced"]) == synthetic.TRACED


def test_cold_start_per_rank(page):
    assert page.data["cold"] == [
        {"source": 0, "phase": "process_start", "case": -1, "rank": rank, "ns": 1_000 + rank}
        for rank in range(4)
    ]


def test_verdicts_in_words(page):
    said = {one["words"].split(":")[0]: one for one in page.data["verdicts"]}
    assert said["Results"]["words"] == "Results: 6 of 6 cases verified."
    assert (
        "every link of 4 cases carries exactly its closed form (16 links, all traced)"
        in said["Traffic"]["words"]
    )
    assert said["Traffic"]["level"] == "good"
    assert said["Fastest"]["words"] == (
        "Fastest: ring-ll from 1000 B to 4 KiB; not told apart from others at 1000 B, 4 KiB."
    )
    assert said["Trace overhead"]["words"].startswith("Trace overhead: +1 % (median of 6 cases")
    # Two traced iterations of four cases, 4 ranks that send 6 messages each.
    assert said["Causality"]["words"] == "Causality: none of 192 messages was received before it was sent."
    assert page.data["health"] == []


def test_page_needs_nothing_but_itself(page):
    for tag, attributes in page.tags:
        for name in ("src", "href", "action"):
            assert attributes.get(name, "#").startswith(("#", "data:")), (tag, attributes)
    assert "http" not in page.html and "@import" not in page.html and "url(" not in page.html


# --------------------------------------------------------------------------------- what later versions have


def later(file):
    """Add what schema 1.2 added, with known answers."""
    rows = len(file["cases/case"])
    for name, value in {
        "trace_overhead_low": 0.06,
        "causality_pairs": 100,
        "causality_decisive": 90,
        "causality_violations": 0,
    }.items():
        file["cases"].create_dataset(name, data=np.full(rows, value))
    marks = [b"not-warm trace-perturbed", b"not-warm", b"suspect", b"", b"", b""]
    file["cases"].create_dataset("marks", data=np.array(marks, dtype=h5py.string_dtype("utf-8", 128)))
    file["events"].create_dataset("posted_ns", data=file["events/begin_ns"][...] + 2_000)
    file["cold"].create_dataset("case", data=np.array([-1, -1, 0, 1], dtype="i4"))
    for name, values in {
        "src": [0, 1, 0],
        "dst": [1, 0, 1],
        "bytes": [1024, 1024, 4096],
        "latency_ns": [700, 800, 700],
        "bandwidth": [1e9, 2e9, 3e9],
        "copy_engine_bandwidth": [np.nan] * 3,
        "reduction_rate": [np.nan] * 3,
        "engine": np.array([b"host-shm"] * 3, dtype=h5py.string_dtype("utf-8", 32)),
    }.items():
        file["machine"].pop(name, None)
        file["machine"].create_dataset(name, data=values)


def test_columns_of_schema_1_2_are_used(spoiled):
    page = Page(make_page([spoiled(later)])[0])
    health = [one["words"] for one in page.data["health"]]
    assert health[0].startswith("1 case marked suspect: faster than the machine's own links")
    assert any(line.startswith("2 cases marked not-warm: ") for line in health)
    said = [one["words"] for one in page.data["verdicts"]]
    assert any("certainly above 5 % in 6 cases" in line for line in said)
    assert any(
        "none was received before it was sent (600 messages checked, 540 of them" in line for line in said
    )
    # The best of link 0 -> 1 is 3 GB/s, that of 1 -> 0 is 2 GB/s.
    assert page.data["ceilings"] == [
        {"setting": 0, "name": "slowest link, host-shm, load and store", "gb_s": 2.0}
    ]
    assert page.data["timelines"]["0-0"]["columns"]["posted"] == 2_000
    assert [row["case"] for row in page.data["cold"]] == [-1, -1, 0, 1]


def test_empty_kernel_is_a_level_of_the_picture(spoiled):
    def add(file):
        file["cases"].create_dataset("empty_kernel_ns", data=np.full(6, 6_900.0))

    assert "empty kernel: 6.90 µs" in Page(make_page([spoiled(add)])[0]).text


# --------------------------------------------------------------------------------- modes, files and batches


def test_modes_are_never_in_one_picture(spoiled):
    def change(file):
        file["cases/mode"][3] = b"graph"

    page = Page(make_page([spoiled(change)])[0])
    settings = {case["case"]: case["setting"] for case in page.data["cases"]}
    assert settings == {0: 0, 1: 0, 2: 0, 4: 0, 5: 0, 3: 1}
    assert {one["setting"] for one in page.data["ratios"]} == {0}  # graph has no baseline
    panels = [tag["data-setting"] for _, tag in page.tags if tag.get("class") == "panel"]
    assert set(panels) == {"0", "1"}


def test_cases_that_are_alike_are_numbered(spoiled):
    def change(file):
        file["cases/bytes"][1] = 1000

    series = [case["series"] for case in Page(make_page([spoiled(change)])[0]).data["cases"]]
    assert series[:2] == ["ring-ll", "ring-ll (2)"]


def test_busiest_link_against_the_ranks_of_several_files(pristine, tmp_path, monkeypatch):
    monkeypatch.setattr(synthetic, "RANKS", 2)
    two = synthetic.write(tmp_path / "two.h5")
    page = Page(make_page([pristine, two])[0])
    largest = {row["ranks"]: row["busiest"] for row in page.data["busiest"] if row["bytes"] == 4096}
    assert largest == {4: 1.5, 2: 1.0}
    assert "ring-ll, N = 2\n1 M" in [tag.get("data-tip") for _, tag in page.tags]


def test_batch_shows_medians_over_launches(pristine, tmp_path):
    folder = tmp_path / "batch"
    (folder / "launches").mkdir(parents=True)
    launches = []
    for index in range(6):
        file = f"launches/{index:04d}.h5"
        launches.append(
            {"index": index, "experiment": "x", "arm": "", "np": 4, "state": "done", "file": file}
        )
        shutil.copy(pristine, folder / file)
        with h5py.File(folder / file, "r+") as opened:
            opened["samples/exit_ns"][...] += 1_000 * index
    content = {"format": "ringscope-batch", "version": 1, "name": "x", "launches": launches}
    (folder / "batch.json").write_text(json.dumps(content), encoding="utf-8")
    page = Page(make_page([folder])[0])
    versus = page.one("versus", bytes=4096, pair="best")
    assert (versus["origin"], versus["n"], versus["ratio"], versus["verdict"]) == ("batch", 6, 1, "SAME")
    case = page.one("cases", case=0)
    assert (case["n"], case["median_ns"]) == (6, MEDIAN_NS + 2_500)
    assert (case["low_ns"], case["high_ns"]) == (MEDIAN_NS, MEDIAN_NS + 5_000)


def test_text_of_a_file_is_text_on_the_page(spoiled):
    def change(file):
        file["cases/algorithm"][0] = b"</script><b id=x>"

    html, _ = make_page([spoiled(change)])
    page = Page(html)
    assert "<b id=x>" not in html and page.one("cases", case=0)["series"] == "</script><b id=x>"


# --------------------------------------------------------------------------------------------- bad input


def levels(page):
    return [(one["level"], one["words"]) for one in page.data["health"]]


@pytest.mark.parametrize(
    ("change", "level", "words_said"),
    [
        (lambda file: file.attrs.modify("complete", 0), "bad", "The file is incomplete"),
        (lambda file: file.attrs.modify("lossy", 1), "warning", "The file is lossy"),
        (lambda file: file.attrs.modify("recovered", 1), "warning", "recovered"),
        (
            lambda file: file["cases/status"].__setitem__(1, b"timeout"),
            "bad",
            "1 case timeout: ring-ll 4 KiB",
        ),
        (lambda file: file["cases/trace_overhead"].__setitem__(1, 0.5), "warning", "Tracing slows 1 case"),
        (
            lambda file: file["samples/state"].__setitem__(slice(8, 28), 3),
            "warning",
            "a rank missed the common start",
        ),
        (lambda file: fact(file, "build.sanitizer", "address"), "bad", "built with the sanitizer address"),
        (lambda file: fact(file, "cgroup.cpu.max", "200000 100000"), "warning", "may use 2 processors"),
        (lambda file: fact(file, "cpu.governor", "powersave"), "warning", "governor is powersave"),
        (lambda file: cpuset(file, "0-1"), "bad", "Oversubscribed: 4 ranks on node share 2 processors"),
        (lambda file: file["events"].pop("chunk"), "bad", "/events/chunk"),
        (lambda file: file["traffic"].pop("src"), "bad", "/traffic/src"),
        (lambda file: file["samples"].pop("ops"), "bad", "/samples/ops"),
        (lambda file: shorten(file, "cold/ns"), "bad", "/cold: columns differ in length"),
    ],
)
def test_what_speaks_against_a_file_stands_first(spoiled, change, level, words_said, tmp_path):
    path = spoiled(change)
    assert main(["report", str(path), "-o", str(tmp_path / "page.html")]) == 0
    found = levels(Page((tmp_path / "page.html").read_text(encoding="utf-8")))
    assert [one for one, said in found if words_said in said] == [level], found


def fact(file, name, value):
    facts = file["environment/facts"]
    for column, text in (("name", name), ("value", value)):
        facts.pop(column)
        facts.create_dataset(column, data=[text])


def cpuset(file, value):
    file["environment"].create_dataset("cpuset", data=[value] * 4)


def shorten(file, path):
    values = file[path][...]
    del file[path]
    file[path] = values[:-1]


def damage(path):
    """Overwrite stored bytes of the events, so that their checksum no longer fits."""
    with h5py.File(path, "r+") as file:
        values = file["events/chunk"][...]
        del file["events/chunk"]
        file["events"].create_dataset("chunk", data=values, chunks=(len(values),), fletcher32=True)
        place = file["events/chunk"].id.get_chunk_info(0).byte_offset
    with path.open("r+b") as raw:
        raw.seek(place)
        raw.write(b"\xff" * 16)


def test_damaged_events_leave_the_rest(spoiled, tmp_path, capsys):
    path = spoiled(lambda file: None)
    damage(path)
    assert main(["report", str(path), "-o", str(tmp_path / "page.html")]) == 0
    page = Page((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert page.data["timelines"] == {} and page.one("cases", case=0)["median_ns"] == MEDIAN_NS
    assert "its events cannot be read" in capsys.readouterr().err


def replace(file, path, values):
    del file[path]
    file[path] = values


def test_a_section_whose_table_holds_nonsense_says_so_in_its_place(spoiled, tmp_path, capsys):
    path = spoiled(lambda file: replace(file, "clock/error_bound_ns", [b"x"] * 8))
    assert main(["report", str(path), "-o", str(tmp_path / "page.html")]) == 0
    page = Page((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "section verdicts is left out" in page.text and "section verdicts" in capsys.readouterr().err
    assert page.one("cases", case=0)["median_ns"] == MEDIAN_NS


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda file: replace(file, "cases/case", [0] * 6), "not numbered uniquely"),
        (lambda file: replace(file, "cases/bytes", [b"x"] * 6), "its tables do not fit together"),
        (lambda file: file.attrs.modify("schema_version", "2.0.0"), "schema version '2.0.0'"),
        (lambda file: file["cases"].pop("bytes"), "/cases/bytes; without its cases"),
        (lambda file: [shorten_to_none(file["cases"], name) for name in list(file["cases"])], "has no cases"),
    ],
)
def test_where_nothing_can_be_shown_it_is_one_line_and_7(spoiled, change, said, tmp_path, capsys):
    assert main(["report", str(spoiled(change)), "-o", str(tmp_path / "page.html")]) == 7
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and said in lines[0] and not (tmp_path / "page.html").exists()


def shorten_to_none(group, name):
    values = group[name][:0]
    attributes = {key: value for key, value in group[name].attrs.items() if key in ("units", "long_name")}
    del group[name]
    group.create_dataset(name, data=values).attrs.update(attributes)


def test_a_file_of_several_that_cannot_be_shown_is_named(pristine, tmp_path, capsys):
    other, output = tmp_path / "notes.h5", tmp_path / "page.html"
    other.write_text("no HDF5", encoding="utf-8")
    assert main(["report", str(other), str(pristine), "-o", str(output)]) == 0
    assert "notes.h5: not an HDF5 file" in capsys.readouterr().err
    assert "Not shown: " in output.read_text(encoding="utf-8")
    with pytest.raises(RunError, match="not an HDF5 file"):
        make_page([other])


def test_output_is_a_page_and_nothing_else(pristine, tmp_path):
    before = pristine.read_bytes()
    with pytest.raises(SystemExit) as stopped:
        main(["report", str(pristine), "-o", str(pristine)])
    assert stopped.value.code == 2 and pristine.read_bytes() == before
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main(["report", str(pristine), "-o", str(tmp_path / "file" / "page.html")]) == 7


# ------------------------------------------------------------------------------------------------ pieces


def events(ranks, channels, each):
    rows = [
        (rank, channel, place)
        for channel in range(channels)
        for place in range(each)
        for rank in range(ranks)
    ]
    frame = pd.DataFrame(rows, columns=["rank", "channel", "place"])
    return frame.assign(begin_ns=10 * frame["place"], end_ns=10 * frame["place"] + 5)


def test_thinning_keeps_whole_channels_then_the_begin_of_one():
    assert set(timeline.thin(events(2, 8, 10), 60)["channel"]) == {0, 1, 2}
    assert timeline.thin(events(2, 40, 1), 1_000)["channel"].nunique() == 16  # 32 lanes
    long = timeline.thin(events(2, 1, 100), 50)
    assert len(long) == 50 and long["begin_ns"].max() == 240
    assert len(timeline.thin(events(64, 1, 2), 1_000)) == 128


def test_many_cases_have_less_room_each():
    assert timeline.room_of_case(4) == 2_000
    assert timeline.room_of_case(500) == 180
    assert timeline.room_of_case(10_000) == 120


def test_winner_without_intervals_is_never_certain():
    rates = pd.DataFrame(
        {
            "series": ["a", "b", "c"],
            "bytes": [8] * 3,
            "median_ns": [1.0, 2.0, 3.0],
            "low_ns": [0.9, np.nan, 2.5],
            "high_ns": [1.1, np.nan, 3.5],
        }
    )
    assert winners(rates).to_dict(orient="records") == [{"bytes": 8, "best": "a", "tied": ["b"]}]


def test_words_have_three_digits_that_count():
    assert [words.duration(ns) for ns in (0.5, 12, 1_234, 56_780, 123_456, 7_890_000, 2e9)] == [
        "0.500 ns",
        "12.0 ns",
        "1.23 µs",
        "56.8 µs",
        "123 µs",
        "7.89 ms",
        "2.00 s",
    ]
    assert words.tick(10_000_000, words.duration) == "10 ms" and words.tick(0.01) == "0.01"
    assert words.tick(500) == "500" and words.duration(float("nan")) == words.NONE


def test_log_axis_puts_equal_ratios_equally_far_apart():
    scale = svg.Scale(1, 10_000, 0, 400)
    assert [scale(value) for value in (1, 10, 100, 10_000)] == pytest.approx([0, 100, 200, 400])
    assert svg.log_ticks(scale) == pytest.approx([1, 10, 100, 1_000, 10_000])
    assert svg.log_ticks(svg.Scale(1, 12, 0, 1)) == pytest.approx([1, 2, 5, 10])
    assert svg.log_ticks(svg.Scale(41, 68, 0, 1)) == pytest.approx([50, 60])


def test_lists_of_processors_and_quotas():
    assert cpus_of("0-3,8") == {0, 1, 2, 3, 8} and cpus_of("unavailable") == set()
    assert cpu_quota("150000 100000") == 1.5 and cpu_quota("max 100000") == float("inf")
