"""What every encoder gives to memory and heads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

# Constant facts about the words of a vocabulary, aligned with its ids: name → (words, features).
Tables = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Encoding:
    """N encoded decisions; parts that an encoder cannot tell apart are None."""

    summary: Tensor  # (N, width)
    pokemon: Tensor | None = None  # (N, 12, entity width): own six, then the foe's
    moves: Tensor | None = None  # (N, own slots, 4, entity width): moves of the active Pokémon
    preview: Tensor | None = None  # (N,) bool: the decision is a team preview


class Encoder(nn.Module):
    """Maps observation arrays (N, …) to an `Encoding`."""

    def forward(self, observations: Mapping[str, Tensor]) -> Encoding:
        """Encode N decisions."""
        raise NotImplementedError
