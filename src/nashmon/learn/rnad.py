"""Regularised Nash dynamics (Perolat et al. 2022): transformed rewards, V-trace, NeuRD, stages.

Within a stage the game is played with each seat's reward lowered by η·log(π/π_reg) of its own
moves and raised by the opponent's; that game has one fixed point, which the policy approaches.
At the end of a stage the fixed point becomes the next π_reg.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from nashmon.learn.batch import (
    Batch,
    Decisions,
    Policy,
    average,
    evaluate,
    places,
    scatter,
    take,
)
from nashmon.learn.masked import centred, chosen, entropy, kl
from nashmon.learn.optim import Average, Descent, OptimConfig, Reduce, frozen
from nashmon.learn.regulariser import Metrics
from nashmon.learn.returns import two_player_vtrace
from nashmon.learn.schedules import Power
from nashmon.learn.value import value_loss


@dataclass(frozen=True)
class RNaDConfig:
    """Hyper-parameters of R-NaD."""

    optim: OptimConfig = field(
        default_factory=lambda: OptimConfig(
            learning_rate=5e-5, betas=(0.0, 0.999), max_grad_norm=10_000.0
        )
    )
    learning_rate: Power | None = None  # schedule over updates; overrides optim.learning_rate
    eta: float = 0.2  # weight of the reward transform
    stages: tuple[tuple[int, int], ...] = ((20_000, 1),)  # (updates, repeats); last one forever
    target_rate: float = 1e-3  # how fast the target network follows
    threshold: float = 2.0  # NeuRD: logits are not pushed beyond ± this from their mean
    force_clip: float = 10_000.0  # NeuRD: largest |advantage|
    clip_c: float = 1.0
    clip_rho: float = float("inf")
    lam: float = 1.0
    gamma: float = 1.0
    value_weight: float = 1.0

    def __post_init__(self) -> None:
        if not self.stages or any(size < 1 or repeats < 1 for size, repeats in self.stages):
            raise ValueError(f"stages must be (updates ≥ 1, repeats ≥ 1) pairs, not {self.stages}")


def stage_at(stages: tuple[tuple[int, int], ...], update: int) -> tuple[int, int]:
    """First update and length of the stage that contains `update`."""
    start = 0
    for size, repeats in stages:
        if update < start + size * repeats:
            return start + (update - start) // size * size, size
        start += size * repeats
    size = stages[-1][0]
    return start + (update - start) // size * size, size


def interpolation(stages: tuple[tuple[int, int], ...], update: int) -> float:
    """Weight of the newer of the two regularisation policies: 0 → 1 over half a stage."""
    start, size = stage_at(stages, update)
    return min(1.0, 2.0 * (update - start) / size)


def action_values(
    value: Tensor, backup: Tensor, penalty: Tensor, behaviour: Tensor, actions: Tensor
) -> Tensor:
    """q(a) = V − penalty(a) + 1[a = taken]·(backup − V)/μ(a), for all actions (M, A)."""
    q = value.unsqueeze(-1) - penalty
    correction = (backup - value) / behaviour
    return q.scatter_add(-1, actions.unsqueeze(-1), correction.unsqueeze(-1))


def neurd_loss(
    log_policy: Tensor, masks: Tensor, q: Tensor, threshold: float, clip: float
) -> Tensor:
    """−Σ_a y(a)·[q(a) − Σ π q], y = centred logits, no force that pushes y out of ±threshold."""
    policy = log_policy.detach().exp()
    advantage = q - (policy * q).sum(-1, keepdim=True)
    advantage = advantage.masked_fill(~masks, 0.0).clamp(-clip, clip)
    y = centred(log_policy, masks)
    level = y.detach()
    blocked = ((level >= threshold) & (advantage > 0)) | ((level <= -threshold) & (advantage < 0))
    force = advantage.masked_fill(blocked, 0.0)
    return -(y * force.detach()).sum(-1)


class RNaD:
    """Updates a policy from paired batches: both seats of each battle are needed."""

    def __init__(self, policy: Policy, config: RNaDConfig, reduce: Reduce | None = None) -> None:
        assert isinstance(policy, nn.Module)
        self.policy = policy
        self.config = config
        self.descent = Descent(policy.parameters(), config.optim, reduce)
        self.target = Average(policy, config.target_rate)
        self.regularisation: Any = frozen(policy)  # π_reg of this stage
        self.previous: Any = frozen(policy)  # π_reg of the stage before
        self.updates = 0

    def update(self, batch: Batch) -> Metrics:
        """One gradient step; advances the stage when it is complete."""
        if not batch.paired:
            raise ValueError("R-NaD needs paired columns: both seats of each battle")
        c = self.config
        with self.descent.autocast():
            output = evaluate(self.policy, batch)
        targets, q, metrics = self._targets(batch, output)
        masks = take(batch.masks, places(batch.acting))
        weights = batch.decision_weights()
        force = neurd_loss(output.log_policy, masks, q, c.threshold, c.force_clip)
        actor = average(force, weights)
        critic = average(value_loss(output, targets, self.policy.value_support), weights)
        norm = self.descent.step(actor + c.value_weight * critic, self.learning_rate())
        metrics |= {"policy_loss": float(actor.detach()), "value_loss": float(critic.detach())}
        metrics |= {"grad_norm": norm or 0.0, "learning_rate": self.learning_rate()}
        self._advance()
        return metrics

    def learning_rate(self) -> float:
        """The rate of the next optimiser step, before warm-up."""
        schedule = self.config.learning_rate
        return self.config.optim.learning_rate if schedule is None else schedule(self.updates)

    @torch.no_grad()
    def _targets(self, batch: Batch, output: Decisions) -> tuple[Tensor, Tensor, Metrics]:
        """Value targets (M,) and action values (M, A) of the transformed game."""
        c, acting = self.config, batch.acting
        index = places(acting)
        masks, actions = take(batch.masks, index), take(batch.actions, index)
        log_policy = output.log_policy.detach()
        log_reference = self._reference(batch)
        penalty = c.eta * (log_policy - log_reference).masked_fill(~masks, 0.0)
        distance = kl(log_policy, log_reference, masks)
        behaviour = take(batch.log_probs, index)
        value = evaluate(self.target.module, batch).value
        trace = two_player_vtrace(
            batch.rewards,
            scatter(value, acting),
            acting,
            batch.ends,
            batch.last_value,
            scatter((chosen(log_policy, actions) - behaviour).exp(), acting, 1.0),
            scatter(c.eta * distance, acting),
            gamma=c.gamma,
            lam=c.lam,
            clip_c=c.clip_c,
            clip_rho=c.clip_rho,
        )
        backups = take(trace.backups, index)
        q = action_values(value, backups, penalty, behaviour.exp(), actions)
        spread = entropy(log_policy, masks)
        metrics = {"reg_kl": float(distance.mean()), "entropy": float(spread.mean())}
        return take(trace.value_targets, index), q, metrics

    def _reference(self, batch: Batch) -> Tensor:
        """Log-policy (M, A) of π_reg: from the previous one to this stage's in its first half."""
        newer = evaluate(self.regularisation, batch).log_policy
        mix = interpolation(self.config.stages, self.updates)
        if mix == 1.0:
            return newer
        return mix * newer + (1 - mix) * evaluate(self.previous, batch).log_policy

    def _advance(self) -> None:
        assert isinstance(self.policy, nn.Module)
        self.target.update(self.policy)
        self.updates += 1
        if stage_at(self.config.stages, self.updates)[0] == self.updates:
            self.previous.load_state_dict(self.regularisation.state_dict())
            self.regularisation.load_state_dict(self.target.module.state_dict())

    def state_dict(self) -> dict[str, Any]:
        """Everything but the policy's own weights."""
        return {
            "descent": self.descent.state_dict(),
            "target": self.target.state_dict(),
            "regularisation": dict(self.regularisation.state_dict()),
            "previous": dict(self.previous.state_dict()),
            "updates": self.updates,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from `state_dict`."""
        self.descent.load_state_dict(state["descent"])
        self.target.load_state_dict(state["target"])
        self.regularisation.load_state_dict(state["regularisation"])
        self.previous.load_state_dict(state["previous"])
        self.updates = state["updates"]
