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
from nashmon.sim.gen1.positions import Position
from nashmon.sim.gen1.protocol import percent
from nashmon.sim.gen1.setup import Row, team_of
from nashmon.teams.team import PokemonSet

_LONGEST_SLEEP = 7
_MAX_STAT = 999


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
    order = [*np.flatnonzero(party[:, at.M_SEEN]), *np.flatnonzero(party[:, at.M_SEEN] == 0)]
    places = np.argsort(order).tolist()
    old = position.teams[foe].names
    chosen = [drawn[place] for place in places]
    nicknames = [
        name if place < len(seen) else one.nickname
        for name, place, one in zip(old, places, chosen, strict=True)
    ]
    team = team_of(chosen, nicknames)
    for index, facts in enumerate(team.facts[: len(party)]):
        if party[index, at.M_SEEN]:
            _merge(party[index], facts, _revealed(know, seat, index))
        else:
            party[index] = facts
    party[:, at.M_RANK] = team.facts[: len(party), at.M_RANK]
    _match_field(position.state, state, foe)
    _match_own_book(state, know, foe)
    _redraw_sleep(state, know, rng)
    teams = (team, position.teams[1]) if foe == 0 else (position.teams[0], team)
    return replace(position, state=state, know=know, teams=teams)


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


def _book(viewer: int, side: int) -> int:
    return kn.BOOKS + (2 * viewer + side) * kn.BOOK


def _revealed(know: Row, viewer: int, index: int) -> set[int]:
    """The moves of one of the foe's Pokémon that a viewer knows."""
    start = _book(viewer, 1 - viewer) + kn.LEARNED + index * kn.PAGE
    return {int(move) for move in know[start : start + kn.PAGE : kn.ENTRY] if move > 0}


def _merge(old: Row, new: Row, revealed: set[int]) -> None:
    """Give a seen Pokémon the sampled stats and unrevealed moves."""
    name = tb.SPECIES_IDS[old[at.M_SPECIES]]
    if new[at.M_SPECIES] != old[at.M_SPECIES] or new[at.M_LEVEL] != old[at.M_LEVEL]:
        raise TeamError(
            f"the foe was seen to have {name} at level {old[at.M_LEVEL]}, the sample has "
            f"{tb.SPECIES_IDS[new[at.M_SPECIES]]} at level {new[at.M_LEVEL]} in its place"
        )
    _merge_moves(old, new, revealed, name)
    shown = percent(int(old[at.M_HP]), int(old[at.M_MAX_HP]))
    full = int(new[at.M_MAX_HP])
    old[at.M_MAX_HP] = full
    old[at.M_HP] = full if shown == 100 else max(shown * full // 100, int(shown > 0))
    stats = slice(at.M_STATS, at.M_SPEED_BONUS + 1)
    old[stats] = new[stats]


def _merge_moves(old: Row, new: Row, revealed: set[int], name: str) -> None:
    """Revealed moves stay in their slots with their PP; sampled ones fill the others."""
    count = int(new[at.M_SLOTS])
    sampled = [int(move) for move in new[at.M_MOVES : at.M_MOVES + count]]
    missing = revealed - set(sampled)
    if missing:
        words = ", ".join(tb.MOVE_IDS[move] for move in sorted(missing))
        raise TeamError(f"{name} was seen to know {words}, the sample does not have it")
    moves, pp = old[at.M_MOVES : at.M_PP], old[at.M_PP : at.M_STATUS]
    kept = [slot for slot in range(at.NUM_MOVES) if int(moves[slot]) in revealed]
    if kept and kept[-1] >= count:
        raise TeamError(
            f"{name}: {count} sampled moves are too few, it has at least {kept[-1] + 1}"
        )
    others = iter(move for move in sampled if move not in revealed)
    for slot in range(at.NUM_MOVES):
        if slot in kept:
            continue
        moves[slot] = next(others) if slot < count else 0
        pp[slot] = tb.MOVE_TABLE[moves[slot], tb.MAX_PP] if slot < count else 0
    old[at.M_SLOTS] = count


def _match_field(before: Row, state: Row, side: int) -> None:
    """Carry the new stats and moves over to the Pokémon on the field, unless it has copied them."""
    base = side * at.SIDE
    active = int(state[base + at.ACTIVE])
    if state[base + at.TRANSFORMED]:
        return
    old, new = _party(before, side)[active], _party(state, side)[active]
    for k in range(5):
        was, now = int(old[at.M_STATS + k]), int(new[at.M_STATS + k])
        for place in (base + at.STORED + k, base + at.STATS + k):
            state[place] = min(max(int(state[place]) * now // was, 1), _MAX_STAT)
    was, now = int(old[at.M_STATS + at.SPE]), int(new[at.M_STATS + at.SPE])
    state[base + at.SPEED] = min(max(int(state[base + at.SPEED]) * now // was, 1), _MAX_STAT)
    state[base + at.SLOTS] = new[at.M_SLOTS]
    renamed = {}
    for slot in range(at.NUM_MOVES):
        if int(state[base + at.VIRTUAL]) >> slot & 1:
            continue
        if old[at.M_MOVES + slot] != new[at.M_MOVES + slot]:
            renamed[int(old[at.M_MOVES + slot])] = int(new[at.M_MOVES + slot])
            state[base + at.MOVES + slot] = new[at.M_MOVES + slot]
            state[base + at.PP + slot] = new[at.M_PP + slot]
    # A move selected but never carried out is as unknown as its slot.
    for place in (at.SELECTED, at.ENEMY_SELECTED, at.SIDE_MOVE):
        move = int(state[base + place])
        if renamed.get(move):
            state[base + place] = renamed[move]


def _match_own_book(state: Row, know: Row, side: int) -> None:
    """The foe knows its own team: its book follows the new moves."""
    book = _book(side, side)
    party = _party(state, side)
    base = side * at.SIDE
    active = int(state[base + at.ACTIVE])
    moves = party[:, at.M_MOVES : at.M_MOVES + at.NUM_MOVES]
    start = book + kn.LEARNED
    pages = know[start : start + len(party) * kn.PAGE].reshape(len(party), at.NUM_MOVES, kn.ENTRY)
    for index, slot in np.argwhere(pages[:, :, 0] != moves).tolist():
        move = int(moves[index, slot])
        full = tb.MOVE_TABLE[move, tb.MAX_PP] if move else 0
        pages[index, slot] = move, party[index, at.M_PP + slot], full
        if index == active:
            _match_now(know, book, slot, pages[index, slot])
    for slot in range(at.NUM_MOVES):
        offered = state[base + at.MOVES + slot] if slot < state[base + at.SLOTS] else 0
        know[kn.LISTED + side * at.NUM_MOVES + slot] = offered


def _match_now(know: Row, book: int, slot: int, learned: Row) -> None:
    for place in range(kn.MAX_NOW):
        entry = book + kn.NOW + place * kn.NOW_ENTRY
        if know[entry + 3] == slot + 1:
            know[entry : entry + kn.ENTRY] = learned


def _redraw_sleep(state: Row, know: Row, rng: np.random.Generator) -> None:
    for side in (0, 1):
        party = _party(state, side)
        for index in np.flatnonzero(party[:, at.M_STATUS] == at.SLP).tolist():
            one = party[index]
            if not one[at.M_SELF_SLEPT] and one[at.M_SLEEP] > 0:
                slept = int(know[kn.NEWS + side * kn.NEWS_SIZE + kn.STATUS_TURNS + index])
                one[at.M_SLEEP] = rng.integers(1, max(_LONGEST_SLEEP - slept, 1) + 1)
