# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Every notebook is run in a kernel once, and its cells in this process, where what they found can be asked for."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import h5py
import matplotlib.pyplot as plt
import pytest

from ringscope.lint import lint_file

FOLDER = Path(__file__).parents[1] / "notebooks"
RECORDED = Path(__file__).parents[2] / "data" / "recorded"
#: Pictures in each.
NOTEBOOKS = {
    "01-quickstart": 5,
    "02-traffic-model": 1,
    "03-low-latency": 2,
    "04-without-peer-access": 2,
    "05-cold-and-warm": 2,
    "06-compare": 1,
}
QUICKSTART = os.environ.get("RINGSCOPE_QUICKSTART_FILE")


@pytest.fixture(params=["synthetic", "recorded", *([QUICKSTART] if QUICKSTART else [])])
def trace_file(request, pristine) -> Path:
    known = {"synthetic": pristine, "recorded": RECORDED / "host-4-ranks.h5"}
    return known.get(request.param) or Path(request.param).resolve()


def code_of(name: str) -> list[dict[str, Any]]:
    cells = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def found(monkeypatch, name: str, **parameters: Any) -> dict[str, Any]:
    """Run the code of a notebook, with other parameters where some are given, and give its variables."""
    monkeypatch.chdir(FOLDER)
    monkeypatch.setattr(plt, "show", lambda: None)
    variables: dict[str, Any] = {"__name__": "__main__"}
    for cell in code_of(name):
        exec(compile("".join(cell["source"]), f"{name}, {cell['id']}", "exec"), variables)
        if "parameters" in cell["metadata"].get("tags", []):
            assert parameters.keys() <= variables.keys()
            variables.update(parameters)
    plt.close("all")
    return variables


def shifted(source: Path, target: Path, row: int) -> Path:
    """The mutant: one link traced 16 bytes more."""
    shutil.copy(source, target)
    with h5py.File(target, "r+") as file:
        file["traffic/traced_payload"][row] += 16
    return target


def test_these_are_the_notebooks():
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == sorted(NOTEBOOKS)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_it_runs_in_a_kernel_and_draws(name, monkeypatch):
    import nbclient
    import nbformat

    monkeypatch.setenv("RINGSCOPE_FILE", str(RECORDED / "host-4-ranks.h5"))
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(FOLDER)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == NOTEBOOKS[name]
    assert not [output for output in outputs if output.get("name") == "stderr"]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_it_is_kept_without_outputs_and_with_parameters_first(name):
    cells = code_of(name)
    assert cells[0]["metadata"]["tags"] == ["parameters"]
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in cells)


def test_quickstart_agrees_with_the_model(trace_file, monkeypatch):
    outputs = found(monkeypatch, "01-quickstart", path=str(trace_file))
    assert outputs["verdict"].startswith("every link of ")
    assert outputs["links_checked"] == outputs["links_equal"] > 0
    sent = outputs["bytes_per_rank"]
    assert sum(sent) / len(sent) == outputs["model_bytes_per_rank"]


def test_quickstart_file_is_clean(trace_file):
    assert lint_file(trace_file) == []


def test_quickstart_names_the_link_that_is_16_bytes_off(pristine, tmp_path, monkeypatch):
    path = shifted(pristine, tmp_path / "spoiled.h5", 9)
    outputs = found(monkeypatch, "01-quickstart", path=str(path))
    assert outputs["links_equal"] == outputs["links_checked"] - 1
    assert "case 2 (ring-simple, 1000 bytes) link 1 -> 2" in outputs["verdict"]
    assert "16 bytes more" in outputs["verdict"]


def test_traffic_model_is_that_of_the_article(monkeypatch):
    outputs = found(monkeypatch, "02-traffic-model")
    for word in ("article_holds", "total_holds", "closed_form_holds", "traced_holds"):
        assert outputs[word] is True, word
    # Links: a ring has N, a server 2(N-1), halving and doubling N log2 N; of N = 2 to 64.
    links = outputs["links"].groupby("algorithm").size()
    assert links["ring-simple"] == 126
    assert links["parameter-server"] == 2 * (126 - 6)
    assert links["halving-doubling"] == 2 + 8 + 24 + 64 + 160 + 384
    steps = outputs["links"].query("ranks == 64").groupby("algorithm")["steps"].first()
    assert (steps["ring-simple"], steps["halving-doubling"], steps["parameter-server"]) == (126, 12, 2)
    assert set(outputs["traced"]["ranks"]) == {2, 4, 8}


def test_traffic_model_sees_one_link_that_is_off(tmp_path, monkeypatch):
    spoiled = shifted(RECORDED / "traffic-4-ranks.h5", tmp_path / "spoiled.h5", 3)
    outputs = found(monkeypatch, "02-traffic-model", run_files=[str(spoiled)])
    assert outputs["article_holds"] is True and outputs["traced_holds"] is False
    described = (RECORDED / "describe-100MB.jsonl").read_text(encoding="utf-8")
    other = tmp_path / "described.jsonl"
    other.write_text(described.replace('"declared_bytes":150000000', '"declared_bytes":150000016', 1))
    outputs = found(monkeypatch, "02-traffic-model", described_file=str(other))
    assert not any(outputs[word] for word in ("article_holds", "total_holds", "closed_form_holds"))


def test_low_latency_is_faster_until_the_wire_counts(monkeypatch):
    outputs = found(monkeypatch, "03-low-latency")
    # The article: 45 against 12 us at 1 KiB, 10.5 against 10.1 GB/s at 256 MiB.
    theirs = outputs["table"]["article, 2 x V100", "host-driven / LL"]
    assert theirs[2**10] == 3.75 and theirs[2**28] == pytest.approx(10.5 / 10.1)
    assert outputs["stops"]["verdict"].tolist() == ["FASTER"] * 3 + ["SLOWER"]
    assert outputs["stops"]["wire per payload"].tolist() == [2.0] * 4  # a flag for every datum
    assert outputs["small_holds"] and not outputs["large_holds"]
    within = outputs["inside"].set_index(["algorithm", "bytes"])
    waits = within["wait_data_ns"] + within["wait_credit_ns"]
    assert waits["ring-ll", 256] < waits["ring-simple", 256]


def test_without_peer_access_the_fused_way_is_faster_than_the_library(monkeypatch):
    outputs = found(monkeypatch, "04-without-peer-access")
    assert outputs["counts"] == {"FASTER": 6}
    assert (outputs["cost"].loc[2**22 :] > 4).all(axis=None), "PCIe carries a fraction of what NVLink does"


def test_the_first_operation_of_the_library_is_its_start(monkeypatch):
    outputs = found(monkeypatch, "05-cold-and-warm")
    assert outputs["phases"]["phase"].tolist() == [
        *("process_start", "mpi_init", "plugin_load", "bootstrap", "first_collective")
    ]
    assert outputs["worst"]["algorithm"] == "nccl" and outputs["worst"]["ratio"] > 10_000
    assert outputs["article_rate"] == pytest.approx(0.149, abs=0.001)


def test_cold_and_warm_takes_the_file_of_a_host(monkeypatch):
    outputs = found(monkeypatch, "05-cold-and-warm", path=str(RECORDED / "host-4-ranks.h5"))
    assert len(outputs["first"]) == 21


def test_two_files_are_no_verdict(monkeypatch):
    outputs = found(monkeypatch, "06-compare")
    assert outputs["counts"] == {"n too small": 42}
    assert outputs["largest"]["label"] == "nccl on nccl"


def test_two_batches_are_one(make, monkeypatch):
    folders = {"old": make([1.0] * 6, [1.0] * 6, "old"), "new": make([1.2] * 6, [1.2] * 6, "new")}
    outputs = found(monkeypatch, "06-compare", results_named=folders)
    assert outputs["counts"] == {"SLOWER": 6}
    assert outputs["compared"]["ratio"].tolist() == pytest.approx([1.2] * 6)
