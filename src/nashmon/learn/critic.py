"""Ensembles of action-value critics for several discounts at once, as value distributions."""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Tensor, nn

from nashmon.learn.batch import Batch
from nashmon.learn.tree import GameTree


class Critic(Protocol):
    """Action values of decisions (also an `nn.Module`)."""

    @property
    def support(self) -> Tensor:
        """(K,) bin centres of the returns."""
        ...

    def values(self, batch: Batch, actions: Tensor) -> Tensor:
        """Logits (M, n, critics, discounts, K) of n actions (M, n) at each decision."""
        ...


class TabularCritic(nn.Module):
    """A free distribution per (information set, action, critic, discount)."""

    support: Tensor

    def __init__(
        self,
        tree: GameTree,
        support: Tensor,
        num_critics: int,
        num_discounts: int,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.register_buffer("support", support, persistent=False)
        shape = (*tree.masks.shape, num_critics, num_discounts, len(support))
        self.logits = nn.Parameter(0.01 * torch.randn(shape, generator=generator))

    def values(self, batch: Batch, actions: Tensor) -> Tensor:
        """Look up the tables."""
        index = batch.observations["infoset"][batch.acting]
        return self.logits[index.unsqueeze(-1), actions]


class NetworkCritic(nn.Module):
    """Heads on the features of a network body, with the action as a learned embedding."""

    support: Tensor

    def __init__(
        self, body: nn.Module, width: int, num_actions: int, support: Tensor, heads: tuple[int, int]
    ) -> None:
        super().__init__()
        self.register_buffer("support", support, persistent=False)
        self.body: Any = body  # a policy network of its own, whose `features` are used
        self.heads = heads  # (critics, discounts)
        self.action = nn.Embedding(num_actions, width)
        self.layers = nn.ModuleList(
            nn.Sequential(
                nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, heads[1] * len(support))
            )
            for _ in range(heads[0])
        )

    def values(self, batch: Batch, actions: Tensor) -> Tensor:
        """Run the body once and each head on every (decision, action)."""
        out = self.body.evaluate(batch.observations, batch.masks, batch.memory, batch.resets)
        features = out.features[batch.acting].unsqueeze(1).expand(-1, actions.shape[1], -1)
        joined = torch.cat([features, self.action(actions)], -1)
        logits = torch.stack([head(joined) for head in self.layers], -2).float()
        return logits.view(*logits.shape[:-1], self.heads[1], len(self.support))
