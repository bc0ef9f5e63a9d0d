"""Charts as inline SVG: heat map, lines with interval bands, values with error bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, isfinite, log10

import numpy as np
from numpy.typing import ArrayLike

COLOURS = ("#2f6fde", "#d9541e", "#2a9d6f", "#9a4fc4", "#c79a00", "#c2336b", "#4a8fa8", "#7a6a53")
_LOW, _MIDDLE, _HIGH = (196, 60, 57), (246, 246, 244), (38, 102, 178)


@dataclass(frozen=True, slots=True)
class Series:
    """A line; `low` and `high` draw a band around it."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None

    def __post_init__(self) -> None:
        """Refuse lengths that do not fit."""
        if (self.low is None) != (self.high is None):
            raise ValueError(f"series {self.name!r}: a band needs both low and high")
        for values in (self.y, self.low, self.high):
            if values is not None and len(values) != len(self.x):
                raise ValueError(f"series {self.name!r}: x and y (low, high) differ in length")


@dataclass(frozen=True, slots=True)
class _Scale:
    """Maps values of [low, high] to places on the page."""

    low: float
    high: float
    start: float
    stop: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.stop - self.start)


def heat_map(
    values: ArrayLike,
    rows: Sequence[str],
    columns: Sequence[str],
    texts: Sequence[Sequence[str]] | None = None,
    limits: tuple[float, float] = (0.0, 1.0),
) -> str:
    """A table of coloured cells: red below the middle of `limits`, blue above."""
    table = np.asarray(values, dtype=float)
    if table.shape != (len(rows), len(columns)):
        raise ValueError(f"values {table.shape} do not fit {len(rows)} × {len(columns)} labels")
    left, top, wide, high = 8 + 7 * max(map(len, rows), default=0), 110, 64, 30
    parts = []
    for j, name in enumerate(columns):
        x = left + (j + 0.5) * wide
        parts.append(
            f'<text transform="translate({x:.0f} {top - 8}) rotate(-35)">{_t(name)}</text>'
        )
    for i, name in enumerate(rows):
        y = top + i * high
        parts.append(f'<text x="{left - 8}" y="{y + 20}" text-anchor="end">{_t(name)}</text>')
        for j in range(len(columns)):
            text = texts[i][j] if texts is not None else f"{table[i, j]:.2f}"
            parts.append(_heat_cell(left + j * wide, y, wide, high, table[i, j], limits, text))
    size = left + len(columns) * wide + 60, top + len(rows) * high + 8
    return _svg(*size, parts)


def _heat_cell(
    x: float,
    y: float,
    wide: float,
    high: float,
    value: float,
    limits: tuple[float, float],
    text: str,
) -> str:
    if not isfinite(value):
        return ""
    position = min(1.0, max(0.0, (value - limits[0]) / (limits[1] - limits[0])))
    end = _HIGH if position >= 0.5 else _LOW
    share = abs(position - 0.5) * 2
    red, green, blue = (round(m + share * (e - m)) for m, e in zip(_MIDDLE, end, strict=True))
    ink = "#fff" if share > 0.6 else "#1c2330"
    return (
        f'<rect x="{x}" y="{y}" width="{wide - 1}" height="{high - 1}" '
        f'fill="rgb({red},{green},{blue})"/><text x="{x + wide / 2}" y="{y + 20}" '
        f'text-anchor="middle" style="fill:{ink}">{_t(text)}</text>'
    )


def line_chart(
    series: Sequence[Series], x_label: str = "", y_label: str = "", height: int = 320
) -> str:
    """Lines over a common axis, each with its band; a legend names them."""
    wide, left, top, bottom = 760, 64, 16, 44
    xs = [x for line in series for x in line.x]
    ys = [
        y
        for line in series
        for part in (line.y, line.low, line.high)
        for y in (() if part is None else part)
        if isfinite(y)
    ]
    across = _scale(xs, left, wide - 16)
    up = _scale(ys, height - bottom, top)
    parts = _axes(across, up, x_label, y_label, wide, height)
    for number, line in enumerate(series):
        colour = COLOURS[number % len(COLOURS)]
        parts += _line(line, across, up, colour)
        parts.append(_legend(line.name, number, colour, height))
    rows = ceil(len(series) / 4)
    return _svg(wide, height + 20 * rows, parts)


def _line(line: Series, across: _Scale, up: _Scale, colour: str) -> list[str]:
    points = [(across(x), up(y)) for x, y in zip(line.x, line.y, strict=True) if isfinite(y)]
    parts = []
    if line.low is not None and line.high is not None:
        ends = [(x, a, b) for x, a, b in zip(line.x, line.low, line.high, strict=True)]
        ends = [(x, a, b) for x, a, b in ends if isfinite(a) and isfinite(b)]
        edge = [(across(x), up(b)) for x, _, b in ends]
        edge += [(across(x), up(a)) for x, a, _ in reversed(ends)]
        parts.append(f'<polygon points="{_path(edge)}" fill="{colour}" opacity=".18"/>')
    parts.append(
        f'<polyline points="{_path(points)}" fill="none" stroke="{colour}" stroke-width="2"/>'
    )
    if len(points) == 1:
        x, y = points[0]
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>')
    return parts


def _legend(name: str, number: int, colour: str, height: int) -> str:
    x, y = 64 + 170 * (number % 4), height + 12 + 20 * (number // 4)
    return (
        f'<rect x="{x}" y="{y - 9}" width="12" height="10" fill="{colour}"/>'
        f'<text x="{x + 18}" y="{y}">{_t(name)}</text>'
    )


def interval_chart(
    names: Sequence[str], intervals: Sequence[tuple[float, float, float]], x_label: str = ""
) -> str:
    """One row per name: a dot at the value with a bar from low to high."""
    left, wide, step = 16 + 7 * max(map(len, names), default=0), 760, 26
    height = 16 + step * len(names) + 44
    across = _scale([v for interval in intervals for v in interval], left, wide - 16)
    parts = _axes(across, None, x_label, "", wide, height)
    for number, (name, (value, low, high)) in enumerate(zip(names, intervals, strict=True)):
        y = 24 + step * number
        parts.append(f'<text x="{left - 10}" y="{y + 4}" text-anchor="end">{_t(name)}</text>')
        parts.append(
            f'<line x1="{across(low):.1f}" x2="{across(high):.1f}" y1="{y}" y2="{y}" '
            f'stroke="{COLOURS[0]}" stroke-width="3" opacity=".5"/>'
            f'<circle cx="{across(value):.1f}" cy="{y}" r="5" fill="{COLOURS[0]}"/>'
        )
    return _svg(wide, height, parts)


def _axes(
    across: _Scale, up: _Scale | None, x_label: str, y_label: str, wide: int, height: int
) -> list[str]:
    base = height - 44
    parts = []
    for tick in ticks(across.low, across.high):
        x = across(tick)
        parts.append(
            f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="12" y2="{base}"/>'
            f'<text class="soft" x="{x:.1f}" y="{base + 16}" text-anchor="middle">{tick:g}</text>'
        )
    for tick in ticks(up.low, up.high) if up is not None else ():
        assert up is not None
        y = up(tick)
        parts.append(
            f'<line class="axis" x1="{across.start:.0f}" x2="{wide - 16}" y1="{y:.1f}" '
            f'y2="{y:.1f}"/><text class="soft" x="{across.start - 8:.0f}" y="{y + 4:.1f}" '
            f'text-anchor="end">{tick:g}</text>'
        )
    middle = (across.start + across.stop) / 2
    parts.append(
        f'<text class="soft" x="{middle:.0f}" y="{base + 34}" text-anchor="middle">'
        f"{_t(x_label)}</text>"
    )
    if y_label:
        parts.append(
            f'<text class="soft" transform="translate(14 {height / 2:.0f}) rotate(-90)" '
            f'text-anchor="middle">{_t(y_label)}</text>'
        )
    return parts


def _scale(values: Sequence[float], start: float, stop: float) -> _Scale:
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    margin = 0.03 * (high - low)
    return _Scale(low - margin, high + margin, start, stop)


def ticks(low: float, high: float, count: int = 6) -> list[float]:
    """Round numbers within [low, high], about `count` of them."""
    raw = (high - low) / count
    power = 10.0 ** floor(log10(raw))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw)
    return [round(k * step, 12) for k in range(ceil(low / step), floor(high / step) + 1)]


def _path(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _svg(wide: float, height: float, parts: Sequence[str]) -> str:
    return (
        f'<div class="wide"><svg role="img" viewBox="0 0 {wide:.0f} {height:.0f}" '
        f'width="{wide:.0f}">' + "".join(parts) + "</svg></div>"
    )


def _t(text: str) -> str:
    return escape(text)
