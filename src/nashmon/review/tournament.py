"""The report of a tournament: one HTML file."""

from __future__ import annotations

import numpy as np

from nashmon.match.standings import Standing, Standings
from nashmon.match.tournament import TournamentConfig
from nashmon.review.charts import heat_map, interval_chart
from nashmon.review.page import Cell, facts, page, paragraph, section, table


def tournament_page(config: TournamentConfig, result: Standings) -> str:
    """Heat map, ratings, cycles, metrics and settings of a tournament."""
    return page(
        f"Tournament: {len(result.agents)} agents, {config.format_id}",
        _ratings(result),
        _win_rates(result),
        _population(result),
        _cycles(result),
        _metrics(result),
        _settings(config, result),
    )


def _ratings(result: Standings) -> str:
    intervals = [(r.rating.rating, r.rating.low, r.rating.high) for r in result.rows]
    names = [row.agent for row in result.rows]
    rows = [_rating_row(row) for row in result.rows]
    headers = ("agent", "rating", "win rate", "games", "draws", "turn limit", "Glicko-1", "GXE %")
    return section(
        "Ratings",
        paragraph(
            "Bradley–Terry ratings on the Elo scale, mean 0, with 95 % bootstrap intervals; win "
            "rates against all others with 95 % Wilson intervals, a draw counting ½."
        ),
        interval_chart(names, intervals, "rating"),
        table(headers, rows, digits=1),
    )


def _rating_row(row: Standing) -> list[Cell]:
    total = row.total
    low, high = total.interval
    return [
        row.agent,
        (row.rating.rating, row.rating.low, row.rating.high),
        f"{total.win_rate:.1%} [{low:.1%}, {high:.1%}]",
        total.games,
        total.draws,
        total.truncated,
        f"{row.glicko.rating:.0f} ± {row.glicko.deviation:.0f}",
        row.glicko.gxe,
    ]


def _win_rates(result: Standings) -> str:
    rates = result.win_rates.copy()
    np.fill_diagonal(rates, np.nan)
    texts = [[f"{100 * rate:.1f}" for rate in row] for row in result.win_rates]
    high = 1.0 - result.low.T  # W[j, i] = 1 − W[i, j]: one end of an interval is the other's
    rows: list[list[Cell]] = []
    for i, name in enumerate(result.agents):
        cells: list[Cell] = [name]
        for j in range(len(result.agents)):
            cell = (float(result.win_rates[i, j]), float(result.low[i, j]), float(high[i, j]))
            cells.append(None if i == j else cell)
        rows.append(cells)
    return section(
        "Win rates (row against column, %)",
        heat_map(rates, result.agents, result.agents, texts),
        table(("agent", *result.agents), rows),
    )


def _population(result: Standings) -> str:
    rows: list[list[Cell]] = [
        [
            row.agent,
            row.nash_weight,
            (row.nash_skill.rating, row.nash_skill.low, row.nash_skill.high),
            row.alpha_mass,
        ]
        for row in result.rows
    ]
    return section(
        "As a population",
        paragraph(
            "Weight in the equilibrium of largest entropy, win rate against that equilibrium "
            "(bootstrap interval), and alpha-rank mass."
        ),
        table(("agent", "Nash weight", "win rate against Nash", "alpha-rank"), rows),
    )


def _cycles(result: Standings) -> str:
    if not result.cycles:
        return section("Cycles", paragraph("None in which every win is certain at 95 %."))
    return section("Cycles", *(paragraph(" → ".join((*c, c[0]))) for c in result.cycles))


def _metrics(result: Standings) -> str:
    rows: list[list[Cell]] = []
    for row in result.rows:
        metrics, mix = row.metrics, row.metrics.mix
        rows.append(
            [
                row.agent,
                0,  # an illegal choice would have stopped the tournament
                metrics.decisions,
                f"{metrics.decisions_per_second:,.0f}",
                row.total.turns / row.total.games,
                *(f"{mix[kind]:.1%}" for kind in ("move", "switch", "gimmick")),
                metrics.mean_entropy,
            ]
        )
    headers = (
        "agent",
        "illegal choices",
        "decisions",
        "decisions/s",
        "turns per game",
        "moves",
        "switches",
        "gimmicks",
        "entropy (nats)",
    )
    return section("Behaviour", table(headers, rows, digits=2))


def _settings(config: TournamentConfig, result: Standings) -> str:
    values: dict[str, Cell] = {
        "format": config.format_id,
        "teams": config.teams or "shipped set",
        "games per pair": config.games,
        "further games": config.budget,
        "games in all": int(np.triu(result.games, 1).sum()),
        "seed": str(config.seed),
        "turn limit": str(config.turn_limit),
        "pairs": "seats and teams swapped, same dice",
    }
    return section("Settings", facts(values))
