"""Building blocks shared by encoders, memory and heads."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def mlp(sizes: Sequence[int], activate_last: bool = True) -> nn.Sequential:
    """Linear layers of the given sizes with ReLU between them (and after the last)."""
    layers: list[nn.Module] = []
    for index, (fan_in, fan_out) in enumerate(pairwise(sizes)):
        layers.append(nn.Linear(fan_in, fan_out))
        if activate_last or index < len(sizes) - 2:
            layers.append(nn.ReLU(inplace=True))
    return nn.Sequential(*layers)


def small_linear(fan_in: int, fan_out: int) -> nn.Linear:
    """An output layer that starts near zero, so a new policy is nearly uniform."""
    layer = nn.Linear(fan_in, fan_out)
    nn.init.orthogonal_(layer.weight, gain=0.01)
    nn.init.zeros_(layer.bias)
    return layer


class FeedForward(nn.Module):
    """Residual two-layer block, normalised first."""

    def __init__(self, width: int, factor: int = 4) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.layers = nn.Sequential(
            nn.Linear(width, factor * width),
            nn.ReLU(inplace=True),
            nn.Linear(factor * width, width),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Add the block's output to x."""
        out: Tensor = x + self.layers(self.norm(x))
        return out


class SelfAttention(nn.Module):
    """Residual attention of a set of tokens (batch, tokens, width) over itself."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Add what each token reads from all tokens."""
        batch, tokens, width = x.shape
        qkv = self.qkv(self.norm(x)).view(batch, tokens, 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        read = F.scaled_dot_product_attention(q, k, v)
        out: Tensor = x + self.out(read.transpose(1, 2).reshape(batch, tokens, width))
        return out


def rotate(x: Tensor, positions: Tensor) -> Tensor:
    """Rotary position encoding of x (…, time, heads, size) at positions (…, time)."""
    half = x.shape[-1] // 2
    rates = 10_000.0 ** (-torch.arange(half, device=x.device, dtype=torch.float32) / half)
    angle = positions.float()[..., None, None] * rates
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    first, second = x[..., :half], x[..., half:]
    return torch.cat((first * cos - second * sin, first * sin + second * cos), dim=-1)
