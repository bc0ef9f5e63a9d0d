"""Magnetic mirror descent's pull: a weighted KL(π ‖ ρ) to a fixed or moving reference ρ."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor, nn

from nashmon.learn import masked
from nashmon.learn.batch import Batch, Policy, average, evaluate
from nashmon.learn.optim import OptimConfig, frozen
from nashmon.learn.ppo import PPOConfig
from nashmon.learn.regulariser import Metrics
from nashmon.learn.schedules import ATARAXOS_LEARNING_RATE, ATARAXOS_MAGNET, Power


@dataclass(frozen=True)
class MagnetConfig:
    """Which policy attracts, and how strongly."""

    kind: Literal["uniform", "hierarchical", "policy"] = "uniform"
    weight: Power = field(default_factory=lambda: Power(0.05))
    groups: tuple[int, ...] = ()  # hierarchical: group of each action
    move_every: int = 0  # policy: replace ρ by the current policy every so many updates; 0: never

    def __post_init__(self) -> None:
        if (self.kind == "hierarchical") != bool(self.groups):
            raise ValueError("magnet groups are needed by, and only by, the hierarchical kind")
        if self.move_every and self.kind != "policy":
            raise ValueError(f"a {self.kind} magnet cannot move")


class Magnet:
    """Adds weight_t · KL(π ‖ ρ) to the loss."""

    name = "magnet"

    def __init__(self, config: MagnetConfig, policy: Policy) -> None:
        self.config = config
        self.updates = 0
        self.reference: Any = None
        if config.kind == "policy":
            assert isinstance(policy, nn.Module)
            self.reference = frozen(policy)

    @property
    def weight(self) -> float:
        """Weight in the next loss."""
        return self.config.weight(self.updates)

    @torch.no_grad()
    def prepare(self, batch: Batch) -> Tensor:
        """Log-policy of the magnet at each decision."""
        masks = batch.masks[batch.acting]
        if self.config.kind == "uniform":
            return masked.uniform(masks)
        if self.config.kind == "hierarchical":
            groups = torch.tensor(self.config.groups, device=masks.device)
            return masked.hierarchical_uniform(masks, groups)
        return evaluate(self.reference, batch).log_policy

    def loss(
        self, log_policy: Tensor, masks: Tensor, reference: Tensor, weights: Tensor | None = None
    ) -> tuple[Tensor, Metrics]:
        """weight · mean KL."""
        distance = average(masked.kl(log_policy, reference, masks), weights)
        return self.weight * distance, {"magnet_kl": float(distance.detach())}

    def learning_rate(self, base: float) -> float:
        """Unchanged."""
        return base

    def advance(self, policy: Policy, batch: Batch) -> Metrics:
        """Count the update; move the reference when it is time."""
        used = self.weight
        self.updates += 1
        every = self.config.move_every
        if every and self.updates % every == 0:
            assert isinstance(policy, nn.Module)
            self.reference.load_state_dict(policy.state_dict())
        return {"magnet_weight": used}

    def state_dict(self) -> dict[str, Any]:
        """Counter and reference weights."""
        weights = None if self.reference is None else dict(self.reference.state_dict())
        return {"updates": self.updates, "reference": weights}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from `state_dict`."""
        self.updates = state["updates"]
        if self.reference is not None:
            self.reference.load_state_dict(state["reference"])


# Ataraxos's move network (arXiv 2511.07312); pair it with `Magnet(ataraxos_magnet(groups), …)`.
ATARAXOS_PPO = PPOConfig(
    optim=OptimConfig(max_grad_norm=0.267),
    learning_rate=ATARAXOS_LEARNING_RATE,
    clip=0.2,
    value_weight=1.0,
    entropy=Power(0.0),
    proximal=0.1,
    lam=0.5,
    value_lam=0.8,
    epochs=1,
    num_minibatches=202,
    normalise=False,
    filter_quantile=0.75,
    filter_floor=0.01,
)


def ataraxos_magnet(groups: tuple[int, ...]) -> MagnetConfig:
    """Hierarchical uniform magnet with weight 0.05 / i^0.3 at iteration i = 1, 2, …"""
    return MagnetConfig(kind="hierarchical", weight=ATARAXOS_MAGNET, groups=groups)
