"""Results of matches and intervals for win rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from math import sqrt
from typing import Any

from nashmon.match.metrics import AgentMetrics

Z95 = 1.959963984540054  # two-sided 95 % quantile of the normal distribution
PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)  # of two games with exchanged seats and teams


def wilson(score: float, games: int, z: float = Z95) -> tuple[float, float]:
    """Wilson interval of a win rate; `score` counts a draw as ½."""
    if games <= 0:
        return 0.0, 1.0
    p = score / games
    scale = 1.0 / (1.0 + z * z / games)
    center = scale * (p + z * z / (2 * games))
    spread = scale * z * sqrt(p * (1 - p) / games + z * z / (4 * games * games))
    # The ends are exact at p = 0 and p = 1; rounding must not leave the win rate outside.
    return max(0.0, min(p, center - spread)), min(1.0, max(p, center + spread))


@dataclass(frozen=True, slots=True)
class Record:
    """Result of a match from the first agent's side."""

    wins: int
    draws: int
    losses: int
    truncated: int = 0  # of the draws: ended by the turn limit
    turns: int = 0  # summed over games
    decisions: int = 0  # of both agents
    pairs: tuple[int, ...] = (0,) * len(PAIR_SCORES)  # pairs of games with each of PAIR_SCORES
    metrics: tuple[AgentMetrics, AgentMetrics] = (AgentMetrics(), AgentMetrics())

    @property
    def games(self) -> int:
        """Games played."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Wins plus half the draws."""
        return self.wins + 0.5 * self.draws

    @property
    def win_rate(self) -> float:
        """Score per game, ½ without games."""
        return self.score / self.games if self.games else 0.5

    @property
    def interval(self) -> tuple[float, float]:
        """95 % Wilson interval of the win rate."""
        return wilson(self.score, self.games)

    def __add__(self, other: Record) -> Record:
        return Record(
            self.wins + other.wins,
            self.draws + other.draws,
            self.losses + other.losses,
            self.truncated + other.truncated,
            self.turns + other.turns,
            self.decisions + other.decisions,
            tuple(a + b for a, b in zip(self.pairs, other.pairs, strict=True)),
            (self.metrics[0] + other.metrics[0], self.metrics[1] + other.metrics[1]),
        )

    def flipped(self) -> Record:
        """The same match from the second agent's side."""
        return replace(
            self,
            wins=self.losses,
            losses=self.wins,
            pairs=self.pairs[::-1],
            metrics=(self.metrics[1], self.metrics[0]),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-ready values; `from_dict` restores an equal record."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Record:
        """Rebuild from `to_dict` output or its JSON."""
        first, second = (AgentMetrics(**values) for values in data["metrics"])
        return cls(**{**data, "pairs": tuple(data["pairs"]), "metrics": (first, second)})
