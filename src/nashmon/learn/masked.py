"""Distributions over legal actions only.

A log-policy carries the finite `ILLEGAL` on illegal actions (see `nets.distribution`): a −inf
there turns gradients into NaN.  Every sum below is over the legal actions.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nashmon.nets.distribution import ILLEGAL


def entropy(log_policy: Tensor, masks: Tensor) -> Tensor:
    """H(π) = −Σ_a π(a) log π(a) over legal actions."""
    return -(log_policy.exp() * log_policy.masked_fill(~masks, 0.0)).sum(-1)


def kl(log_policy: Tensor, log_reference: Tensor, masks: Tensor) -> Tensor:
    """Reverse KL(π ‖ ρ) = Σ_a π(a) (log π(a) − log ρ(a)) over legal actions; never negative."""
    gap = (log_policy - log_reference).masked_fill(~masks, 0.0)
    return (log_policy.exp() * gap).sum(-1)


def uniform(masks: Tensor) -> Tensor:
    """Log-policy that is uniform over the legal actions."""
    count = masks.sum(-1, keepdim=True).clamp(min=1).float()
    return (-count.log()).expand(masks.shape).masked_fill(~masks, ILLEGAL)


def hierarchical_uniform(masks: Tensor, groups: Tensor) -> Tensor:
    """Uniform over groups with a legal action, then inside; `groups` (A,) holds ids 0…G−1."""
    members = torch.nn.functional.one_hot(groups).to(torch.float32)  # (A, G)
    size = masks.float() @ members  # legal actions per group
    num_groups = (size > 0).sum(-1, keepdim=True).clamp(min=1).float()
    log_size = size.clamp(min=1).log()[..., groups]
    return (-num_groups.log() - log_size).masked_fill(~masks, ILLEGAL)


def centred(log_policy: Tensor, masks: Tensor) -> Tensor:
    """Logits minus their mean over legal actions, 0 elsewhere (the normaliser cancels)."""
    count = masks.sum(-1, keepdim=True).clamp(min=1)
    legal = log_policy.masked_fill(~masks, 0.0)
    return (legal - legal.sum(-1, keepdim=True) / count).masked_fill(~masks, 0.0)


def chosen(table: Tensor, actions: Tensor) -> Tensor:
    """Entry of the taken action: (…, A), (…) → (…)."""
    return table.gather(-1, actions.unsqueeze(-1)).squeeze(-1)
