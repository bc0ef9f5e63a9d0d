"""Scores of actions, w · relu(action + context) + b, in one pass over the actions.

The hidden numbers are the largest tensors of a small network; PyTorch's own operators would go
through them six times, and keep two copies for the gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor, nn
from torch.nn import functional as F

# Sums may be added up in any order, which is what lets them be added eight at a time.
_ORDER = {"reassoc", "contract"}


def scores(actions: Tensor, context: Tensor, out: nn.Linear) -> Tensor:
    """Of K actions (N, K, width) in their contexts (N, width), by a layer width → 1: (N, K)."""
    if actions.device.type == "cpu" and actions.dtype == torch.float32:
        found: Tensor = _Score.apply(actions, context, out.weight)  # type: ignore[no-untyped-call]
        return found + out.bias
    return scores_simply(actions, context, out)


def scores_simply(actions: Tensor, context: Tensor, out: nn.Linear) -> Tensor:
    """As `scores`, operator by operator."""
    found: Tensor = out(F.relu(actions + context.unsqueeze(1)))
    return found.squeeze(-1)


@njit(nogil=True, cache=True, fastmath=_ORDER)  # type: ignore[untyped-decorator]
def _forward(
    actions: Any, context: Any, weight: Any, out: Any
) -> None:  # pragma: no cover - compiled
    none = np.float32(0)
    for n in range(len(actions)):
        for k in range(actions.shape[1]):
            total = none
            for i in range(len(weight)):
                hidden = actions[n, k, i] + context[n, i]
                total += weight[i] * (hidden if hidden > none else none)
            out[n, k] = total


@njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _backward(
    actions: Any, context: Any, weight: Any, grad: Any, out: Any
) -> None:  # pragma: no cover - compiled
    """Gradients of actions, context and weight; the last two start at 0."""
    on_actions, on_context, on_weight = out
    none = np.float32(0)
    for n in range(len(actions)):
        for k in range(actions.shape[1]):
            slope = grad[n, k]
            for i in range(len(weight)):
                hidden = actions[n, k, i] + context[n, i]
                passed = slope * weight[i] if hidden > none else none
                on_actions[n, k, i] = passed
                on_context[n, i] += passed
                on_weight[i] += slope * (hidden if hidden > none else none)


class _Score(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, actions: Tensor, context: Tensor, weight: Tensor) -> Tensor:
        actions, context = actions.detach().contiguous(), context.detach().contiguous()
        flat = weight.detach().flatten()
        ctx.save_for_backward(actions, context, flat)
        out = actions.new_empty(actions.shape[:2])
        _forward(actions.numpy(), context.numpy(), flat.numpy(), out.numpy())
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        saved = ctx.saved_tensors
        actions, context, weight = saved
        out = torch.empty_like(actions), torch.zeros_like(context), torch.zeros_like(weight)
        arrays = [tensor.numpy() for tensor in saved]
        _backward(*arrays, grads[0].contiguous().numpy(), tuple(tensor.numpy() for tensor in out))
        return out[0], out[1], out[2].unsqueeze(0)
