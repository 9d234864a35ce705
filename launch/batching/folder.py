# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""The result folder of a batch: what is in it, and how it survives whatever ends the batch.

batch.json       the plan in the order in which it runs, and what became of each launch
configs/         per experiment: NAME.yaml as it was read, NAME.resolved.yaml with every value written out
launches/        one .h5 per finished launch; it gets there by a rename, which is what makes it finished
machine/HOST/    what lstopo and nvidia-smi say of each host that ran launches, where they are installed
logs/            one .log per launch, all attempts one after another
failed/          what failed or interrupted launches left
running/         what is being written
"""

from __future__ import annotations

import contextlib
import difflib
import errno
import fcntl
import itertools
import json
import os
import platform
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from batching.codes import USAGE, BatchError
from batching.experiment import Experiment
from batching.plan import Launch

FORMAT, VERSION = "ringscope-batch", 1
WAITING, RUNNING, DONE, SKIPPED_ALL, FAILED, INTERRUPTED = (
    "waiting",
    "running",
    "done",
    "skipped",
    "failed",
    "interrupted",
)
#: File systems without locks; a batch alone in its folder needs none.
_NO_LOCKS = {errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP}


@dataclass(frozen=True)
class Choices:
    """What the command line says about the plan, and a resumed batch must not change."""

    seed: int
    launches: int | None
    where: str | None


class Folder:
    """The result folder of a batch; it need not exist yet."""

    def __init__(self, path: Path, content: dict[str, Any]) -> None:
        self.path, self._content = path, content
        self.name: str = content["name"]
        self.uuid: str = content["uuid"]
        self.choices = Choices(**content["choices"])
        self.experiments: list[dict[str, Any]] = content["experiments"]
        names = [field.name for field in fields(Launch)]
        self.plan = [Launch(**{name: entry[name] for name in names}) for entry in content["launches"]]

    def config(self, experiment: str) -> Path:
        """Give the configuration that launches are started with."""
        return self.path / "configs" / f"{experiment}.yaml"

    def result(self, launch: Launch) -> Path:
        """Give the file of a finished launch."""
        return self.path / "launches" / f"{launch.stem}.h5"

    def output(self, launch: Launch) -> Path:
        """Give the file that a launch writes while it runs."""
        return self.path / "running" / f"{launch.stem}.h5"

    def log(self, launch: Launch) -> Path:
        """Give the log of a launch."""
        return self.path / "logs" / f"{launch.stem}.log"

    def is_finished(self, launch: Launch) -> bool:
        """Say whether a launch has its result: the file's name is the only mark."""
        return self.result(launch).is_file()

    def states(self) -> list[dict[str, Any]]:
        """Give what is known of every launch, in the order of the plan."""
        return _read(self.path)["launches"]

    def note(self, launch: Launch, **known: Any) -> None:
        """Write what became of a launch into batch.json."""
        with _locked(self.path):
            content = _read(self.path)
            content["launches"][launch.index].update(known)
            _write(self.path / "batch.json", json.dumps(content, indent=1))

    def finish(self, launch: Launch) -> None:
        """Give the file of a good launch its name. What is known of it was written down before."""
        os.replace(self.output(launch), self.result(launch))

    def set_aside(self, launch: Launch) -> None:
        """Move what another launch left to where it is in nobody's way."""
        output = self.output(launch)
        ours = (output.name, f"{output.name}.partial", f"{output.name}.spill")
        for left in sorted(output.parent.iterdir()):
            if left.name.startswith(ours[2]) or left.name in ours[:2]:
                os.replace(left, self.path / "failed" / left.name)

    def create(self, experiments: list[Experiment]) -> None:
        """Make it. batch.json comes last: a folder without it was never begun."""
        self.path.mkdir(parents=True)
        for part in ("configs", "launches", "logs", "failed", "running"):
            (self.path / part).mkdir()
        for one in experiments:
            _write(self.path / "configs" / f"{one.name}.yaml", one.original)
            _write(self.path / "configs" / f"{one.name}.resolved.yaml", one.resolved)
        _write(self.path / "batch.json", json.dumps(self._content, indent=1))


def new_folder(
    data: Path, name: str, experiments: list[Experiment], choices: Choices, plan: list[Launch]
) -> Folder:
    """Give a folder that is still to be made."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "uuid": str(uuid.uuid4()),
        "name": name,
        "host": platform.node(),
        "created": now(),
        "choices": asdict(choices),
        "experiments": [_experiment_entry(one) for one in experiments],
        "launches": [_launch_entry(launch) for launch in plan],
    }
    return Folder(_new_path(data / name), content)


def _experiment_entry(one: Experiment) -> dict[str, Any]:
    file = str(Path(one.file).resolve())
    return {"name": one.name, "file": file, "sha256": one.sha256, "cases": len(one.cases)}


def _launch_entry(launch: Launch) -> dict[str, Any]:
    names = {"label": launch.label, "file": f"launches/{launch.stem}.h5"}
    outcome = dict.fromkeys(("exit_code", "seconds", "started", "reason"))
    return asdict(launch) | names | {"state": WAITING, "attempts": 0} | outcome


def open_folder(path: Path) -> Folder:
    """Give the folder of an earlier batch."""
    return Folder(path, _read(path))


def _read(path: Path) -> dict[str, Any]:
    file = path / "batch.json"
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BatchError(USAGE, f"{file} cannot be read ({error}): name the folder of a batch") from error
    if content.get("format") != FORMAT or content.get("version") != VERSION:
        raise BatchError(USAGE, f"{file} is not of this version of launch/batch")
    return content


def find_folder(data: Path, name: str) -> Folder:
    """Give the newest batch of a name."""
    found = sorted(file.parent for file in (data / name).glob("*/batch.json"))
    if not found:
        raise BatchError(USAGE, f"there is nothing to resume: {data / name} holds no batch")
    return open_folder(found[-1])


def differences(folder: Folder, experiments: list[Experiment]) -> str:
    """Say what differs between the experiments that a batch began with and those of now; empty if nothing."""
    now_there = {one.name: one.resolved for one in experiments}
    before = {one["name"]: _resolved(folder, one["name"]) for one in folder.experiments}
    lines: list[str] = []
    for name in sorted(now_there.keys() | before.keys()):
        old, new = before.get(name, "").splitlines(), now_there.get(name, "").splitlines()
        lines += difflib.unified_diff(old, new, f"{name} of the batch", f"{name} now", lineterm="")
    return "\n".join(lines)


def _resolved(folder: Folder, name: str) -> str:
    return (folder.path / "configs" / f"{name}.resolved.yaml").read_text(encoding="utf-8")


def now() -> str:
    """Give the time in UTC, to the second."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _new_path(parent: Path) -> Path:
    stamp = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ") + "-" + platform.node()
    names = itertools.chain([stamp], (f"{stamp}-{number}" for number in itertools.count(2)))
    return next(parent / name for name in names if not (parent / name).exists())


def _write(file: Path, text: str) -> None:
    """Replace a file as a whole: whoever reads it finds the old text or the new one."""
    new = file.with_name(f"{file.name}.{os.getpid()}.new")
    with open(new, "w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(new, file)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other shards of the batch from changing batch.json at the same time."""
    handle = os.open(path, os.O_RDONLY)
    try:
        lock(handle, wait=True)
        yield
    finally:
        os.close(handle)


def lock(handle: int, wait: bool) -> bool:
    """Lock an open file until it is closed; give False where somebody else holds it."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    return True
