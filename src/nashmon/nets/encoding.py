"""What every encoder gives to memory and heads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

TEAM = 6  # rows of one side
MOVES = 4


@dataclass(frozen=True, slots=True)
class Tables:
    """Constant facts about the words of a vocabulary, aligned with its ids."""

    features: Mapping[str, NDArray[np.float32]]  # vocabulary → (words, features)
    move_types: NDArray[np.int64]  # (moves,): id of each move's type
    damaging: NDArray[np.bool_]  # (moves,): the move is an attack
    type_chart: NDArray[np.float32]  # (types, types): factor of attacking against defending type
    strikes: NDArray[np.float32] | None = None  # (moves, facts): see `matchup`


@dataclass(frozen=True, slots=True)
class Encoding:
    """N encoded decisions; parts that an encoder cannot tell apart are None."""

    summary: Tensor  # (N, width)
    pokemon: Tensor | None = None  # (N, 12, entity width): own six, then the foe's
    moves: Tensor | None = None  # (N, own slots, 4, entity width): moves of the active Pokémon
    # (N, own slots, 4, foe slots, 2 or 4): type effectiveness of each move on each active foe, and
    # what it would take of its HP
    effectiveness: Tensor | None = None
    preview: Tensor | None = None  # (N,) long: own Pokémon at a team preview, else 0

    def entities(self) -> tuple[Tensor, Tensor, Tensor]:
        """Pokémon, moves and effectiveness, for heads that need them."""
        if self.pokemon is None or self.moves is None or self.effectiveness is None:
            raise ValueError("this encoder does not tell Pokémon and moves apart")
        return self.pokemon, self.moves, self.effectiveness


class Encoder(nn.Module):
    """Maps observation arrays (N, …) to an `Encoding`."""

    def forward(self, observations: Mapping[str, Tensor]) -> Encoding:
        """Encode N decisions."""
        raise NotImplementedError
