"""Policy heads: features of N decisions and their legal actions → normalised log-policies."""

from __future__ import annotations

from torch import Tensor, nn

from nashmon.nets.config import ActionSpec, PolicyConfig, PolicyConfigError
from nashmon.nets.distribution import masked_log_softmax
from nashmon.nets.encoders import Encoding
from nashmon.nets.layers import mlp, small_linear
from nashmon.observe.spec import ObsSpec


class Head(nn.Module):
    """Maps features (N, width), the encoding and masks (N, A) to a log-policy (N, A)."""

    def forward(self, features: Tensor, encoding: Encoding, mask: Tensor) -> Tensor:
        """The log-policy."""
        raise NotImplementedError


class FlatHead(Head):
    """One logit per action from the features alone."""

    def __init__(self, width: int, num_actions: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(mlp((width, width)), small_linear(width, num_actions))

    def forward(self, features: Tensor, encoding: Encoding, mask: Tensor) -> Tensor:
        """The log-policy."""
        return masked_log_softmax(self.layers(features), mask)


def build_head(config: PolicyConfig, observation: ObsSpec, actions: ActionSpec) -> Head:
    """The policy head a config asks for."""
    if config.head == "flat":
        return FlatHead(config.width, actions.num_actions)
    raise PolicyConfigError(f"no head {config.head!r}")
