"""Self-play trajectories to the store: play, filter, write shard by shard, resumable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nashmon.core.agent import Agent
from nashmon.core.errors import NashmonError
from nashmon.match.play import decisions_of
from nashmon.replays.store import Trajectory, TrajectoryStore
from nashmon.sim.base import NO_ACTION, Battles, Step


class CollectError(NashmonError):
    """A collection that cannot be made as asked."""


@dataclass(frozen=True)
class CollectConfig:
    """How much to collect, and what to keep."""

    trajectories: int = 10_000  # that pass the filters
    per_shard: int = 1000
    winners_only: bool = False
    min_decisions: int = 1
    max_decisions: int = 1_000_000

    def __post_init__(self) -> None:
        if min(self.trajectories, self.per_shard, self.min_decisions) < 1:
            raise CollectError("trajectories, per_shard and min_decisions must be at least 1")
        if self.max_decisions < self.min_decisions:
            raise CollectError("max_decisions is below min_decisions: nothing would be kept")

    def keeps(self, trajectory: Trajectory) -> bool:
        """Whether a trajectory passes the filters."""
        if self.winners_only and trajectory.outcome <= 0:
            return False
        return self.min_decisions <= len(trajectory) <= self.max_decisions


def collect(
    store: TrajectoryStore,
    battles: Battles,
    agents: tuple[Agent, Agent],
    config: CollectConfig,
    seed: int,
    progress: Callable[[int], None] | None = None,
) -> int:
    """Fill the store up to the asked number; each shard has a seed of its own.

    Returns the number of trajectories written now.  Whole shards that are already there count.
    """
    shards = -(-config.trajectories // config.per_shard)
    written = 0
    for shard in range(store.next_shard, shards):
        wanted = min(config.per_shard, config.trajectories - shard * config.per_shard)
        found = _play(battles, agents, config, wanted, [seed, shard], progress)
        store.append(found)
        written += len(found)
    return written


def _play(
    battles: Battles,
    agents: tuple[Agent, Agent],
    config: CollectConfig,
    wanted: int,
    seed: list[int],
    progress: Callable[[int], None] | None,
) -> list[Trajectory]:
    number = int(np.random.SeedSequence(seed).generate_state(1)[0])
    step = battles.reset(number)
    rows = battles.num_battles
    rngs = [np.random.default_rng([*seed, seat]) for seat in (0, 1)]
    memories = [agent.start(rows) for agent in agents]
    first = np.ones((rows, 2), dtype=bool)
    notes = [_Notes() for _ in range(2 * rows)]
    found: list[Trajectory] = []
    while len(found) < wanted:
        actions = np.full((rows, 2), NO_ACTION, dtype=np.int64)
        for seat, agent in enumerate(agents):
            asked = np.flatnonzero(step.acting[:, seat])
            if len(asked):
                view = decisions_of(battles, step, asked, seat, first)
                actions[asked, seat] = agent.act(view, memories[seat], rngs[seat])
                first[asked, seat] = False
                for row in asked.tolist():
                    notes[2 * row + seat].decide(step, row, seat, int(actions[row, seat]))
        step = battles.step(actions)
        for note, reward in zip(notes, step.rewards.reshape(-1).tolist(), strict=True):
            note.earn(reward)
        for row in np.flatnonzero(step.ended).tolist():
            for seat in (0, 1):
                outcome = int(step.outcome[row]) * (1 if seat == 0 else -1)
                done = notes[2 * row + seat].finish(outcome, seat)
                notes[2 * row + seat] = _Notes()
                if done is not None and config.keeps(done) and len(found) < wanted:
                    found.append(done)
                    if progress is not None:
                        progress(1)
            first[row] = True
    return found


class _Notes:
    """The decisions of one seat in the battle that is running."""

    def __init__(self) -> None:
        self.observations: dict[str, list[NDArray[Any]]] = {}
        self.masks: list[NDArray[np.bool_]] = []
        self.actions: list[int] = []
        self.rewards: list[float] = []

    def decide(self, step: Step, row: int, seat: int, action: int) -> None:
        for name, array in step.observations.items():
            self.observations.setdefault(name, []).append(array[row, seat].copy())
        self.masks.append(step.masks[row, seat].copy())
        self.actions.append(action)
        self.rewards.append(0.0)

    def earn(self, reward: float) -> None:
        if self.rewards:
            self.rewards[-1] += reward

    def finish(self, outcome: int, seat: int) -> Trajectory | None:
        if not self.actions:
            return None
        return Trajectory(
            {name: np.stack(rows) for name, rows in self.observations.items()},
            np.stack(self.masks),
            np.array(self.actions),
            np.array(self.rewards, np.float32),
            outcome,
            seat,
        )
