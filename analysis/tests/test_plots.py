# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures: what is drawn where, and that an algorithm keeps its colour."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex

from ringscope import colours, metrics, plots


@pytest.fixture
def axes():
    figure, axes = plt.subplots()
    yield axes
    figure.canvas.draw()
    plt.close(figure)


def test_link_matrix_draws_one_cell_per_pair(run, axes):
    assert plots.link_matrix(metrics.link_matrix(run, 0), axes) is axes
    assert axes.images[0].get_array().shape == (4, 4)
    assert {text.get_text() for text in axes.texts} == {"1488", "1504", "1512", "1496"}


def test_rank_traffic_draws_the_model_as_a_line(run, axes):
    plots.rank_traffic(metrics.rank_traffic(run).query("case == 0"), axes)
    assert axes.lines[0].get_ydata()[0] == 1500
    assert [bar.get_height() for bar in axes.containers[0]] == [1488, 1504, 1512, 1496]


@pytest.mark.parametrize("draw", [plots.latency, plots.bus_bandwidth])
def test_curves_are_one_per_algorithm_in_its_colour(run, axes, draw):
    draw(metrics.bandwidth(metrics.case_times(run)), axes)
    assert {line.get_label(): line.get_color() for line in axes.lines} == {
        name: colours.COLOURS[name] for name in ("ring-ll", "ring-simple", "mpi")
    }
    assert axes.get_xscale() == axes.get_yscale() == "log"


def test_curves_leave_out_size_zero(run, axes):
    rates = metrics.bandwidth(metrics.case_times(run)).assign(bytes=0)
    assert not plots.latency(rates, axes).lines


def test_timeline_has_a_lane_per_rank_and_four_kinds_of_bar(run, axes):
    plots.timeline(metrics.events_of(run, 0), axes)
    bars = [item for item in axes.collections if isinstance(item, PolyCollection)]
    assert [len(item.get_paths()) for item in bars] == [24] * 4
    assert [label.get_text() for label in axes.get_yticklabels()] == [f"rank {rank}" for rank in range(4)]
    assert axes.get_xlim() == (0, 69)  # 6 strides of 10 us and an op of 9 us


def test_timeline_waits_from_begin_to_ready_and_moves_from_ready_to_end(run, axes):
    plots.timeline(metrics.events_of(run, 0).query("rank == 1 and op == 2"), axes)
    widths = {
        to_hex(item.get_facecolor()[0]): path.get_extents().width
        for item in axes.collections
        for path in item.get_paths()
    }
    expected = {("recv", "waiting"): 3, ("recv", "moving"): 6, ("send", "waiting"): 1, ("send", "moving"): 8}
    assert widths == pytest.approx({colours.LANE_COLOURS[kind]: width for kind, width in expected.items()})


def test_timeline_names_channels_where_there_are_several(run, axes):
    events = metrics.events_of(run, 0)
    plots.timeline(events.assign(channel=events["step"] % 2), axes)
    assert [label.get_text() for label in axes.get_yticklabels()][:2] == [
        "rank 0, channel 0",
        "rank 0, channel 1",
    ]


def test_time_split_stacks_to_the_whole_sample(run, axes):
    plots.time_split(metrics.time_split(run).query("case == 0"), axes)
    tops = [bar.get_y() + bar.get_height() for bar in axes.containers[-1]]
    assert tops == pytest.approx([70.0] * 4)


def test_colour_of_an_unknown_algorithm_depends_on_its_name_alone():
    assert colours.colour_of("my-own") == colours.colour_of("my-own") != colours.colour_of("another")
    assert len(set(colours.COLOURS.values())) == len(colours.COLOURS)
