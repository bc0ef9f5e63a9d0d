"""Behaviour cloning from logged decisions, some without a known action, plus outcome prediction."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from nashmon.learn.batch import Batch, Decisions, Minibatch, Policy, average, evaluate, minibatches
from nashmon.learn.masked import chosen
from nashmon.learn.optim import Descent, OptimConfig
from nashmon.learn.regulariser import Metrics
from nashmon.learn.returns import lambda_returns
from nashmon.learn.value import value_loss


@dataclass(frozen=True)
class BCConfig:
    """Hyper-parameters of imitation."""

    optim: OptimConfig = field(default_factory=lambda: OptimConfig(kind="adamw"))
    label_smoothing: float = 0.0  # share of the target spread over all legal actions
    value_weight: float = 0.5  # of predicting the return; 0: policy only
    gamma: float = 1.0
    num_minibatches: int = 1
    frozen: tuple[str, ...] = ()  # name prefixes of parameters that stay as they are
    action_groups: tuple[int, ...] = ()  # kind of each action, for accuracy by kind
    group_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0.0 <= self.label_smoothing < 1.0:
            raise ValueError(f"label_smoothing must be in [0, 1), not {self.label_smoothing}")
        if self.action_groups and max(self.action_groups) >= len(self.group_names):
            raise ValueError(f"action_groups name {max(self.action_groups) + 1} kinds of action")


def imitation_loss(log_policy: Tensor, masks: Tensor, actions: Tensor, smoothing: float) -> Tensor:
    """Cross-entropy per decision to (1 − s)·[a] + s·uniform over the legal actions."""
    loss = -chosen(log_policy, actions)
    if smoothing == 0.0:
        return loss
    spread = -log_policy.masked_fill(~masks, 0.0).sum(-1) / masks.sum(-1).clamp(min=1)
    return (1 - smoothing) * loss + smoothing * spread


def accuracy(log_policy: Tensor, actions: Tensor, k: int) -> Tensor:
    """Whether the taken action is among the k most likely (M,)."""
    k = min(k, log_policy.shape[-1])
    return (log_policy.topk(k, -1).indices == actions.unsqueeze(-1)).any(-1)


def calibration_error(log_policy: Tensor, actions: Tensor, num_bins: int = 10) -> float:
    """Mean |confidence − accuracy| of the most likely action over confidence bins, by size."""
    confidence, guess = log_policy.exp().max(-1)
    right = (guess == actions).float()
    place = (confidence * num_bins).long().clamp(max=num_bins - 1)
    gap = torch.zeros(num_bins, device=right.device).index_add(0, place, confidence - right)
    return float(gap.abs().sum() / max(1, len(right)))


class BC:
    """Updates a policy towards logged actions."""

    def __init__(self, policy: Policy, config: BCConfig, generator: torch.Generator) -> None:
        assert isinstance(policy, nn.Module)
        self.policy = policy
        self.config = config
        self.generator = generator
        freeze(policy, config.frozen)
        self.descent = Descent(policy.parameters(), config.optim)
        self.updates = 0

    def update(self, batch: Batch) -> Metrics:
        """One pass over the batch; decisions with action −1 are seen but not imitated."""
        c = self.config
        known = labelled(batch)
        returns = self._returns(known)
        report: Metrics = {}
        for part in minibatches(known, c.num_minibatches, self.policy.has_memory, self.generator):
            if len(part.index) == 0:
                continue
            with self.descent.autocast():
                output = evaluate(self.policy, part.batch)
            loss, metrics = self._loss(part, output, returns[part.index])
            norm = self.descent.step(loss, c.optim.learning_rate)
            report = {**report, **metrics, "grad_norm": norm or 0.0}
        self.updates += 1
        return report

    def _returns(self, batch: Batch) -> Tensor:
        zeros = torch.zeros_like(batch.rewards)
        returns = lambda_returns(
            batch.rewards,
            zeros,
            batch.acting,
            batch.ends,
            batch.last_value,
            gamma=self.config.gamma,
            lam=1.0,
        )
        return returns[batch.acting]

    def _loss(self, part: Minibatch, output: Decisions, returns: Tensor) -> tuple[Tensor, Metrics]:
        c = self.config
        acting = part.batch.acting
        actions, masks = part.batch.actions[acting], part.batch.masks[acting]
        weights = part.batch.decision_weights()
        missed = imitation_loss(output.log_policy, masks, actions, c.label_smoothing)
        actor = average(missed, weights)
        critic = average(value_loss(output, returns, self.policy.value_support), weights)
        metrics = {"bc_loss": float(actor.detach()), "value_loss": float(critic.detach())}
        metrics |= self.measure(output, actions)
        return actor + c.value_weight * critic, metrics

    @torch.no_grad()
    def measure(self, output: Decisions, actions: Tensor) -> Metrics:
        """Top-1/3/5 accuracy, overall and by kind of action, and calibration."""
        metrics: Metrics = {"calibration_error": calibration_error(output.log_policy, actions)}
        kinds = None
        if self.config.action_groups:
            kinds = torch.tensor(self.config.action_groups, device=actions.device)[actions]
        for k in (1, 3, 5):
            hit = accuracy(output.log_policy, actions, k).float()
            metrics[f"top{k}"] = float(hit.mean())
            for i, name in enumerate(self.config.group_names):
                if kinds is not None and bool((kinds == i).any()):
                    metrics[f"top{k}/{name}"] = float(hit[kinds == i].mean())
        return metrics

    def state_dict(self) -> dict[str, Any]:
        """Everything but the policy's own weights."""
        return {
            "descent": self.descent.state_dict(),
            "updates": self.updates,
            "generator": self.generator.get_state(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from `state_dict`."""
        self.descent.load_state_dict(state["descent"])
        self.updates = state["updates"]
        self.generator.set_state(state["generator"])


def labelled(batch: Batch) -> Batch:
    """Learn only where the action is known; the rest stays visible as context."""
    return replace(batch, acting=batch.acting & (batch.actions >= 0))


def freeze(module: nn.Module, prefixes: tuple[str, ...]) -> None:
    """Stop training the parameters with these name prefixes; an unused prefix is an error."""
    for prefix in prefixes:
        found = [p for name, p in module.named_parameters() if name.startswith(prefix)]
        if not found:
            raise ValueError(f"no parameter name starts with {prefix!r}")
        for parameter in found:
            parameter.requires_grad_(False)
