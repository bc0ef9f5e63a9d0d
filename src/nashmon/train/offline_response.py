"""Offline best responses: play against a mixture once, then learn from what was seen.

    collect battles of the start against the mixture ─▶ mix with other trajectories ─▶ offline RL

Only the learner's seat is learned from.  The data are in DIR/data, a trajectory store.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nashmon.agents.neural import NeuralAgent
from nashmon.agents.specs import get_agent
from nashmon.core.errors import NashmonError
from nashmon.core.rewards import get_reward
from nashmon.core.settings import plain
from nashmon.learn.batch import Batch
from nashmon.learn.critic import NetworkCritic
from nashmon.learn.offline import Offline, OfflineConfig
from nashmon.learn.optim import OptimConfig
from nashmon.nets.build import policy_meta
from nashmon.nets.checkpoint import save
from nashmon.nets.policy import Policy
from nashmon.replays.store import Trajectory, TrajectoryStore
from nashmon.sim.make import make_battles
from nashmon.train.collect import CollectConfig, collect
from nashmon.train.config import RunConfig
from nashmon.train.teams import run_teams

_CRITICS = 2
_BINS = 33


class OfflineError(NashmonError):
    """An offline response that cannot be trained as asked."""


def _learner() -> OfflineConfig:
    optim = OptimConfig(kind="adamw", learning_rate=3e-4, max_grad_norm=1.5)
    return OfflineConfig(optim=optim, discounts=(0.95, 0.999), weighting="exponential", beta=3.0)


@dataclass(frozen=True)
class OfflinePlan:
    """How much is played, what it is mixed with, and how long is learned from it."""

    trajectories: int = 4000  # collected, both seats
    updates: int = 200
    columns: int = 64  # trajectories of a batch
    others: str = ""  # a store of other trajectories, from `nashmon collect`
    share: float = 0.5  # of the other trajectories in a batch, if there are any
    learner: OfflineConfig = field(default_factory=_learner)

    def __post_init__(self) -> None:
        if min(self.trajectories, self.updates, self.columns) < 1:
            raise OfflineError("trajectories, updates and columns must be at least 1")
        if not 0.0 <= self.share <= 1.0:
            raise OfflineError(f"share is a probability, not {self.share}")


def train_offline(
    opponent: str, init: str, run: RunConfig, plan: OfflinePlan, folder: Path
) -> tuple[str, dict[str, Any]]:
    """(spec of the response, facts about it); `init` is where it starts and who collects."""
    torch.manual_seed(run.seed)
    torch.set_num_threads(run.threads or torch.get_num_threads())
    agent = get_agent(init, run.format)
    if not isinstance(agent, NeuralAgent):
        raise OfflineError(f"init {init!r} is not a network")
    store = _collected(opponent, agent, run, plan, folder / "data")
    # Seat 0 is the learner's; the other seat plays a game against the learner.
    mine = [trajectory for trajectory in store if trajectory.seat == 0]
    others = _others(plan.others, agent.policy, run.format)
    policy = agent.policy.train()
    learner = _offline(policy, run, plan)
    rng = np.random.default_rng(run.seed)
    decisions = 0
    for _ in range(plan.updates):
        count = rng.binomial(plan.columns, plan.share) if others else 0
        batch = batch_of([*_drawn(mine, plan.columns - count, rng), *_drawn(others, count, rng)])
        decisions += batch.num_decisions
        learner.update(batch)
    facts = {
        "updates": plan.updates,
        "decisions": decisions,
        "trajectories": len(mine),
        "others": len(others),
    }
    meta = {
        **policy_meta(policy, get_reward(run.rollout.reward).spec),
        "format": run.format,
        "config": plain(run),
        "battles": len(mine),
        "seconds": 0.0,
        **facts,
    }
    save(folder / "policy", {"policy": dict(policy.state_dict())}, meta)
    return f"run:{folder / 'policy'}", facts


def _collected(
    opponent: str, agent: NeuralAgent, run: RunConfig, plan: OfflinePlan, path: Path
) -> TrajectoryStore:
    rollout = run.rollout
    battles = make_battles(
        run.format,
        rollout.battles,
        run_teams(run.format, run.teams).train,
        rollout.engine,
        reward=rollout.reward,
        turn_limit=rollout.turn_limit,
    )
    facts = {"format": run.format, "opponent": opponent, "start": agent.name, "seed": run.seed}
    try:
        store = TrajectoryStore.create(path, facts, battles.obs_spec)
        agents = agent, get_agent(opponent, run.format)
        collect(store, battles, agents, CollectConfig(plan.trajectories), run.seed)
    finally:
        battles.close()
    return store


def _others(path: str, policy: Policy, format_id: str) -> list[Trajectory]:
    if not path:
        return []
    store = TrajectoryStore(Path(path))
    if store.index["format"] != format_id:
        raise OfflineError(f"{path} holds {store.index['format']}, the response plays {format_id}")
    if store.index["observation"] != json.loads(json.dumps(policy.observation.to_dict())):
        raise OfflineError(f"{path} holds other observations than the network reads")
    return list(store)


def _offline(policy: Policy, run: RunConfig, plan: OfflinePlan) -> Offline:
    low, high = get_reward(run.rollout.reward).bounds
    support = torch.linspace(low, high, _BINS)
    heads = _CRITICS, len(plan.learner.discounts)
    critic = NetworkCritic(
        deepcopy(policy), policy.config.width, policy.actions.num_actions, support, heads
    )
    return Offline(policy, critic, plan.learner, torch.Generator().manual_seed(run.seed))


def _drawn(
    trajectories: Sequence[Trajectory], count: int, rng: np.random.Generator
) -> list[Trajectory]:
    if not count:
        return []
    return [trajectories[i] for i in rng.integers(len(trajectories), size=count)]


def batch_of(trajectories: Sequence[Trajectory]) -> Batch:
    """Trajectories side by side, (T, B), padded behind their ends."""
    steps, columns = max(map(len, trajectories)), len(trajectories)

    def table(arrays: Sequence[np.ndarray[Any, Any]], fill: Any = 0) -> torch.Tensor:
        full = np.full((steps, columns, *arrays[0].shape[1:]), fill, arrays[0].dtype)
        for column, array in enumerate(arrays):
            full[: len(array), column] = array
        return torch.from_numpy(full)

    lengths = torch.tensor([len(t) for t in trajectories])
    time = torch.arange(steps).unsqueeze(1)
    observations = {
        name: table([t.observations[name] for t in trajectories])
        for name in trajectories[0].observations
    }
    return Batch(
        observations=observations,
        masks=table([t.masks.astype(bool) for t in trajectories], False),
        actions=table([t.actions.astype(np.int64) for t in trajectories], -1),
        log_probs=torch.zeros(steps, columns),
        rewards=table([t.rewards for t in trajectories]),
        ends=time == lengths - 1,
        acting=time < lengths,
        resets=(time == 0).expand(steps, columns).clone(),
        last_value=torch.zeros(columns),
    )
