"""The report of iterated self-play: presets side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nashmon.review.charts import Series, heat_map, line_chart
from nashmon.review.page import Cell, page, paragraph, section, table

Runs = Mapping[str, list[dict[str, Any]]]  # preset_seed → iterations


def selfplay_page(runs: Runs, diversities: Mapping[str, list[list[float]]]) -> str:
    """Win rates, strength against the iteration before, entropy, KL and diversity."""
    opponents = list(next(iter(runs.values()))[0]["win_rates"])
    parts = [
        section(
            f"Win rate against {name}",
            line_chart([_rate(run, rows, name) for run, rows in runs.items()], "iteration"),
        )
        for name in opponents
    ]
    parts.append(
        section(
            "Against the iteration before",
            paragraph("Above ½: the iteration gained strength against its predecessor."),
            line_chart([_previous(run, rows) for run, rows in runs.items()], "iteration"),
        )
    )
    for title, key in (("Entropy", "entropy"), ("KL to the start of the iteration", "kl")):
        lines = [
            Series(run, [r["number"] for r in rows], [r[key] for r in rows])
            for run, rows in runs.items()
        ]
        parts.append(section(title, line_chart(lines, "iteration")))
    for run, values in diversities.items():
        labels = [str(i + 1) for i in range(len(values))]
        top = max(max(row) for row in values) or 1.0
        texts = [[f"{v:.2f}" for v in row] for row in values]
        parts.append(
            section(
                f"KL between iterations: {run}",
                heat_map(values, labels, labels, texts, (0.0, top)),
            )
        )
    parts.append(_last(runs, opponents))
    return page("Iterated self-play", *parts)


def _rate(run: str, rows: list[dict[str, Any]], opponent: str) -> Series:
    rates = [row["win_rates"][opponent] for row in rows]
    columns = [list(column) for column in zip(*rates, strict=True)]
    return Series(run, [row["number"] for row in rows], *columns)


def _previous(run: str, rows: list[dict[str, Any]]) -> Series:
    later = [row for row in rows if row["previous"]]
    columns = [list(c) for c in zip(*(r["previous"] for r in later), strict=True)] or [[], [], []]
    return Series(run, [row["number"] for row in later], *columns)


def _last(runs: Runs, opponents: list[str]) -> str:
    rows: list[list[Cell]] = []
    for run, iterations in runs.items():
        last = iterations[-1]
        rates: list[Cell] = [tuple(last["win_rates"][name]) for name in opponents]
        cells: list[Cell] = [run, last["decisions"], last["entropy"]]
        rows.append([*cells, *rates])
    return section("Last iteration", table(("run", "decisions", "entropy", *opponents), rows))
