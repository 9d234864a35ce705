# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""What ran where: health first, then machine, links, versions and configuration."""

from __future__ import annotations

from html import escape

import pandas as pd

from ringscope import text
from ringscope.report import words
from ringscope.report.health import Finding, health
from ringscope.report.page import Report, Section, folded, of_source, table
from ringscope.report.sources import Source

#: Facts shown at first sight, and what they are called there.
SHOWN = {
    "cpu.model": "processor",
    "cpu.online": "processors online",
    "memory.total": "memory",
    "os": "system",
    "kernel.release": "kernel",
    "mpi.library": "MPI",
    "cuda.driver": "CUDA driver",
    "cuda.runtime": "CUDA runtime",
    "nccl.version": "NCCL",
    "ringscope.revision": "revision",
    "build.compiler": "compiler",
}
MOST_LINKS = 72


def section(report: Report) -> Section:
    found = {source.place: health(source) for source in report.sources}
    html = _refused(report)
    for source in report.sources:
        html += of_source(report, source, findings(found[source.place]) + _facts(source) + _details(source))
    data = {
        "health": [
            {"source": place, "level": one.level, "words": one.words}
            for place, all_ in found.items()
            for one in all_
        ],
        "machine": [
            {"source": source.place} | row
            for source in report.sources
            for row in words.records(source.run.machine)
        ],
    }
    return Section("machine", "What ran where", html, data)


def _refused(report: Report) -> str:
    return findings([Finding("bad", f"Not shown: {line}") for line in report.refused])


def findings(found: list[Finding]) -> str:
    """List sentences with a sign each for how much they matter."""
    signs = {"bad": "✕", "warning": "!", "remark": "i", "good": "✓"}
    items = "".join(
        f'<li class="{one.level}"><span class="sign" title="{one.level}">{signs[one.level]}</span>'
        f"<span>{escape(one.words)}</span></li>"
        for one in found
    )
    return f'<ul class="findings">{items}</ul>' if items else ""


def _facts(source: Source) -> str:
    rows = [(name, value) for name, value in _first_sight(source) if value]
    items = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in rows)
    return f'<dl class="facts">{items}</dl>'


def _first_sight(source: Source) -> list[tuple[str, str]]:
    run, facts = source.run, source.run.facts
    hosts = list(dict.fromkeys(run.environment.get("host", pd.Series(dtype=str)).astype(str)))
    engines = [engine for engine in dict.fromkeys(run.cases["engine"].astype(str)) if engine]
    return [
        ("ranks", f"{run.world_size} on {words.listed(hosts) or 'an unnamed host'}"),
        ("GPUs", _gpus(run.environment)),
        ("engines", ", ".join(engines)),
        ("cases", f"{len(run.cases)} ({', '.join(dict.fromkeys(run.cases['mode'].astype(str)))})"),
        ("time is", source.statistic),
        *(
            (name, _fact(key, facts[key]))
            for key, name in SHOWN.items()
            if facts.get(key, "unavailable") != "unavailable"
        ),
        (
            "version",
            f"ringscope {run.attributes.get('creator_version', '')}, schema "
            f"{run.attributes['schema_version']}",
        ),
        ("begun", str(run.attributes.get("file_time", ""))),
        ("file", str(run.path)),
    ]


def _fact(key: str, value: str) -> str:
    if key == "memory.total" and value.split()[0].isdigit():
        return f"{int(value.split()[0]) / 2**20:.0f} GiB"
    return value.partition(", package")[0]


def _gpus(environment: pd.DataFrame) -> str:
    if "gpu_name" not in environment:
        return ""
    names = environment["gpu_name"].astype(str)
    return ", ".join(f"{number} x {name}" for name, number in names[names != ""].value_counts().items())


def _details(source: Source) -> str:
    run = source.run
    config = run.config.get("resolved", "")
    parts = [
        folded("Ranks and where they ran", _frame(run.environment)),
        folded("Links, as measured", _links(run.machine)) if len(run.machine) else "",
        folded(
            "Every recorded fact",
            table(["fact", "value"], [(escape(k), f"<td>{escape(v)}</td>") for k, v in run.facts.items()]),
        ),
        folded("Configuration", f"<pre>{escape(config)}</pre>") if config else "",
        folded("Command line", f"<pre>{escape(run.config['command_line'])}</pre>")
        if run.config.get("command_line")
        else "",
    ]
    return f'<div class="details">{"".join(parts)}</div>'


def _frame(frame: pd.DataFrame) -> str:
    columns = ["rank", *(column for column in frame.columns if column != "rank")]
    return table(
        columns, ([escape(str(row[column])) for column in columns] for _, row in frame[columns].iterrows())
    )


def _links(machine: pd.DataFrame) -> str:
    """Give the largest size of every pair; the sizes between are in the file."""
    keys = [column for column in ("engine", "src", "dst") if column in machine]
    best = (
        machine.sort_values("bytes")
        .groupby(keys, sort=False)
        .agg(
            latency_ns=("latency_ns", "min"),
            bandwidth=("bandwidth", "max"),
            copy_engine_bandwidth=("copy_engine_bandwidth", "max"),
            bytes=("bytes", "max"),
        )
        .reset_index()
    )
    rows = [
        [
            *(escape(str(row[key])) for key in keys),
            words.duration(row["latency_ns"]) if row["latency_ns"] > 0 else words.NONE,
            _rate(row["bandwidth"]),
            _rate(row["copy_engine_bandwidth"]),
            text.size(int(row["bytes"])),
        ]
        for _, row in best.head(MOST_LINKS).iterrows()
    ]
    head = [*keys, "latency, best", "load and store, best", "copy engine, best", "largest size"]
    rest = len(best) - MOST_LINKS
    return table(head, rows) + (f'<p class="note">{rest} more links are in the file.</p>' if rest > 0 else "")


def _rate(value: float) -> str:
    return words.rate(value / 1e9) if value > 0 else words.NONE
