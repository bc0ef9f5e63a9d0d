"""Which teams and which dice each battle of a block gets.

Battle number e of row n depends on (seed, n, e) alone, never on how rows are spread over workers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

BattleSeed = tuple[int, int, int, int]  # four 16-bit words: selects Showdown's 64-bit generator


class TeamSampler(Protocol):
    """Draws the packed teams of both seats; None stands for a random team of the format."""

    def __call__(self, rng: np.random.Generator) -> tuple[str | None, str | None]:
        """Teams for p1 and p2."""
        ...


@dataclass(frozen=True, slots=True)
class RandomTeams:
    """For formats in which the simulator makes the teams."""

    def __call__(self, rng: np.random.Generator) -> tuple[str | None, str | None]:
        """No teams: the simulator generates both from the battle's seed."""
        return None, None


@dataclass(frozen=True, slots=True)
class PoolTeams:
    """Each seat draws from its own list of packed teams, uniformly and independently."""

    p1: Sequence[str]
    p2: Sequence[str]

    def __call__(self, rng: np.random.Generator) -> tuple[str | None, str | None]:
        """One team for each seat."""
        first = self.p1[int(rng.integers(len(self.p1)))]
        return first, self.p2[int(rng.integers(len(self.p2)))]


def battle_setup(
    sampler: TeamSampler, seed: int, row: int, episode: int
) -> tuple[tuple[str | None, str | None], BattleSeed]:
    """Teams and dice of battle number `episode` in row `row`."""
    rng = np.random.default_rng([seed, row, episode])
    a, b, c, d = (int(word) for word in rng.integers(0, 1 << 16, size=4))
    return sampler(rng), (a, b, c, d)
