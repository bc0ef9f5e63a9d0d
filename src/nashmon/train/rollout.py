"""Roll-outs: many battles in lock-step, one forward pass per network and step.

A roll-out is a fixed number of steps of every battle.  Battles go on from one roll-out to the
next; what is cut off at the end is valued by the network, so no decision is thrown away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nashmon.learn.batch import Batch
from nashmon.match.play import decisions_of
from nashmon.match.statistics import Record
from nashmon.nets.distribution import sample, shape_policy
from nashmon.nets.policy import Policy
from nashmon.sim.base import NO_ACTION, Battles, Step
from nashmon.train.seating import LEARNER, Seating
from nashmon.train.store import Store


@dataclass(frozen=True, slots=True)
class RolloutReport:
    """What happened in a roll-out, beside the batch."""

    decisions: int  # of the learner
    battles: int  # that ended
    turns: int  # of the battles that ended
    records: dict[str, Record] = field(default_factory=dict)  # learner against each opponent


def joined(reports: Sequence[RolloutReport]) -> RolloutReport:
    """Roll-outs played side by side, as one."""
    records: dict[str, Record] = {}
    for report in reports:
        for name, record in report.records.items():
            records[name] = records.get(name, Record(0, 0, 0)) + record
    return RolloutReport(
        sum(r.decisions for r in reports),
        sum(r.battles for r in reports),
        sum(r.turns for r in reports),
        records,
    )


class Rollout:
    """Plays a policy against itself and others; keeps the battles between calls."""

    def __init__(
        self,
        battles: Battles,
        policy: Policy,
        seating: Seating,
        steps: int,
        generator: torch.Generator,
        temperature: float = 1.0,
    ) -> None:
        self.battles, self.policy, self.seating = battles, policy, seating
        self.steps, self.generator, self.temperature = steps, generator, temperature
        self._columns = 2 * battles.num_battles
        self.store: Store | None = None  # where `collect` writes; made when none was given
        self._memory = policy.initial_memory(self._columns)
        self._step: Step | None = None
        self._fresh = np.ones((battles.num_battles, 2), dtype=bool)
        self._last_turns = np.zeros(battles.num_battles, dtype=np.int64)

    def reset(self, seed: int) -> None:
        """Start all battles anew."""
        self._step = self.battles.reset(seed)
        self._fresh[:] = True
        self._last_turns[:] = 0
        self._memory = self.policy.initial_memory(self._columns)
        self.seating.reset()
        self.seating.seat(np.arange(self.battles.num_battles))

    @torch.no_grad()
    def collect(self) -> tuple[Batch, RolloutReport]:
        """Play `steps` steps of every battle.  The batch is valid until the next call."""
        if self._step is None:
            raise RuntimeError("call reset(seed) before collect")
        store = self._target()
        for name, tensor in self._memory.items():
            store.memory[name][:] = tensor
        self.seating.draw()
        before = self.seating.totals()
        turns = 0
        for t in range(self.steps):
            step = self._step
            learner = step.acting & (self.seating.owner == LEARNER)
            actions = np.full(step.acting.shape, NO_ACTION, dtype=np.int64)
            self._decide(store, t, learner, actions)
            self._answer(step, actions)
            store.resets[t] = torch.from_numpy(self._fresh.reshape(-1))
            self._fresh &= ~step.acting
            self._step = self.battles.step(actions)
            turns += self._close(store, t, self._step)
        store.last_value[:] = self._bootstrap(self._step)
        report = self.seating.since(before)
        decisions = int(store.acting.sum())
        return store.batch(), RolloutReport(decisions, report.battles, turns, report.records)

    def _target(self) -> Store:
        if self.store is None:
            battles = self.battles
            self.store = Store.allocate(
                self.steps, self._columns, battles.obs_spec, battles.num_actions, self._memory
            )
        return self.store

    def _decide(
        self, store: Store, t: int, learner: NDArray[np.bool_], actions: NDArray[np.int64]
    ) -> None:
        """The learner's decisions of one step, into the store and into `actions`."""
        step = self._step
        assert step is not None
        store.write(t, step.observations, step.masks, learner)
        rows = torch.from_numpy(np.flatnonzero(learner))
        if not len(rows):
            return
        shown, masks = store.observations_at(t, rows), store.masks[t, rows]
        log_policy, value = self._evaluate(shown, masks, rows)
        shaped = shape_policy(log_policy, self.temperature, 1.0)
        chosen, log_probs = sample(shaped, self.generator)
        store.actions[t, rows] = chosen
        store.log_probs[t, rows] = log_probs
        store.values[t, rows] = value
        store.log_policy[t, rows] = log_policy
        actions.reshape(-1)[rows.numpy()] = chosen.numpy()

    def _evaluate(
        self, observations: Mapping[str, Tensor], masks: Tensor, rows: Tensor, keep: bool = True
    ) -> tuple[Tensor, Tensor]:
        """Log-policy and value at some columns; `keep`: remember the decision."""
        sequence = {name: array.unsqueeze(0) for name, array in observations.items()}
        state = {name: tensor[rows] for name, tensor in self._memory.items()}
        if state:
            fresh = torch.from_numpy(self._fresh.reshape(-1))[rows]
            state = self.policy.reset_memory(state, fresh)
        output = self.policy.evaluate(sequence, masks.unsqueeze(0), state or None)
        if keep:
            for name, tensor in output.memory.items():
                self._memory[name][rows] = tensor
        return output.log_policy[0], output.value[0]

    def _answer(self, step: Step, actions: NDArray[np.int64]) -> None:
        """The decisions of the opponents, one call per opponent and seat."""
        for seat, rows, opponent in self.seating.waiting(step.acting):
            view = decisions_of(self.battles, step, rows, seat, self._fresh)
            actions[rows, seat] = opponent.agent.act(view, opponent.memory, self.seating.rng)

    def _close(self, store: Store, t: int, step: Step) -> int:
        """Record what the step led to; returns the turns of the battles that ended."""
        store.rewards[t] = torch.from_numpy(step.rewards.reshape(-1))
        store.ends[t] = torch.from_numpy(np.repeat(step.ended, 2))
        ended = np.flatnonzero(step.ended)
        turns = int(self._last_turns[ended].sum())
        if len(ended):
            self.seating.finish(ended, step)
            self.seating.seat(ended)
            self._fresh[ended] = True
        self._last_turns = step.turns.astype(np.int64)
        return turns

    def _bootstrap(self, step: Step) -> Tensor:
        """Value after the last step of every column (2·battles,).

        A seat that waits for the other's decision has minus the other's value: zero-sum.
        """
        rows = torch.from_numpy(np.flatnonzero(step.acting))
        shown = {
            name: torch.from_numpy(array.reshape(-1, *array.shape[2:]))[rows]
            for name, array in step.observations.items()
        }
        masks = torch.from_numpy(step.masks.reshape(self._columns, -1))[rows]
        values = torch.zeros(self._columns)
        _, values[rows] = self._evaluate(shown, masks, rows, keep=False)
        pairs = values.view(-1, 2)
        waiting = torch.from_numpy(~step.acting)
        return torch.where(waiting, -pairs.flip(1), pairs).reshape(-1)
