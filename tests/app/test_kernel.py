# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Plugins that bring a kernel of their own: verified like the rest, also where they are wrong once only."""

import pytest
from program import FIXTURES, run, table, write_yaml

KERNELS = FIXTURES / "kernel"
WARMUP, ITERATIONS = 2, 4
LAST_TIMED = 1 + WARMUP + ITERATIONS - 1  # operations are numbered from the cold one, 0


def sweep(algorithm: str, more: str = "") -> str:
    return (
        f"sweep: {{algorithms: [{algorithm}], sizes: [4KiB]}}\n"
        f"measure: {{warmup: {WARMUP}, iterations: {ITERATIONS}}}\n{more}"
    )


def lie(tmp_path, **variables: str):
    config = write_yaml(tmp_path, sweep("kernel-late-liar"))
    return run(3, config, "--plugin-path", KERNELS, "--json", **variables)


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_true_kernel_is_exact(tmp_path, ranks):
    output = tmp_path / "kernel.h5"
    config = write_yaml(tmp_path, sweep("kernel-true", f"output: {output}"))
    done = run(ranks, config, "--plugin-path", KERNELS, "--json").is_good()
    [case] = done.json["cases"]
    assert case["time_s"] > 0
    traffic = table(output, "traffic")
    assert list(traffic["declared_payload"]) == list(traffic["closed_form"]) == [4096] * (ranks * (ranks - 1))
    assert set(traffic["traced_payload"]) == {-1}


@pytest.mark.parametrize("where", [{}, {"LIE_ON": "2"}])
def test_kernel_wrong_in_the_last_timed_iteration_only_is_caught(tmp_path, where):
    done = lie(tmp_path, LIE_AT=str(LAST_TIMED), **where)
    done.complains(3, f"iteration {LAST_TIMED}, rank {where.get('LIE_ON', '0')}", "expected", "got")
    [case] = done.json["cases"]
    assert case["status"] == "wrong" and case["wrong_elements"] == (1 if where else 3)
    assert case["time_s"] is None and case["busbw_bytes_per_s"] is None


def test_same_kernel_is_good_where_it_does_not_lie(tmp_path):
    lie(tmp_path).is_good()


def test_kernel_that_cannot_be_created_ends_with_8(tmp_path):
    config = write_yaml(tmp_path, sweep("kernel-true") + "\n")
    done = run(2, config, "--plugin-path", KERNELS, "--set", "sweep.dtypes=[int32]")
    done.complains(8, "could not create its kernel")
