"""What the results of a tournament say about each agent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nashmon.match.metagame import alpha_rank, cycles, nash_average
from nashmon.match.metrics import AgentMetrics
from nashmon.match.ratings import Games, Glicko, Rating, Scores, glicko_update, rate
from nashmon.match.statistics import Record, wilson
from nashmon.match.tournament import Results

_PERIODS = 20  # rating periods the games are spread over, so that Glicko settles


@dataclass(frozen=True, slots=True)
class Standing:
    """One agent's place in a tournament."""

    agent: str
    rating: Rating
    glicko: Glicko
    total: Record  # against all others
    nash_weight: float  # in the equilibrium of largest entropy
    nash_skill: Rating  # win rate against that equilibrium
    alpha_mass: float
    metrics: AgentMetrics


@dataclass(frozen=True, slots=True)
class Standings:
    """A tournament, best rating first."""

    agents: tuple[str, ...]  # in the order of `rows`, as all tables here
    rows: tuple[Standing, ...]
    win_rates: NDArray[np.float64]
    low: NDArray[np.float64]  # lower ends of the 95 % intervals of `win_rates`
    games: Games
    cycles: tuple[tuple[str, str, str], ...]  # each beats the next for certain


def standings(results: Results, seed: int = 1, samples: int = 500) -> Standings:
    """Ratings, equilibrium, alpha-rank and cycles of a complete tournament."""
    scores, games = results.scores, results.games
    ratings = rate(scores, games, seed, samples)
    win_rates = win_rate_table(scores, games)
    weights, _ = nash_average(win_rates)
    skills = nash_skills(scores, games, seed, samples // 5)
    masses = alpha_rank(win_rates)
    glickos = glicko_table(scores, games)
    order = sorted(range(len(ratings)), key=lambda i: -ratings[i].rating)
    rows = []
    for i in order:
        total = sum((r for (a, _), r in results.records.items() if a == i), Record(0, 0, 0))
        rows.append(
            Standing(
                results.agents[i],
                ratings[i],
                glickos[i],
                total,
                float(weights[i]),
                skills[i],
                float(masses[i]),
                total.metrics[0],
            )
        )
    table = np.ix_(order, order)
    low = lower_ends(scores, games)[table]
    names = tuple(row.agent for row in rows)
    found = tuple((names[i], names[j], names[k]) for i, j, k in cycles(low))
    return Standings(names, tuple(rows), win_rates[table], low, games[table], found)


def win_rate_table(scores: Scores, games: Games) -> NDArray[np.float64]:
    """W[i, j]; ½ on the diagonal."""
    rates: NDArray[np.float64] = np.where(games > 0, scores / np.maximum(games, 1), 0.5)
    return rates


def lower_ends(scores: Scores, games: Games) -> NDArray[np.float64]:
    """Lower ends of the Wilson intervals of W; ½ on the diagonal."""
    low = np.full(games.shape, 0.5)
    for i, j in np.argwhere(games > 0):
        low[i, j] = wilson(float(scores[i, j]), int(games[i, j]))[0]
    return low


def nash_skills(scores: Scores, games: Games, seed: int, samples: int) -> list[Rating]:
    """Win rate of each agent against the equilibrium, with a percentile-bootstrap interval."""
    _, point = nash_average(win_rate_table(scores, games))
    rng = np.random.default_rng(seed)
    rates = win_rate_table(scores, games)
    upper = np.triu(games, 1)
    drawn = []
    for _ in range(samples):
        won = rng.binomial(upper, rates)
        resampled = np.where(upper > 0, won, 0) + np.where(upper > 0, upper - won, 0).T
        drawn.append(nash_average(win_rate_table(resampled.astype(np.float64), games))[1])
    low, high = np.percentile(drawn, [2.5, 97.5], axis=0)
    return [
        Rating(float(p), float(min(lo, p)), float(max(hi, p)))
        for p, lo, hi in zip(point, low, high, strict=True)
    ]


def glicko_table(scores: Scores, games: Games) -> list[Glicko]:
    """Glicko-1 after the games were spread evenly over rating periods."""
    players = [Glicko() for _ in games]
    rates = win_rate_table(scores, games)
    for period in range(_PERIODS):
        # Differences of rounded sums: every game falls into exactly one period.
        counts = games * (period + 1) // _PERIODS - games * period // _PERIODS
        players = [
            glicko_update(
                player,
                [
                    (players[j], float(rates[i, j]))
                    for j in range(len(players))
                    for _ in range(int(counts[i, j]))
                ],
            )
            for i, player in enumerate(players)
        ]
    return players
