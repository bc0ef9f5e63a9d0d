"""Policy heads: features of N decisions and their legal actions → normalised log-policies."""

from __future__ import annotations

from torch import Tensor, nn

from nashmon.nets.config import ActionSpec, PolicyConfig, PolicyConfigError
from nashmon.nets.distribution import masked_log_softmax
from nashmon.nets.encoding import Encoding
from nashmon.nets.layers import mlp, small_linear
from nashmon.nets.pointer import DoublesHead, SinglesHead
from nashmon.nets.preview import PreviewHead


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


class PointerHead(Head):
    """Scores each move and Pokémon by its own embedding; team previews go to their own head."""

    def __init__(self, config: PolicyConfig, actions: ActionSpec) -> None:
        super().__init__()
        self.battle = (SinglesHead if actions.kind == "singles" else DoublesHead)(config, actions)
        self.preview = None if actions.preview is None else PreviewHead(config, actions)

    def forward(self, features: Tensor, encoding: Encoding, mask: Tensor) -> Tensor:
        """The log-policy."""
        log_policy: Tensor = self.battle(features, encoding, mask)
        if self.preview is None or encoding.preview is None:
            return log_policy
        rows = encoding.preview.nonzero().squeeze(1)
        if len(rows) == 0:
            return log_policy
        assert encoding.pokemon is not None
        previews = self.preview(
            features[rows], encoding.pokemon[rows], encoding.preview[rows], mask[rows]
        )
        return log_policy.index_copy(0, rows, previews)


def build_head(config: PolicyConfig, actions: ActionSpec) -> Head:
    """The policy head a config asks for."""
    if config.head == "flat":
        return FlatHead(config.width, actions.num_actions)
    if config.encoder not in ("set", "attention") or actions.kind == "flat":
        raise PolicyConfigError(
            f"a pointer head needs an encoder of Pokémon (set or attention) and singles or doubles "
            f"actions, not encoder {config.encoder!r} with {actions.kind} actions; use head 'flat'"
        )
    return PointerHead(config, actions)
