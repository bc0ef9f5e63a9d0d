"""Value heads: a number, or a distribution over a stated range of returns."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nashmon.core.errors import NashmonError
from nashmon.nets.config import PolicyConfig
from nashmon.nets.layers import mlp, small_linear


class ValueRangeError(NashmonError):
    """Returns that lie outside what the value head can express."""


class ValueHead(nn.Module):
    """Maps features (N, width) to a value (N,) and the logits behind it, if any."""

    centres: Tensor | None  # (bins,) of a categorical value

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor | None]:
        """Value and logits."""
        raise NotImplementedError


class ScalarValue(ValueHead):
    """One unbounded number."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("centres", None)
        self.layers = nn.Sequential(mlp((width, width)), small_linear(width, 1))

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor | None]:
        """The value itself."""
        return self.layers(features).squeeze(-1).float(), None


class CategoricalValue(ValueHead):
    """Expectation of a distribution over `bins` returns spaced evenly from low to high."""

    def __init__(self, width: int, bins: int, low: float, high: float) -> None:
        super().__init__()
        if bins < 2:
            raise ValueRangeError(f"a categorical value needs at least 2 bins, not {bins}")
        self.register_buffer("centres", torch.linspace(low, high, bins), persistent=False)
        self.layers = nn.Sequential(mlp((width, width)), small_linear(width, bins))

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor | None]:
        """Σ p(bin)·centre, and the logits of p."""
        logits: Tensor = self.layers(features).float()
        assert self.centres is not None
        return (logits.softmax(dim=-1) * self.centres).sum(dim=-1), logits


def two_hot(returns: Tensor, centres: Tensor) -> Tensor:
    """Probabilities (…, bins) on the two bins around each return, with the return as their mean."""
    low, high = centres[0], centres[-1]
    if bool(((returns < low - 1e-4) | (returns > high + 1e-4)).any()):
        raise ValueRangeError(
            f"returns reach from {returns.min():.4g} to {returns.max():.4g}, "
            f"but the value head covers [{low:.4g}, {high:.4g}]"
        )
    place = (returns.clamp(low, high) - low) / (high - low) * (len(centres) - 1)
    below = place.floor().clamp(max=len(centres) - 2)
    upper = (place - below).unsqueeze(-1)
    index = below.long().unsqueeze(-1)
    probs = torch.zeros(*returns.shape, len(centres), dtype=returns.dtype, device=returns.device)
    return probs.scatter_(-1, index, 1 - upper).scatter_(-1, index + 1, upper)


def check_value_range(config: PolicyConfig, low: float, high: float) -> None:
    """Raise unless a categorical value can express every return in [low, high]."""
    if config.value == "categorical" and (low < config.value_low or high > config.value_high):
        raise ValueRangeError(
            f"the reward gives returns in [{low:g}, {high:g}], "
            f"but the value head covers [{config.value_low:g}, {config.value_high:g}]"
        )


def build_value(config: PolicyConfig) -> ValueHead:
    """The value head a config asks for."""
    if config.value == "scalar":
        return ScalarValue(config.width)
    return CategoricalValue(config.width, config.value_bins, config.value_low, config.value_high)
