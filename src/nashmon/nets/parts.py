"""The parts a Pokémon's vector is the sum of, added in place.

Cutting rows out, adding and joining them again would cost the gradient a tensor of zeros per cut.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from nashmon.nets.encoding import TEAM


def add_parts(
    rows: Tensor, numbers: Tensor, sides: Tensor, slots: Tensor, pairs: Tensor | None
) -> Tensor:
    """Rows (N·12, width) after numbers of that shape, sides (2, 1, width), slots (N, 2, slots,
    width) and, for the own side, pairs (N, 6, width) have been added to them.
    """
    out: Tensor = _AddParts.apply(rows, numbers, sides, slots, pairs)  # type: ignore[no-untyped-call]
    return out


class _AddParts(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, rows: Tensor, numbers: Tensor, sides: Tensor, slots: Tensor, pairs: Tensor | None
    ) -> Tensor:
        ctx.mark_dirty(rows)
        ctx.slots, ctx.paired = slots.shape[2], pairs is not None
        both = rows.add_(numbers).view(len(slots), 2, TEAM, -1)
        both.add_(sides)
        both[:, :, : ctx.slots].add_(slots)
        if pairs is not None:
            both[:, 0].add_(pairs)
        return rows

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        rows = grads[0].contiguous()
        both = rows.view(-1, 2, TEAM, rows.shape[1])
        sides, slots = both.sum(dim=(0, 2)).unsqueeze(1), both[:, :, : ctx.slots]
        return rows, rows, sides, slots, both[:, 0] if ctx.paired else None
