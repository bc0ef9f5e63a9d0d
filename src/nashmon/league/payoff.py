"""The payoff table of a population: wins, draws and games of every pair, and what they leave open.

Counts are the truth; rates, intervals and posterior draws are computed from them.  A rate p has
the posterior of Jeffreys' prior: Beta(wins + ½, losses + ½), a draw counting ½ for each side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from nashmon.match.metagame import Matrix, PayoffError
from nashmon.match.statistics import Record

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class PayoffTable:
    """Results between all pairs of some agents."""

    agents: tuple[str, ...]
    wins: Counts  # [i, j]: games i won against j
    draws: Counts  # symmetric
    games: Counts  # symmetric

    def __post_init__(self) -> None:
        """Refuse counts that contradict each other."""
        size = len(self.agents)
        if len(set(self.agents)) < size:
            raise PayoffError(f"an agent is named twice: {', '.join(self.agents)}")
        for name in ("wins", "draws", "games"):
            counts = getattr(self, name)
            if counts.shape != (size, size):
                raise PayoffError(f"{name} has shape {counts.shape}, expected {(size, size)}")
            if (counts < 0).any() or np.diag(counts).any():
                raise PayoffError(f"{name} must be 0 on the diagonal and nowhere negative")
        for i, j in combinations(range(size), 2):
            self._check_cell(i, j)

    def _check_cell(self, i: int, j: int) -> None:
        pair = f"{self.agents[i]} – {self.agents[j]}"
        for name in ("draws", "games"):
            here, there = getattr(self, name)[i, j], getattr(self, name)[j, i]
            if here != there:
                raise PayoffError(f"{pair}: {name} differ by side, {here} and {there}")
        total = self.wins[i, j] + self.wins[j, i] + self.draws[i, j]
        if total != self.games[i, j]:
            raise PayoffError(f"{pair}: wins and draws sum to {total} of {self.games[i, j]} games")

    @classmethod
    def empty(cls, agents: Sequence[str]) -> PayoffTable:
        """Nothing played yet."""
        zeros = np.zeros((len(agents),) * 2, dtype=np.int64)
        return cls(tuple(agents), zeros, zeros.copy(), zeros.copy())

    @classmethod
    def of_records(
        cls, agents: Sequence[str], records: Mapping[tuple[int, int], Record]
    ) -> PayoffTable:
        """From records by place; one side of each pair is enough."""
        table = cls.empty(agents)
        for (i, j), record in records.items():
            table.wins[i, j], table.wins[j, i] = record.wins, record.losses
            table.draws[i, j] = table.draws[j, i] = record.draws
            table.games[i, j] = table.games[j, i] = record.games
        return cls(table.agents, table.wins, table.draws, table.games)

    @property
    def missing(self) -> list[tuple[int, int]]:
        """Pairs that never played."""
        return [(i, j) for i, j in combinations(range(len(self.agents)), 2) if not self.games[i, j]]

    @property
    def scores(self) -> Matrix:
        """[i, j]: wins of i plus half the draws."""
        return self.wins + 0.5 * self.draws

    @property
    def win_rates(self) -> Matrix:
        """W, ½ on the diagonal; a pair that never played is an error."""
        self._complete()
        rates: Matrix = np.where(self.games > 0, self.scores / np.maximum(self.games, 1), 0.5)
        return rates

    def _complete(self) -> None:
        if self.missing:
            i, j = self.missing[0]
            raise PayoffError(
                f"{self.agents[i]} – {self.agents[j]} was never played "
                f"({len(self.missing)} of {len(self.agents) * (len(self.agents) - 1) // 2} pairs)"
            )

    @property
    def deviation(self) -> Matrix:
        """Standard deviation of each rate's posterior; 0 on the diagonal."""
        a = self.scores + 0.5
        b = self.games - self.scores + 0.5
        spread: Matrix = np.sqrt(a * b / ((a + b) ** 2 * (a + b + 1)))
        np.fill_diagonal(spread, 0.0)
        return spread

    def interval(self, level: float = 0.95) -> tuple[Matrix, Matrix]:
        """Equal-tailed intervals (low, high) of all rates."""
        a, b = self.scores + 0.5, self.games - self.scores + 0.5
        tail = (1.0 - level) / 2
        ends = [np.asarray(betaincinv(a, b, q), dtype=np.float64) for q in (tail, 1.0 - tail)]
        for end in ends:
            np.fill_diagonal(end, 0.5)
        return ends[0], ends[1]

    def draw(self, rng: np.random.Generator) -> Matrix:
        """A table of win rates drawn from the posterior."""
        upper = np.triu(rng.beta(self.scores + 0.5, self.games - self.scores + 0.5), 1)
        lower = np.tril(1.0 - upper.T, -1)
        rates: Matrix = upper + lower + 0.5 * np.eye(len(self.agents))
        return rates

    def restricted(self, agents: Sequence[str]) -> PayoffTable:
        """The table of some of the agents, in the order given."""
        unknown = [name for name in agents if name not in self.agents]
        if unknown:
            raise PayoffError(f"no agent {unknown[0]!r} in the table of {', '.join(self.agents)}")
        at = np.ix_(*[[self.agents.index(name) for name in agents]] * 2)
        return PayoffTable(tuple(agents), self.wins[at], self.draws[at], self.games[at])

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "agents": list(self.agents),
            "wins": self.wins.tolist(),
            "draws": self.draws.tolist(),
            "games": self.games.tolist(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PayoffTable:
        """Rebuild from `to_dict`."""
        try:
            counts = [np.array(data[name], dtype=np.int64) for name in ("wins", "draws", "games")]
            return cls(tuple(map(str, data["agents"])), *counts)
        except (KeyError, TypeError, ValueError) as error:
            raise PayoffError(f"not a payoff table: {error!r}") from error


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """Win rates between some agents; `table` holds the counts when they were measured."""

    agents: tuple[str, ...]
    win_rates: Matrix
    table: PayoffTable | None = None

    @classmethod
    def of(cls, table: PayoffTable) -> Rates:
        """The rates of counts."""
        return cls(table.agents, table.win_rates, table)


def allocate_games(
    table: PayoffTable, games: int, target: float = 0.0, budget: int = 0, batch: int = 100
) -> dict[tuple[int, int], int]:
    """How many games each pair should have in all.

    Every pair gets `games`.  Then up to `budget` further games go, batch by batch, to the pair with
    the widest posterior, as long as its standard deviation is above `target`.
    """
    if games < 2 or games % 2 or batch < 2 or batch % 2 or budget < 0:
        raise PayoffError(
            f"games and batch must be even and ≥ 2, budget ≥ 0: {games}, {batch}, {budget}"
        )
    pairs = list(combinations(range(len(table.agents)), 2))
    wanted = {pair: max(games, int(table.games[pair])) for pair in pairs}
    rates = {pair: (table.scores[pair] + 0.5) / (table.games[pair] + 1.0) for pair in pairs}

    def deviation(pair: tuple[int, int]) -> float:
        return float(np.sqrt(rates[pair] * (1.0 - rates[pair]) / (wanted[pair] + 2.0)))

    for _ in range(budget // batch if pairs else 0):
        widest = max(pairs, key=deviation)
        if deviation(widest) <= target:
            break
        wanted[widest] += batch
    return wanted
