# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the notebook on the synthetic file, and on the file in RINGSCOPE_QUICKSTART_FILE where it is set."""

from __future__ import annotations

import json
import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from ringscope.lint import lint_file

NOTEBOOK = Path(__file__).parents[1] / "notebooks" / "first-look.ipynb"
RECORDED = os.environ.get("RINGSCOPE_QUICKSTART_FILE")
FILES = ["synthetic", *([RECORDED] if RECORDED else [])]
OUTPUTS = ["verdict", "links_checked", "links_equal", "bytes_per_rank", "model_bytes_per_rank"]


@pytest.fixture(params=FILES)
def trace_file(request, pristine) -> Path:
    return pristine if request.param == "synthetic" else Path(request.param).resolve()


def execute(path: Path, monkeypatch) -> tuple[dict, nbformat.NotebookNode]:
    """Run the notebook on a file and give its named outputs, read from the kernel after the last cell."""
    monkeypatch.setenv("RINGSCOPE_FILE", str(path))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    named = "{" + ", ".join(f"{name!r}: {name}" for name in OUTPUTS) + "}"
    notebook.cells.append(nbformat.v4.new_code_cell(f"import json; print(json.dumps({named}))"))
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(NOTEBOOK.parent)}}).execute()
    return json.loads(notebook.cells[-1].outputs[0]["text"]), notebook


def test_notebook_agrees_with_the_model(trace_file, monkeypatch):
    outputs, notebook = execute(trace_file, monkeypatch)
    assert outputs["verdict"].startswith("every link of ")
    assert outputs["links_checked"] == outputs["links_equal"] > 0
    sent = outputs["bytes_per_rank"]
    assert sum(sent) / len(sent) == outputs["model_bytes_per_rank"]
    pictures = [
        output
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {})
    ]
    assert len(pictures) == 5


def test_quickstart_file_is_clean(trace_file):
    assert lint_file(trace_file) == []


def test_notebook_names_the_link_that_is_16_bytes_off(spoiled, monkeypatch):
    def change(file):
        file["traffic/traced_payload"][9] += 16

    outputs, _ = execute(spoiled(change), monkeypatch)
    assert outputs["links_equal"] == outputs["links_checked"] - 1
    assert "case 2 (ring-simple, 1000 bytes) link 1 -> 2" in outputs["verdict"]
    assert "16 bytes more" in outputs["verdict"]


def test_notebook_is_kept_without_outputs_and_with_parameters_first():
    cells = [cell for cell in nbformat.read(NOTEBOOK, as_version=4).cells if cell.cell_type == "code"]
    assert cells[0].metadata["tags"] == ["parameters"]
    assert all(not cell.outputs and cell.execution_count is None for cell in cells)
