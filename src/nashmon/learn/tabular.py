"""Policies over the information sets of a small game: a free table, or a network on their features.

Both look up `observations["infoset"]`, so the algorithms run on them as on any other policy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

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
    """Gives logits and a value to each information set of a game.

    A loss is a mean over decisions, so a rare information set hardly learns from it, although a
    best response may well lead there.  The gradient of each row is therefore multiplied by
    `row_scale` of the row's share of the decisions.
    """

    has_memory = False
    value_support: Tensor | None = None
    legal: Tensor

    def __init__(self, tree: GameTree) -> None:
        super().__init__()
        self.register_buffer("legal", torch.from_numpy(tree.masks), persistent=False)

    def heads(self) -> tuple[Tensor, Tensor]:
        """Logits (infosets, A) and values (infosets,)."""
        raise NotImplementedError

    def row_scale(self, share: Tensor) -> Tensor:
        """What the gradient of each row is multiplied by, from its share of the decisions."""
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
        if torch.is_grad_enabled() and logits.requires_grad:
            weight = (observations["weight"] * (observations["infoset"] >= 0)).flatten()
            counts = torch.bincount(index.flatten(), weight, len(self.legal))
            scale = self.row_scale((counts / weight.sum()).float())
            logits, values = _scaled(logits, scale), _scaled(values, scale)
        return TableOutput(masked_log_softmax(logits, self.legal)[index], values[index])

    @torch.no_grad()
    def table(self) -> NDArray[np.float64]:
        """The policy as probabilities (infosets, A)."""
        log_policy = masked_log_softmax(self.heads()[0], self.legal).double()
        probs = log_policy.exp()
        return np.asarray((probs / probs.sum(1, keepdim=True)).numpy())


def _scaled(rows: Tensor, scale: Tensor) -> Tensor:
    """The same rows; their gradient is multiplied by `scale`."""
    view = rows.view_as(rows)
    factor = scale.view(-1, *[1] * (rows.dim() - 1))
    view.register_hook(lambda gradient: gradient * factor)  # type: ignore[no-untyped-call]
    return view


class TabularPolicy(InfosetPolicy):
    """One free logit per (information set, action) and one free value per information set.

    Every row learns at the same rate: gradients are divided by the row's share, but by no less than
    `min_share`, so that rows seen a few times by chance do not jump.
    """

    def __init__(self, tree: GameTree, min_share: float = 1e-7) -> None:
        super().__init__(tree)
        self.min_share = min_share
        self.logits = nn.Parameter(torch.zeros(tree.masks.shape))
        self.values = nn.Parameter(torch.zeros(tree.num_infosets))

    def heads(self) -> tuple[Tensor, Tensor]:
        """The tables themselves."""
        return self.logits, self.values

    def row_scale(self, share: Tensor) -> Tensor:
        """1 / share."""
        return 1.0 / share.clamp(min=self.min_share)


class NetworkPolicy(InfosetPolicy):
    """Policy and value from two perceptrons on the game's information-set features.

    A row counts as much as its share of the decisions to the power 1 − `balance`.
    """

    features: Tensor

    def __init__(
        self,
        tree: GameTree,
        generator: torch.Generator,
        width: int = 128,
        balance: float = 0.0,
    ) -> None:
        super().__init__(tree)
        self.balance = balance
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

    def row_scale(self, share: Tensor) -> Tensor:
        """share^−balance, scaled so that all rows together weigh as much as before."""
        scale = share.clamp(min=1e-7) ** -self.balance
        return scale / (share * scale).sum()


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
    shares = None if weights is None else _shares(weights, steps)

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


def reweighted(batch: Batch, episodes: Episodes, weights: NDArray[np.float64]) -> Batch:
    """A batch of the same games when another policy makes them, with new weights."""
    shares = _shares(weights, len(batch.acting))
    log_probs = torch.from_numpy(episodes.log_probs).flatten(1)
    observations = {**batch.observations, "weight": shares}
    return replace(batch, observations=observations, log_probs=log_probs, weights=shares)


def _shares(weights: NDArray[np.float64], steps: int) -> Tensor:
    """How much each decision counts (T, B): as much as its game."""
    both = torch.from_numpy(weights.astype(np.float32)).repeat_interleave(2)
    return both.expand(steps, -1)
