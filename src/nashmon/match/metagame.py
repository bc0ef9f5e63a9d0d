"""What a table of win rates says beyond one number: Nash averaging, alpha-rank, cycles.

`W[i, j]` = P(i beats j), a draw counts ½, `W[j, i] = 1 − W[i, j]`.
"""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import LinearConstraint, linprog, minimize

from nashmon.core.errors import NashmonError

Matrix = NDArray[np.float64]
_TOLERANCE = 1e-9
_MIN_WEIGHT = 1e-6


class PayoffError(NashmonError):
    """A table of win rates that is incomplete or contradicts itself."""


def check_win_rates(win_rates: Matrix) -> None:
    """Raise unless this is a complete table of win rates."""
    if win_rates.ndim != 2 or win_rates.shape[0] != win_rates.shape[1]:
        raise PayoffError(f"win rates must be a square table, got shape {win_rates.shape}")
    bad = ~np.isfinite(win_rates) | (win_rates < 0) | (win_rates > 1)
    if bad.any():
        i, j = np.argwhere(bad)[0]
        raise PayoffError(f"W[{i},{j}] = {win_rates[i, j]}: expected a number between 0 and 1")
    wrong = np.abs(win_rates + win_rates.T - 1.0) > 1e-6
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        raise PayoffError(
            f"W[{i},{j}] = {win_rates[i, j]} and W[{j},{i}] = {win_rates[j, i]} do not sum to 1"
        )


def max_entropy_nash(win_rates: Matrix) -> NDArray[np.float64]:
    """The equilibrium of largest entropy: unique, so equal agents get equal weight.

    All equilibria are the mixtures σ with Wσ ≤ ½; among them −Σ σ log σ is maximised.
    """
    check_win_rates(win_rates)
    size = len(win_rates)
    limit = 0.5 + max(0.0, _exploitability(win_rates, _one_nash(win_rates))) + _TOLERANCE
    # Each agent's largest possible weight; their mean is an equilibrium with full support.
    corners = [_extreme_nash(win_rates, limit, agent) for agent in range(size)]
    start = np.mean(corners, axis=0)
    support = np.flatnonzero(np.max(corners, axis=0) > _MIN_WEIGHT)
    mixture = np.zeros(size)
    if len(support) == 1:
        mixture[support] = 1.0
        return mixture
    solution = minimize(
        lambda x: (float(x @ np.log(x)), np.log(x) + 1.0),
        start[support] / start[support].sum(),
        jac=True,
        method="SLSQP",
        bounds=[(1e-12, 1.0)] * len(support),
        constraints=[
            LinearConstraint(np.ones((1, len(support))), 1.0, 1.0),
            LinearConstraint(win_rates[:, support], -np.inf, limit),
        ],
        options={"ftol": 1e-14, "maxiter": 500},
    )
    mixture[support] = solution.x / solution.x.sum()
    return mixture


def _extreme_nash(win_rates: Matrix, limit: float, agent: int) -> NDArray[np.float64]:
    """An equilibrium in which one agent has as much weight as possible."""
    size = len(win_rates)
    solution = linprog(
        -np.eye(size)[agent],
        A_ub=win_rates,
        b_ub=np.full(size, limit),
        A_eq=np.ones((1, size)),
        b_eq=[1.0],
        bounds=(0, 1),
        method="highs",
    )
    if not solution.success:
        raise PayoffError(f"no equilibrium found: {solution.message}")
    return np.asarray(solution.x, dtype=np.float64)


def _one_nash(win_rates: Matrix) -> NDArray[np.float64]:
    """Some equilibrium: minimise v subject to Wσ ≤ v."""
    size = len(win_rates)
    solution = linprog(
        np.append(np.zeros(size), 1.0),
        A_ub=np.hstack([win_rates, -np.ones((size, 1))]),
        b_ub=np.zeros(size),
        A_eq=np.append(np.ones(size), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, 1)] * size + [(None, None)],
        method="highs",
    )
    return np.asarray(solution.x[:size], dtype=np.float64)


def _exploitability(win_rates: Matrix, mixture: NDArray[np.float64]) -> float:
    return float((win_rates @ mixture).max() - 0.5)


def nash_average(win_rates: Matrix) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(mixture, skill): each agent's win rate against the maximum-entropy equilibrium."""
    mixture = max_entropy_nash(win_rates)
    return mixture, win_rates @ mixture


def alpha_rank(win_rates: Matrix) -> NDArray[np.float64]:
    """Stationary mass of each agent under OpenSpiel's alpha-rank in the infinite-alpha limit."""
    from open_spiel.python.egt import alpharank  # slow import

    check_win_rates(win_rates)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # it overflows in exp for large payoffs, harmlessly
        *_, masses, _, _ = alpharank.compute([win_rates], use_inf_alpha=True, inf_alpha_eps=1e-5)
    return np.asarray(masses, dtype=np.float64).reshape(-1)


def cycles(low: Matrix) -> list[tuple[int, int, int]]:
    """Triples i → j → k → i in which each beats the next for certain.

    `low[i, j]` is the lower end of the interval of W[i, j]; beats means low > ½.
    """
    beats = low > 0.5
    found = []
    for i, j, k in combinations(range(len(low)), 3):
        if beats[i, j] and beats[j, k] and beats[k, i]:
            found.append((i, j, k))
        if beats[i, k] and beats[k, j] and beats[j, i]:
            found.append((i, k, j))
    return found
