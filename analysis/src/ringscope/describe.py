# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""The traffic of algorithms: as ``ringscope describe ... --json`` declares it, and as runs traced it.

M is the size of a buffer in bytes (column ``bytes``), N the number of ranks.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from ringscope import metrics
from ringscope.run import Run, RunError

_COLUMNS = ["algorithm", "ranks", "bytes", "steps", "src", "dst", "payload", "closed_form"]


def load_described(path: str | Path) -> pd.DataFrame:
    """Read a file with one JSON object of ``ringscope describe`` a line.

    Give one row per algorithm, number of ranks and directed link: algorithm, ranks, bytes, steps, src, dst,
    payload (declared, in bytes) and closed_form (-1 where none exists).
    """
    try:
        objects = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
        rows = [row for one in objects for row in _links(one)]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunError(
            f"{path}: cannot be read ({error!r}); make it of `ringscope describe ... --json`, an object a line"
        ) from error
    return pd.DataFrame(rows, columns=_COLUMNS)


def _links(one: dict) -> Iterable[tuple]:
    about = (one["algorithm"], one["ranks"], one["bytes"], one["steps"])
    for link in one["links"]:
        closed = link.get("closed_form_bytes")
        yield *about, link["src"], link["dst"], link["declared_bytes"], -1 if closed is None else closed


def traced_links(runs: Iterable[Run]) -> pd.DataFrame:
    """Give the columns of ``load_described``, without steps, of what runs traced of one operation."""
    frames = [_traced(run) for run in runs]
    return pd.concat(frames, ignore_index=True)


def _traced(run: Run) -> pd.DataFrame:
    links = metrics.traffic_check(run)
    links = links[links["traced"]].rename(columns={"traced_payload": "payload"})
    return links.assign(ranks=run.world_size)[[name for name in _COLUMNS if name != "steps"]]


def busiest_ranks(links: pd.DataFrame) -> pd.DataFrame:
    """Give, per algorithm, ranks and bytes, what the busiest rank sends and receives, and the mean of all.

    The mean is that of the model, 2(N-1)M/N, for any algorithm that moves 2(N-1)M in all.
    """
    keys = ["algorithm", "ranks", "bytes"]
    sent = links.groupby([*keys, "src"])["payload"].sum().groupby(keys)
    received = links.groupby([*keys, "dst"])["payload"].sum().groupby(keys)
    frame = pd.DataFrame({"sent_max": sent.max(), "received_max": received.max(), "total": sent.sum()})
    frame = frame.reset_index()
    return frame.assign(
        mean=frame["total"] / frame["ranks"],
        model=2 * (frame["ranks"] - 1) * frame["bytes"] / frame["ranks"],
    )
