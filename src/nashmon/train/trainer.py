"""The trainer: roll-outs, updates, checkpoints and the opponent pool of one run.

In "sync" mode everything depends on the config alone: a run that is stopped at a checkpoint and
resumed equals one that was never stopped.  To make that true for every engine, all battles start
anew, with a seed of their own, after each checkpoint.  The trainer is rank 0 of its run; others
(`ranks`) learn in step with it.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
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
from nashmon.nets.value import check_value_range
from nashmon.train.collectors import Collector, Extra, Place
from nashmon.train.config import RunConfig
from nashmon.train.group import RankError
from nashmon.train.learners import freeze
from nashmon.train.opponents import past_name, past_path
from nashmon.train.rank import Rank
from nashmon.train.ranks import Ranks
from nashmon.train.rollout import RolloutReport, joined
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
        self.ranks = Ranks(config.rank_count())
        torch.set_num_threads(self.threads)
        self.teams = run_teams(config.format, config.teams) if teams is None else teams
        self.policy = self._first_policy()
        freeze(self.policy, config.frozen)
        place = Place(0, self.ranks.count)
        self.rank = Rank(config, folder, self.teams, self.policy, place, self.ranks.mean)
        self.learner, self.pool = self.rank.learner, self.rank.pool
        self.decisions = self.battles = 0
        self.seconds = 0.0
        self.best_score = -1.0

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
    def threads(self) -> int:
        """Threads of each rank."""
        return self.config.threads_of(self.ranks.count)

    @property
    def updates(self) -> int:
        """Updates made."""
        return self.rank.updates

    @property
    def collector(self) -> Collector:
        """What plays the battles of this process."""
        return self.rank.collector

    def step(self) -> Progress:
        """Collect one batch, over all ranks, and learn from it."""
        self.ranks.start(self.rank)
        start = time.perf_counter()
        report, extra = self._play()
        collected = time.perf_counter()
        self.ranks.order("learn")
        metrics = _means([self.rank.learn(), *self.ranks.answers()])
        end = time.perf_counter()
        self.decisions += report.decisions
        self.battles += report.battles
        self.seconds += end - start
        metrics |= extra | {
            "time/collect": collected - start,
            "time/update": end - collected,
            "decisions_per_second": report.decisions / (end - start),
            "battle_turns": report.turns / max(1, report.battles),
        }
        return Progress(self.updates, self.decisions, self.battles, self.seconds, metrics, report)

    def _play(self) -> tuple[RolloutReport, Extra]:
        """Every rank plays against the same pool; this one counts all results."""
        self.ranks.order("play", self.pool.state_dict())
        report, extra = self.rank.play()
        others = [other for other, _ in self.ranks.answers()]
        for other in others:
            for name, record in other.records.items():
                self.pool.record(name, record)
        return joined([report, *others]), extra

    def share(self) -> None:
        """Tell the other ranks of a change to the policy or the learner that was made by hand."""
        self.ranks.order("adopt", self.rank.shared())
        self.ranks.answers()

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
        self.ranks.start(self.rank)
        self._compare()
        self.ranks.order("state_dict")
        parts = {
            "policy": dict(self.policy.state_dict()),
            "learner": self.learner.state_dict(),
            **self.rank.state_dict(),
        }
        others = self.ranks.answers()
        if others:
            parts["ranks"] = others
        pool = self.pool.state_dict()
        meta = {"pool": pool, "best_score": self.best_score, "ranks": self.ranks.count}
        save(path, parts, {**self._meta(), **meta})
        self.ranks.order("reset", pool)
        self.rank.reset()
        self.ranks.answers()

    def _compare(self) -> None:
        """Ranks that went apart would go on learning, from nonsense."""
        self.ranks.order("checksum")
        own = self.rank.checksum()
        for number, other in enumerate(self.ranks.answers(), start=1):
            if other != own:
                raise RankError(
                    f"rank {number} has other weights than rank 0 after update {self.updates}"
                )

    def load(self, path: Path) -> None:
        """Continue from `save`."""
        checkpoint = load(path, policy_meta(self.policy)["spec"])
        parts, meta = checkpoint.parts, checkpoint.meta
        self.ranks.close()  # those that run would have to be told; new ones begin from here
        self._settle_ranks(meta.get("ranks", 1), path)
        self.pool.load_state_dict(meta["pool"])
        self.rank.adopt({**parts, "updates": meta["updates"]})
        self.rank.load_state_dict(parts)
        self.ranks.saved = parts.get("ranks", ())
        self.decisions, self.battles = meta["decisions"], meta["battles"]
        self.seconds, self.best_score = meta["seconds"], meta["best_score"]

    def _settle_ranks(self, count: int, path: Path) -> None:
        """Go on with as many ranks as before: each has battles and random numbers of its own."""
        if count == self.ranks.count:
            return
        if self.config.ranks:
            raise CheckpointError(
                f"{path} was saved by {count} ranks, this run has {self.ranks.count}; "
                f"set ranks={count} to continue it"
            )
        self.close()
        self.ranks.count = count
        self.rank.place = Place(0, count)
        torch.set_num_threads(self.threads)

    def usage(self) -> tuple[float, float]:
        """(seconds of processor time, largest memory in MB) of all ranks together."""
        self.ranks.order("usage")
        parts = [self.rank.usage(), *self.ranks.answers()]
        return sum(cpu for cpu, _ in parts), sum(memory for _, memory in parts)

    def close(self) -> None:
        """Stop the other ranks and the actors, and free the battles."""
        self.ranks.close()
        self.rank.close()


def _means(seen: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The metrics of all ranks as one."""
    return {name: sum(metrics[name] for metrics in seen) / len(seen) for name in seen[0]}
