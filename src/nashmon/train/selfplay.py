"""Iterated self-play: collect and train, snapshot the reference, evaluate, repeat.

Two presets are compared at equal budgets: `baseline` (plain PPO) and `damped` (PPO with dynamic
damping, whose reference is the policy at the start of the iteration).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import torch

from nashmon.agents.neural import NeuralAgent
from nashmon.agents.specs import get_agent
from nashmon.core.errors import NashmonError
from nashmon.learn.batch import evaluate
from nashmon.learn.damping import Damping
from nashmon.learn.masked import kl
from nashmon.learn.ppo import PPO
from nashmon.learn.schedules import Power
from nashmon.match.cells import write_atomically
from nashmon.match.statistics import Record
from nashmon.nets.build import load_policy
from nashmon.train.config import RunConfig
from nashmon.train.evaluation import SEED, match_on
from nashmon.train.trainer import Trainer

Preset = Literal["baseline", "damped"]
RESULTS = "iterations.json"


class SelfPlayError(NashmonError):
    """Iterated self-play that cannot be run as asked."""


@dataclass(frozen=True)
class SelfPlayConfig:
    """How many iterations, and how long each is."""

    iterations: int = 6
    updates: int = 50  # per iteration
    games: int = 400  # per opponent and iteration
    opponents: tuple[str, ...] = ("scripted:maxpower", "scripted:gymleader")

    def __post_init__(self) -> None:
        if min(self.iterations, self.updates) < 1:
            raise SelfPlayError("iterations and updates must be at least 1")


@dataclass
class Iteration:
    """What one iteration led to."""

    number: int
    decisions: int
    seconds: float
    entropy: float  # mean over the iteration
    kl: float  # KL(π ‖ policy at the start of the iteration), at its end
    win_rates: dict[str, list[float]] = field(default_factory=dict)  # opponent → rate, low, high
    previous: list[float] = field(default_factory=list)  # against the iteration before


def preset_run(base: RunConfig, preset: Preset, seed: int) -> RunConfig:
    """The run of a preset; everything else stays equal."""
    if preset == "baseline":
        ppo = replace(base.ppo, entropy=Power(base.damping.ent_coef_init))
        return replace(base, algo="ppo", ppo=ppo, seed=seed)
    if preset != "damped":
        raise SelfPlayError(f"unknown preset {preset!r}; there are baseline and damped")
    damping = replace(base.damping, reference_interval=0)
    ppo = replace(base.ppo, entropy=Power(0.0))
    return replace(base, algo="damped_ppo", ppo=ppo, damping=damping, seed=seed)


class SelfPlay:
    """One preset with one seed; resumes after the last complete iteration."""

    def __init__(self, run: RunConfig, plan: SelfPlayConfig, folder: Path) -> None:
        self.run_config, self.plan, self.folder = run, plan, folder
        folder.mkdir(parents=True, exist_ok=True)
        self.trainer = Trainer(run, folder)
        self.done = self._load()

    def _load(self) -> list[Iteration]:
        file = self.folder / RESULTS
        if not file.exists():
            return []
        stored = json.loads(file.read_text(encoding="utf-8"))
        if stored["updates"] != self.plan.updates:
            raise SelfPlayError(
                f"{file} has {stored['updates']} updates per iteration, asked are "
                f"{self.plan.updates}"
            )
        done = [Iteration(**row) for row in stored["iterations"]]
        if done:
            self.trainer.load(self.folder / "last")
        return done

    def policy_path(self, number: int) -> Path:
        """The policy after an iteration."""
        return self.folder / f"iteration_{number:03d}"

    def run(self) -> Iterator[tuple[int, int, dict[str, float]]]:
        """Train all iterations; yields (iteration, update in it, metrics)."""
        try:
            while len(self.done) < self.plan.iterations:
                yield from self._iteration(len(self.done) + 1)
        finally:
            self.trainer.close()

    def _iteration(self, number: int) -> Iterator[tuple[int, int, dict[str, float]]]:
        trainer = self.trainer
        if isinstance(trainer.learner, PPO):
            for part in trainer.learner.regularisers:
                if isinstance(part, Damping):
                    part.snapshot(trainer.policy)
            trainer.share()
        start = {k: v.clone() for k, v in trainer.policy.state_dict().items()}
        entropies = []
        for update in range(1, self.plan.updates + 1):
            progress = trainer.step()
            entropies.append(progress.metrics["entropy"])
            yield number, update, progress.metrics
        result = Iteration(
            number,
            trainer.decisions,
            trainer.seconds,
            sum(entropies) / len(entropies),
            self._distance(start),
        )
        trainer.save_policy(self.policy_path(number))
        self._evaluate(result)
        trainer.save(self.folder / "last")
        self.done.append(result)
        rows = [asdict(row) for row in self.done]
        text = json.dumps({"updates": self.plan.updates, "iterations": rows}, indent=1)
        write_atomically(self.folder / RESULTS, text)

    @torch.no_grad()
    def _distance(self, start: dict[str, torch.Tensor]) -> float:
        """KL of the policy now to the one at the start, on fresh decisions."""
        batch, _, _ = self.trainer.collector.collect()
        now = evaluate(self.trainer.policy, batch).log_policy
        kept = {k: v.clone() for k, v in self.trainer.policy.state_dict().items()}
        self.trainer.policy.load_state_dict(start)
        before = evaluate(self.trainer.policy, batch).log_policy
        self.trainer.policy.load_state_dict(kept)
        return float(kl(now, before, batch.masks[batch.acting]).mean())

    def _evaluate(self, result: Iteration) -> None:
        agent = NeuralAgent(self.trainer.policy, f"iteration {result.number}")
        teams, config = self.trainer.teams.held_out, self.run_config
        for name in self.plan.opponents:
            foe = get_agent(name, config.format)
            record = match_on(config.format, teams, (agent, foe), self.plan.games, SEED)
            result.win_rates[name] = _triple(record)
        if result.number > 1:
            policy, _ = load_policy(self.policy_path(result.number - 1))
            foe = NeuralAgent(policy, "before")
            record = match_on(config.format, teams, (agent, foe), self.plan.games, SEED)
            result.previous = _triple(record)


def _triple(record: Record) -> list[float]:
    low, high = record.interval
    return [record.win_rate, low, high]


@torch.no_grad()
def diversity(folder: Path, run: RunConfig) -> list[list[float]]:
    """Mean KL between the policies of the iterations on the decisions of the last one."""
    paths = sorted(folder.glob("iteration_*"))
    trainer = Trainer(run, folder)
    try:
        last, _ = load_policy(paths[-1])
        trainer.policy.load_state_dict(last.state_dict())
        batch, _, _ = trainer.collector.collect()
        tables = [evaluate(load_policy(path)[0], batch).log_policy for path in paths]
    finally:
        trainer.close()
    masks = batch.masks[batch.acting]
    return [[float(kl(a, b, masks).mean()) for b in tables] for a in tables]


def compare_rows(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The iterations of every finished run below a folder, by its name (preset_seed)."""
    return {
        file.parent.name: json.loads(file.read_text(encoding="utf-8"))["iterations"]
        for file in sorted(folder.glob(f"*/{RESULTS}"))
    }
