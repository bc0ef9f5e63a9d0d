"""What a table of win rates says: equilibrium, how sure it is, support, dominance, cycles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from nashmon.league.nash import Mixture, Solver, exploitability
from nashmon.league.payoff import PayoffTable
from nashmon.match.metagame import Matrix, check_win_rates, cycles, max_entropy_nash

SUPPORT = 1e-4  # weight from which an agent counts as part of a mixture
_STRICT = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """95 % intervals over tables drawn from the counts' posterior."""

    low: Mixture  # of each agent's weight
    high: Mixture
    exploitability: tuple[float, float]  # e(σ) of the point mixture in the drawn tables


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """One table, solved."""

    agents: tuple[str, ...]
    mixture: Mixture
    exploitability: float  # e(σ) inside the table
    skill: Mixture  # win rate of each agent against σ (Nash averaging)
    support: tuple[int, ...]
    dominated: tuple[int, ...]  # some mixture of the others does better against everyone
    cycles: tuple[tuple[int, int, int], ...]  # each beats the next, for certain when counts exist
    effective_size: float  # exp(entropy of σ): how many agents matter
    diversity: float  # σᵀ max(W − ½, 0) σ: how non-transitive the support is
    intervals: Intervals | None = None  # when the table has counts

    @property
    def nash_conv(self) -> float:
        """2 e(σ)."""
        return 2.0 * self.exploitability


def analyse(
    agents: tuple[str, ...],
    win_rates: Matrix,
    solve: Solver = max_entropy_nash,
    table: PayoffTable | None = None,
    samples: int = 100,
    seed: int = 1,
) -> Analysis:
    """Solve a table and describe the answer; `table` holds the counts behind the rates, if any."""
    check_win_rates(win_rates)
    mixture = solve(win_rates)
    low = win_rates if table is None else table.interval()[0]
    bounds = None if table is None else intervals(table, solve, mixture, samples, seed)
    weights = mixture[mixture > 0]
    return Analysis(
        agents,
        mixture,
        exploitability(win_rates, mixture),
        win_rates @ mixture,
        tuple(np.flatnonzero(mixture > SUPPORT).tolist()),
        tuple(i for i in range(len(agents)) if is_dominated(win_rates, i)),
        tuple(cycles(low)),
        float(np.exp(-(weights * np.log(weights)).sum())),
        float(mixture @ np.maximum(win_rates - 0.5, 0.0) @ mixture),
        bounds,
    )


def intervals(
    table: PayoffTable, solve: Solver, mixture: Mixture, samples: int, seed: int
) -> Intervals:
    """How much the answer depends on the luck of the games."""
    rng = np.random.default_rng(seed)
    drawn = [table.draw(rng) for _ in range(samples)]
    mixtures = np.array([solve(rates) for rates in drawn])
    gains = [exploitability(rates, mixture) for rates in drawn]
    low, high = np.percentile(mixtures, [2.5, 97.5], axis=0)
    ends = np.percentile(gains, [2.5, 97.5])
    return Intervals(
        np.minimum(low, mixture), np.maximum(high, mixture), (float(ends[0]), float(ends[1]))
    )


def is_dominated(win_rates: Matrix, agent: int) -> bool:
    """Whether a mixture of the others does strictly better against every agent of the table."""
    others = np.delete(win_rates, agent, axis=0)
    if not len(others):
        return False
    # Maximise ε subject to  Σ_k τ_k W[k, j] ≥ W[agent, j] + ε  for all j.
    size = len(others)
    solution = linprog(
        np.append(np.zeros(size), -1.0),
        A_ub=np.hstack([-others.T, np.ones((win_rates.shape[1], 1))]),
        b_ub=-win_rates[agent],
        A_eq=np.append(np.ones(size), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * size + [(None, None)],
        method="highs",
    )
    return bool(-solution.fun > _STRICT)
