"""Ratings from a table of results: Bradley–Terry with bootstrap intervals, Glicko-1 and GXE."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nashmon.core.errors import NashmonError

Scores = NDArray[np.float64]  # [i, j]: wins of i over j plus half the draws
Games = NDArray[np.int64]  # [i, j]: games between i and j, symmetric

ELO = 400.0 / log(10.0)  # rating points per unit of log-odds
_PRIOR_GAMES = 0.1  # draws against a ghost of mean strength: keeps undefeated agents finite
_MAX_STEPS = 100


class ResultError(NashmonError):
    """A table of results that contradicts itself."""


def check_results(scores: NDArray[Any], games: NDArray[Any]) -> None:
    """Raise unless scores and games describe one set of matches."""
    size = len(games)
    if scores.shape != (size, size) or games.shape != (size, size):
        raise ResultError(f"scores {scores.shape} and games {games.shape} must be square and equal")
    if not np.array_equal(games, games.T):
        i, j = np.argwhere(games != games.T)[0]
        raise ResultError(f"games[{i},{j}] = {games[i, j]} but games[{j},{i}] = {games[j, i]}")
    if not np.allclose(scores + scores.T, games):
        i, j = np.argwhere(~np.isclose(scores + scores.T, games))[0]
        total = scores[i, j] + scores[j, i]
        raise ResultError(f"scores of {i} and {j} sum to {total}, but they played {games[i, j]}")


def bradley_terry(scores: Scores, games: Games) -> NDArray[np.float64]:
    """Maximum-likelihood ratings on the Elo scale, mean 0.

    P(i beats j) = 1 / (1 + 10^((rj − ri) / 400)).
    """
    check_results(scores, games)
    ratings: NDArray[np.float64] = _fit(scores[None], games)[0]
    return ratings


def _fit(scores: Scores, games: Games) -> NDArray[np.float64]:
    """Newton's method for many score tables (samples, n, n) over the same games at once."""
    strength = np.zeros(scores.shape[:2])
    diagonal = np.arange(scores.shape[1])
    for _ in range(_MAX_STEPS):
        expected = _logistic(strength[:, :, None] - strength[:, None, :])
        ghost = _logistic(strength)
        gradient = (games * expected - scores).sum(axis=2) + _PRIOR_GAMES * (ghost - 0.5)
        weight = games * expected * (1.0 - expected)
        hessian = -weight
        hessian[:, diagonal, diagonal] += weight.sum(axis=2) + _PRIOR_GAMES * ghost * (1.0 - ghost)
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        strength -= np.clip(step, -1.0, 1.0)  # a full step overshoots when an agent always wins
        if np.abs(step).max() < 1e-9:
            break
    ratings: NDArray[np.float64] = ELO * (strength - strength.mean(axis=1, keepdims=True))
    return ratings


def _logistic(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1.0 / (1.0 + np.exp(-x))


@dataclass(frozen=True, slots=True)
class Rating:
    """One agent's rating with its 95 % interval."""

    rating: float
    low: float
    high: float


def rate(scores: Scores, games: Games, seed: int, samples: int = 500) -> list[Rating]:
    """Bradley–Terry ratings with percentile-bootstrap intervals (games of each cell resampled)."""
    point = bradley_terry(scores, games)
    rng = np.random.default_rng(seed)
    upper = np.triu(np.ones_like(games, dtype=bool), 1) & (games > 0)
    rates = np.where(upper, scores / np.maximum(games, 1), 0.0)
    won = np.where(upper, rng.binomial(games, rates, size=(samples, *games.shape)), 0)
    lost = np.where(upper, games - won, 0).transpose(0, 2, 1)
    draws = _fit((won + lost).astype(np.float64), games)
    low, high = np.percentile(draws, [2.5, 97.5], axis=0)
    return [
        Rating(float(p), float(min(lo, p)), float(max(hi, p)))
        for p, lo, hi in zip(point, low, high, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Glicko:
    """A Glicko-1 rating as Showdown's ladder keeps it."""

    rating: float = 1500.0
    deviation: float = 130.0

    @property
    def gxe(self) -> float:
        """Expected percentage of wins against a random ladder player."""
        return gxe(self.rating, self.deviation)


_Q = log(10.0) / 400.0
_MIN_DEVIATION, _MAX_DEVIATION = 25.0, 130.0  # Showdown's floor and its starting value


def gxe(rating: float, deviation: float) -> float:
    """GLIXARE: the chance to beat a player rated 1500 ± 130, in percent."""
    spread = sqrt(3 * log(10) ** 2 * deviation**2 + 2500 * (64 * pi**2 + 147 * log(10) ** 2))
    return 100.0 / (1.0 + exp(log(10.0) * (1500.0 - rating) * pi / spread))


def glicko_update(player: Glicko, results: list[tuple[Glicko, float]]) -> Glicko:
    """One rating period: (opponent before the period, score 0, ½ or 1) for each game."""
    information = gain = 0.0
    for opponent, score in results:
        g = 1.0 / sqrt(1.0 + 3.0 * _Q**2 * opponent.deviation**2 / pi**2)
        expected = 1.0 / (1.0 + 10.0 ** (-g * (player.rating - opponent.rating) / 400.0))
        information += _Q**2 * g**2 * expected * (1.0 - expected)
        gain += g * (score - expected)
    precision = 1.0 / player.deviation**2 + information
    deviation = min(_MAX_DEVIATION, max(_MIN_DEVIATION, sqrt(1.0 / precision)))
    return Glicko(player.rating + _Q / precision * gain, deviation)
