"""What generated teams are made of: the simulator's set data and what each format bans.

The tables are made from the pinned Showdown package by `tools/build_sets.js`.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

from nashmon.core.dex import Dex
from nashmon.core.errors import UnsupportedError
from nashmon.core.formats import Format, get_format


@dataclass(frozen=True, slots=True)
class SetRow:
    """One way the simulator's data plays a species; names are ids."""

    role: str
    moves: tuple[str, ...]
    abilities: tuple[str, ...]
    tera: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Learnset:
    """What a Generation 1 species can learn; move ids."""

    moves: tuple[str, ...]
    apart: frozenset[tuple[str, str]]  # sorted pairs that exclude each other


@dataclass(frozen=True, slots=True)
class Material:
    """All that teams of one format are made of."""

    rules: Format
    dex: Dex
    rows: Mapping[str, tuple[SetRow, ...]]  # species id → sets; what the format bans is left out
    bases: Mapping[str, str]  # species id of `rows` → base species, for the Species Clause
    learnsets: Mapping[str, Learnset]  # generation 1 only
    banned_moves: frozenset[str]
    banned_items: frozenset[str]
    item_clause: bool

    def clashes(self, species_id: str, move: str, others: Iterable[str]) -> bool:
        """The species cannot know the move together with one of the others."""
        learnset = self.learnsets.get(species_id)
        if learnset is None or not learnset.apart:
            return False
        return any((min(move, other), max(move, other)) in learnset.apart for other in others)


def variety_formats() -> tuple[str, ...]:
    """The formats there is set data for."""
    return tuple(_read("bans"))


@cache
def get_material(format_id: str) -> Material:
    """The material of a format."""
    if format_id not in _read("bans"):
        raise UnsupportedError(f"variety has no set data for {format_id}")
    ban = _read("bans")[format_id]
    rules = get_format(format_id)
    learnsets = _gen1_learnsets() if ban["table"] == "gen1" else {}
    rows = _rows(ban["table"], learnsets, frozenset(ban["moves"]), frozenset(ban["abilities"]))
    for species in ban["species"]:
        rows.pop(species, None)
    return Material(
        rules=rules,
        dex=rules.dex,
        rows=rows,
        bases={species: rules.dex.species[species].base_species for species in rows},
        learnsets=learnsets,
        banned_moves=frozenset(ban["moves"]),
        banned_items=frozenset(ban["items"]),
        item_clause=ban["itemClause"],
    )


def _rows(
    name: str,
    learnsets: Mapping[str, Learnset],
    banned_moves: frozenset[str],
    banned_abilities: frozenset[str],
) -> dict[str, tuple[SetRow, ...]]:
    rows = {species: [_row(data) for data in sets] for species, sets in _read(name).items()}
    # Species without random-battle data (Caterpie …) play what they learn.
    for species, learnset in learnsets.items():
        rows.setdefault(species, [SetRow("", learnset.moves, (), ())])
    allowed = {
        species: tuple(
            replace(
                row,
                moves=tuple(move for move in row.moves if move not in banned_moves),
                abilities=tuple(a for a in row.abilities if a not in banned_abilities),
            )
            for row in sets
            if not row.abilities or set(row.abilities) - banned_abilities
        )
        for species, sets in rows.items()
    }
    return {species: sets for species, sets in allowed.items() if sets}


def _row(data: dict[str, Any]) -> SetRow:
    return SetRow(data["role"], tuple(data["moves"]), tuple(data["abilities"]), tuple(data["tera"]))


@cache
def _gen1_learnsets() -> dict[str, Learnset]:
    return {
        species: Learnset(tuple(data["moves"]), frozenset((a, b) for a, b in data["apart"]))
        for species, data in _read("gen1_learnsets").items()
    }


@cache
def _read(name: str) -> dict[str, Any]:
    file = resources.files("nashmon.teams").joinpath(f"data/sets/{name}.json.gz")
    table: dict[str, Any] = json.loads(gzip.decompress(file.read_bytes()))
    return table
