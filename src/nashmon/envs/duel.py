"""A learner against an opponent agent in every battle of a block.

Between two of the learner's decisions the opponent may have to act alone (forced switches); this
module plays those until the learner is asked again or the battle ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nashmon.core.agent import Agent, Decisions
from nashmon.sim.base import NO_ACTION, Battles, Step


@dataclass(slots=True)
class DuelStep:
    """One learner decision per battle; rows that ended show the next battle's first decision."""

    observations: dict[str, NDArray[Any]]  # name → (battles, …)
    masks: NDArray[np.bool_]  # (battles, actions)
    rewards: NDArray[np.float32]  # (battles,)
    ended: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    outcome: NDArray[np.int8]  # +1 learner won, 0 draw, −1 lost
    turns: NDArray[np.int32]  # of the running battle


class Duel:
    """Drives a `Battles` block for one learner sitting in `seat` of every battle."""

    def __init__(self, battles: Battles, opponent: Agent, seat: int) -> None:
        if seat not in (0, 1):
            raise ValueError(f"seat is 0 (p1) or 1 (p2), got {seat}")
        self.battles = battles
        self._opponent = opponent
        self._seat = seat
        self._memory: Any = None
        self._rng = np.random.default_rng(0)
        self._first = np.ones(battles.num_battles, dtype=bool)
        self._step: Step | None = None

    def reset(self, seed: int) -> DuelStep:
        """Start all battles and play until the learner is asked in each."""
        self._rng = np.random.default_rng([seed, 1])
        self._memory = self._opponent.start(self.battles.num_battles)
        self._first[:] = True
        self._step = self.battles.reset(seed)
        return self._advance(self._blank())

    def step(self, actions: NDArray[np.integer[Any]]) -> DuelStep:
        """The learner's action in every battle."""
        if self._step is None:
            raise RuntimeError("call reset(seed) before step")
        joint = np.full((self.battles.num_battles, 2), NO_ACTION, dtype=np.int64)
        joint[:, self._seat] = actions
        self._answer(joint, np.ones(self.battles.num_battles, dtype=bool))
        result = self._blank()
        self._collect(self.battles.step(joint), result)
        return self._advance(result)

    def _blank(self) -> DuelStep:
        num = self.battles.num_battles
        return DuelStep(
            observations={},
            masks=np.zeros((num, 0), dtype=bool),
            rewards=np.zeros(num, dtype=np.float32),
            ended=np.zeros(num, dtype=bool),
            truncated=np.zeros(num, dtype=bool),
            outcome=np.zeros(num, dtype=np.int8),
            turns=np.zeros(num, dtype=np.int32),
        )

    def _advance(self, result: DuelStep) -> DuelStep:
        """Let the opponent act alone where the learner is not asked."""
        assert self._step is not None
        while (waiting := ~self._step.acting[:, self._seat]).any():
            joint = np.full((self.battles.num_battles, 2), NO_ACTION, dtype=np.int64)
            self._answer(joint, waiting)
            self._collect(self.battles.step(joint), result)
        result.observations = {k: v[:, self._seat] for k, v in self._step.observations.items()}
        result.masks = self._step.masks[:, self._seat]
        result.turns = self._step.turns
        return result

    def _answer(self, joint: NDArray[np.int64], rows: NDArray[np.bool_]) -> None:
        """Fill in the opponent's actions in the given rows."""
        assert self._step is not None
        seat = 1 - self._seat
        asked = np.flatnonzero(self._step.acting[:, seat] & rows)
        if not len(asked):
            return
        view = Decisions(
            {name: array[asked, seat] for name, array in self._step.observations.items()},
            self._step.masks[asked, seat],
            asked,
            self._first[asked],
            lambda: self.battles.states([(int(row), seat) for row in asked]),
        )
        joint[asked, seat] = self._opponent.act(view, self._memory, self._rng)
        self._first[asked] = False

    def _collect(self, step: Step, result: DuelStep) -> None:
        self._step = step
        result.rewards += step.rewards[:, self._seat]
        result.ended |= step.ended
        result.truncated |= step.truncated
        sign = 1 if self._seat == 0 else -1
        result.outcome[step.ended] = sign * step.outcome[step.ended]
        self._first[step.ended] = True
