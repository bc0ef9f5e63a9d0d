"""Collectors: where the battles of a run are played.

`sync` plays and learns in turns in the process of each rank and depends on the config alone.
`threads` and `processes` play while the learner learns; see `actors`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from nashmon.core.formats import get_format
from nashmon.league.pool import OpponentPool
from nashmon.learn.batch import Batch
from nashmon.nets.policy import Policy
from nashmon.sim.base import Battles
from nashmon.sim.make import choose_engine, make_battles
from nashmon.train.config import RunConfig
from nashmon.train.rollout import Rollout, RolloutReport
from nashmon.train.seating import Seating
from nashmon.train.teams import RunTeams

Extra = dict[str, float]  # metrics of the collection


class Collector(Protocol):
    """Gives the learner one batch after the other."""

    def reset(self, update: int) -> None:
        """Start all battles anew, with the seed of this update."""
        ...

    def collect(self) -> tuple[Batch, RolloutReport, Extra]:
        """The next batch; valid until the next call."""
        ...

    def publish(self, version: int) -> None:
        """Let the actors use the learner's present weights."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """What is needed to continue."""
        ...

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from `state_dict`."""
        ...

    def close(self) -> None:
        """Stop whatever runs beside the learner."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """One of the ranks that learn together."""

    rank: int = 0
    count: int = 1


def build_collector(
    config: RunConfig,
    policy: Policy,
    pool: OpponentPool,
    teams: RunTeams,
    folder: Path,
    place: Place,
) -> Collector:
    """The collector of a config, or of one rank's share of it."""
    if config.rollout.mode == "sync":
        return SyncCollector(config, policy, pool, teams, place)
    from nashmon.train.actors import ActorCollector

    return ActorCollector(config, policy, pool, teams, folder)


def run_battles(
    config: RunConfig, teams: RunTeams, count: int, workers: int, blocks: int
) -> Battles:
    """One of `blocks` blocks of training battles that are played at the same time."""
    rollout = config.rollout
    options: dict[str, Any] = {}
    if choose_engine(get_format(config.format), rollout.engine) == "showdown":
        options["overlap"] = blocks < (os.cpu_count() or 1)
    return make_battles(
        config.format,
        count,
        teams.train,
        engine=rollout.engine,
        workers=workers,
        reward=rollout.reward,
        turn_limit=rollout.turn_limit,
        **options,
    )


def make_rollout(
    config: RunConfig,
    policy: Policy,
    pool: OpponentPool,
    battles: Battles,
    actor: int = 0,
) -> Rollout:
    """The roll-out of one actor, with generators of its own."""
    rollout = config.rollout
    rng = np.random.default_rng([config.seed, 1 + actor])
    generator = torch.Generator().manual_seed(1_000_003 * (config.seed + 1) + actor)
    seating = Seating(pool, battles.num_battles, rng)
    return Rollout(battles, policy, seating, rollout.steps, generator, rollout.temperature)


def battle_seed(config: RunConfig, update: int, actor: int = 0) -> int:
    """Seed of the battles that start at an update."""
    return int(np.random.SeedSequence([config.seed, update, actor]).generate_state(1)[0])


class SyncCollector:
    """Plays a rank's share of the battles in its own process, between its updates."""

    def __init__(
        self,
        config: RunConfig,
        policy: Policy,
        pool: OpponentPool,
        teams: RunTeams,
        place: Place,
    ) -> None:
        self.config, self.place = config, place
        # One of several ranks plays its battles itself: its process is the worker.
        workers = 0 if place.count > 1 else config.threads_of(1)
        share = config.rollout.battles // place.count
        self.battles = run_battles(config, teams, share, workers, place.count)
        self.rollout = make_rollout(config, policy, pool, self.battles, place.rank)

    def reset(self, update: int) -> None:
        """Start all battles anew."""
        self.rollout.reset(battle_seed(self.config, update, self.place.rank))

    def collect(self) -> tuple[Batch, RolloutReport, Extra]:
        """Play the next steps."""
        batch, report = self.rollout.collect()
        return batch, report, {"staleness": 0.0}

    def publish(self, version: int) -> None:
        """Nothing to do: the roll-out uses the learner's own weights."""

    def state_dict(self) -> dict[str, Any]:
        """The states of both generators."""
        return {
            "generator": self.rollout.generator.get_state(),
            "rng": dict(self.rollout.seating.rng.bit_generator.state),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue with these generators."""
        self.rollout.generator.set_state(state["generator"])
        self.rollout.seating.rng.bit_generator.state = state["rng"]

    def close(self) -> None:
        """Free the battles."""
        self.battles.close()
