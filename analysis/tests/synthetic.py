# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""A small trace file made from closed forms alone: a ring of four ranks, every byte and nanosecond known.

Time of the harness is laid out so that each metric has one right answer: an op takes ``OP_NS``, begins every
``STRIDE_NS``, a receive waits ``DATA_NS`` and a send ``CREDIT_NS``. Timed sample i of a case takes 50,000 +
1,000 i ns on every rank, and rank r starts 100 r ns late, so that last exit minus first entry is 300 ns
longer.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import h5py
import numpy as np

RANKS = 4
STRIDE_NS, OP_NS, DATA_NS, CREDIT_NS, LATE_NS = 10_000, 9_000, 3_000, 1_000, 100
UNTRACED, TRACED = 20, 2
STATES = ["ok", "cold", "warmup", "late_start", "aborted", "verify_failed"]
DIRECTIONS = ["send", "recv"]
PHASES = ["reduce_scatter", "all_gather", "reduce", "broadcast"]
CASES = [
    ("ring-ll", "host-shm", "ll", 1000),
    ("ring-ll", "host-shm", "ll", 4096),
    ("ring-simple", "host-shm", "simple", 1000),
    ("ring-simple", "host-shm", "simple", 4096),
    ("mpi", "mpi", "", 1000),
    ("mpi", "mpi", "", 4096),
]


def chunks(nbytes: int) -> list[int]:
    """Cut M bytes into one chunk per rank in units of 16 bytes, larger ones first, the tail in the last
    chunk.
    """
    units, tail = divmod(nbytes, 16)
    lengths = [16 * (units // RANKS + (place < units % RANKS)) for place in range(RANKS)]
    lengths[-1] += tail
    return lengths


def ring_bytes(nbytes: int, rank: int) -> int:
    """The closed form: rank r does not forward chunk r in the first phase nor chunk r + 1 in the second."""
    lengths = chunks(nbytes)
    return 2 * nbytes - lengths[rank] - lengths[(rank + 1) % RANKS]


def wire(protocol: str, nbytes: int) -> int:
    """On the host LL stores 8 bytes for every 4."""
    return 8 * -(-nbytes // 4) if protocol == "ll" else nbytes


def ring_wire(protocol: str, nbytes: int, rank: int) -> int:
    lengths = chunks(nbytes)
    return sum(wire(protocol, lengths[chunk]) for chunk in sent_chunks(rank))


def sent_chunks(rank: int) -> list[int]:
    """The chunks that a rank of the ring sends, in order: all but its own, then all but the next."""
    first = [(rank - step) % RANKS for step in range(1, RANKS)]
    return first + [(rank - step) % RANKS for step in range(RANKS - 1)]


def case_rows() -> list[dict]:
    return [
        {
            "case": number,
            "algorithm": algorithm,
            "engine": engine,
            "protocol": protocol,
            "bytes": nbytes,
            "count": nbytes // 4,
            "dtype": "float32",
            "op": "sum",
            "in_place": 0,
            "offset": 0,
            "mode": "isolated",
            "channels": 1,
            "slots": 8,
            "slot_bytes": 4096,
            "slices": 1,
            "status": "ok",
            "reason": "",
            "wrong": 0,
            "output_hash": 2**63 + number,
            "trace_overhead": 0.01,
            "noise_floor": np.nan,
            **dict.fromkeys(["events_expected", "events_written"], 0 if algorithm == "mpi" else TRACED * 48),
            "events_dropped": 0,
        }
        for number, (algorithm, engine, protocol, nbytes) in enumerate(CASES)
    ]


def iterations(case: int) -> list[tuple[int, str, bool, int]]:
    """Give (iteration, state, traced, duration in ns) of one case; the cold one is slow."""
    traced = 0 if CASES[case][0] == "mpi" else TRACED
    plan = [("cold", False, 900_000), ("warmup", False, 90_000)]
    plan += [("ok", False, 50_000 + 1_000 * place) for place in range(UNTRACED)]
    plan += [("ok", True, 70_000)] * traced
    return [(iteration, *entry) for iteration, entry in enumerate(plan)]


def start_ns(case: int, iteration: int) -> int:
    return 1_000_000_000 + 100_000_000 * case + 1_000_000 * iteration


def sample_rows() -> list[dict]:
    return [
        {
            "case": case,
            "iteration": iteration,
            "rank": rank,
            "state": STATES.index(state),
            "traced": int(traced),
            "ops": 1,
            "enter_ns": start_ns(case, iteration) + LATE_NS * rank,
            "device_ns": -1,
            "exit_ns": start_ns(case, iteration) + LATE_NS * rank + duration,
        }
        for case in range(len(CASES))
        for iteration, state, traced, duration in iterations(case)
        for rank in range(RANKS)
    ]


def event_rows() -> list[dict]:
    return [
        row
        for case, (algorithm, _, protocol, nbytes) in enumerate(CASES)
        if algorithm != "mpi"
        for iteration, _, traced, _ in iterations(case)
        if traced
        for rank in range(RANKS)
        for op in range(2 * RANKS - 1)
        for row in op_rows(case, iteration, protocol, nbytes, rank, op)
    ]


def op_rows(case: int, iteration: int, protocol: str, nbytes: int, rank: int, op: int) -> list[dict]:
    """The rows of one op of the ring: op i receives message i - 1 of the rank before and sends message i."""
    messages = 2 * (RANKS - 1)
    rows = []
    if op > 0:
        rows.append(event_row(case, iteration, protocol, nbytes, rank, op, "recv", op - 1))
    if op < messages:
        rows.append(event_row(case, iteration, protocol, nbytes, rank, op, "send", op))
    return rows


def event_row(case, iteration, protocol, nbytes, rank, op, direction, step) -> dict:
    peer = (rank + 1) % RANKS if direction == "send" else (rank - 1) % RANKS
    chunk = sent_chunks(rank if direction == "send" else peer)[step]
    length = chunks(nbytes)[chunk]
    wait = (0, CREDIT_NS) if direction == "send" else (DATA_NS, 0)
    begin = start_ns(case, iteration) + 500 + STRIDE_NS * op
    stamps = (begin, begin + sum(wait), begin + OP_NS)
    return {
        "case": case,
        "iteration": iteration,
        "rank": rank,
        "channel": 0,
        "slice": 0,
        "op": op,
        "step": step,
        "phase": int(step >= RANKS - 1),
        "direction": DIRECTIONS.index(direction),
        "peer": peer,
        "seq": step,
        "chunk": chunk,
        "payload_bytes": length,
        "wire_bytes": wire(protocol, length),
        **dict(zip(["begin_ns", "ready_ns", "end_ns"], stamps, strict=True)),
        "wait_data_ns": wait[0],
        "wait_credit_ns": wait[1],
        **dict(zip(["begin_ticks", "ready_ticks", "end_ticks"], stamps, strict=True)),
    }


def traffic_rows() -> list[dict]:
    return [
        {
            "case": case,
            "src": rank,
            "dst": (rank + 1) % RANKS,
            "closed_form": ring_bytes(nbytes, rank),
            **dict.fromkeys(["declared_payload", "traced_payload"], ring_bytes(nbytes, rank)),
            **dict.fromkeys(["declared_wire", "traced_wire"], ring_wire(protocol, nbytes, rank)),
        }
        for case, (algorithm, _, protocol, nbytes) in enumerate(CASES)
        if algorithm != "mpi"
        for rank in range(RANKS)
    ]


def clock_rows() -> list[dict]:
    return [
        {"rank": rank, "anchor": anchor, "offset_ns": 0, "slope": 1.0, "error_bound_ns": 0}
        for rank in range(RANKS)
        for anchor in ("before", "after")
    ]


def tables() -> dict[str, list[dict]]:
    return {
        "cases": case_rows(),
        "samples": sample_rows(),
        "events": event_rows(),
        "traffic": traffic_rows(),
        "clock": clock_rows(),
        "cold": [{"phase": "process_start", "rank": rank, "ns": 1_000 + rank} for rank in range(RANKS)],
        "machine": [],
    }


NARROW = {"case": "i4", "rank": "i4", "src": "i4", "dst": "i4", "peer": "i4", "step": "i4", "channel": "i4"}
FLAGS = {"samples": {"state": STATES}, "events": {"direction": DIRECTIONS, "phase": PHASES}}
MACHINE = ["src", "dst", "bytes", "latency_ns", "bandwidth", "copy_engine_bandwidth", "reduction_rate"]


def write(path: Path) -> Path:
    """Write the whole file as the harness does: one described data set per column, with a dimension scale."""
    with h5py.File(path, "w", libver=("earliest", "v108")) as file:
        for name, rows in tables().items():
            columns = {key: [row[key] for row in rows] for key in (rows[0] if rows else MACHINE)}
            write_table(file.create_group(name), columns, FLAGS.get(name, {}))
        write_texts(file)
        file.attrs.update(
            {
                "schema_name": "ringscope-trace",
                "schema_version": "1.0.0",
                "creator_version": "0.1.0",
                "complete": 1,
                "recovered": 0,
                "lossy": 0,
                "world_size": RANKS,
                "source": "measured",
                "run_uuid": "00000000-0000-4000-8000-000000000000",
                "file_time": "2025-01-01T00:00:00+00:00",
                "epoch_monotonic_ns": 1,
                "epoch_realtime_ns": 1,
            }
        )
    return path


def write_table(group: h5py.Group, columns: dict[str, list], flags: dict[str, list[str]]) -> None:
    length = len(next(iter(columns.values())))
    row = group.create_dataset("row", data=np.arange(length, dtype="i8"))
    row.make_scale("row")
    for name, values in columns.items():
        dataset = group.create_dataset(name, data=array(name, values, flags))
        dataset.dims[0].attach_scale(row)
        dataset.attrs["units"] = "ns" if name.endswith("_ns") else "1"
        dataset.attrs["long_name"] = name.replace("_", " ")
        if name in flags:
            dataset.attrs["flag_values"] = np.arange(len(flags[name]), dtype="u1")
            dataset.attrs["flag_meanings"] = " ".join(flags[name])


def array(name: str, values: list, flags: dict) -> np.ndarray:
    if name in flags or name in {"in_place", "traced"}:
        return np.array(values, dtype="u1")
    if values and isinstance(values[0], str):
        return np.array([value.encode() for value in values], dtype=h5py.string_dtype("utf-8", 32))
    if name == "output_hash":
        return np.array(values, dtype="u8")
    if name in {"trace_overhead", "noise_floor", "slope", "link_gts", "path_gbps", "power_w"}:
        return np.array(values, dtype="f8")
    return np.array(values, dtype=NARROW.get(name, "i8"))


def write_texts(file: h5py.File) -> None:
    config = file.create_group("config")
    for name, text in {
        "resolved": "name: test\n",
        "original": "",
        "sha256": "0" * 64,
        "command_line": "ringscope run",
    }.items():
        config.create_dataset(name, data=text)
    environment = file.create_group("environment")
    columns = {
        "rank": list(range(RANKS)),
        "host": ["node"] * RANKS,
        "pid": [100 + rank for rank in range(RANKS)],
    }
    write_table(environment, columns, {})
    write_table(environment.create_group("facts"), {"name": ["compiler"], "value": ["g++ 12"]}, {})


GPU = "0000:17:00.0"


def readings() -> list[dict]:
    """What /health has of one GPU and its host: before the run, after each of the cases, after the run."""
    moments = [-1, *range(len(CASES)), -2]
    return [
        {"case": case, "rank": 0, "device": device, "time_ns": 1_000 + 1_000_000_000 * place, **state}
        for place, case in enumerate(moments)
        for device, state in ((GPU, GPU_STATE), ("host", HOST_STATE))
    ]


GPU_STATE = {
    "link_gts": 32.0,
    "link_width": 16,
    "path_gbps": 63.0,
    **dict.fromkeys(["aer_correctable", "aer_nonfatal", "aer_fatal", "xids"], 0),
    "sm_clock_mhz": 1980,
    "throttle": "idle",
    "throttled_ns": 0,
    "temperature_c": 40,
    "power_w": 100.0,
}
HOST_STATE = {
    **dict.fromkeys(GPU_STATE, -1),
    **dict.fromkeys(["link_gts", "path_gbps", "power_w"], np.nan),
    "throttle": "",
    "throttled_ns": 500,
}


def add_health(file: h5py.File) -> None:
    """Add the table of schema 1.3."""
    rows = readings()
    write_table(file.create_group("health"), {name: [row[name] for row in rows] for name in rows[0]}, {})


def empty(
    file: h5py.File, names: Sequence[str] = ("cases", "samples", "events", "traffic", "clock", "cold")
) -> None:
    """Leave tables without rows, as their writer does."""
    for table in names:
        for name, old in list(file[table].items()):
            kept = {key: old.attrs[key] for key in DESCRIPTION if key in old.attrs}
            dtype = old.dtype
            del file[table][name]
            file[table].create_dataset(name, data=np.empty(0, dtype)).attrs.update(kept)


DESCRIPTION = ("units", "long_name", "flag_values", "flag_meanings")
