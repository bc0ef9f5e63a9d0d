"""Equilibria of a table of win rates: the solvers behind PSRO, and what they leave to gain.

`W[i, j]` = P(i beats j), a draw counts ½, `W[j, i] = 1 − W[i, j]`.  A solver maps W to a mixture σ
over the agents.  Inside the table, σ can be exploited by  e(σ) = max_i (Wσ)_i − ½ ≥ 0,  which is 0
for every equilibrium of the table: it says how well a solver solved, never how strong σ is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from nashmon.core.errors import NashmonError
from nashmon.match.metagame import (
    Matrix,
    PayoffError,
    alpha_rank,
    check_win_rates,
    max_entropy_nash,
)

Mixture = NDArray[np.float64]
Solver = Callable[[Matrix], Mixture]

_TOLERANCE = 1e-6
_CLEAN = 1e-12  # weights below this are rounding errors of the linear program


class SolverError(NashmonError):
    """A solver that does not exist, or a mixture that is none."""


def check_mixture(mixture: Mixture, size: int) -> None:
    """Raise unless this is a probability over `size` agents."""
    if mixture.shape != (size,):
        raise SolverError(f"a mixture over {size} agents needs {size} numbers, got {mixture.shape}")
    if not np.isfinite(mixture).all() or (mixture < -_TOLERANCE).any():
        raise SolverError(f"a mixture has probabilities of 0 or more, got {mixture.tolist()}")
    if abs(mixture.sum() - 1.0) > _TOLERANCE:
        raise SolverError(f"probabilities of a mixture sum to {mixture.sum():.9g}, expected 1")


def exploitability(win_rates: Matrix, mixture: Mixture) -> float:
    """e(σ) = max_i (Wσ)_i − ½: what the best agent of the table wins beyond ½ against σ."""
    check_win_rates(win_rates)
    check_mixture(mixture, len(win_rates))
    return max(0.0, float((win_rates @ mixture).max()) - 0.5)


def nash_conv(win_rates: Matrix, mixture: Mixture) -> float:
    """What both players together could gain by deviating from (σ, σ): 2 e(σ)."""
    return 2.0 * exploitability(win_rates, mixture)


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """A solved zero-sum game: columns hold rows to `value`, rows get at least `value`."""

    columns: Mixture
    rows: Mixture
    value: float


def minimax(payoffs: Matrix) -> Solution:
    """Optimal mixtures of a game whose rows want large numbers, by linear programming (HiGHS)."""
    if payoffs.ndim != 2 or 0 in payoffs.shape or not np.isfinite(payoffs).all():
        raise PayoffError(f"expected a table of finite numbers, got shape {payoffs.shape}")
    rows, columns = payoffs.shape
    solution = linprog(
        np.append(np.zeros(columns), 1.0),
        A_ub=np.hstack([payoffs, -np.ones((rows, 1))]),
        b_ub=np.zeros(rows),
        A_eq=np.append(np.ones(columns), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * columns + [(None, None)],
        method="highs",
    )
    if not solution.success:
        raise PayoffError(f"no equilibrium found: {solution.message}")
    mixture = _cleaned(solution.x[:columns])
    # The rows' mixture is what relaxing each row's constraint would be worth.
    return Solution(
        mixture, _cleaned(-solution.ineqlin.marginals), float((payoffs @ mixture).max())
    )


def _cleaned(weights: NDArray[np.float64]) -> Mixture:
    kept = np.where(weights < _CLEAN, 0.0, weights)
    mixture: Mixture = kept / kept.sum()
    return mixture


def nash(win_rates: Matrix) -> Mixture:
    """An equilibrium by linear programming (HiGHS); one of them where there are several."""
    check_win_rates(win_rates)
    return minimax(win_rates).columns


def uniform(win_rates: Matrix) -> Mixture:
    """The same weight for everyone (fictitious play over the population)."""
    check_win_rates(win_rates)
    return np.full(len(win_rates), 1.0 / len(win_rates))


def regret_matching(win_rates: Matrix, steps: int = 5_000) -> Mixture:
    """Regret matching⁺ against itself; the mean over time, later steps counting more."""
    check_win_rates(win_rates)
    size = len(win_rates)
    gains = win_rates - 0.5
    regrets, total = np.zeros(size), np.zeros(size)
    mixture = np.full(size, 1.0 / size)
    for step in range(1, steps + 1):
        total += step * mixture
        # The value of a symmetric game against oneself is 0: gains are the regrets.
        regrets = np.maximum(regrets + gains @ mixture, 0.0)
        weight = regrets.sum()
        if weight <= 0.0:
            return mixture  # nobody regrets anything: an exact equilibrium
        mixture = regrets / weight
    mean: Mixture = total / total.sum()
    return mean


def projected_replicator(
    win_rates: Matrix, steps: int = 5_000, rate: float = 0.5, floor: float = 1e-8
) -> Mixture:
    """Replicator dynamics kept away from the borders; the mean over the second half of the time."""
    check_win_rates(win_rates)
    size = len(win_rates)
    gains = win_rates - 0.5
    mixture, total = np.full(size, 1.0 / size), np.zeros(size)
    before = gains @ mixture
    for step in range(steps):
        # Multiplicative, so it stays a mixture; 2 g_t − g_{t−1} foresees the turn of a cycle, which
        # larger steps would otherwise leave.
        now = gains @ mixture
        grown = mixture * np.exp(rate * (2.0 * now - before))
        before = now
        mixture = np.maximum(grown / grown.sum(), floor)
        mixture /= mixture.sum()
        if step >= steps // 2:
            total += mixture
    mean: Mixture = total / total.sum()
    return mean


def prioritised(win_rates: Sequence[float] | Mixture, power: float = 2.0) -> Mixture:
    """Prioritised fictitious self-play: weight (1 − p)^power for an opponent one beats with p."""
    rates = np.asarray(win_rates, dtype=np.float64)
    if power < 0 or not len(rates) or not ((rates >= 0) & (rates <= 1)).all():
        raise SolverError(f"need win rates in [0, 1] and power ≥ 0, got {rates}, {power}")
    weights = (1.0 - rates) ** power
    if weights.sum() <= 0:  # everybody is beaten always: nobody stands out
        return np.full(len(rates), 1.0 / len(rates))
    weights /= weights.sum()
    return weights


def prioritised_by_newest(win_rates: Matrix) -> Mixture:
    """`prioritised` from the side of the newest agent of the table."""
    check_win_rates(win_rates)
    return prioritised(win_rates[-1])


# A new solver is one line here.
SOLVERS: dict[str, Solver] = {
    "nash": max_entropy_nash,
    "lp": nash,
    "regret": regret_matching,
    "replicator": projected_replicator,
    "alpharank": alpha_rank,
    "uniform": uniform,
    "pfsp": prioritised_by_newest,
}


def solver(name: str) -> Solver:
    """The solver of a name."""
    if name not in SOLVERS:
        raise SolverError(f"unknown solver {name!r}; known: {', '.join(SOLVERS)}")
    return SOLVERS[name]
