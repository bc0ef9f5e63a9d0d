"""One run, described completely: what `nashmon train` reads from YAML and the command line."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from nashmon.core.errors import UnsupportedError
from nashmon.core.formats import get_format
from nashmon.core.rewards import get_reward
from nashmon.core.settings import SettingsError, override, read_settings, read_yaml
from nashmon.league.pool import PoolConfig
from nashmon.learn.damping import DampingConfig
from nashmon.learn.magnet import MagnetConfig
from nashmon.learn.optim import OptimConfig
from nashmon.learn.portfolio import PortfolioConfig
from nashmon.learn.ppo import PPOConfig
from nashmon.learn.rnad import RNaDConfig
from nashmon.learn.schedules import Power
from nashmon.nets.config import PolicyConfig, policy_config
from nashmon.sim.make import Engine

Algo = Literal["ppo", "magnet", "damped_ppo", "portfolio", "rnad"]
Mode = Literal["sync", "threads", "processes"]
MIN_SHARE = 16  # battles below which a further rank would not pay


@dataclass(frozen=True)
class BudgetConfig:
    """When to stop, whichever comes first; 0: no such limit."""

    minutes: float = 60.0  # of training, pauses between sessions not counted
    updates: int = 0
    decisions: int = 0


@dataclass(frozen=True)
class NetworkConfig:
    """A size by name, with any option of `nets.config.PolicyConfig` changed."""

    size: str = "tiny"
    options: dict[str, Any] = field(default_factory=lambda: {"memory": "none", "matchup": True})

    def policy(self) -> PolicyConfig:
        """The policy's config."""
        return policy_config(self.size, **self.options)


@dataclass(frozen=True)
class RolloutConfig:
    """How battles are played for training."""

    battles: int = 256  # side by side, over all ranks or actors
    steps: int = 16  # of every battle per update
    engine: Engine = "auto"
    mode: Mode = "sync"
    actors: int = 2  # threads or processes; "sync" has none
    max_staleness: int = 2  # updates that may lie between acting and learning
    temperature: float = 1.0
    reward: str = "outcome"
    turn_limit: int = 300  # a battle that reaches it is a draw


@dataclass(frozen=True)
class TeamsConfig:
    """Which teams train, and which are kept for evaluation."""

    train: tuple[str, ...] = ("competitive", "variety:1000:7")  # sources, equal shares
    opponent: tuple[str, ...] = ()  # of the opponents' seat; empty: as `train`
    held_out: float = 0.25  # share of the first source's teams that is only for evaluation


@dataclass(frozen=True)
class EvaluationConfig:
    """Matches on held-out teams beside training."""

    every: int = 400  # updates; 0: only at the end
    games: int = 200  # per opponent
    final_games: int = 1000
    opponents: tuple[str, ...] = (
        "scripted:random",
        "scripted:maxpower",
        "scripted:gymleader",
        "scripted:tactician",
    )
    background: bool = True  # in a process of its own, training goes on


@dataclass(frozen=True)
class CheckpointConfig:
    """What is kept on disk."""

    every: int = 200  # updates between two saves of `last`
    keep_every: int = 800  # updates between two that are kept for good; 0: none


@dataclass(frozen=True)
class ExploiterConfig:
    """Automatic exploiters: trained against a frozen copy of the learner, then its opponents."""

    every: int = 0  # updates between two; 0: none
    updates: int = 60  # of the exploiter's training
    inits: tuple[str, ...] = ("victim",)
    games: int = 200  # fresh games that decide
    threshold: float = 0.6  # win rate from which it is registered


@dataclass(frozen=True)
class LogConfig:
    """Where metrics go, beside metrics.jsonl."""

    tensorboard: bool = True
    wandb: Literal["off", "offline", "online"] = "off"
    project: str = "nashmon"


def _ppo() -> PPOConfig:
    return PPOConfig(
        optim=OptimConfig(learning_rate=7e-4, max_grad_norm=0.5),
        learning_rate=Power(7e-4, 0.5, 1500),
        value_weight=2.0,
        entropy=Power(0.0),
        lam=0.6,
        value_lam=0.85,
        epochs=1,
        num_minibatches=16,
    )


def _rnad() -> RNaDConfig:
    optim = OptimConfig(learning_rate=3e-4, betas=(0.0, 0.999), max_grad_norm=10.0)
    return RNaDConfig(optim=optim, stages=((200, 1),), target_rate=0.05, clip_rho=1.0, lam=0.9)


def _damping() -> DampingConfig:
    return DampingConfig(
        kl_schedule_steps=500, ent_schedule_steps=500, reference_interval=50, max_lr=1e-3
    )


@dataclass(frozen=True)
class RunConfig:
    """Everything a training run depends on."""

    format: str = "gen1ou"
    seed: int = 0
    algo: Algo = "magnet"
    init: str = ""  # an agent spec with a network, or a checkpoint; empty: random weights
    frozen: tuple[str, ...] = ()  # parameters whose names begin so are not trained
    device: str = "cpu"
    ranks: int = 0  # processes that learn together; 0: one per core, or one if `threads` is set
    threads: int = 0  # of each rank; 0: one if there are several ranks, else all cores
    budget: BudgetConfig = field(default_factory=BudgetConfig)
    network: NetworkConfig = field(default_factory=NetworkConfig)
    rollout: RolloutConfig = field(default_factory=RolloutConfig)
    teams: TeamsConfig = field(default_factory=TeamsConfig)
    ppo: PPOConfig = field(default_factory=_ppo)
    magnet: MagnetConfig = field(default_factory=lambda: MagnetConfig(weight=Power(0.04, 0.5, 200)))
    damping: DampingConfig = field(default_factory=_damping)
    portfolio: PortfolioConfig = field(default_factory=lambda: PortfolioConfig(add_interval=100))
    rnad: RNaDConfig = field(default_factory=_rnad)
    opponents: PoolConfig = field(default_factory=PoolConfig)
    exploiters: ExploiterConfig = field(default_factory=ExploiterConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    checkpoints: CheckpointConfig = field(default_factory=CheckpointConfig)
    log: LogConfig = field(default_factory=LogConfig)

    def __post_init__(self) -> None:
        self.network.policy()
        get_format(self.format)
        if not get_reward(self.rollout.reward).zero_sum:
            raise UnsupportedError(
                f"rollout.reward {self.rollout.reward!r} is not zero-sum; self-play needs one that "
                "is: binary, outcome, symmetric_shaped, symmetric_aggressive"
            )
        if self.algo == "rnad":
            self._check_rnad()
        if self.rollout.battles < 1 or self.rollout.steps < 1:
            raise SettingsError("rollout.battles and rollout.steps must be at least 1")
        if self.rollout.mode != "sync" and self.rollout.battles % self.rollout.actors:
            raise SettingsError(
                f"rollout.battles {self.rollout.battles} must be a multiple of "
                f"rollout.actors {self.rollout.actors}"
            )
        self._check_ranks()
        limits = (self.budget.minutes, self.budget.updates, self.budget.decisions)
        if min(limits) < 0 or not any(limits) or any(math.isnan(x) for x in limits):
            raise SettingsError("budget: give minutes, updates or decisions")
        if self.checkpoints.every < 1:
            raise SettingsError("checkpoints.every must be at least 1 update")
        if self.exploiters.every % self.checkpoints.every:
            raise SettingsError(
                f"exploiters.every {self.exploiters.every} must be a multiple of "
                f"checkpoints.every {self.checkpoints.every}"
            )

    def rank_count(self) -> int:
        """How many ranks share the battles; automatic: one per core that gets enough of them."""
        if self.ranks:
            return self.ranks
        if self.threads or self.rollout.mode != "sync" or self.device != "cpu":
            return 1
        battles = self.rollout.battles
        most = max(1, min(os.cpu_count() or 1, battles // MIN_SHARE))
        return next(count for count in range(most, 0, -1) if battles % count == 0)

    def threads_of(self, ranks: int) -> int:
        """Threads of each of so many ranks."""
        return self.threads or (1 if ranks > 1 else os.cpu_count() or 1)

    def _check_ranks(self) -> None:
        if self.ranks < 0:
            raise SettingsError(f"ranks must be at least 0, not {self.ranks}")
        if self.ranks < 2:
            return
        if self.rollout.mode != "sync":
            raise SettingsError(
                f"ranks {self.ranks} needs rollout.mode sync, not {self.rollout.mode}"
            )
        if self.device != "cpu":
            raise SettingsError(f"ranks {self.ranks} needs device cpu, not {self.device}")
        if self.rollout.battles % self.ranks:
            raise SettingsError(
                f"rollout.battles {self.rollout.battles} must be a multiple of ranks {self.ranks}"
            )

    def _check_rnad(self) -> None:
        pool = self.opponents
        if pool.past or pool.exploiters or pool.others:
            raise SettingsError("algo rnad needs both seats of every battle: opponents.self_play=1")
        if self.rollout.mode != "sync":
            raise SettingsError("algo rnad runs with rollout.mode sync")


def load_config(path: Path | None, assignments: Sequence[str] = ()) -> RunConfig:
    """The config of a YAML file (or the defaults) with overrides from the command line."""
    data = {} if path is None else read_yaml(path)
    return read_settings(RunConfig, override(data, assignments))
