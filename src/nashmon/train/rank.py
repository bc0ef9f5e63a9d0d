"""One rank: a learner with its share of the battles.

All ranks of a run hold the same weights, and whatever steers learning is a mean over the ranks.
What differs are the battles and the random numbers; `state_dict` is about these alone.
"""

from __future__ import annotations

import resource
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from nashmon.learn.batch import Batch
from nashmon.learn.optim import Reduce
from nashmon.learn.regulariser import Metrics
from nashmon.nets.policy import Policy
from nashmon.nets.rng import rng_state, set_rng_state
from nashmon.train.collectors import Collector, Extra, Place, build_collector
from nashmon.train.config import RunConfig
from nashmon.train.learners import build_learner
from nashmon.train.opponents import opponent_pool
from nashmon.train.rollout import RolloutReport
from nashmon.train.teams import RunTeams

SEED_STRIDE = 1_000_003  # between the seeds of two ranks


class Rank:
    """Plays, learns, and keeps the states of its random numbers."""

    def __init__(
        self,
        config: RunConfig,
        folder: Path,
        teams: RunTeams,
        policy: Policy,
        place: Place,
        reduce: Reduce,
    ) -> None:
        self.config, self.folder, self.teams = config, folder, teams
        self.policy, self.place = policy, place
        seed = config.seed + 1 + SEED_STRIDE * place.rank
        self.generator = torch.Generator().manual_seed(seed)
        self.learner = build_learner(config, policy, self.generator, reduce)
        self.pool = opponent_pool(config, folder)
        self.updates = 0
        self._collector: Collector | None = None
        self._batch: Batch | None = None

    @property
    def collector(self) -> Collector:
        """What plays the battles; started when first used."""
        if self._collector is None:
            self._collector = build_collector(
                self.config, self.policy, self.pool, self.teams, self.folder, self.place
            )
            self._collector.reset(self.updates)
        return self._collector

    def play(self, pool: Mapping[str, Any] | None = None) -> tuple[RolloutReport, Extra]:
        """Collect the batch of the next `learn`; `pool`: what rank 0 knows of the opponents."""
        if pool is not None:
            self.pool.load_state_dict(pool)
        self._batch, report, extra = self.collector.collect()
        return report, extra

    def learn(self) -> Metrics:
        """Learn from what was played last, in step with the other ranks."""
        if self._batch is None:
            raise RuntimeError("call play() before learn()")
        metrics = self.learner.update(self._batch)
        self._batch = None
        self.updates += 1
        self.collector.publish(self.updates)
        return metrics

    def reset(self, pool: Mapping[str, Any] | None = None) -> None:
        """Start all battles anew, with the seed of this update."""
        if pool is not None:
            self.pool.load_state_dict(pool)
        self.collector.reset(self.updates)

    def state_dict(self) -> dict[str, Any]:
        """What only this rank has: the states of its generators."""
        return {
            "collector": self.collector.state_dict(),
            "rng": rng_state({"learner": self.generator}),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from `state_dict`."""
        self.collector.load_state_dict(state["collector"])
        set_rng_state(state["rng"], {"learner": self.generator})
        self.collector.reset(self.updates)

    def shared(self) -> dict[str, Any]:
        """What all ranks have in common."""
        return {
            "policy": dict(self.policy.state_dict()),
            "learner": self.learner.state_dict(),
            "updates": self.updates,
        }

    def adopt(self, shared: Mapping[str, Any]) -> None:
        """Take over what all ranks have in common; the random numbers stay this rank's own."""
        own = self.generator.get_state()
        self.policy.load_state_dict(shared["policy"])
        self.learner.load_state_dict(shared["learner"])
        self.generator.set_state(own)
        self.updates = shared["updates"]

    def begin(
        self, shared: Mapping[str, Any], pool: Mapping[str, Any], own: Mapping[str, Any] | None
    ) -> None:
        """Join the others; `own`: the saved state of this rank."""
        self.pool.load_state_dict(pool)
        self.adopt(shared)
        if own is not None:
            self.load_state_dict(own)

    def checksum(self) -> int:
        """A number that is the same for the same weights, to compare ranks with."""
        total = 0
        for tensor in self.policy.state_dict().values():
            total = zlib.crc32(tensor.detach().cpu().contiguous().numpy().tobytes(), total)
        return total

    def usage(self) -> tuple[float, float]:
        """(seconds of processor time, largest memory in MB) of this process."""
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return time.process_time(), memory

    def close(self) -> None:
        """Stop actors and free the battles."""
        if self._collector is not None:
            self._collector.close()
            self._collector = None
