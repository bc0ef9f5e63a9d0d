"""Masked categorical distributions over actions, kept finite.

A log-policy holds normalised log-probabilities; illegal actions carry the finite `ILLEGAL`, whose
exponential is exactly 0 in float32, so products with probabilities and their gradients stay finite.
A row without any legal action (a seat that is not asked) is `ILLEGAL` throughout.
"""

from __future__ import annotations

import torch
from torch import Tensor

ILLEGAL = -1e9
NO_ACTION = -1  # the action of a row without legal actions, as in `sim.base`


def masked_log_softmax(logits: Tensor, mask: Tensor) -> Tensor:
    """Log-probabilities over the legal entries of the last dimension, in float32."""
    hidden = torch.where(mask, logits.float(), ILLEGAL)
    return torch.where(mask, torch.log_softmax(hidden, dim=-1), ILLEGAL)


def entropy(log_policy: Tensor) -> Tensor:
    """H = −Σ p log p over the last dimension; 0 for rows without legal actions."""
    return -(log_policy.exp() * log_policy).sum(dim=-1)


def log_prob(log_policy: Tensor, actions: Tensor) -> Tensor:
    """Log-probability of each action; 0 where the action is NO_ACTION."""
    chosen = log_policy.gather(-1, actions.clamp(min=0).long().unsqueeze(-1)).squeeze(-1)
    return torch.where(actions >= 0, chosen, 0.0)


def shape_policy(log_policy: Tensor, temperature: float = 1.0, top_p: float = 1.0) -> Tensor:
    """The log-policy that is sampled: sharpened by `temperature`, cut to the top-p nucleus.

    Temperature 0 is greedy.  The nucleus is the smallest set of most likely actions whose
    probabilities sum to at least `top_p`.
    """
    if temperature < 0.0:
        raise ValueError(f"temperature must be 0 or more, not {temperature}")
    if not 0.0 < top_p <= 1.0:
        raise ValueError(f"top_p must be in (0, 1], not {top_p}")
    legal = log_policy > ILLEGAL / 2
    if temperature == 0.0:
        best = torch.zeros_like(legal).scatter_(-1, log_policy.argmax(-1, keepdim=True), True)
        return torch.where(best & legal, 0.0, ILLEGAL)
    if temperature != 1.0:
        log_policy = masked_log_softmax(log_policy / temperature, legal)
    if top_p < 1.0:
        log_policy = masked_log_softmax(log_policy, legal & _nucleus(log_policy, top_p))
    return log_policy


def _nucleus(log_policy: Tensor, top_p: float) -> Tensor:
    ordered, order = log_policy.exp().sort(dim=-1, descending=True, stable=True)
    before = ordered.cumsum(dim=-1) - ordered
    return torch.zeros_like(log_policy, dtype=torch.bool).scatter_(-1, order, before < top_p)


def sample(log_policy: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw an action per row by inverting the cumulative distribution with one uniform number.

    Returns actions and their log-probabilities; rows without legal actions give NO_ACTION and 0.
    """
    cumulative = log_policy.exp().cumsum(dim=-1, dtype=torch.float64)
    total = cumulative[..., -1:]
    uniform = torch.rand(
        total.shape, generator=generator, dtype=torch.float64, device=log_policy.device
    )
    # Strictly below the total, so that the first sum above it ends with a possible action.
    threshold = torch.minimum(uniform * total, torch.nextafter(total, torch.zeros_like(total)))
    index = torch.searchsorted(cumulative, threshold, right=True)
    actions = torch.where(total > 0, index, NO_ACTION).squeeze(-1)
    return actions, log_prob(log_policy, actions)
