"""Proximal policy optimisation on both seats of self-play, with pluggable regularisers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from nashmon.learn.batch import (
    Batch,
    Decisions,
    Minibatch,
    Policy,
    average,
    evaluate,
    minibatches,
    places,
    scatter,
    select,
    take,
)
from nashmon.learn.masked import chosen, entropy, kl
from nashmon.learn.optim import Descent, OptimConfig, Reduce, mean_over, means_over
from nashmon.learn.regulariser import Metrics, Regulariser, load_states, state_of
from nashmon.learn.returns import gae
from nashmon.learn.schedules import Power
from nashmon.learn.value import clipped_value_loss, value_loss


@dataclass(frozen=True)
class PPOConfig:
    """Hyper-parameters of the clipped policy-gradient update."""

    optim: OptimConfig = field(default_factory=OptimConfig)
    learning_rate: Power | None = None  # schedule over updates; overrides optim.learning_rate
    clip: float = 0.2
    value_clip: float = 0.0  # 0: off
    value_weight: float = 0.5
    entropy: Power = field(default_factory=lambda: Power(0.01))
    proximal: float = 0.0  # weight of KL(π ‖ π before the update)
    gamma: float = 1.0
    lam: float = 0.95  # of the advantages
    value_lam: float = 0.95  # of the value targets
    epochs: int = 2
    num_minibatches: int = 4
    target_kl: float = 0.0  # stop the epochs when KL(π ‖ π before) exceeds it; 0: never
    normalise: bool = True  # advantages to mean 0 and deviation 1
    filter_quantile: float = 0.0  # learn from decisions with |A| at least this quantile
    filter_floor: float = 0.0  # … and at least this

    def __post_init__(self) -> None:
        if not 0.0 <= self.filter_quantile < 1.0:
            raise ValueError(f"filter_quantile must be in [0, 1), not {self.filter_quantile}")


def policy_loss(log_prob: Tensor, old_log_prob: Tensor, advantage: Tensor, clip: float) -> Tensor:
    """−min(r·A, clip(r, 1 ± ε)·A) per decision, r = π(a)/μ(a)."""
    ratio = (log_prob - old_log_prob).exp()
    return -torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)


def normalised(advantages: Tensor, weights: Tensor | None) -> Tensor:
    """Shifted and scaled to mean 0 and deviation 1."""
    centred = advantages - average(advantages, weights)
    return centred / (average(centred**2, weights).sqrt() + 1e-8)


def filter_advantages(advantages: Tensor, quantile: float, floor: float) -> Tensor:
    """Which decisions to learn the policy from: |A| at or above the quantile and the floor."""
    size = advantages.abs()
    keep = size >= floor
    if quantile > 0 and size.numel():
        # kthvalue has no size limit, unlike torch.quantile
        rank = min(int(quantile * size.numel()) + 1, size.numel())
        keep &= size >= size.kthvalue(rank).values
    return keep


@dataclass(frozen=True, slots=True)
class Targets:
    """Fixed numbers of an update, one row per decision."""

    actions: Tensor
    old_log_probs: Tensor
    old_log_policy: Tensor  # (M, A)
    old_values: Tensor
    advantages: Tensor
    returns: Tensor
    references: list[Tensor]

    def at(self, index: Tensor) -> Targets:
        """The given rows."""
        return Targets(
            self.actions[index],
            self.old_log_probs[index],
            self.old_log_policy[index],
            self.old_values[index],
            self.advantages[index],
            self.returns[index],
            [r[index] for r in self.references],
        )


class PPO:
    """Updates a policy from batches of its own play."""

    def __init__(
        self,
        policy: Policy,
        config: PPOConfig,
        generator: torch.Generator,
        regularisers: Sequence[Regulariser] = (),
        reduce: Reduce | None = None,
    ) -> None:
        self.policy = policy
        self.config = config
        self.generator = generator
        self.regularisers = tuple(regularisers)
        self.reduce = reduce
        parameters = policy.parameters()  # type: ignore[attr-defined]
        self.descent = Descent(parameters, config.optim, reduce)
        self.updates = 0

    def update(self, batch: Batch) -> Metrics:
        """Learn from one batch; returns the means of what was seen on the way."""
        c = self.config
        targets = self._targets(batch)
        keep = filter_advantages(targets.advantages, c.filter_quantile, c.filter_floor)
        seen: list[Metrics] = []
        stopped = False
        for _ in range(c.epochs):
            parts = minibatches(batch, c.num_minibatches, self.policy.has_memory, self.generator)
            parts = [select(part, keep[part.index]) for part in parts]
            filled = means_over(self.reduce, [float(len(part.index) > 0) for part in parts])
            for part, share in zip(parts, filled, strict=True):
                # A part that is empty for one of several learners is left out by all of them.
                if share < 1.0:
                    continue
                loss, metrics = self._loss(part, targets.at(part.index))
                stopped = self._too_far(metrics["approx_kl"])
                if stopped:
                    break
                norm = self.descent.step(loss, self.learning_rate())
                seen.append(metrics if norm is None else {**metrics, "grad_norm": norm})
            if stopped:
                break
        report = _means(seen)
        report |= {"learning_rate": self.learning_rate(), "kept": float(keep.float().mean())}
        report |= {"early_stop": float(stopped)}
        for regulariser in self.regularisers:
            report |= regulariser.advance(self.policy, batch)
        self.updates += 1
        return report

    def _too_far(self, moved: float) -> bool:
        target = self.config.target_kl
        return target > 0 and mean_over(self.reduce, moved) > target

    def learning_rate(self) -> float:
        """The rate of the next optimiser step, before warm-up."""
        schedule = self.config.learning_rate
        rate = self.config.optim.learning_rate if schedule is None else schedule(self.updates)
        for regulariser in self.regularisers:
            rate = regulariser.learning_rate(rate)
        return rate

    @torch.no_grad()
    def _targets(self, batch: Batch) -> Targets:
        c = self.config
        before = self._before(batch)
        values = scatter(before.value, batch.acting)
        steps = (batch.rewards, values, batch.acting, batch.ends, batch.last_value)
        advantages = gae(*steps, gamma=c.gamma, lam=c.lam)[batch.acting]
        gains = gae(*steps, gamma=c.gamma, lam=c.value_lam)[batch.acting]
        return Targets(
            actions=batch.actions[batch.acting],
            old_log_probs=batch.log_probs[batch.acting],
            old_log_policy=before.log_policy,
            old_values=before.value,
            advantages=advantages,
            returns=before.value + gains,
            references=[r.prepare(batch) for r in self.regularisers],
        )

    def _before(self, batch: Batch) -> Decisions:
        """The policy before the update: what it said while acting, or a pass over the batch."""
        if batch.values is None or batch.log_policy is None:
            with self.descent.autocast():
                return evaluate(self.policy, batch)
        index = places(batch.acting)
        return Decisions(take(batch.log_policy, index), take(batch.values, index), None)

    def _loss(self, part: Minibatch, targets: Targets) -> tuple[Tensor, Metrics]:
        c = self.config
        with self.descent.autocast():
            output = evaluate(self.policy, part.batch)
        masks = take(part.batch.masks, places(part.batch.acting))
        weights = part.batch.decision_weights()
        advantage = targets.advantages
        if c.normalise:
            advantage = normalised(advantage, weights)
        log_prob = chosen(output.log_policy, targets.actions)
        surrogate = policy_loss(log_prob, targets.old_log_probs, advantage, c.clip)
        actor = average(surrogate, weights)
        critic = average(self._value_loss(output, targets), weights)
        spread = average(entropy(output.log_policy, masks), weights)
        moved = average(kl(output.log_policy, targets.old_log_policy, masks), weights)
        loss = actor + c.value_weight * critic - c.entropy(self.updates) * spread
        loss = loss + c.proximal * moved
        metrics = {
            "policy_loss": float(actor.detach()),
            "value_loss": float(critic.detach()),
            "entropy": float(spread.detach()),
            "approx_kl": float(moved.detach()),
        }
        for regulariser, reference in zip(self.regularisers, targets.references, strict=True):
            term, more = regulariser.loss(output.log_policy, masks, reference, weights)
            loss = loss + term
            metrics |= more
        return loss, metrics

    def _value_loss(self, output: Decisions, targets: Targets) -> Tensor:
        clip = self.config.value_clip
        if clip > 0 and output.value_logits is None:
            return clipped_value_loss(output.value, targets.old_values, targets.returns, clip)
        return value_loss(output, targets.returns, self.policy.value_support)

    def state_dict(self) -> dict[str, Any]:
        """Everything but the policy's own weights."""
        return {
            "descent": self.descent.state_dict(),
            "updates": self.updates,
            "generator": self.generator.get_state(),
            "regularisers": state_of(self.regularisers),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from `state_dict`."""
        self.descent.load_state_dict(state["descent"])
        self.updates = state["updates"]
        self.generator.set_state(state["generator"])
        load_states(self.regularisers, state["regularisers"])


def _means(seen: list[Metrics]) -> Metrics:
    names = {name for metrics in seen for name in metrics}
    return {
        name: sum(m[name] for m in seen if name in m) / sum(name in m for m in seen)
        for name in sorted(names)
    }
