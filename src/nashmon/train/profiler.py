"""Measures the actual pipeline of a run: playing, inference and learning, and what limits it."""

from __future__ import annotations

import itertools
import resource
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
    """Where the time of a pipeline goes, per learned decision."""

    setting: dict[str, int | str]
    decisions_per_second: float
    collect_us: float  # playing and acting
    inference_us: float  # of collecting: the network
    engine_us: float  # of collecting: the battles
    update_us: float
    cpu_cores: float  # busy on average
    memory_mb: float  # largest so far
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

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "bottleneck": self.bottleneck}


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
    start, cpu = time.perf_counter(), time.process_time()
    while time.perf_counter() - start < seconds:
        progress = trainer.step()
        decisions += progress.report.decisions
        collect += progress.metrics["time/collect"]
        update += progress.metrics["time/update"]
    total = time.perf_counter() - start
    scale = 1e6 / decisions
    on_gpu = torch.cuda.is_available()
    return Profile(
        setting={
            "battles": trainer.config.rollout.battles,
            "steps": trainer.config.rollout.steps,
            "threads": trainer.threads,
            "size": trainer.config.network.size,
        },
        decisions_per_second=decisions / total,
        collect_us=collect * scale,
        inference_us=network.seconds * scale,
        engine_us=engine.seconds * scale,
        update_us=update * scale,
        cpu_cores=(time.process_time() - cpu) / total,
        memory_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        gpu_memory_mb=torch.cuda.max_memory_allocated() / 2**20 if on_gpu else 0.0,
    )


def sweep(
    config: RunConfig,
    battles: Sequence[int] = (128, 256, 512, 1024),
    threads: Sequence[int] = (1, 2),
    seconds: float = 6.0,
) -> Iterator[Profile]:
    """Profiles over sizes; the decisions per update stay those of the config."""
    per_update = config.rollout.battles * config.rollout.steps
    for count, number in itertools.product(battles, threads):
        steps = max(1, per_update // count)
        rollout = replace(config.rollout, battles=count, steps=steps)
        yield profile(replace(config, rollout=rollout, threads=number), seconds)


def recommend(config: RunConfig, profiles: Sequence[Profile]) -> RunConfig:
    """The config with the sizes of the fastest profile."""
    if not profiles:
        raise ProfileError("nothing was measured")
    best = max(profiles, key=lambda p: p.decisions_per_second)
    rollout = replace(
        config.rollout, battles=int(best.setting["battles"]), steps=int(best.setting["steps"])
    )
    return replace(config, rollout=rollout, threads=int(best.setting["threads"]))
