"""Encoders: observation arrays of N decisions → a summary of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from nashmon.nets.config import PolicyConfig, PolicyConfigError
from nashmon.nets.layers import mlp
from nashmon.observe.spec import ObsSpec


@dataclass(frozen=True, slots=True)
class Encoding:
    """What an encoder hands on; parts a head does not need may be None."""

    summary: Tensor  # (N, width)
    pokemon: Tensor | None = None  # (N, 12, entity width)
    moves: Tensor | None = None  # (N, own slots, 4, entity width): the active Pokémon's moves
    preview: Tensor | None = None  # (N,) bool: this is a team preview


class Encoder(nn.Module):
    """Maps observation arrays (N, …) to an `Encoding`."""

    def forward(self, obs: Mapping[str, Tensor]) -> Encoding:
        """Encode N decisions."""
        raise NotImplementedError


class FlatEncoder(Encoder):
    """A plain MLP over all numbers of the observation, joined."""

    def __init__(self, config: PolicyConfig, observation: ObsSpec) -> None:
        super().__init__()
        self.names = [array.name for array in observation.arrays]
        total = sum(torch.Size(array.shape).numel() for array in observation.arrays)
        self.layers = mlp((total, *[config.width] * config.encoder_layers))

    def forward(self, obs: Mapping[str, Tensor]) -> Encoding:
        """Encode N decisions."""
        joined = torch.cat([obs[name].flatten(1).float() for name in self.names], dim=1)
        return Encoding(self.layers(joined))


def build_encoder(config: PolicyConfig, observation: ObsSpec) -> Encoder:
    """The encoder a config asks for."""
    if config.encoder == "flat":
        return FlatEncoder(config, observation)
    raise PolicyConfigError(f"no encoder {config.encoder!r}")
