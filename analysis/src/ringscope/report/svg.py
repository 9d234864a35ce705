# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""A small toolkit that draws charts as SVG text. Colours and sizes of letters are the style sheet's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

WIDTH, HEIGHT = 600, 360
LEFT, RIGHT, TOP, BOTTOM = 72, 20, 16, 46

#: One shape per curve of the same colour, as paths around (0, 0).
MARKERS = (
    "M-3.6 0A3.6 3.6 0 1 0 3.6 0A3.6 3.6 0 1 0-3.6 0Z",
    "M-3.2-3.2H3.2V3.2H-3.2Z",
    "M0-4.2L4.2 0 0 4.2-4.2 0Z",
    "M0-4L4 3.2H-4Z",
    "M0 4L4-3.2H-4Z",
    "M-4-1.3H-1.3V-4H1.3V-1.3H4V1.3H1.3V4H-1.3V1.3H-4Z",
)
DASHES = ("", "6 3", "2 3", "9 3 2 3", "1 4", "12 4")


@dataclass(frozen=True)
class Scale:
    """Maps values from low to high onto pixels from start to end, by their logarithm or linearly."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = True

    def __call__(self, value: float) -> float:
        low, high, at = self.low, self.high, value
        if self.is_log:
            low, high, at = math.log(low), math.log(high), math.log(value)
        return self.start + (at - low) / (high - low) * (self.end - self.start)


def log_scale(values: Sequence[float], start: float, end: float, room: float = 0.06) -> Scale:
    """Give a logarithmic scale that has these positive values with some room around them."""
    low, high = math.log(min(values)), math.log(max(values))
    span = max(high - low, math.log(2))
    middle = (low + high) / 2
    half = span * (0.5 + room)
    return Scale(math.exp(middle - half), math.exp(middle + half), start, end)


def log_ticks(scale: Scale) -> list[float]:
    """Give the round numbers on a logarithmic axis: decades, 1-2-5 where there are few, or even steps."""
    decades = math.log10(scale.high / scale.low)
    if decades < 0.7:
        ticks = even_ticks(scale.low, scale.high)
    else:
        steps = (1, 2, 5) if decades < 2.5 else (1,)
        stride = max(1, math.ceil(decades / 8))
        powers = range(math.floor(math.log10(scale.low)), math.ceil(math.log10(scale.high)) + 1)
        ticks = [step * 10.0**power for power in powers if power % stride == 0 for step in steps]
    return [tick for tick in ticks if scale.low <= tick <= scale.high]


def even_ticks(low: float, high: float) -> list[float]:
    """Give about five round numbers, evenly apart, from the first at or above low on."""
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    return [step * number for number in range(math.ceil(low / step), math.floor(high / step) + 1)]


@dataclass
class Canvas:
    """SVG elements in the order in which they are drawn."""

    width: float = WIDTH
    height: float = HEIGHT
    parts: list[str] = field(default_factory=list)

    def add(self, element: str) -> None:
        self.parts.append(element)

    def line(self, x1: float, y1: float, x2: float, y2: float, name: str) -> None:
        self.add(f'<line class="{name}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>')

    def rect(self, x: float, y: float, width: float, height: float, name: str, more: str = "") -> None:
        self.add(
            f'<rect class="{name}" x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" '
            f'height="{height:.1f}" {more}/>'
        )

    def text(self, x: float, y: float, words: str, name: str = "tick", anchor: str = "middle") -> None:
        self.add(
            f'<text class="{name}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
        )

    def path(self, points: list[tuple[float, float]], name: str, dash: str = "") -> None:
        way = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        self.add(f'<path class="{name}" d="{way}"{_dashed(dash)}/>')

    def marker(self, x: float, y: float, shape: int, tip: str) -> None:
        way = MARKERS[shape % len(MARKERS)]
        self.add(
            f'<path class="marker" transform="translate({x:.1f} {y:.1f})" d="{way}" '
            f'data-tip="{escape(tip)}"/>'
        )

    def render(self, label: str, name: str = "chart") -> str:
        """Give the picture; the label says what it shows to those who do not see it."""
        return (
            f'<svg class="{name}" viewBox="0 0 {self.width:g} {self.height:g}" role="img" '
            f'aria-label="{escape(label)}">{"".join(self.parts)}</svg>'
        )


def _dashed(dash: str) -> str:
    return f' stroke-dasharray="{dash}"' if dash else ""


@dataclass
class Chart:
    """A canvas with two axes; sizes in bytes run along the bottom."""

    x: Scale
    y: Scale
    canvas: Canvas = field(default_factory=Canvas)

    def vertical_axis(self, ticks: list[tuple[float, str]], title: str) -> None:
        for value, words in ticks:
            at = self.y(value)
            self.canvas.line(LEFT, at, WIDTH - RIGHT, at, "grid")
            self.canvas.text(LEFT - 8, at + 4, words, anchor="end")
        middle = (self.y.start + self.y.end) / 2
        self.canvas.add(
            f'<text class="axis" transform="translate(12 {middle:.0f}) rotate(-90)" '
            f'text-anchor="middle">{escape(title)}</text>'
        )

    def horizontal_axis(self, ticks: list[tuple[float, str]], title: str) -> None:
        bottom = max(self.y.start, self.y.end)
        self.canvas.line(LEFT, bottom, WIDTH - RIGHT, bottom, "frame")
        for value, words in ticks:
            at = self.x(value)
            self.canvas.line(at, bottom, at, bottom + 4, "frame")
            self.canvas.text(at, bottom + 17, words)
        self.canvas.text((LEFT + WIDTH - RIGHT) / 2, bottom + 36, title, "axis")


def swatch(shape: int, dash: str = "") -> str:
    """Give the small picture of a curve for its legend."""
    return (
        '<svg class="swatch" viewBox="0 0 30 12" aria-hidden="true">'
        f'<path class="curve" d="M1 6H29"{_dashed(dash)}/>'
        f'<path class="marker" transform="translate(15 6)" d="{MARKERS[shape % len(MARKERS)]}"/></svg>'
    )
