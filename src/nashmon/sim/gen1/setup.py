"""From packed teams to the row a battle starts with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from nashmon.core.dex import to_id
from nashmon.core.errors import TeamError
from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1 import tables as tb
from nashmon.teams.team import PokemonSet, Team

Row = NDArray[np.int16]
_NAME_LENGTH = 20  # Showdown cuts longer nicknames
_NEUTRAL_NATURES = ("", "bashful", "docile", "hardy", "quirky", "serious")


@dataclass(frozen=True, slots=True)
class Gen1Team:
    """One team as the engine needs it."""

    names: tuple[str, ...]
    details: tuple[str, ...]  # "Tauros", "Onix, L80"
    species: tuple[str, ...]
    genders: tuple[str, ...]  # "M", "F" or "N"
    max_hp: tuple[int, ...]
    facts: Row  # (six Pokémon, MON)
    side: Row  # a whole side before its first Pokémon comes in


@lru_cache(maxsize=65536)
def read_team(packed: str) -> Gen1Team:
    """Check and convert a packed team; what cannot fight in Gen 1 is refused by name."""
    return team_of(Team.from_packed(packed).pokemon)


def team_of(sets: Sequence[PokemonSet], nicknames: Sequence[str] | None = None) -> Gen1Team:
    """The same for the sets of a team; `nicknames` stand in for those of the sets."""
    if not 1 <= len(sets) <= at.TEAM:
        raise TeamError(f"a Gen 1 team has 1 to {at.TEAM} Pokémon, this one {len(sets)}")
    facts = np.zeros((at.TEAM, at.MON), np.int16)
    names, details, species = [], [], []
    for index, one in enumerate(sets):
        facts[index], kind, name, detail = _converted(one)
        species.append(kind)
        nickname = one.nickname if nicknames is None else nicknames[index]
        names.append((nickname or name)[:_NAME_LENGTH])
        details.append(detail)
    _rank(facts, species, names)
    facts.flags.writeable = False
    max_hp = tuple(int(row[at.M_MAX_HP]) for row in facts[: len(sets)])
    genders = tuple(one.gender or "N" for one in sets)
    side = _side(facts, len(sets))
    return Gen1Team(tuple(names), tuple(details), tuple(species), genders, max_hp, facts, side)


@lru_cache(maxsize=65536)
def _converted(one: PokemonSet) -> tuple[Row, str, str, str]:
    """Facts, species id, species name and details of a set; search asks for the same ones often."""
    facts = np.zeros(at.MON, np.int16)
    _fill(one, facts)
    facts.flags.writeable = False
    kind = tb.SPECIES_IDS[facts[at.M_SPECIES]]
    name = tb.DEX.species[kind].name
    return facts, kind, name, _details(one, name)


def _details(one: PokemonSet, name: str) -> str:
    level = "" if one.level == 100 else f", L{one.level}"
    gender = f", {one.gender}" if one.gender else ""
    return name + level + gender + (", shiny" if one.shiny else "")


def _rank(facts: Row, species: list[str], names: list[str]) -> None:
    """The order of benches: by species, then name, then place in the team."""
    order = sorted(range(len(names)), key=lambda k: (species[k], names[k], k))
    for rank, index in enumerate(order):
        facts[index, at.M_RANK] = rank


def _fill(one: PokemonSet, row: Row) -> None:
    species = tb.SPECIES_NUM.get(to_id(one.species))
    if species is None:
        raise TeamError(f"{one.species}: not a Gen 1 Pokémon")
    if to_id(one.nature) not in _NEUTRAL_NATURES:
        raise TeamError(f"{one.species}: Gen 1 has no natures, got {one.nature}")
    row[at.M_SPECIES] = species
    row[at.M_LEVEL] = one.level
    _fill_stats(one, row)
    _fill_moves(one, row)


def _fill_stats(one: PokemonSet, row: Row) -> None:
    base = tb.SPECIES[row[at.M_SPECIES] - 1].base_stats
    evs = one.evs or (0,) * 6
    ivs = one.ivs or (31,) * 6
    bonus = [(iv & 30) + ev // 4 for iv, ev in zip(ivs, evs, strict=True)]
    stats = [(2 * value + more) * one.level // 100 for value, more in zip(base, bonus, strict=True)]
    hp = (2 * base[0] + bonus[0] + 100) * one.level // 100 + 10
    row[at.M_HP] = row[at.M_MAX_HP] = hp
    row[at.M_STATS : at.M_STATS + 5] = [stat + 5 for stat in stats[1:]]
    row[at.M_SPEED_BONUS] = bonus[5]


def _fill_moves(one: PokemonSet, row: Row) -> None:
    moves = [to_id(move) for move in one.moves]
    if not 1 <= len(moves) <= at.NUM_MOVES:
        raise TeamError(f"{one.species}: 1 to {at.NUM_MOVES} moves, not {len(moves)}")
    if len(set(moves)) < len(moves):
        raise TeamError(f"{one.species}: the same move twice among {', '.join(moves)}")
    row[at.M_SLOTS] = len(moves)
    for slot, move in enumerate(moves):
        if move not in tb.MOVE_NUM or move == "struggle":
            raise TeamError(f"{one.species}: {move or 'an empty slot'} is not a Gen 1 move")
        num = tb.MOVE_NUM[move]
        row[at.M_MOVES + slot] = num
        row[at.M_PP + slot] = tb.MOVE_TABLE[num, tb.MAX_PP]


def _side(facts: Row, size: int) -> Row:
    side = np.zeros(at.SIDE, np.int16)
    side[at.PARTY - at.HEADER :] = facts.reshape(-1)
    side[at.TEAM_SIZE - at.HEADER] = side[at.LEFT - at.HEADER] = size
    side[at.SELECTED - at.HEADER] = side[at.ENEMY_SELECTED - at.HEADER] = tb.NO_MOVE
    order = at.ORDER - at.HEADER
    side[order : order + at.TEAM] = range(at.TEAM)
    side.flags.writeable = False
    return side


def write_start(row: Row, first: Gen1Team, second: Gen1Team) -> None:
    """Fill a row with two teams; `turn.start` then brings in their first Pokémon."""
    row[: at.HEADER] = 0
    row[at.CLAUSES] = 1
    row[at.HEADER : at.HEADER + at.SIDE] = first.side
    row[at.HEADER + at.SIDE :] = second.side
