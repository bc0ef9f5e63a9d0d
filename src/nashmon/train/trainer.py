"""The trainer: roll-outs, updates, checkpoints and the opponent pool of one run.

In "sync" mode everything depends on the config alone: a run that is stopped at a checkpoint and
resumed equals one that was never stopped.  To make that true for every engine, all battles start
anew, with a seed of their own, after each checkpoint.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from nashmon.agents.neural import NeuralAgent
from nashmon.agents.specs import get_agent
from nashmon.core.rewards import get_reward
from nashmon.core.settings import plain
from nashmon.nets.build import build_policy, policy_meta
from nashmon.nets.checkpoint import CheckpointError, load, save
from nashmon.nets.policy import Policy
from nashmon.nets.rng import rng_state, set_rng_state
from nashmon.nets.value import check_value_range
from nashmon.train.collectors import Collector, build_collector
from nashmon.train.config import RunConfig
from nashmon.train.learners import build_learner, freeze
from nashmon.train.opponents import opponent_pool, past_name, past_path
from nashmon.train.rollout import RolloutReport
from nashmon.train.teams import RunTeams, run_teams


@dataclass(frozen=True, slots=True)
class Progress:
    """One update as the outside sees it."""

    update: int
    decisions: int  # learned from, in total
    battles: int  # ended, in total
    seconds: float  # of training, in total
    metrics: dict[str, float]
    report: RolloutReport


class Trainer:
    """Everything a run needs in memory."""

    def __init__(self, config: RunConfig, folder: Path, teams: RunTeams | None = None) -> None:
        self.config, self.folder = config, folder
        self.threads = config.threads or os.cpu_count() or 1
        torch.set_num_threads(self.threads)
        self.teams = run_teams(config.format, config.teams) if teams is None else teams
        self.policy = self._first_policy()
        freeze(self.policy, config.frozen)
        self.generator = torch.Generator().manual_seed(config.seed + 1)
        self.learner = build_learner(config, self.policy, self.generator)
        self.pool = opponent_pool(config, folder)
        self.updates = self.decisions = self.battles = 0
        self.seconds = 0.0
        self.best_score = -1.0
        self._collector: Collector | None = None

    def _first_policy(self) -> Policy:
        config = self.config
        torch.manual_seed(config.seed)
        if config.init:
            agent = get_agent(config.init, config.format)
            if not isinstance(agent, NeuralAgent):
                raise CheckpointError(f"init {config.init!r} is not a network")
            agent.check_format(config.format)
            policy = agent.policy
        else:
            policy = build_policy(config.format, config.network.policy())
        low, high = get_reward(config.rollout.reward).bounds
        check_value_range(policy.config, low, high)
        return policy.to(config.device)

    @property
    def collector(self) -> Collector:
        """What plays the battles; started when first used."""
        if self._collector is None:
            self._collector = build_collector(
                self.config, self.policy, self.pool, self.teams, self.folder
            )
            self._collector.reset(self.updates)
        return self._collector

    def step(self) -> Progress:
        """Collect one batch and learn from it."""
        start = time.perf_counter()
        batch, report, extra = self.collector.collect()
        collected = time.perf_counter()
        metrics = self.learner.update(batch)
        end = time.perf_counter()
        self.updates += 1
        self.decisions += report.decisions
        self.battles += report.battles
        self.seconds += end - start
        self.collector.publish(self.updates)
        metrics |= extra | {
            "time/collect": collected - start,
            "time/update": end - collected,
            "decisions_per_second": report.decisions / (end - start),
            "battle_turns": report.turns / max(1, report.battles),
        }
        return Progress(self.updates, self.decisions, self.battles, self.seconds, metrics, report)

    def remember(self) -> None:
        """Add the present policy to the pool's past, when it is time."""
        opponents = self.config.opponents
        if opponents.past <= 0 or self.updates % opponents.past_every:
            return
        name = past_name(self.updates)
        self.save_policy(past_path(self.folder, name))
        for gone in self.pool.add(name, "past"):
            shutil.rmtree(past_path(self.folder, gone), ignore_errors=True)

    def save_policy(self, path: Path) -> None:
        """A checkpoint to play with: weights and specs only."""
        save(path, {"policy": dict(self.policy.state_dict())}, self._meta())

    def _meta(self) -> dict[str, Any]:
        reward = get_reward(self.config.rollout.reward)
        return {
            **policy_meta(self.policy, reward.spec),
            "format": self.config.format,
            "config": plain(self.config),
            "updates": self.updates,
            "decisions": self.decisions,
            "battles": self.battles,
            "seconds": self.seconds,
        }

    def save(self, path: Path) -> None:
        """A checkpoint to resume from; the battles start anew behind it."""
        parts = {
            "policy": dict(self.policy.state_dict()),
            "learner": self.learner.state_dict(),
            "collector": self.collector.state_dict(),
            "rng": rng_state({"learner": self.generator}),
        }
        meta = {**self._meta(), "pool": self.pool.state_dict(), "best_score": self.best_score}
        save(path, parts, meta)
        self.collector.reset(self.updates)

    def load(self, path: Path) -> None:
        """Continue from `save`."""
        checkpoint = load(path, policy_meta(self.policy)["spec"])
        parts, meta = checkpoint.parts, checkpoint.meta
        self.policy.load_state_dict(parts["policy"])
        self.learner.load_state_dict(parts["learner"])
        self.pool.load_state_dict(meta["pool"])
        self._restore_counters(meta)
        self.collector.load_state_dict(parts["collector"])
        set_rng_state(parts["rng"], {"learner": self.generator})
        self.collector.reset(self.updates)

    def _restore_counters(self, meta: Mapping[str, Any]) -> None:
        self.updates, self.decisions = meta["updates"], meta["decisions"]
        self.battles, self.seconds = meta["battles"], meta["seconds"]
        self.best_score = meta["best_score"]

    def close(self) -> None:
        """Stop actors and free the battles."""
        if self._collector is not None:
            self._collector.close()
            self._collector = None
