# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of the frames that ``metrics`` gives: each function draws a frame into axes and gives the axes
back.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from ringscope import metrics, text
from ringscope.colours import LANE_COLOURS, SPLIT_COLOURS, STATE_COLOURS, colour_of

_MARKERS = "osD^vPX*<>"


def link_matrix(matrix: pd.DataFrame, axes: Axes) -> Axes:
    """Draw the N x N frame of ``metrics.link_matrix`` as a heat map, with bytes as text if ranks are few."""
    image = axes.imshow(matrix.to_numpy(), cmap="Blues", vmin=0)
    axes.figure.colorbar(image, ax=axes, label="payload bytes of one operation")
    axes.set(xlabel="to rank", ylabel="from rank", title="Bytes per directed link")
    ranks = range(len(matrix))
    if len(matrix) <= 16:
        axes.set(xticks=list(ranks), yticks=list(ranks))
        _write_bytes(matrix, axes)
    return axes


def _write_bytes(matrix: pd.DataFrame, axes: Axes) -> None:
    brightest = matrix.to_numpy().max()
    for (source, target), value in np.ndenumerate(matrix.to_numpy()):
        if value:
            ink = "white" if value > brightest / 2 else "black"
            axes.text(target, source, f"{value}", ha="center", va="center", color=ink, fontsize=8)


def rank_traffic(ranks: pd.DataFrame, axes: Axes) -> Axes:
    """Draw one case of ``metrics.rank_traffic``: bars of bytes per rank and the model as a line."""
    colour = colour_of(ranks["algorithm"].iloc[0])
    axes.bar(ranks["rank"] - 0.2, ranks["sent_bytes"], width=0.4, color=colour, label="sent")
    axes.bar(
        ranks["rank"] + 0.2,
        ranks["received_bytes"],
        width=0.4,
        color=colour,
        alpha=0.45,
        hatch="//",
        label="received",
    )
    axes.axhline(ranks["model_bytes"].iloc[0], color="crimson", linestyle="--", label="model 2(N-1)M/N")
    axes.set(xlabel="rank", ylabel="payload bytes of one operation", xticks=ranks["rank"].tolist())
    axes.set_title(f"{ranks['algorithm'].iloc[0]}, {text.size(int(ranks['bytes'].iloc[0]))}")
    axes.margins(y=0.25)
    axes.legend(ncols=3, fontsize="small", loc="upper center")
    return axes


def latency(rates: pd.DataFrame, axes: Axes) -> Axes:
    """Draw median time against size on log axes, with the band from the 5 % to the 95 % quantile."""
    for label, curve, style in _curves(rates, "median_ns"):
        axes.plot(curve["bytes"], curve["median_ns"] / 1e3, label=label, **style)
        axes.fill_between(
            curve["bytes"], curve["q05_ns"] / 1e3, curve["q95_ns"] / 1e3, color=style["color"], alpha=0.15
        )
    axes.set(ylabel="time of one operation in us", title="Time against size (median, 5 % to 95 %)")
    return _size_axis(axes, rates)


def bus_bandwidth(rates: pd.DataFrame, axes: Axes) -> Axes:
    """Draw busbw = M/t * 2(N-1)/N against size on log axes."""
    for label, curve, style in _curves(rates, "busbw_gb_s"):
        axes.plot(curve["bytes"], curve["busbw_gb_s"], label=label, **style)
    axes.set(ylabel="bus bandwidth in GB/s", title="Bus bandwidth against size")
    return _size_axis(axes, rates)


def _curves(rates: pd.DataFrame, column: str) -> Iterator[tuple[str, pd.DataFrame, dict[str, Any]]]:
    """Give (label, rows, style) of each curve; sizes of 0 and values of 0 have no place on a log axis."""
    labels = metrics.case_labels(rates)
    drawable = rates[(rates["bytes"] > 0) & (rates[column] > 0)].assign(label=labels)
    for _, family in drawable.groupby("algorithm", sort=False):
        for marker, (label, curve) in zip(cycle(_MARKERS), family.groupby("label", sort=False), strict=False):
            style = {"color": colour_of(curve["algorithm"].iloc[0]), "marker": marker, "markersize": 4}
            yield label, curve.sort_values("bytes"), style


def _size_axis(axes: Axes, rates: pd.DataFrame) -> Axes:
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_locator(FixedLocator(_labelled_sizes(rates)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: text.size(round(value))))
    axes.set_xlabel("size of the buffer")
    _plain_numbers(axes)
    axes.grid(True, which="major", alpha=0.3)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize="small")
    return axes


def _labelled_sizes(rates: pd.DataFrame) -> list[int]:
    """Choose, from the largest down, the sizes whose names do not overlap: an eighth of the axis apart."""
    sizes = sorted({int(value) for value in rates["bytes"] if value > 0}, reverse=True)
    least = np.log2(sizes[0] / sizes[-1]) / 8 if sizes else 0
    chosen: list[int] = []
    for size in sizes:
        if not chosen or np.log2(chosen[-1] / size) >= least:
            chosen.append(size)
    return chosen[::-1]


def _plain_numbers(axes: Axes) -> None:
    """Write 0.5 and not 5 x 10^-1; on a short axis also the numbers between powers of ten."""
    low, high = axes.get_ylim()
    axes.yaxis.set_major_formatter(FuncFormatter(_plain))
    if high < 100 * low:
        axes.yaxis.set_minor_locator(LogLocator(subs=(2, 5)))
        axes.yaxis.set_minor_formatter(FuncFormatter(_plain))


def _plain(value: float, _: object) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:g}"


def timeline(events: pd.DataFrame, axes: Axes) -> Axes:
    """Draw the events of one iteration, as ``metrics.events_of`` gives them: one lane per rank and channel.

    The upper half of a lane shows receives and the lower half sends. The light part of a bar, from begin to
    ready, waits for the first data or credit; the dark part, from ready to end, moves bytes.
    """
    lanes = sorted(set(zip(events["rank"], events["channel"], strict=True)))
    place = {lane: index for index, lane in enumerate(lanes)}
    origin = events["begin_ns"].min()
    for (direction, kind), colour in LANE_COLOURS.items():
        rows = events[events["direction"] == direction]
        axes.add_collection(
            PolyCollection(list(_bars(rows, direction, kind, place, origin)), facecolors=colour, linewidths=0)
        )
    axes.set_xlim(0, max((events["end_ns"].max() - origin) / 1e3, 1e-3))
    axes.set_ylim(len(lanes) - 0.4, -0.6)
    axes.set_yticks(range(len(lanes)), [_lane_name(lane, lanes) for lane in lanes])
    axes.set(xlabel="us since the first event", title="Time line of one operation")
    handles = [
        Patch(color=colour, label=f"{direction}, {kind}")
        for (direction, kind), colour in LANE_COLOURS.items()
    ]
    axes.legend(handles=handles, ncols=4, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.15))
    return axes


def _bars(rows: pd.DataFrame, direction: str, kind: str, place: dict, origin: int) -> np.ndarray:
    """Give the corners of one rectangle per row as an array of shape (rows, 4, 2)."""
    first, last = ("begin_ns", "ready_ns") if kind == "waiting" else ("ready_ns", "end_ns")
    left, right = ((rows[column].to_numpy() - origin) / 1e3 for column in (first, last))
    lane = np.array([place[key] for key in zip(rows["rank"], rows["channel"], strict=True)], dtype=float)
    top = lane - 0.42 if direction == "recv" else lane + 0.02
    bottom = top + 0.40
    corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
    return np.stack([np.stack(corner, axis=-1) for corner in corners], axis=1)


def _lane_name(lane: tuple[int, int], lanes: list[tuple[int, int]]) -> str:
    rank, channel = lane
    several = any(other != channel for _, other in lanes)
    return f"rank {rank}, channel {channel}" if several else f"rank {rank}"


def time_split(split: pd.DataFrame, axes: Axes) -> Axes:
    """Draw the rows of one case of ``metrics.time_split`` as one stacked bar per rank."""
    bottom = np.zeros(len(split))
    for column, (label, colour) in SPLIT_COLOURS.items():
        axes.bar(split["rank"], split[column] / 1e3, bottom=bottom, color=colour, label=label)
        bottom = bottom + split[column].to_numpy() / 1e3
    axes.set(
        xlabel="rank",
        ylabel="us of one operation",
        xticks=split["rank"].tolist(),
        title="Where the time went",
    )
    axes.margins(y=0.2)
    axes.legend(ncols=4, fontsize="small", loc="upper center")
    return axes


def busiest_ranks(frame: pd.DataFrame, axes: Axes, traced: pd.DataFrame | None = None) -> Axes:
    """Draw, of ``describe.busiest_ranks``, the bytes that the busiest rank sends against N, in units of M.

    ``traced`` is such a frame of runs: its points are drawn as rings on the lines.
    """
    _against_ranks(frame.assign(height=frame["sent_max"] / frame["bytes"]), axes)
    if traced is not None:
        heights = traced["sent_max"] / traced["bytes"]
        axes.scatter(traced["ranks"], heights, s=70, facecolors="none", edgecolors="black", label="traced")
    axes.set(ylabel="sent by the busiest rank, in units of M", title="Who carries how much")
    axes.legend(fontsize="small")
    return axes


def steps(frame: pd.DataFrame, axes: Axes) -> Axes:
    """Draw the hops of each algorithm against N, of a frame with the columns algorithm, ranks and steps."""
    _against_ranks(frame.assign(height=frame["steps"]), axes)
    axes.set(ylabel="hops, one after the other", title="Who waits how often")
    axes.legend(fontsize="small")
    return axes


def _against_ranks(frame: pd.DataFrame, axes: Axes) -> None:
    """Draw the column ``height`` of each algorithm; lines that coincide show through each other."""
    for (algorithm, curve), style in zip(
        frame.groupby("algorithm"), cycle(["-", "--", "-.", ":"]), strict=False
    ):
        curve = curve.sort_values("ranks")
        axes.plot(curve["ranks"], curve["height"], style, color=colour_of(algorithm), label=algorithm)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(sorted(set(frame["ranks"]))))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(_plain))
    axes.yaxis.set_major_formatter(FuncFormatter(_plain))
    axes.set_xlabel("ranks N")
    axes.grid(True, which="major", alpha=0.3)


def split_bars(split: pd.DataFrame, axes: Axes) -> Axes:
    """Draw one stacked bar per row: the column ``label``, and those of ``metrics.time_split`` that are there."""
    left = np.zeros(len(split))
    for column, (label, colour) in SPLIT_COLOURS.items():
        if column in split:
            axes.barh(split["label"], split[column] / 1e3, left=left, color=colour, label=label)
            left = left + split[column].to_numpy() / 1e3
    axes.set(xlabel="us of one operation", title="Where the time went")
    axes.invert_yaxis()
    axes.legend(ncols=4, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.16))
    return axes


def phases(frame: pd.DataFrame, axes: Axes) -> Axes:
    """Draw ``cold.phases`` as bars on a log axis, with their times as text."""
    bars = axes.barh(frame["phase"].str.replace("_", " "), frame["ns"] / 1e6, color=STATE_COLOURS["cold"])
    axes.bar_label(bars, [f" {value:.3g} ms" for value in frame["ns"] / 1e6], fontsize="small")
    axes.set_xscale("log")
    axes.set(xlabel="ms of the slowest rank", title="The start of the run")
    axes.invert_yaxis()
    axes.margins(x=0.25)
    return axes


def samples(times: pd.DataFrame, axes: Axes) -> Axes:
    """Draw one case of ``metrics.sample_times``: the time of each iteration, coloured by its state."""
    for state, colour in STATE_COLOURS.items():
        rows = times[times["state"] == state]
        if len(rows):
            axes.scatter(rows["iteration"], rows["ns_per_op"] / 1e3, color=colour, label=state, s=18)
    traced = times[times["traced"]]
    if len(traced):
        heights = traced["ns_per_op"] / 1e3
        axes.scatter(
            traced["iteration"], heights, s=60, facecolors="none", edgecolors="black", label="traced"
        )
    axes.set_yscale("log")
    axes.set(xlabel="iteration", ylabel="time of one operation in us", title="One operation after the other")
    axes.legend(fontsize="small")
    return axes


_RATIO_TICKS = [0.01, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 20, 30, 50, 100, 1000]


def ratios(frame: pd.DataFrame, axes: Axes, delta: float) -> Axes:
    """Draw ratios against size: columns label, bytes, ratio, low and high (NaN without an interval), and
    algorithm, which gives the colour. The band from 1 - delta to 1 + delta counts as no difference.
    """
    axes.axhspan(1 - delta, 1 + delta, color="#dddddd", zorder=0, label=f"no difference: within {delta:.0%}")
    axes.axhline(1, color="black", linewidth=0.8)
    markers = cycle(_MARKERS)
    for label, curve in frame.groupby("label", sort=False):
        curve = curve.sort_values("bytes")
        colour = colour_of(curve["algorithm"].iloc[0].split()[0])
        axes.plot(
            curve["bytes"], curve["ratio"], marker=next(markers), color=colour, label=label, markersize=5
        )
        bounded = curve.dropna(subset=["low", "high"])
        axes.vlines(bounded["bytes"], bounded["low"], bounded["high"], color=colour, alpha=0.6)
    axes.set(title="Ratio of times: above 1 is slower", ylabel="time / time of the base")
    _size_axis(axes, frame)
    # An interval may be as wide as one bad sample: it is cut where it leaves the picture, for the points' sake.
    axes.set_ylim(min(frame["ratio"].min(), 1 - delta) / 1.3, max(frame["ratio"].max(), 1 + delta) * 1.3)
    axes.yaxis.set_major_locator(FixedLocator(_RATIO_TICKS))
    axes.yaxis.set_minor_locator(NullLocator())
    return axes
