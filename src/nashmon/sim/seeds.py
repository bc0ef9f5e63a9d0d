"""Which teams and which dice each battle of a block gets.

Battle number e of row n depends on (seed, n, e) alone, never on how rows are spread over workers.
The numbers are SplitMix64's, because they must cost next to nothing: a fast engine computes the
same ones in compiled code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

BattleSeed = tuple[int, int, int, int]  # four 16-bit words: selects Showdown's 64-bit generator

# Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators".
GOLDEN, MIX_1, MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_WORD = (1 << 64) - 1


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

    def pick(self, key: int) -> tuple[int, int]:
        """Places in the two lists of the teams that battle `key` is fought with."""
        drawn = _mix(key)
        return (drawn >> 32) * len(self.p1) >> 32, (drawn & 0xFFFFFFFF) * len(self.p2) >> 32


def _mix(x: int) -> int:
    """The next number of SplitMix64 in state x."""
    x = (x + GOLDEN) & _WORD
    x = (x ^ (x >> 30)) * MIX_1 & _WORD
    x = (x ^ (x >> 27)) * MIX_2 & _WORD
    return x ^ (x >> 31)


def seed_stream(seed: int) -> int:
    """A block's seed, any integer ≥ 0, as 64 bits."""
    if seed < 0:
        raise ValueError(f"a seed is an integer ≥ 0, got {seed}")
    stream = 0
    while True:
        stream = _mix(stream ^ (seed & _WORD))
        seed >>= 64
        if not seed:
            return stream


def battle_key(stream: int, row: int, episode: int) -> int:
    """The 64 bits from which battle number `episode` in row `row` takes its dice and teams."""
    return _mix(_mix(stream ^ int(row)) ^ int(episode))


def battle_setup(
    sampler: TeamSampler, seed: int, row: int, episode: int
) -> tuple[tuple[str | None, str | None], BattleSeed]:
    """Teams and dice of battle number `episode` in row `row`."""
    key = battle_key(seed_stream(seed), row, episode)
    dice = (key >> 48, key >> 32 & 0xFFFF, key >> 16 & 0xFFFF, key & 0xFFFF)
    if isinstance(sampler, PoolTeams):
        first, second = sampler.pick(key)
        return (sampler.p1[first], sampler.p2[second]), dice
    return sampler(np.random.default_rng([seed, row, episode])), dice
