# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""A plugin that is built by its own CMake project against an installed ringscope, and has to pass the gate there."""

import shutil

import pytest
from program import BUILD, ROOT, call

EXAMPLE = ROOT / "docs" / "example-plugin"


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix")
    call("cmake", "--install", BUILD, "--prefix", folder, seconds=120).is_good()
    return folder


def build(source, folder, prefix):
    options = ["-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}"]
    call("cmake", "-S", source, "-B", folder, *options, seconds=120).is_good()
    call("cmake", "--build", folder, seconds=300).is_good()


def gate(folder):
    return call("ctest", "--test-dir", folder, "--output-on-failure", "--no-tests=error", seconds=600)


def test_example_passes_on_paper_and_on_1_to_8_ranks(tmp_path, prefix):
    build(EXAMPLE, tmp_path, prefix)
    done = gate(tmp_path).is_good()
    assert "100% tests passed, 0 tests failed out of 9" in done.out
    listed = call(prefix / "bin" / "ringscope", "list", "--plugin-path", tmp_path / "plugins").is_good()
    assert "up a chain of ranks" in listed.out


def test_example_with_a_rank_left_out_fails(tmp_path, prefix):
    broken = shutil.copytree(EXAMPLE, tmp_path / "source") / "chain.cpp"
    text = broken.read_text(encoding="utf-8")
    right = "p.recv_reduce_send(below, above, chunk(0))"
    assert right in text
    wrong = "p.op({.recv = below, .send = above, .chunks = chunk(0)})"
    broken.write_text(text.replace(right, wrong), encoding="utf-8")
    build(broken.parent, tmp_path / "build", prefix)
    done = gate(tmp_path / "build")
    assert done.code != 0
    assert "holds the contribution of rank 1 0 times" in done.out
