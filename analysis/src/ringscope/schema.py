# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""The names of schema ``ringscope-trace`` version 1, as docs/trace-schema.md lists them."""

from __future__ import annotations

NAME = "ringscope-trace"
MAJOR = 1

#: Value of an int64 column where nothing was measured or nothing exists.
NOT_AVAILABLE = -1

_EVENT_COLUMNS = """
    case iteration rank channel slice op step phase direction peer seq chunk payload_bytes wire_bytes
    begin_ns ready_ns end_ns wait_data_ns wait_credit_ns begin_ticks ready_ticks end_ticks
"""
_CASE_COLUMNS = """
    case algorithm engine protocol bytes count dtype op in_place offset mode channels slots slot_bytes slices
    status reason wrong output_hash trace_overhead noise_floor events_expected events_written events_dropped
"""

#: Columns that every file of version 1 has. Later minor versions may add columns, never remove one.
TABLES: dict[str, list[str]] = {
    "cases": _CASE_COLUMNS.split(),
    "samples": "case iteration rank state traced ops enter_ns exit_ns device_ns".split(),
    "events": _EVENT_COLUMNS.split(),
    "traffic": "case src dst declared_payload declared_wire traced_payload traced_wire closed_form".split(),
    "clock": "rank anchor offset_ns slope error_bound_ns".split(),
    "cold": "phase rank ns".split(),
    "machine": "src dst bytes latency_ns bandwidth copy_engine_bandwidth reduction_rate".split(),
}

_CASES_SINCE_2 = """
    trace_overhead_low trace_overhead_high event_cost_ns start_skew_ns
    causality_pairs causality_decisive causality_violations marks
"""

_HEALTH = """
    case rank device time_ns link_gts link_width path_gbps aer_correctable aer_nonfatal aer_fatal xids
    sm_clock_mhz throttle throttled_ns temperature_c power_w
"""
#: Values of ``health.case`` where the reading belongs to no case.
BEFORE_THE_RUN, AFTER_THE_RUN = -1, -2

#: What each minor version added: columns, and tables of their own. Files of an earlier one lack them.
ADDED: dict[int, dict[str, list[str]]] = {
    1: {"cases": ["params", "empty_kernel_ns"]},
    2: {
        "cases": _CASES_SINCE_2.split(),
        "events": ["posted_ns"],
        "clock": ["peer", "clock", "time_ns"],
        "clock_exchanges": "rank peer clock anchor asked_ns answered_ns heard_ns".split(),
        "cold": ["case"],
        "machine": ["engine"],
    },
    3: {"health": _HEALTH.split()},
}


def columns_of(minor: int) -> list[str]:
    """List the datasets that a file of version ``MAJOR.minor`` has, as paths such as ``/cases/bytes``."""
    tables = [TABLES, *(added for since, added in ADDED.items() if since <= minor)]
    return [f"/{name}/{column}" for table in tables for name, columns in table.items() for column in columns]


#: Columns that hold text, and those that hold one of a few named values; all others hold numbers.
TEXTS: dict[str, set[str]] = {
    "cases": set("algorithm engine protocol params dtype op mode status reason marks".split()),
    "clock": {"anchor", "clock"},
    "clock_exchanges": {"anchor", "clock"},
    "cold": {"phase"},
    "health": {"device", "throttle"},
    "machine": {"engine"},
}
NAMED: dict[str, set[str]] = {"samples": {"state"}, "events": {"direction", "phase"}}

#: Columns that hold yes or no as uint8.
BOOLEANS = frozenset({"in_place", "traced"})

#: Scalar texts of /config.
CONFIG = ("resolved", "original", "sha256", "command_line")

#: Root attributes without which a file cannot be judged.
ATTRIBUTES = "schema_name schema_version complete recovered lossy world_size source run_uuid".split()
#: Root attributes that hold whole numbers.
NUMBERS = ("world_size", "complete", "recovered", "lossy")

#: States of a sample from harmless to worst, so that the state of an iteration is the worst of its ranks.
STATES = (
    "ok",
    "warmup",
    "cold",
    "late_start",
    "throttled",
    "clock_moved",
    "aborted",
    "verify_failed",
)
