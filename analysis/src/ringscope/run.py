# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Opens a trace file and gives its tables as tidy data frames."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd

from ringscope import schema

_LOCK_ERRORS = {errno.EAGAIN, errno.EACCES, errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP}


class RunError(Exception):
    """A file that cannot be read as a finished run; the message says which file, why, and what to do."""


@dataclass(frozen=True)
class Run:
    """One run of ringscope: every table of its file as a frame, one row per record.

    Columns and units are those of docs/trace-schema.md. In every frame, whether it has rows or not, times and
    sizes are int64 (nanoseconds since the run's epoch, bytes; -1 means not available), yes and no are bool,
    texts are strings, and columns with a few named values (``state``, ``direction``, ``phase``) are
    categoricals. Columns that later minor versions of the schema added are there where the file has them.
    """

    path: Path
    #: The attributes of the root: schema_version, world_size, source, complete, lossy, ...
    attributes: dict[str, Any]
    #: The experiment: resolved, original, sha256, command_line.
    config: dict[str, str]
    #: One row per rank: rank, host, pid, cpuset, ...
    environment: pd.DataFrame
    #: Named facts of the machine and the build, as name -> value.
    facts: dict[str, str]
    #: One row per point of the sweep: case, algorithm, engine, protocol, bytes, mode, status, ...
    cases: pd.DataFrame = field(repr=False)
    #: One row per case, iteration and rank: state, traced, ops, enter_ns, exit_ns, device_ns.
    samples: pd.DataFrame = field(repr=False)
    #: One row per case and directed link: src, dst, bytes declared, traced and of the closed form.
    traffic: pd.DataFrame = field(repr=False)
    #: One row per comparison of two clocks: rank, anchor, offset_ns, slope, error_bound_ns.
    clock: pd.DataFrame = field(repr=False)
    #: One row per rank and phase of the start: phase, rank, ns.
    cold: pd.DataFrame = field(repr=False)
    #: One row per ordered pair and size: src, dst, bytes, latency_ns, bandwidth, ...
    machine: pd.DataFrame = field(repr=False)

    @property
    def world_size(self) -> int:
        """The number of ranks N."""
        return int(self.attributes["world_size"])

    @cached_property
    def events(self) -> pd.DataFrame:
        """One row per (op, direction, peer) of every traced iteration; read at first use, for it may be long."""
        with open_file(self.path) as file:
            _check_columns(file, ["events"], "no time line; times and traffic can be shown")
            return _read_table(file, "events")

    @cached_property
    def clock_exchanges(self) -> pd.DataFrame:
        """One row per question of a comparison of clocks; empty for files before schema 1.2."""
        return self._later_table("clock_exchanges", 2)

    @cached_property
    def health(self) -> pd.DataFrame:
        """One row per reading of a device: case (-1 before the run, -2 after it), rank, device, link, errors,
        clocks; empty for files before schema 1.3.
        """
        return self._later_table("health", 3)

    def _later_table(self, table: str, minor: int) -> pd.DataFrame:
        with open_file(self.path) as file:
            if table in file:
                return _read_table(file, table)
        texts = schema.TEXTS[table]
        return pd.DataFrame(
            {
                name: pd.Series(dtype=object if name in texts else np.int64)
                for name in schema.ADDED[minor][table]
            }
        )

    def read_events(self, columns: Sequence[str]) -> pd.DataFrame:
        """Read these columns of the events alone, which is much quicker than all; one that the file lacks is
        left out.
        """
        with open_file(self.path) as file:
            present = _columns_of(file["events"])
            return pd.DataFrame({name: _read_column(present[name]) for name in columns if name in present})


def load_file(path: str | Path, allow_incomplete: bool = False) -> Run:
    """Read the run that the file at ``path`` holds.

    A file that is not of this schema or lacks a column is refused with a ``RunError``. So is one that its
    writer did not finish, unless ``allow_incomplete`` is true.
    """
    path = Path(path)
    with open_file(path) as file:
        check_header(file, allow_incomplete)
        eager = [name for name in schema.TABLES if name != "events"]
        _check_columns(file, eager, "`ringscope-analysis lint` lists all that is wrong with it")
        tables = {name: _read_table(file, name) for name in eager}
        environment, facts = _read_environment(file)
        return Run(path, read_attributes(file), _read_config(file), environment, facts, **tables)


def salvage(path: str | Path) -> tuple[Run, list[str]]:
    """Read what a file still holds: one that is unfinished, lacks columns, or is damaged in parts.

    Give the run and one sentence for each table that was left empty. What has no /cases, or is not of this
    schema, is refused with a ``RunError``.
    """
    path = Path(path)
    with open_file(path) as file:
        check_header(file, allow_incomplete=True)
        faults = table_faults(file)
        tables = {name: _table_or_fault(file, name, faults) for name in schema.TABLES if name != "events"}
        if "cases" in faults:
            raise RunError(f"{path}: {faults['cases']}; without its cases nothing of a file can be shown")
        environment, facts = _read_environment(file)
        run = Run(path, read_attributes(file), _read_config(file), environment, facts, **tables)
    if "events" in faults:
        run.__dict__["events"] = _empty_table("events")
    return run, [f"{fault}: its table is left out" for fault in faults.values()]


def _table_or_fault(file: h5py.File, name: str, faults: dict[str, str]) -> pd.DataFrame:
    """Read a table; where that fails, note it among the faults and give an empty one."""
    if name in faults:
        return _empty_table(name)
    try:
        return _read_table(file, name)
    except (OSError, RuntimeError, KeyError, ValueError, RunError) as error:
        faults[name] = f"/{name} is damaged ({error})"
        return _empty_table(name)


def _empty_table(name: str) -> pd.DataFrame:
    return pd.DataFrame({column: pd.Series(dtype="int64") for column in schema.TABLES[name]})


@contextmanager
def open_file(path: str | Path) -> Iterator[h5py.File]:
    """Open an HDF5 file for reading; if it is locked, try once more without a lock and say so on stderr."""
    path = Path(path)
    if not path.is_file():
        raise RunError(
            f"{path}: there is no such file; check the path, or make it with `ringscope run --output`"
        )
    file = _open(path)
    try:
        yield file
    except (OSError, RuntimeError, KeyError, ValueError) as error:  # h5py's ways to say it
        raise RunError(
            f"{path}: damaged, a part of it cannot be read ({error}); run the experiment again"
        ) from error
    finally:
        file.close()


def _open(path: Path) -> h5py.File:
    try:
        return h5py.File(path, "r")
    except OSError as error:
        if not _is_lock_error(error):
            raise RunError(_why_not_opened(path, error)) from error
    print(
        f"ringscope-analysis: {path} is locked by a writer or its file system; reading it without a lock",
        file=sys.stderr,
    )
    try:
        return h5py.File(path, "r", locking=False)
    except (OSError, ValueError, TypeError) as error:
        raise RunError(
            f"{path}: cannot be opened without a lock ({error}); copy it to a local disk"
        ) from error


def _is_lock_error(error: OSError) -> bool:
    return error.errno in _LOCK_ERRORS and "lock" in str(error)


def _why_not_opened(path: Path, error: OSError) -> str:
    text = str(error)
    if "signature not found" in text:
        return f"{path}: not an HDF5 file; name the .h5 file that `ringscope run` wrote"
    if "truncated" in text:
        return f"{path}: truncated, its end is missing; copy it again or run the experiment again"
    return f"{path}: cannot be opened ({text})"


def check_header(file: h5py.File, allow_incomplete: bool = False) -> None:
    """Refuse a file of another schema, of an unknown major version, or one that is not finished."""
    attributes, path = read_attributes(file), file.filename
    if attributes.get("schema_name") != schema.NAME:
        raise RunError(f"{path}: not a ringscope trace (schema_name is {attributes.get('schema_name')!r})")
    version = str(attributes.get("schema_version", ""))
    if version.partition(".")[0] != str(schema.MAJOR):
        raise RunError(
            f"{path}: schema version {version!r}, but this package reads version {schema.MAJOR}.x; "
            "use a package that fits"
        )
    missing = [name for name in schema.ATTRIBUTES if name not in attributes and name != "complete"]
    if missing:
        raise RunError(f"{path}: root attributes are missing: {', '.join(missing)}")
    odd = [name for name in schema.NUMBERS if not isinstance(attributes.get(name, 0), int)]
    if odd:
        raise RunError(f"{path}: root attributes that are no whole numbers: {', '.join(odd)}")
    if attributes.get("complete") != 1 and not allow_incomplete:
        raise RunError(
            f"{path}: incomplete, its writer did not finish; `--allow-incomplete`, or "
            "load_run(path, allow_incomplete=True), shows the cases that ended"
        )


def minor_version(file: h5py.File) -> int:
    """Give the minor version of the schema that the file says it is of."""
    version = str(read_attributes(file).get("schema_version", "")).split(".")
    return int(version[1]) if len(version) > 1 and version[1].isdigit() else 0


def missing_columns(file: h5py.File, minor: int = 0) -> list[str]:
    """List the datasets of schema ``MAJOR.minor`` that the file lacks, as paths such as ``/cases/bytes``."""
    return [path for path in schema.columns_of(minor) if not isinstance(file.get(path), h5py.Dataset)]


def uneven_tables(file: h5py.File, tables: Iterable[str] = schema.TABLES) -> list[str]:
    """List, in words, the tables whose columns differ in length."""
    found = []
    for table in tables:
        columns = schema.TABLES[table]
        lengths = {
            column: file[table][column].shape[0] for column in columns if column in file.get(table, ())
        }
        if len(set(lengths.values())) > 1:
            longest, shortest = max(lengths, key=lengths.__getitem__), min(lengths, key=lengths.__getitem__)
            found.append(
                f"/{table}: columns differ in length "
                f"({longest} {lengths[longest]} rows, {shortest} {lengths[shortest]})"
            )
    return found


def table_faults(file: h5py.File) -> dict[str, str]:
    """Say of each table that lacks columns, or has columns of several lengths, what is wrong with it."""
    faults: dict[str, str] = {}
    for path in missing_columns(file):
        table = path.split("/")[1]
        faults[table] = f"{faults[table]}, {path}" if table in faults else f"columns are missing: {path}"
    for sentence in uneven_tables(file):
        faults.setdefault(sentence[1:].partition(":")[0], sentence)
    return faults


def _check_columns(file: h5py.File, tables: list[str], consequence: str) -> None:
    missing = [path for path in missing_columns(file) if path.split("/")[1] in tables]
    if missing:
        raise RunError(f"{file.filename}: columns are missing: {', '.join(missing)}; {consequence}")
    unfit = uneven_tables(file, tables) + misfits(file, tables)
    if unfit:
        raise RunError(f"{file.filename}: {'; '.join(unfit)}; {consequence}")


def misfits(file: h5py.File, tables: Iterable[str] = schema.TABLES) -> list[str]:
    """List, in words, the columns that hold another kind of values than the schema says."""
    known = [path for path in schema.columns_of(minor_version(file)) if path.split("/")[1] in tables]
    paths = [path for path in known if path in file]
    kinds = [(path, _kind(file[path]), _expected_kind(*path.strip("/").split("/"))) for path in paths]
    return [f"{path}: {found}, expected {expected}" for path, found, expected in kinds if found != expected]


def _kind(dataset: h5py.Dataset) -> str:
    if h5py.check_string_dtype(dataset.dtype) is not None:
        return "text"
    if dataset.dtype.kind not in "iuf":
        return "neither text nor numbers"
    return "named values" if {"flag_values", "flag_meanings"} <= set(dataset.attrs) else "numbers"


def _expected_kind(table: str, column: str) -> str:
    if column in schema.TEXTS.get(table, ()):
        return "text"
    return "named values" if column in schema.NAMED.get(table, ()) else "numbers"


def read_attributes(file: h5py.File) -> dict[str, Any]:
    """Give the root attributes as Python values: text, int or float."""
    return {name: _plain(value) for name, value in file.attrs.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if isinstance(value, h5py.Empty):
        return ""
    if isinstance(value, np.ndarray):
        return _plain(value.item()) if value.size == 1 else [_plain(item) for item in value.tolist()]
    return _plain(value.item()) if isinstance(value, np.generic) else value


def _read_table(file: h5py.File, table: str) -> pd.DataFrame:
    columns = _columns_of(file[table])
    # The schema's order first, then whatever a later minor version added.
    known = [
        path.split("/")[2] for path in schema.columns_of(max(schema.ADDED)) if path.startswith(f"/{table}/")
    ]
    ordered = [*(name for name in known if name in columns), *(name for name in columns if name not in known)]
    return pd.DataFrame({name: _read_column(columns[name]) for name in ordered})


def _columns_of(group: h5py.Group) -> dict[str, h5py.Dataset]:
    return {
        name: item
        for name, item in group.items()
        if isinstance(item, h5py.Dataset) and item.ndim == 1 and name != "row"
    }


def _read_column(dataset: h5py.Dataset) -> Any:
    if h5py.check_string_dtype(dataset.dtype) is not None:
        return dataset.asstr()[...].astype(object)
    values = dataset[...]
    if "flag_meanings" in dataset.attrs:
        return _categorical(dataset, values)
    if dataset.name.rpartition("/")[2] in schema.BOOLEANS:
        return values.astype(bool)
    return values


def _categorical(dataset: h5py.Dataset, values: np.ndarray) -> pd.Categorical:
    flags = np.atleast_1d(dataset.attrs["flag_values"]).astype(np.int64).tolist()
    meanings = str(_plain(dataset.attrs["flag_meanings"])).split()
    place = {flag: index for index, flag in enumerate(flags)}
    unknown = set(np.unique(values).tolist()) - place.keys()
    if unknown or len(flags) != len(meanings):
        raise RunError(
            f"{dataset.file.filename}: {dataset.name} holds values without a meaning: {sorted(unknown)}"
        )
    lookup = np.zeros(max(flags, default=0) + 1, dtype=np.int8)
    lookup[flags] = np.arange(len(flags))
    return pd.Categorical.from_codes(lookup[values], categories=meanings)


def _read_environment(file: h5py.File) -> tuple[pd.DataFrame, dict[str, str]]:
    group = file.get("environment")
    if not isinstance(group, h5py.Group):
        return pd.DataFrame({"rank": []}), {}
    ranks = pd.DataFrame({name: _read_column(item) for name, item in _columns_of(group).items()})
    facts = group.get("facts")
    if facts is None:
        return ranks, {}
    return ranks, dict(zip(_read_column(facts["name"]), _read_column(facts["value"]), strict=True))


def _read_config(file: h5py.File) -> dict[str, str]:
    group = file.get("config", {})
    return {name: str(_plain(group[name][()])) for name in schema.CONFIG if name in group}
