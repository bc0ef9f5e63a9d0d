"""The loss of a value estimate: squared error, or cross-entropy to two-hot targets."""

from __future__ import annotations

import torch
from torch import Tensor

from nashmon.learn.batch import Decisions
from nashmon.nets.value import two_hot


def value_loss(output: Decisions, targets: Tensor, support: Tensor | None) -> Tensor:
    """Loss per decision (M,).  Targets beyond a categorical support count as its nearest end."""
    if output.value_logits is None:
        return 0.5 * (output.value - targets) ** 2
    if support is None:
        raise ValueError("the policy gives value logits but no value support")
    inside = targets.clamp(float(support[0]), float(support[-1]))
    return -(two_hot(inside, support) * torch.log_softmax(output.value_logits, -1)).sum(-1)


def clipped_value_loss(value: Tensor, old: Tensor, targets: Tensor, clip: float) -> Tensor:
    """The larger error of V and of V held within ±clip of its old estimate (scalar values)."""
    held = old + (value - old).clamp(-clip, clip)
    return 0.5 * torch.maximum((value - targets) ** 2, (held - targets) ** 2)
