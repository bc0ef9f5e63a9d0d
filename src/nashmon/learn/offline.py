"""Offline actor-critic from stored trajectories: imitation weighted by advantage, plus max-Q.

Critics are ensembles of return distributions for several discounts, trained by one-step targets
from target networks; the actor imitates a logged action when (filter) or as much as (exponential)
the critics prefer it to the policy's own average.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor, nn

from nashmon.learn.batch import Batch, Policy, evaluate
from nashmon.learn.critic import Critic
from nashmon.learn.masked import chosen
from nashmon.learn.optim import Average, Descent, OptimConfig
from nashmon.learn.regulariser import Metrics
from nashmon.nets.distribution import sample
from nashmon.nets.value import two_hot


@dataclass(frozen=True)
class OfflineConfig:
    """Hyper-parameters of the offline actor-critic."""

    optim: OptimConfig = field(
        default_factory=lambda: OptimConfig(
            kind="adamw", learning_rate=1.5e-4, weight_decay=1e-4, max_grad_norm=1.5
        )
    )
    discounts: tuple[float, ...] = (0.1, 0.9, 0.95, 0.97, 0.99, 0.995, 0.999)  # actor: the last
    weighting: Literal["filter", "exponential", "none"] = "filter"
    beta: float = 1.0  # exponential: weight exp(β·A)
    max_weight: float = 100.0
    imitation_weight: float = 1.0
    max_q_weight: float = 0.0
    critic_weight: float = 10.0
    target_rate: float = 0.004
    reduce: Literal["mean", "min"] = "mean"  # over two random critics of the target ensemble
    action_samples: int = 0  # actions drawn for expectations; 0: all actions, exact


@dataclass(frozen=True, slots=True)
class Transitions:
    """Each decision and the same seat's next one."""

    rewards: Tensor  # (M,): earned until the next decision
    following: Tensor  # (M,): index of the next decision, −1 after the last of a battle
    complete: Tensor  # (M,) bool: the next decision or the end is in the batch


def transitions(batch: Batch) -> Transitions:
    """Link decisions to their successors within each battle."""
    acting = batch.acting
    count = int(acting.sum())
    place = torch.full(acting.shape, -1, dtype=torch.long, device=acting.device)
    place[acting] = torch.arange(count, device=acting.device)
    rewards, following = torch.zeros_like(batch.rewards), torch.full_like(place, -1)
    complete = torch.zeros_like(acting)
    pending = torch.zeros_like(batch.rewards[0])
    upcoming = torch.full_like(place[0], -1)
    closed = torch.zeros_like(acting[0])  # the end or a next decision was met
    for t in reversed(range(acting.shape[0])):
        over, act = batch.ends[t], acting[t]
        pending = batch.rewards[t] + pending.masked_fill(over, 0.0)
        upcoming = upcoming.masked_fill(over, -1)
        closed = closed | over
        rewards[t], following[t], complete[t] = pending, upcoming, closed
        pending = pending.masked_fill(act, 0.0)
        upcoming = torch.where(act, place[t], upcoming)
        closed = closed | act
    return Transitions(rewards[acting], following[acting], complete[acting])


def imitation_weights(advantages: Tensor, config: OfflineConfig) -> Tensor:
    """How much each logged action is imitated."""
    if config.weighting == "none":
        return torch.ones_like(advantages)
    if config.weighting == "filter":
        return (advantages > 0).float()
    return (config.beta * advantages).exp().clamp(max=config.max_weight)


class Offline:
    """Updates a policy and its critics from logged batches."""

    def __init__(
        self, policy: Policy, critic: Critic, config: OfflineConfig, generator: torch.Generator
    ) -> None:
        assert isinstance(policy, nn.Module)
        assert isinstance(critic, nn.Module)
        self.policy, self.critic, self.config = policy, critic, config
        self.generator = generator
        parameters = [*policy.parameters(), *critic.parameters()]
        self.descent = Descent(parameters, config.optim)
        self.target_policy = Average(policy, config.target_rate)
        self.target_critic = Average(critic, config.target_rate)
        self.updates = 0

    def update(self, batch: Batch) -> Metrics:
        """One gradient step of actor and critics."""
        c = self.config
        links = transitions(batch)
        if not self.policy.has_memory:
            batch = batch.decisions()
        actions = batch.actions[batch.acting]
        known = actions >= 0
        usable = known & links.complete
        if not bool(usable.any()):
            raise ValueError("no decision of the batch has a known action and a known successor")
        taken = actions.clamp(min=0)
        with self.descent.autocast():
            output = evaluate(self.policy, batch)
            logits = self.critic.values(batch, taken.unsqueeze(-1)).squeeze(1)
        targets = self._targets(batch, links)
        critic = self._critic_loss(logits[usable], targets[usable])
        actor, metrics = self._actor_loss(batch, output.log_policy, taken, known)
        norm = self.descent.step(actor + c.critic_weight * critic, c.optim.learning_rate)
        self.target_policy.update(self.policy)
        self.target_critic.update(self.critic)
        self.updates += 1
        return metrics | {"critic_loss": float(critic.detach()), "grad_norm": norm or 0.0}

    @torch.no_grad()
    def _targets(self, batch: Batch, links: Transitions) -> Tensor:
        """y = r + γ·V(next) for every discount (M, discounts), V by the target networks."""
        log_policy = evaluate(self.target_policy.module, batch).log_policy
        actions, weights = self._support_actions(log_policy)
        values = self._expected(self.target_critic.module, batch, actions)  # (M, n, C, G)
        state = (weights[..., None, None] * values).sum(1)  # (M, C, G)
        pair = torch.randperm(state.shape[1], generator=self.generator)[:2].to(state.device)
        state = state[:, pair]
        best = state.mean(1) if self.config.reduce == "mean" else state.amin(1)
        following = best[links.following.clamp(min=0)]
        following = following * (links.following >= 0).unsqueeze(-1)
        discounts = torch.tensor(self.config.discounts, device=following.device)
        return links.rewards.unsqueeze(-1) + discounts * following

    def _critic_loss(self, logits: Tensor, targets: Tensor) -> Tensor:
        """Cross-entropy of every critic and discount to the two-hot target."""
        support = self.critic.support
        inside = targets.clamp(float(support[0]), float(support[-1]))
        label = two_hot(inside, support).unsqueeze(1)  # (M, 1, G, K)
        return -(label * torch.log_softmax(logits, -1)).sum(-1).mean()

    def _actor_loss(
        self, batch: Batch, log_policy: Tensor, taken: Tensor, known: Tensor
    ) -> tuple[Tensor, Metrics]:
        """−f(A)·log π(a) on known actions and, if wanted, −E_π Q over everything seen."""
        c = self.config
        actions, weights = self._support_actions(log_policy.detach())
        with torch.no_grad():
            q = self._expected(self.critic, batch, actions)[..., -1].mean(-1)  # (M, n)
            mine = self._expected(self.critic, batch, taken.unsqueeze(-1))[:, 0, :, -1].mean(-1)
            advantage = mine - (weights * q).sum(-1)
        weight = imitation_weights(advantage[known], c)
        loss = -(weight * chosen(log_policy, taken)[known]).mean() * c.imitation_weight
        metrics = {"actor_loss": float(loss.detach()), "weight": float(weight.mean())}
        metrics["advantage"] = float(advantage[known].mean())
        if c.max_q_weight > 0:
            ratio = (log_policy.gather(-1, actions) - log_policy.detach().gather(-1, actions)).exp()
            value = (weights * ratio * q).sum(-1) / q.abs().mean().clamp(min=1e-6)
            loss = loss - c.max_q_weight * value.mean()
            metrics["max_q"] = float(value.detach().mean())
        return loss, metrics

    def _support_actions(self, log_policy: Tensor) -> tuple[Tensor, Tensor]:
        """Actions (M, n) and weights (M, n) whose weighted sum is an expectation under π."""
        rows, num_actions = log_policy.shape
        count = self.config.action_samples
        if count == 0:
            every = torch.arange(num_actions, device=log_policy.device)
            return every.expand(rows, num_actions), log_policy.exp()
        drawn = sample(log_policy.repeat_interleave(count, 0), self.generator)[0]
        actions = drawn.clamp(min=0).view(rows, count)
        return actions, torch.full(actions.shape, 1.0 / count, device=log_policy.device)

    def _expected(self, critic: Critic, batch: Batch, actions: Tensor) -> Tensor:
        """Mean returns (M, n, critics, discounts)."""
        with self.descent.autocast():
            logits = critic.values(batch, actions)
        return (logits.float().softmax(-1) * critic.support).sum(-1)

    def state_dict(self) -> dict[str, Any]:
        """Everything but the policy's own weights."""
        assert isinstance(self.critic, nn.Module)
        return {
            "critic": dict(self.critic.state_dict()),
            "descent": self.descent.state_dict(),
            "target_policy": self.target_policy.state_dict(),
            "target_critic": self.target_critic.state_dict(),
            "updates": self.updates,
            "generator": self.generator.get_state(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from `state_dict`."""
        assert isinstance(self.critic, nn.Module)
        self.critic.load_state_dict(state["critic"])
        self.descent.load_state_dict(state["descent"])
        self.target_policy.load_state_dict(state["target_policy"])
        self.target_critic.load_state_dict(state["target_critic"])
        self.updates = state["updates"]
        self.generator.set_state(state["generator"])
