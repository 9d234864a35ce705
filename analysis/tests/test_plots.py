# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures: what is drawn where, and that an algorithm keeps its colour."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex

from ringscope import colours, metrics, plots, schema


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


def test_sizes_whose_names_would_overlap_are_not_labelled(run, axes):
    sizes = [2**10, 2**16, 2**22, 2**26, 2**28, 2**29]
    rates = (
        metrics.bandwidth(metrics.case_times(run))
        .query("algorithm == 'mpi'")
        .iloc[[0] * 6]
        .assign(bytes=sizes)
    )
    plots.latency(rates, axes)
    assert axes.get_xticks().tolist() == [2**10, 2**16, 2**22, 2**26, 2**29]


@pytest.fixture
def links():
    columns = ["algorithm", "ranks", "bytes", "steps", "sent_max"]
    rows = [("ring-ll", 2, 10, 2, 10), ("ring-ll", 4, 10, 6, 15), ("parameter-server", 4, 10, 2, 30)]
    return pd.DataFrame(rows, columns=columns)


def test_busiest_ranks_are_drawn_in_units_of_the_message(links, axes):
    plots.busiest_ranks(links, axes, traced=links[:1])
    heights = {line.get_label(): line.get_ydata().tolist() for line in axes.lines}
    assert heights == {"ring-ll": [1, 1.5], "parameter-server": [3]}
    assert axes.collections[0].get_offsets().tolist() == [[2, 1]]
    assert axes.get_xscale() == axes.get_yscale() == "log"


def test_steps_keep_the_colours(links, axes):
    plots.steps(links, axes)
    drawn = {line.get_label(): (line.get_ydata().tolist(), line.get_color()) for line in axes.lines}
    assert drawn["ring-ll"] == ([2, 6], plots.colour_of("ring-ll"))


def test_split_bars_stack_what_there_is(axes):
    split = pd.DataFrame(
        {"label": ["a", "b"], "wait_data_ns": [1000.0, 2000.0], "moving_ns": [3000.0, 4000.0]}
    )
    plots.split_bars(split, axes)
    assert [bar.get_x() + bar.get_width() for bar in axes.containers[-1]] == [4, 6]
    assert [label.get_text() for label in axes.get_legend().get_texts()] == ["waiting for data", "moving"]


def test_phases_are_bars_of_milliseconds(axes):
    plots.phases(pd.DataFrame({"phase": ["mpi_init", "bootstrap"], "ns": [2_000_000, 500_000]}), axes)
    assert [bar.get_width() for bar in axes.patches] == [2, 0.5]
    assert [text.get_text().strip() for text in axes.texts] == ["2 ms", "0.5 ms"]
    assert axes.get_yticklabels()[0].get_text() == "mpi init"


def test_samples_are_coloured_by_state(run, axes):
    times = metrics.sample_times(run.samples).query("case == 0")
    plots.samples(times, axes)
    points = {item.get_label(): len(item.get_offsets()) for item in axes.collections}
    assert points == {"ok": 22, "cold": 1, "warmup": 1, "traced": 2}
    assert set(colours.STATE_COLOURS) == set(schema.STATES)


def test_ratios_have_their_intervals_and_one_bad_sample_does_not_stretch_the_picture(axes):
    frame = pd.DataFrame({"label": "x", "algorithm": "ring-ll", "bytes": [1024, 2048], "ratio": [0.5, 2.0]})
    plots.ratios(frame.assign(low=[0.4, None], high=[900.0, None]), axes, delta=0.03)
    assert axes.get_ylim() == pytest.approx((0.5 / 1.3, 2.6))
    assert axes.lines[-1].get_color() == plots.colour_of("ring-ll")
    assert len(axes.collections[-1].get_segments()) == 1
