"""The report of a training run: what it learned, how fast, and with which settings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from nashmon.review.charts import Series, line_chart
from nashmon.review.page import Cell, facts, page, paragraph, section, table
from nashmon.train.run import CONFIG, EVALUATIONS, METRICS, read_rows

Rows = list[dict[str, Any]]

CURVES = (
    ("Entropy", ("entropy", "Policy Entropy")),
    ("KL", ("approx_kl", "magnet_kl", "KL Divergence", "portfolio_kl", "reg_kl")),
    ("Losses", ("policy_loss", "value_loss")),
    ("Damping", ("Damping/KL Coefficient", "Damping/Entropy Coefficient")),
    ("Length of battles (turns)", ("battle_turns",)),
    ("Decisions per second", ("decisions_per_second",)),
)
POINTS = 300  # of a curve; more would only make the page larger


def training_page(path: Path) -> str:
    """The page of a run directory."""
    metrics, evaluations = read_rows(path / METRICS), read_rows(path / EVALUATIONS)
    settings = (path / CONFIG).read_text(encoding="utf-8")
    parts = [_summary(metrics), _strength(evaluations)]
    parts += [_curves(title, names, metrics) for title, names in CURVES]
    parts.append(_pool(metrics))
    parts.append(section("Settings", f"<pre>{_escape(settings)}</pre>"))
    title = f"Training run {path.name} ({yaml.safe_load(settings)['format']})"
    return page(title, *filter(None, parts))


def _summary(metrics: Rows) -> str:
    if not metrics:
        return section("Summary", paragraph("No update was made."))
    last = metrics[-1]
    speed = last["decisions"] / max(last["seconds"], 1e-9)
    return section(
        "Summary",
        facts(
            {
                "updates": int(last["update"]),
                "decisions": f"{int(last['decisions']):,}",
                "battles": f"{int(last['battles']):,}",
                "training time": f"{last['seconds'] / 60:.1f} min",
                "decisions per second": f"{speed:,.0f}",
            }
        ),
    )


def _strength(rows: Rows) -> str:
    if not rows:
        return ""
    names = list(dict.fromkeys(row["opponent"] for row in rows))
    series, final = [], []
    for name in names:
        own = [row for row in rows if row["opponent"] == name]
        minutes = [row["seconds"] / 60 for row in own]
        columns = [[row[key] for row in own] for key in ("win_rate", "low", "high")]
        series.append(Series(name, minutes, *columns))
        best = own[-1]
        cells: list[Cell] = [name, (best["win_rate"], best["low"], best["high"]), best["games"]]
        final.append(cells)
    return section(
        "Strength on held-out teams",
        paragraph(
            "Win rates with 95 % intervals; games in pairs with seats and teams swapped, on teams "
            "that training never saw."
        ),
        line_chart(series, "minutes of training", "win rate"),
        table(("opponent", "last win rate", "games"), final),
    )


def _curves(title: str, names: Sequence[str], metrics: Rows) -> str:
    lines = []
    for name in names:
        rows = thin([row for row in metrics if name in row])
        if rows:
            x = [row["seconds"] / 60 for row in rows]
            lines.append(Series(name, x, [row[name] for row in rows]))
    return section(title, line_chart(lines, "minutes of training")) if lines else ""


def _pool(metrics: Rows) -> str:
    names = {key for row in metrics for key in row if key.startswith("rollout/win_rate/")}
    if not names:
        return ""
    return _curves("Win rates in training", sorted(names), metrics)


def thin(rows: Rows) -> Rows:
    """Every n-th row, the last one included."""
    step = max(1, len(rows) // POINTS)
    return rows[::-1][::step][::-1]


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
