"""One network that imitates a mixture: what its members do in play against each other is cloned.

The mixture draws its member as a battle begins; a network without memory learns the mean of what
they do in a position, weighted by how often each of them gets there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from nashmon.agents.specs import get_agent
from nashmon.core.agent import Agent
from nashmon.core.errors import NashmonError
from nashmon.core.rewards import get_reward
from nashmon.core.settings import plain
from nashmon.learn.batch import Batch
from nashmon.learn.bc import BC, BCConfig
from nashmon.learn.optim import OptimConfig
from nashmon.match.play import decisions_of
from nashmon.nets.build import build_policy, policy_meta
from nashmon.nets.checkpoint import save
from nashmon.nets.policy import Policy
from nashmon.sim.base import NO_ACTION, Battles, Step
from nashmon.sim.make import make_battles
from nashmon.train.config import RunConfig
from nashmon.train.store import Store
from nashmon.train.teams import RunTeams, run_teams


class DistilError(NashmonError):
    """A distillation that cannot be done as asked."""


@dataclass(frozen=True)
class DistilConfig:
    """How much play is imitated."""

    updates: int = 100
    learning_rate: float = 1e-3
    minibatches: int = 4

    def __post_init__(self) -> None:
        if self.updates < 1:
            raise DistilError("updates must be at least 1")


class Demonstration:
    """Battles of an agent against itself, recorded for a network to imitate."""

    def __init__(
        self, battles: Battles, agent: Agent, policy: Policy, steps: int, seed: int
    ) -> None:
        self.battles, self.agent, self.steps = battles, agent, steps
        columns = 2 * battles.num_battles
        memory = policy.initial_memory(columns)
        if memory:
            raise DistilError("distillation is for networks without memory: network.options.memory")
        self._store = Store.allocate(steps, columns, battles.obs_spec, battles.num_actions, memory)
        self._rng = np.random.default_rng(seed)
        self._memories = [agent.start(battles.num_battles) for _ in (0, 1)]
        self._fresh = np.ones((battles.num_battles, 2), dtype=bool)
        self._step: Step = battles.reset(seed)

    def collect(self) -> Batch:
        """The next steps of every battle; valid until the next call."""
        store = self._store
        for t in range(self.steps):
            step = self._step
            store.write(t, step.observations, step.masks, step.acting)
            store.resets[t] = torch.from_numpy(self._fresh.reshape(-1))
            actions = self._act(step)
            store.actions[t] = torch.from_numpy(actions.reshape(-1))
            self._fresh &= ~step.acting
            self._step = self.battles.step(actions)
            store.rewards[t] = torch.from_numpy(self._step.rewards.reshape(-1))
            store.ends[t] = torch.from_numpy(np.repeat(self._step.ended, 2))
            self._fresh[self._step.ended] = True
        return store.batch()

    def _act(self, step: Step) -> NDArray[np.int64]:
        actions = np.full(step.acting.shape, NO_ACTION, dtype=np.int64)
        for seat in (0, 1):
            rows = np.flatnonzero(step.acting[:, seat])
            if len(rows):
                view = decisions_of(self.battles, step, rows, seat, self._fresh)
                actions[rows, seat] = self.agent.act(view, self._memories[seat], self._rng)
        return actions


def distil(
    spec: str,
    run: RunConfig,
    config: DistilConfig,
    folder: Path,
    teams: RunTeams | None = None,
    watch: Callable[[int, dict[str, float]], None] | None = None,
) -> str:
    """Train a network to play like an agent; returns its spec."""
    torch.manual_seed(run.seed)
    torch.set_num_threads(run.threads or torch.get_num_threads())
    teams = teams or run_teams(run.format, run.teams)
    policy = build_policy(run.format, run.network.policy())
    optim = OptimConfig(kind="adamw", learning_rate=config.learning_rate)
    # Battles are cut off at the end of a batch: their outcome is not known, so only the policy.
    imitation = BCConfig(optim=optim, value_weight=0.0, num_minibatches=config.minibatches)
    learner = BC(policy, imitation, torch.Generator().manual_seed(run.seed + 1))
    rollout = run.rollout
    battles = make_battles(
        run.format, rollout.battles, teams.train, rollout.engine, turn_limit=rollout.turn_limit
    )
    try:
        agent = get_agent(spec, run.format)
        shown = Demonstration(battles, agent, policy, rollout.steps, run.seed)
        for update in range(1, config.updates + 1):
            metrics = learner.update(shown.collect())
            if watch is not None:
                watch(update, metrics)
    finally:
        battles.close()
    meta = {
        **policy_meta(policy, get_reward(rollout.reward).spec),
        "format": run.format,
        "config": plain(run),
        "imitates": spec,
        "updates": config.updates,
        "decisions": 0,
        "battles": 0,
        "seconds": 0.0,
    }
    save(folder / "policy", {"policy": dict(policy.state_dict())}, meta)
    return f"run:{folder / 'policy'}"
