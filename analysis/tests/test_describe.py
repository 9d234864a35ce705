# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Traffic as described and as traced, of hand-made links and of the synthetic ring."""

from __future__ import annotations

import json

import pytest

from ringscope import RunError
from ringscope.describe import busiest_ranks, load_described, traced_links

SERVER = {
    "algorithm": "server",
    "ranks": 3,
    "bytes": 30,
    "steps": 2,
    "links": [
        {"src": 1, "dst": 0, "declared_bytes": 30, "closed_form_bytes": 30},
        {"src": 2, "dst": 0, "declared_bytes": 30, "closed_form_bytes": None},
        {"src": 0, "dst": 1, "declared_bytes": 30, "closed_form_bytes": 30},
        {"src": 0, "dst": 2, "declared_bytes": 30},
    ],
}


@pytest.fixture
def described(tmp_path):
    path = tmp_path / "described.jsonl"
    path.write_text(json.dumps(SERVER) + "\n", encoding="utf-8")
    return load_described(path)


def test_a_link_without_a_closed_form_says_so(described):
    assert described["closed_form"].tolist() == [30, -1, 30, -1]
    assert described["payload"].tolist() == [30] * 4


def test_the_server_is_the_busiest(described):
    row = busiest_ranks(described).iloc[0]
    # It receives (N-1) M and sends as much; the mean is 2 (N-1) M / N.
    assert (row["sent_max"], row["received_max"], row["total"]) == (60, 60, 120)
    assert row["mean"] == row["model"] == 40


def test_traced_links_are_those_of_the_ring(run):
    frame = busiest_ranks(traced_links([run])).query("algorithm == 'ring-ll'")
    # Chunks of 256, 256, 240 and 248 bytes: rank 2 sends the two small ones once only.
    assert frame["sent_max"].tolist() == [1512, 6144]
    assert frame["mean"].tolist() == frame["model"].tolist() == [1500, 6144]


@pytest.mark.parametrize("content", ["no json", '{"algorithm": "x"}', "[1]"])
def test_what_describe_did_not_print_is_refused(tmp_path, content):
    path = tmp_path / "described.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(RunError, match=r"described.jsonl: cannot be read .* an object a line"):
        load_described(path)
