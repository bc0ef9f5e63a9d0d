"""Policies over the information sets of a small game: a free table, or a network on their features.

Both look up `observations["infoset"]`, so the algorithms run on them as on any other policy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nashmon.learn.batch import Batch
from nashmon.learn.tree import Episodes, GameTree
from nashmon.nets.distribution import masked_log_softmax


@dataclass(frozen=True, slots=True)
class TableOutput:
    """Log-policy and value at every step."""

    log_policy: Tensor  # (T, B, A)
    value: Tensor  # (T, B)
    value_logits: Tensor | None = None


class InfosetPolicy(nn.Module):
    """Gives logits and a value to each information set of a game."""

    has_memory = False
    value_support: Tensor | None = None
    legal: Tensor

    def __init__(self, tree: GameTree) -> None:
        super().__init__()
        self.register_buffer("legal", torch.from_numpy(tree.masks), persistent=False)

    def heads(self) -> tuple[Tensor, Tensor]:
        """Logits (infosets, A) and values (infosets,)."""
        raise NotImplementedError

    def evaluate(
        self,
        observations: dict[str, Tensor],
        masks: Tensor,
        memory: dict[str, Tensor] | None = None,
        resets: Tensor | None = None,
    ) -> TableOutput:
        """Look up every step; steps where the seat does not act hold arbitrary finite numbers."""
        logits, values = self.heads()
        index = observations["infoset"].clamp(min=0)
        return TableOutput(masked_log_softmax(logits, self.legal)[index], values[index])

    @torch.no_grad()
    def table(self) -> NDArray[np.float64]:
        """The policy as probabilities (infosets, A)."""
        log_policy = masked_log_softmax(self.heads()[0], self.legal).double()
        probs = log_policy.exp()
        return np.asarray((probs / probs.sum(1, keepdim=True)).numpy())


class TabularPolicy(InfosetPolicy):
    """One free logit per (information set, action) and one free value per information set.

    A loss is a mean over decisions, so a rare information set would hardly learn.  The gradient of
    each row is therefore divided by the row's share of the decisions, but by no less than
    `min_share`, so that rows seen a few times by chance do not jump.
    """

    share: Tensor

    def __init__(self, tree: GameTree, min_share: float = 1e-7) -> None:
        super().__init__(tree)
        self.min_share = min_share
        self.logits = nn.Parameter(torch.zeros(tree.masks.shape))
        self.values = nn.Parameter(torch.zeros(tree.num_infosets))
        self.register_buffer("share", torch.ones(tree.num_infosets), persistent=False)
        for table in (self.logits, self.values):
            table.register_hook(self._by_share)  # type: ignore[no-untyped-call]

    def _by_share(self, gradient: Tensor) -> Tensor:
        share = self.share.clamp(min=self.min_share)
        return gradient / share.view(-1, *[1] * (gradient.dim() - 1))

    def evaluate(
        self,
        observations: dict[str, Tensor],
        masks: Tensor,
        memory: dict[str, Tensor] | None = None,
        resets: Tensor | None = None,
    ) -> TableOutput:
        """Look up every step, and note the share of each row for the backward pass."""
        if torch.is_grad_enabled():
            weight = observations["weight"].flatten()
            counts = torch.bincount(observations["infoset"].flatten(), weight, len(self.share))
            self.share = (counts / weight.sum()).to(self.share.dtype)
        return super().evaluate(observations, masks, memory, resets)

    def heads(self) -> tuple[Tensor, Tensor]:
        """The tables themselves."""
        return self.logits, self.values


class NetworkPolicy(InfosetPolicy):
    """Policy and value from two perceptrons on the game's information-set features."""

    features: Tensor

    def __init__(self, tree: GameTree, generator: torch.Generator, width: int = 128) -> None:
        super().__init__(tree)
        self.register_buffer("features", torch.from_numpy(tree.features), persistent=False)
        inputs = tree.features.shape[1]
        self.policy = _perceptron(inputs, width, tree.num_actions)
        self.critic = _perceptron(inputs, width, 1)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.orthogonal_(module.weight, gain=2**0.5, generator=generator)
                nn.init.zeros_(module.bias)
        for head in (self.policy[-1], self.critic[-1]):
            assert isinstance(head, nn.Linear)
            nn.init.orthogonal_(head.weight, gain=0.01, generator=generator)

    def heads(self) -> tuple[Tensor, Tensor]:
        """Both networks on all information sets at once."""
        return self.policy(self.features), self.critic(self.features).squeeze(-1)


def _perceptron(inputs: int, width: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(inputs, width),
        nn.ReLU(),
        nn.Linear(width, width),
        nn.ReLU(),
        nn.Linear(width, outputs),
    )


def to_batch(
    episodes: Episodes,
    tree: GameTree,
    scale: float = 1.0,
    weights: NDArray[np.float64] | None = None,
) -> Batch:
    """Played games as a paired batch of both seats; rewards are divided by `scale`."""
    steps = episodes.infosets.shape[0]
    shares = None
    if weights is not None:
        both = torch.from_numpy(weights.astype(np.float32)).repeat_interleave(2)
        shares = both.expand(steps, -1)

    def column(array: NDArray[np.generic]) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array.reshape(steps, -1)))

    infosets = column(episodes.infosets).long()
    acting = infosets >= 0
    masks = torch.from_numpy(tree.masks)[infosets.clamp(min=0)] & acting.unsqueeze(-1)
    return Batch(
        observations={
            "infoset": infosets,
            "weight": torch.ones(infosets.shape) if shares is None else shares,
        },
        masks=masks,
        actions=column(episodes.actions).long(),
        log_probs=column(episodes.log_probs),
        rewards=column(episodes.rewards) / scale,
        ends=column(episodes.ends),
        acting=acting,
        resets=column(episodes.resets),
        last_value=torch.zeros(infosets.shape[1]),
        paired=True,
        weights=shares,
    )
