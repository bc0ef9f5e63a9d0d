"""Fills in what one player does not know of a position with a sampled team of the foe.

What the player has seen stays: which Pokémon with which moves and PP left, HP as a percentage,
statuses, stages and all passing effects.  What it has not seen is the sample's: unrevealed Pokémon
and moves, all stats.  How long a sleep will last, which neither player knows, is drawn anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from nashmon.core.errors import SimulatorError, TeamError
from nashmon.sim.gen1 import knowledge as kn
from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1 import tables as tb
from nashmon.sim.gen1.fill import WRONG_MOVES, WRONG_SPECIES, book_of, fill_foe
from nashmon.sim.gen1.positions import Position
from nashmon.sim.gen1.setup import Gen1Team, Row, team_of
from nashmon.teams.team import PokemonSet


@dataclass(frozen=True, slots=True)
class SeenPokemon:
    """What a player has seen of one of the foe's Pokémon."""

    species: str  # id
    level: int
    moves: tuple[str, ...]  # ids


class SetSampler(Protocol):
    """Draws a team that could be the foe's."""

    def __call__(
        self, seen: tuple[SeenPokemon, ...], team_size: int, rng: np.random.Generator
    ) -> Sequence[PokemonSet]:
        """`team_size` sets: those of the seen Pokémon in their order, then the unseen ones."""
        ...


def seen_pokemon(position: Position, seat: int) -> tuple[SeenPokemon, ...]:
    """The foe's Pokémon that a seat has seen, in the order in which its team lists them."""
    _check(position, seat)
    foe = 1 - seat
    party = _party(position.state, foe)
    return tuple(
        SeenPokemon(
            tb.SPECIES_IDS[party[index, at.M_SPECIES]],
            int(party[index, at.M_LEVEL]),
            tuple(tb.MOVE_IDS[move] for move in sorted(_revealed(position.know, seat, index))),
        )
        for index in np.flatnonzero(party[:, at.M_SEEN]).tolist()
    )


def determinise(
    position: Position, seat: int, rng: np.random.Generator, sets: SetSampler
) -> Position:
    """The position as it would be if the foe of `seat` had the team that `sets` draws."""
    seen = seen_pokemon(position, seat)
    foe = 1 - seat
    state, know = position.state.copy(), position.know.copy()
    party = _party(state, foe)
    drawn = sets(seen, len(party), rng)
    if len(drawn) != len(party):
        raise TeamError(f"the foe has {len(party)} Pokémon, the sampled team {len(drawn)}")
    flags = party[:, at.M_SEEN].tolist()
    rest = iter(range(len(seen), len(party)))
    known = iter(range(len(seen)))
    chosen = [drawn[next(known) if flag else next(rest)] for flag in flags]
    old = position.teams[foe].names
    nicknames = [
        name if flag else one.nickname for name, flag, one in zip(old, flags, chosen, strict=True)
    ]
    team = team_of(chosen, nicknames)
    fault = fill_foe(position.state, state, know, seat, team.facts, rng.random(2 * at.TEAM))
    if fault:
        raise TeamError(_contradiction(position, seat, team, *divmod(fault, 8)))
    teams = (team, position.teams[1]) if foe == 0 else (position.teams[0], team)
    return replace(position, state=state, know=know, teams=teams)


def _contradiction(position: Position, seat: int, team: Gen1Team, fault: int, index: int) -> str:
    """What a sampled team gets wrong."""
    old, new = _party(position.state, 1 - seat)[index], team.facts[index]
    name = tb.SPECIES_IDS[old[at.M_SPECIES]]
    if fault == WRONG_SPECIES:
        return (
            f"the foe was seen to have {name} at level {old[at.M_LEVEL]}, the sample has "
            f"{tb.SPECIES_IDS[new[at.M_SPECIES]]} at level {new[at.M_LEVEL]} in its place"
        )
    count = int(new[at.M_SLOTS])
    if fault == WRONG_MOVES:
        sampled = new[at.M_MOVES : at.M_MOVES + count].tolist()
        missing = sorted(_revealed(position.know, seat, index) - set(sampled))
        words = ", ".join(tb.MOVE_IDS[move] for move in missing)
        return f"{name} was seen to know {words}, the sample does not have it"
    return f"{name}: {count} sampled moves are too few"


def _check(position: Position, seat: int) -> None:
    if seat not in (0, 1):
        raise ValueError(f"seat must be 0 or 1, got {seat}")
    if not len(position.know):
        raise SimulatorError("a position saved without observations does not say who knows what")


def _party(state: Row, side: int) -> Row:
    """A view of the party's rows."""
    base = side * at.SIDE
    size = int(state[base + at.TEAM_SIZE])
    start = base + at.PARTY
    return state[start : start + size * at.MON].reshape(size, at.MON)


def _revealed(know: Row, viewer: int, index: int) -> set[int]:
    """The moves of one of the foe's Pokémon that a viewer knows."""
    start = int(book_of(viewer, 1 - viewer)) + kn.LEARNED + index * kn.PAGE
    return {int(move) for move in know[start : start + kn.PAGE : kn.ENTRY] if move > 0}
