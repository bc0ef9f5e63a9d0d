"""Active slots, and mean and maximum of each bench, in one pass over the Pokémon.

PyTorch's own operators take three times as long for it and its gradient on a CPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor

Pooled = tuple[Tensor, Tensor, Tensor]  # slots, means, maxima; (N, …) each


def pool(sides: Tensor, active: Tensor, bench: Tensor, slots: int) -> Pooled:
    """From rows (N, 2, 6, width) and weights (N, 2, 6) of the active ones and of the bench.

    A row of weight 0 counts as zeros, in the means and the maxima too.
    """
    if sides.device.type == "cpu" and sides.dtype == torch.float32:
        out: Pooled = _Pool.apply(sides, active, bench, slots)  # type: ignore[no-untyped-call]
        return out
    return pool_simply(sides, active, bench, slots)


def pool_simply(sides: Tensor, active: Tensor, bench: Tensor, slots: int) -> Pooled:
    """As `pool`, operator by operator."""
    there = (sides * active.unsqueeze(-1))[:, :, :slots]
    rest = sides * bench.unsqueeze(-1)
    return there.flatten(1), rest.mean(dim=2).flatten(1), rest.amax(dim=2).flatten(1)


# Plain loops over the last dimension: compiled, they work on eight numbers at a time.
@njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _forward(rows: Any, active: Any, bench: Any, out: Any) -> None:  # pragma: no cover - compiled
    """Fill slots (N·2, slots, width), means and maxima (N·2, width) from rows (N·2, 6, width)."""
    there, mean, most = out
    count, team, width = rows.shape
    share = np.float32(1 / team)
    for n in range(count):
        for slot in range(there.shape[1]):
            weight = active[n, slot]
            for i in range(width):
                there[n, slot, i] = weight * rows[n, slot, i]
        weight = bench[n, 0]
        for i in range(width):
            value = weight * rows[n, 0, i]
            mean[n, i] = value
            most[n, i] = value
        for k in range(1, team):
            weight = bench[n, k]
            for i in range(width):
                value = weight * rows[n, k, i]
                mean[n, i] += value
                most[n, i] = value if value > most[n, i] else most[n, i]
        for i in range(width):
            mean[n, i] *= share


# A NaN equals no maximum: nothing to share then, which is no error here.  The learner reports it.
@njit(nogil=True, cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _backward(
    rows: Any, active: Any, bench: Any, most: Any, grads: Any, out: Any
) -> None:  # pragma: no cover - compiled
    """Gradient of the rows; those that share a maximum share its gradient."""
    on_there, on_mean, on_most = grads
    count, team, width = rows.shape
    ties, none = np.zeros(width, np.float32), np.float32(0)
    share = np.float32(1 / team)
    for n in range(count):
        for i in range(width):
            ties[i] = none
        for k in range(team):
            weight = bench[n, k]
            for i in range(width):
                ties[i] += np.float32(weight * rows[n, k, i] == most[n, i])
        for i in range(width):
            ties[i] = on_most[n, i] / ties[i]
        for k in range(team):
            weight = bench[n, k]
            for i in range(width):
                top = ties[i] if weight * rows[n, k, i] == most[n, i] else none
                out[n, k, i] = weight * (share * on_mean[n, i] + top)
        for slot in range(on_there.shape[1]):
            weight = active[n, slot]
            for i in range(width):
                out[n, slot, i] += weight * on_there[n, slot, i]


class _Pool(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, sides: Tensor, active: Tensor, bench: Tensor, slots: int) -> Pooled:
        rows = sides.detach().contiguous().flatten(0, 1)
        active, bench = active.flatten(0, 1), bench.flatten(0, 1)
        there = rows.new_empty(len(rows), slots, rows.shape[2])
        mean, most = rows.new_empty(2, len(rows), rows.shape[2])
        out = (there.numpy(), mean.numpy(), most.numpy())
        _forward(rows.numpy(), active.numpy(), bench.numpy(), out)
        ctx.save_for_backward(rows, active, bench, most)
        count = len(sides)
        return there.view(count, -1), mean.view(count, -1), most.view(count, -1)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None, None]:
        rows, active, bench, most = ctx.saved_tensors
        count, team, width = rows.shape
        there, *rest = (grad.contiguous().numpy() for grad in grads)
        on_rest = (array.reshape(count, width) for array in rest)
        out = torch.empty_like(rows)
        arrays = (array.numpy() for array in (rows, active, bench, most))
        _backward(*arrays, (there.reshape(count, -1, width), *on_rest), out.numpy())
        return out.view(-1, 2, team, width), None, None, None
