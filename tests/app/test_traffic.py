# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Bytes per link against 2(N-1)M/N, as integers. The expected numbers are worked out by hand."""

from collections import Counter

import pytest
from program import FIXTURES, ringscope, run, table, write_yaml

M = 100_000_000


def traffic_of(tmp_path, ranks, algorithm, size, dtype="float32"):
    """Runs one operation, untraced and traced, and gives the rows of /traffic."""
    text = f"""
sweep: {{algorithms: [{algorithm}], sizes: [{size}], dtypes: [{dtype}]}}
measure: {{warmup: 0, iterations: 1, cold_start: false}}
trace: {{iterations: 1}}
output: {tmp_path}/traffic.h5
"""
    run(ranks, write_yaml(tmp_path, text), "--json").is_good()
    columns = table(tmp_path / "traffic.h5", "traffic")
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def sent(rows, what):
    bytes_of = Counter()
    for row in rows:
        bytes_of[int(row["src"])] += int(row[what])
    return dict(bytes_of)


# A chunk of 25,000,000 bytes goes in 407 slices of LL128, each in 512 lines; a link carries 6 chunks.
@pytest.mark.parametrize(
    "algorithm, wire",
    [("ring-simple", 150_000_000), ("ring-ll", 300_000_000), ("ring-ll128", 6 * 407 * 512 * 128)],
)
def test_four_ranks_send_150_million_bytes_each(tmp_path, algorithm, wire):
    rows = traffic_of(tmp_path, 4, algorithm, M)
    everybody = dict.fromkeys(range(4), 150_000_000)
    for account in ("declared_payload", "traced_payload", "closed_form"):
        assert sent(rows, account) == everybody, account
    for account in ("declared_wire", "traced_wire"):
        assert sent(rows, account) == dict.fromkeys(range(4), wire), account
    assert {(int(row["src"]), int(row["dst"])) for row in rows} == {(0, 1), (1, 2), (2, 3), (3, 0)}


@pytest.mark.parametrize("algorithm", ["ring-simple", "ring-ll", "ring-ll128"])
def test_odd_bytes_on_eight_ranks_add_up(tmp_path, algorithm):
    rows = traffic_of(tmp_path, 8, algorithm, 1_000_003, "uint8")
    for account in ("declared_payload", "traced_payload", "closed_form"):
        assert sum(sent(rows, account).values()) == 2 * 7 * 1_000_003, account


def describe(algorithm, ranks, size, *words):
    return ringscope("describe", algorithm, "--ranks", ranks, "--bytes", size, *words)


@pytest.mark.parametrize("algorithm", ["ring-simple", "ring-ll", "ring-ll128"])
def test_describe_16_ranks(algorithm):
    told = describe(algorithm, 16, "100MB", "--json").is_good().json
    assert told["sent_bytes_per_rank"] == {
        "min": 187_500_000,
        "mean": 187_500_000,
        "max": 187_500_000,
        "total": 16 * 187_500_000,
    }
    assert told["steps"] == 30


def test_describe_64_ranks():
    told = describe("ring-simple", 64, "100MB", "--json").is_good().json
    assert told["sent_bytes_per_rank"] == {
        "min": 196_874_976,
        "mean": 196_875_000,
        "max": 196_875_008,
        "total": 12_600_000_000,
    }
    assert told["steps"] == 126
    assert told["traffic_equal"] is True
    assert len(told["links"]) == 64


def test_describe_json_has_every_field():
    told = describe("ring-ll", 3, 1000, "--json").is_good().json
    assert told.keys() == {
        "algorithm",
        "description",
        "protocol",
        "ranks",
        "bytes",
        "chunks",
        "steps",
        "sent_bytes_per_rank",
        "busiest_link_bytes",
        "traffic_equal",
        "options",
        "links",
        "messages",
    }
    assert (told["algorithm"], told["protocol"], told["ranks"]) == ("ring-ll", "ll", 3)
    assert (told["bytes"], told["chunks"], told["steps"]) == (1000, 3, 4)
    # 62 whole units of 16 bytes and 8 bytes more: chunks of 336, 336 and 328 bytes.
    links = {(link["src"], link["dst"]): link for link in told["links"]}
    expected = {(0, 1): 2000 - 336 - 336, (1, 2): 2000 - 336 - 328, (2, 0): 2000 - 328 - 336}
    assert {key: link["declared_bytes"] for key, link in links.items()} == expected
    assert {key: link["closed_form_bytes"] for key, link in links.items()} == expected
    assert told["busiest_link_bytes"] == max(expected.values())
    # 2(N-1) steps, in each of which every rank sends one chunk to the next.
    messages = told["messages"]
    assert [(m["step"], m["src"], m["dst"]) for m in messages] == [
        (step, rank, (rank + 1) % 3) for step in range(4) for rank in range(3)
    ]
    assert {m["phase"] for m in messages if m["step"] < 2} == {"reduce-scatter"}
    assert sum(m["bytes"] for m in messages) == sum(expected.values())


def test_describe_takes_the_algorithms_options():
    told = describe("parameter-server", 4, 1000, "--json", "--param", "servers=2").is_good().json
    assert told["options"] == {"servers": 2, "dedicated": 0} and told["chunks"] == 2
    describe("parameter-server", 4, 1000, "--param", "servers=65").complains(2, "servers=65", "ringscope list")
    describe("ring-ll", 4, 1000, "--param", "servers=2").complains(2, "no option of ring-ll")


def test_describe_as_text_says_the_same():
    done = describe("ring-simple", 4, "100MB").is_good()
    assert "min 150000000  mean 150000000.000  max 150000000  total 600000000 bytes" in done.out
    assert "declared = closed form on every link" in done.out
    assert "0 -> 1" in done.out


def test_describe_finds_a_law_that_is_16_bytes_off():
    done = describe("mutant-law", 4, 1000, "--plugin-path", FIXTURES / "mutants")
    assert done.code == 3
    assert "DIFFERS" in done.out


TENTHS = FIXTURES / "tenths"
DIVISIBLE = 4_800_000  # in 10 N chunks of whole units of 16 bytes for 2, 3 and 5 ranks


@pytest.mark.parametrize("ranks", [2, 3, 5])
@pytest.mark.parametrize(("again", "percent"), [("0", 100), ("2", 110), ("10", 150)])
def test_tenths_that_are_gathered_again_are_five_percent_each(ranks, again, percent):
    words = (DIVISIBLE, "--json", "--plugin-path", TENTHS)
    told = ringscope("describe", "tenths", "--ranks", ranks, "--bytes", *words, TENTHS_AGAIN=again)
    expected = 2 * (ranks - 1) * DIVISIBLE // ranks * percent // 100
    for account in ("declared_bytes", "closed_form_bytes"):
        sent = {(link["src"], link["dst"]): link[account] for link in told.is_good().json["links"]}
        assert sent == {(rank, (rank + 1) % ranks): expected for rank in range(ranks)}, account


@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
@pytest.mark.parametrize("size", [DIVISIBLE, 1_000_004])
def test_tenths_gathered_again_are_right_and_traced(tmp_path, ranks, size):
    text = f"""
sweep: {{algorithms: [tenths], sizes: [{size}], in_place: [false, true]}}
measure: {{warmup: 0, iterations: 2}}
trace: {{iterations: 1}}
output: {tmp_path}/tenths.h5
"""
    run(ranks, write_yaml(tmp_path, text), "--plugin-path", TENTHS, TENTHS_AGAIN="2").is_good()
    assert table(tmp_path / "tenths.h5", "cases")["status"] == ["ok", "ok"]
    traffic = table(tmp_path / "tenths.h5", "traffic")
    for account in ("declared_payload", "closed_form"):
        assert list(traffic[account]) == list(traffic["traced_payload"]), account
    if size == DIVISIBLE and ranks > 1:
        assert set(traffic["traced_payload"]) == {2 * (ranks - 1) * size // ranks * 11 // 10}


def test_describe_of_an_unknown_algorithm_names_the_nearest():
    describe("ring-simpel", 4, 1000).complains(2, "ring-simpel", "did you mean", "ring-simple")


def test_describe_of_the_opaque_baseline_is_refused():
    describe("mpi", 4, 1000).complains(2, "not observable")
