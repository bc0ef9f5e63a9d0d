"""Encoders without entities (plain numbers, text tokens) and the choice among all encoders."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from nashmon.nets.config import PolicyConfig, PolicyConfigError
from nashmon.nets.encoding import Encoder, Encoding, Tables
from nashmon.nets.entities import AttentionEncoder, SetEncoder
from nashmon.nets.layers import FeedForward, SelfAttention, mlp
from nashmon.observe.spec import ObsSpec

NUMBER_TOKENS = 6  # tokens that carry the numbers of a text observation


class FlatEncoder(Encoder):
    """A plain MLP over all numbers of the observation, joined."""

    def __init__(self, config: PolicyConfig, observation: ObsSpec) -> None:
        super().__init__()
        self.names = [array.name for array in observation.arrays]
        total = sum(torch.Size(array.shape).numel() for array in observation.arrays)
        self.layers = mlp((total, *[config.width] * config.encoder_layers))

    def forward(self, observations: Mapping[str, Tensor]) -> Encoding:
        """Encode N decisions."""
        joined = [observations[name].flatten(1).float() for name in self.names]
        return Encoding(self.layers(torch.cat(joined, dim=1)))


class TokenEncoder(Encoder):
    """Attention over words, a few tokens made from the numbers, and scratch tokens that are read.

    For observations {"text_tokens" (N, words), "numbers" (N, n)}; an unknown word is −1.
    """

    def __init__(self, config: PolicyConfig, observation: ObsSpec) -> None:
        super().__init__()
        width, scratch = config.entity_width, config.scratch_tokens
        words, numbers = observation["text_tokens"], observation["numbers"]
        vocab = observation.vocabulary(str(words.columns[0].vocab))
        self.words = nn.Embedding(vocab.size + 1, width)
        self.positions = nn.Parameter(0.02 * torch.randn(len(words.columns), width))
        self.numbers = nn.Linear(len(numbers.columns), NUMBER_TOKENS * width)
        self.scratch = nn.Parameter(0.02 * torch.randn(scratch, width))
        self.blocks = nn.Sequential(
            *[
                nn.Sequential(SelfAttention(width, config.encoder_heads), FeedForward(width))
                for _ in range(config.encoder_layers)
            ]
        )
        self.out = mlp((scratch * width, config.width))

    def forward(self, observations: Mapping[str, Tensor]) -> Encoding:
        """Encode N decisions."""
        words = self.words(observations["text_tokens"].long() + 1) + self.positions
        numbers = self.numbers(observations["numbers"]).unflatten(1, (NUMBER_TOKENS, -1))
        scratch = self.scratch.expand(len(words), -1, -1)
        tokens = self.blocks(torch.cat((scratch, numbers, words), dim=1))
        return Encoding(self.out(tokens[:, : self.scratch.shape[0]].flatten(1)))


def build_encoder(config: PolicyConfig, observation: ObsSpec, tables: Tables | None) -> Encoder:
    """The encoder a config asks for."""
    needed = {"flat": (), "tokens": ("text_tokens", "numbers")}.get(
        config.encoder, ("pokemon_ids", "pokemon_numbers", "active_numbers", "field")
    )
    missing = sorted(set(needed) - {array.name for array in observation.arrays})
    if missing:
        raise PolicyConfigError(
            f"encoder {config.encoder!r} needs the arrays {', '.join(missing)}, "
            f"which observation {observation.label} does not have"
        )
    if config.encoder == "flat":
        return FlatEncoder(config, observation)
    if config.encoder == "tokens":
        return TokenEncoder(config, observation)
    if tables is None:
        raise PolicyConfigError(f"encoder {config.encoder!r} needs the feature tables of its words")
    if config.encoder == "set":
        return SetEncoder(config, observation, tables)
    return AttentionEncoder(config, observation, tables)
