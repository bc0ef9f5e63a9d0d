"""Elimination brackets of best-of-N series, for any way to play a game.

`contest(a, b, series)` returns the agents' games won in series number `series`; nothing here knows
how games are played, so a bracket of stub results is a millisecond test.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from nashmon.core.errors import NashmonError

Kind = Literal["single", "double"]
Contest = Callable[[str, str, int], tuple[int, int]]


class BracketError(NashmonError):
    """A bracket that cannot be played."""


@dataclass(frozen=True, slots=True)
class Series:
    """One meeting of two agents."""

    stage: str  # "winners 1", "losers 2", "final", "second final"
    agents: tuple[str, str]
    wins: tuple[int, int]

    @property
    def winner(self) -> str:
        """The agent that won more games."""
        return self.agents[0] if self.wins[0] > self.wins[1] else self.agents[1]

    @property
    def loser(self) -> str:
        """The other one."""
        return self.agents[1] if self.winner == self.agents[0] else self.agents[0]


@dataclass(frozen=True, slots=True)
class Bracket:
    """A finished bracket."""

    series: tuple[Series, ...]
    places: tuple[str, ...]  # champion first; those who left in the same round in seeding order


def play_bracket(seeds: Sequence[str], contest: Contest, kind: Kind = "single") -> Bracket:
    """Play an elimination bracket; `seeds` lists the agents, strongest first.

    The strongest meet last, missing opponents are byes.  In a double elimination the winner of the
    losers' side must beat the unbeaten agent twice.
    """
    if len(seeds) < 2 or len(set(seeds)) != len(seeds):
        raise BracketError(f"a bracket needs two or more different agents, got {list(seeds)}")
    if kind not in ("single", "double"):
        raise BracketError(f"unknown bracket {kind!r}: single, double")
    return _Play(contest, seeds).run(kind)


class _Play:
    def __init__(self, contest: Contest, seeds: Sequence[str]) -> None:
        self._contest = contest
        self._seeds = list(seeds)
        self._series: list[Series] = []
        self._out: list[list[str]] = []  # who left in each round, first leavers first

    def run(self, kind: Kind) -> Bracket:
        alive: list[str | None] = _slots(self._seeds)
        losers: list[str | None] = []
        number = 0
        while len(alive) > 1:
            number += 1
            alive, beaten = self._round(alive, f"winners {number}")
            if kind == "single":
                self._out.append([agent for agent in beaten if agent])
            else:
                losers = self._drop(losers, beaten, number)
        champion = alive[0]
        assert champion is not None
        if kind == "double":
            champion = self._finals(champion, losers)
        leavers = [sorted(group, key=self._seeds.index) for group in reversed(self._out)]
        places = [champion, *(agent for group in leavers for agent in group)]
        return Bracket(tuple(self._series), tuple(places))

    def _round(
        self, slots: list[str | None], stage: str
    ) -> tuple[list[str | None], list[str | None]]:
        """Neighbours meet; returns winners and losers (None stands for a bye)."""
        winners: list[str | None] = []
        losers: list[str | None] = []
        for first, second in zip(slots[::2], slots[1::2], strict=True):
            if first is None or second is None:
                winners.append(first or second)
                losers.append(None)
                continue
            series = self._meet(first, second, stage)
            winners.append(series.winner)
            losers.append(series.loser)
        return winners, losers

    def _drop(
        self, losers: list[str | None], beaten: list[str | None], number: int
    ) -> list[str | None]:
        """The losers' side after a winners' round: newcomers meet survivors, then each other."""
        if number == 1:
            return self._thin(beaten, f"losers {number}")
        # Reversed, so that two agents who have met do not meet again at once.
        mixed = [agent for pair in zip(losers, beaten[::-1], strict=True) for agent in pair]
        merged = self._thin(mixed, f"losers {number}")
        return self._thin(merged, f"losers {number}b") if len(merged) > 1 else merged

    def _thin(self, slots: list[str | None], stage: str) -> list[str | None]:
        if len(slots) == 1:
            return slots
        winners, out = self._round(slots, stage)
        self._out.append([agent for agent in out if agent])
        return winners

    def _finals(self, unbeaten: str, losers: list[str | None]) -> str:
        challenger = losers[0]
        assert challenger is not None
        final = self._meet(unbeaten, challenger, "final")
        if final.winner == challenger:
            final = self._meet(unbeaten, challenger, "second final")
        self._out.append([final.loser])
        return final.winner

    def _meet(self, first: str, second: str, stage: str) -> Series:
        wins = self._contest(first, second, len(self._series))
        if wins[0] == wins[1]:
            raise BracketError(f"{first} – {second} ({stage}) has no winner: {wins[0]} each")
        series = Series(stage, (first, second), wins)
        self._series.append(series)
        return series


def _slots(seeds: Sequence[str]) -> list[str | None]:
    """Places of a bracket: 1 and 2 can only meet in the final, 1 and 3 in the half-final …"""
    order = [0]
    while len(order) < len(seeds):
        size = 2 * len(order)
        order = [place for seed in order for place in (seed, size - 1 - seed)]
    return [seeds[seed] if seed < len(seeds) else None for seed in order]
