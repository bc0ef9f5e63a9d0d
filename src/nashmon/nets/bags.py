"""Sums of table rows, with a backward pass that adds instead of sorting.

PyTorch's embedding-bag sorts all indices to build the gradient of a dense table; on a CPU that is
a quarter of a training step.  The tables here are small, so adding row by row is ten times faster.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor
from torch.nn import functional as F


# One thread: Numba's own thread pool would change how torch's threads add up, once it is loaded.
@njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _scatter(bags: Any, grad: Any, size: int) -> Any:  # pragma: no cover - compiled
    """Gradient (size, width) of a table whose rows `bags` (N, k) were summed."""
    width = grad.shape[1]
    out = np.zeros((size, width), np.float32)
    for n in range(len(bags)):
        for k in range(bags.shape[1]):
            row = bags[n, k]
            for i in range(width):
                out[row, i] += grad[n, i]
    return out


class _Bag(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, bags: Tensor, table: Tensor) -> Tensor:
        ctx.save_for_backward(bags)
        ctx.size = table.shape[0]
        return F.embedding_bag(bags, table, mode="sum")

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, Tensor]:
        (bags,) = ctx.saved_tensors
        total = _scatter(bags.numpy(), grads[0].contiguous().numpy(), ctx.size)
        return None, torch.from_numpy(total)


def sum_rows(bags: Tensor, table: Tensor) -> Tensor:
    """Sum of the table's rows in each bag: (N, k) long, (size, width) → (N, width)."""
    if table.device.type == "cpu" and table.dtype == torch.float32:
        out: Tensor = _Bag.apply(bags, table)  # type: ignore[no-untyped-call]
        return out
    return F.embedding_bag(bags, table, mode="sum")
