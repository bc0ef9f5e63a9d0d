"""Measures the actual pipeline of a run: playing, inference and learning, and what limits it."""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from nashmon.core.errors import NashmonError
from nashmon.train.config import RunConfig
from nashmon.train.trainer import Trainer


class ProfileError(NashmonError):
    """A profile that cannot be taken."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Where the time of a pipeline goes, per learned decision; parts are those of rank 0."""

    setting: dict[str, int | str]
    decisions_per_second: float
    collect_us: float  # playing and acting
    inference_us: float  # of collecting: the network
    engine_us: float  # of collecting: the battles
    update_us: float
    cpu_cores: float  # busy on average, over all ranks
    memory_mb: float  # largest so far, over all ranks
    gpu_memory_mb: float

    @property
    def bottleneck(self) -> str:
        """The part that costs most."""
        parts = {
            "inference": self.inference_us,
            "battles": self.engine_us,
            "learning": self.update_us,
        }
        return max(parts, key=lambda name: parts[name])

    @property
    def cpu_us(self) -> float:
        """Processor time: what a decision costs, whatever else the machine does."""
        return 1e6 * self.cpu_cores / self.decisions_per_second

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "cpu_us": self.cpu_us, "bottleneck": self.bottleneck}


class _Clock:
    """Adds up the time spent in a callable."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def wrap(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The same callable, timed."""

        def timed(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                self.seconds += time.perf_counter() - start

        return timed


def profile(config: RunConfig, seconds: float = 10.0, warmup: int = 2) -> Profile:
    """Run the pipeline for a while and say where the time goes."""
    if config.rollout.mode != "sync":
        config = replace(config, rollout=replace(config.rollout, mode="sync"))
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(config, Path(folder))
        try:
            return _measure(trainer, seconds, warmup)
        finally:
            trainer.close()


def _measure(trainer: Trainer, seconds: float, warmup: int) -> Profile:
    rollout = trainer.collector.rollout  # type: ignore[attr-defined]
    for _ in range(warmup):
        trainer.step()
    network, engine = _Clock(), _Clock()
    rollout._evaluate = network.wrap(rollout._evaluate)
    rollout.battles.step = engine.wrap(rollout.battles.step)
    decisions, collect, update = 0, 0.0, 0.0
    start, (cpu, _) = time.perf_counter(), trainer.usage()
    while time.perf_counter() - start < seconds:
        progress = trainer.step()
        decisions += progress.report.decisions
        collect += progress.metrics["time/collect"]
        update += progress.metrics["time/update"]
    total = time.perf_counter() - start
    used, memory = trainer.usage()
    scale = 1e6 / decisions
    on_gpu = torch.cuda.is_available()
    return Profile(
        setting={
            "battles": trainer.config.rollout.battles,
            "steps": trainer.config.rollout.steps,
            "ranks": trainer.ranks.count,
            "threads": trainer.threads,
            "size": trainer.config.network.size,
        },
        decisions_per_second=decisions / total,
        collect_us=collect * scale,
        inference_us=network.seconds * scale,
        engine_us=engine.seconds * scale,
        update_us=update * scale,
        cpu_cores=(used - cpu) / total,
        memory_mb=memory,
        gpu_memory_mb=torch.cuda.max_memory_allocated() / 2**20 if on_gpu else 0.0,
    )


def sweep(
    config: RunConfig,
    battles: Sequence[int] = (128, 256, 512, 1024),
    processors: Sequence[tuple[int, int]] = ((1, 1), (1, 2), (2, 1)),
    seconds: float = 6.0,
) -> Iterator[Profile]:
    """Profiles over sizes and (ranks, threads); decisions per update stay those of the config."""
    per_update = config.rollout.battles * config.rollout.steps
    for count, (ranks, threads) in itertools.product(battles, processors):
        if count % ranks:
            continue
        steps = max(1, per_update // count)
        rollout = replace(config.rollout, battles=count, steps=steps, mode="sync")
        yield profile(replace(config, rollout=rollout, ranks=ranks, threads=threads), seconds)


def recommend(config: RunConfig, profiles: Sequence[Profile]) -> RunConfig:
    """The config with the sizes of the fastest profile."""
    if not profiles:
        raise ProfileError("nothing was measured")
    best = max(profiles, key=lambda p: p.decisions_per_second)
    battles, steps = int(best.setting["battles"]), int(best.setting["steps"])
    rollout = replace(config.rollout, mode="sync", battles=battles, steps=steps)  # as measured
    ranks, threads = int(best.setting["ranks"]), int(best.setting["threads"])
    return replace(config, rollout=rollout, ranks=ranks, threads=threads)
