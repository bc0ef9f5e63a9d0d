"""Who sits where: which seat of each battle the learner plays, and against whom."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nashmon.core.agent import Agent
from nashmon.league.pool import SELF, OpponentPool
from nashmon.match.statistics import Record
from nashmon.sim.base import Step

LEARNER = -1  # in `owner`: the learner plays this seat


@dataclass(slots=True)
class Opponent:
    """An opponent on duty in this roll-out, with its memory of the battles it plays."""

    name: str
    agent: Agent
    memory: Any


@dataclass(frozen=True, slots=True)
class Totals:
    """Results counted so far."""

    battles: int = 0
    records: dict[str, Record] = field(default_factory=dict)


class Seating:
    """Seats the learner in every battle: against itself, or against an opponent from the pool."""

    def __init__(self, pool: OpponentPool, num_battles: int, rng: np.random.Generator) -> None:
        self.pool, self.rng = pool, rng
        self.owner = np.full((num_battles, 2), LEARNER, dtype=np.int64)
        self._opponents: dict[int, Opponent] = {}
        self._on_duty: list[int] = []
        self._next = 0
        self._totals = Totals()

    def reset(self) -> None:
        """Forget who plays where; all battles are about to start."""
        self.owner[:] = LEARNER
        self._opponents.clear()
        self._on_duty.clear()

    def draw(self) -> None:
        """Choose the opponents of the battles that start from now on."""
        known = {opponent.name: key for key, opponent in self._opponents.items()}
        self._on_duty = []
        for name in self.pool.draw(self.rng):
            if name not in known:
                agent = self.pool.agent(name)
                self._opponents[self._next] = Opponent(name, agent, agent.start(len(self.owner)))
                known[name] = self._next
                self._next += 1
            self._on_duty.append(known[name])
        used = set(np.unique(self.owner).tolist()) | set(self._on_duty)
        self._opponents = {k: v for k, v in self._opponents.items() if k in used}

    def seat(self, rows: NDArray[np.int64]) -> None:
        """Seat both sides of battles that start."""
        if not self._on_duty:
            self.draw()
        self.owner[rows] = LEARNER
        names = [self._opponents[k].name for k in self._on_duty]
        picks = self.pool.pick(names, len(rows), self.rng)  # position in on_duty, −1 is self
        seats = self.rng.integers(2, size=len(rows))
        outside = picks >= 0
        if outside.any():
            keys = np.array(self._on_duty)[picks[outside]]
            self.owner[rows[outside], seats[outside]] = keys

    def waiting(
        self, acting: NDArray[np.bool_]
    ) -> Iterator[tuple[int, NDArray[np.int64], Opponent]]:
        """(seat, battles, opponent) of every decision that is not the learner's."""
        asked = acting & (self.owner != LEARNER)
        if not asked.any():
            return
        for key in np.unique(self.owner[asked]).tolist():
            for seat in (0, 1):
                rows = np.flatnonzero(asked[:, seat] & (self.owner[:, seat] == key))
                if len(rows):
                    yield seat, rows, self._opponents[key]

    def finish(self, rows: NDArray[np.int64], step: Step) -> None:
        """Count the results of battles that ended."""
        records = dict(self._totals.records)
        outcome = step.outcome[rows].astype(np.int64)
        for key in np.unique(self.owner[rows]).tolist():
            if key == LEARNER:
                continue
            there = self.owner[rows] == key
            result = np.where(there[:, 1], outcome, -outcome)[there.any(axis=1)]
            name = self._opponents[key].name
            won = Record(int((result > 0).sum()), int((result == 0).sum()), int((result < 0).sum()))
            records[name] = records.get(name, Record(0, 0, 0)) + won
            self.pool.record(name, won)
        alone = (self.owner[rows] == LEARNER).all(axis=1)
        drawn = int((outcome[alone] == 0).sum())
        half = int(alone.sum()) - drawn
        if half or drawn:
            # Against itself every decided battle is a win and a loss; only draws tell something.
            self_play = Record((half + 1) // 2, drawn, half // 2)
            records[SELF] = records.get(SELF, Record(0, 0, 0)) + self_play
        self._totals = Totals(self._totals.battles + len(rows), records)

    def totals(self) -> Totals:
        """Results counted so far."""
        return self._totals

    def since(self, before: Totals) -> Totals:
        """Results counted after `before`."""
        records = {}
        for name, record in self._totals.records.items():
            old = before.records.get(name, Record(0, 0, 0))
            new = Record(
                record.wins - old.wins, record.draws - old.draws, record.losses - old.losses
            )
            if new.games:
                records[name] = new
        return Totals(self._totals.battles - before.battles, records)
