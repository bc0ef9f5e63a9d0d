"""Facts of species, moves, items, abilities, types and natures, per generation or mod.

The tables are data files made from the pinned Showdown package by `tools/build_tables.py`; a
mod's file holds only what differs from its generation.  Keys and names are Showdown ids.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from math import prod
from pathlib import Path
from typing import Any

from nashmon.core.dex_entries import Ability, Effect, Item, Move, Nature, PokemonType, Species
from nashmon.core.errors import UnsupportedError
from nashmon.core.state import BOOSTS

KINDS = ("species", "moves", "items", "abilities", "types", "natures")

__all__ = [
    "Ability",
    "Dex",
    "Effect",
    "Item",
    "Move",
    "Nature",
    "PokemonType",
    "Species",
    "dex_names",
    "get_dex",
    "read_data",
    "to_id",
]

_DATA = Path(__file__).parent / "data"
_ID_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")


@lru_cache(maxsize=65536)
def to_id(text: str) -> str:
    """Showdown's id of a name: lower case, letters and digits only."""
    return "".join(character for character in text.lower() if character in _ID_CHARACTERS)


@dataclass(frozen=True, slots=True)
class Dex:
    """All tables of one generation or mod."""

    mod: str
    gen: int
    species: Mapping[str, Species]
    moves: Mapping[str, Move]
    items: Mapping[str, Item]
    abilities: Mapping[str, Ability]
    types: Mapping[str, PokemonType]
    natures: Mapping[str, Nature]
    chart: Mapping[tuple[str, str], float]  # (attacking, defending) → factor

    def type_effectiveness(self, attack: str, defenders: Iterable[str]) -> float:
        """Product of the chart over the defender's types; "" (typeless) is neutral.

        Stellar attacks are neutral here; that they are doubled against a Terastallized target
        is a fact of the battle.
        """
        return prod(self.chart[attack, defender] for defender in defenders)


def get_dex(gen_or_mod: int | str) -> Dex:
    """The tables of a generation (1–9 or "gen1") or of a mod ("champions")."""
    mod = f"gen{gen_or_mod}" if isinstance(gen_or_mod, int) else gen_or_mod
    return _load(mod)


def dex_names() -> tuple[str, ...]:
    """Every generation and mod that has tables."""
    return tuple(sorted(path.name[4:-8] for path in _DATA.glob("dex_*.json.gz")))


def read_data(name: str) -> Any:
    """The JSON content of one packed data file."""
    return json.loads(gzip.decompress((_DATA / name).read_bytes()))


@cache
def _load(mod: str) -> Dex:
    if mod not in dex_names():
        raise UnsupportedError(f"no dex for {mod!r}; there are {', '.join(dex_names())}")
    data = _rows(mod)
    types = {key: _type(key, row) for key, row in data["types"].items()}
    return Dex(
        mod=mod,
        gen=data["gen"],
        species={key: _species(key, row) for key, row in data["species"].items()},
        moves={key: _move(key, row) for key, row in data["moves"].items()},
        items={key: _item(key, row) for key, row in data["items"].items()},
        abilities={key: _ability(key, row) for key, row in data["abilities"].items()},
        types=types,
        natures={key: Nature(id=key, **row) for key, row in data["natures"].items()},
        chart=_chart(types),
    )


def _rows(mod: str) -> dict[str, Any]:
    data: dict[str, Any] = read_data(f"dex_{mod}.json.gz")
    if "base" not in data:
        return data
    merged: dict[str, Any] = {"gen": data["gen"]}
    base = _rows(data["base"])
    for kind in KINDS:
        rows = {**base[kind], **data.get(kind, {})}
        merged[kind] = {key: row for key, row in sorted(rows.items()) if row is not None}
    return merged


_TUPLES = (
    "types",
    "base_stats",
    "other_formes",
    "cosmetic_formes",
    "battle_only",
    "required_items",
    "evos",
    "tags",
    "users",
)
_SETS = ("flags", "ignore_immunity")
_CONVERT: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_TUPLES, tuple),
    **dict.fromkeys(_SETS, frozenset),
    "drain": lambda pair: pair[0] / pair[1],
    "recoil": lambda pair: pair[0] / pair[1],
    "heal": lambda pair: pair[0] / pair[1],
    "boosts": lambda boosts: tuple(boosts.get(stat, 0) for stat in BOOSTS),
    "z_boosts": lambda boosts: tuple(boosts.get(stat, 0) for stat in BOOSTS),
    "mega": lambda pairs: tuple(sorted(pairs.items())),
    "effect": lambda row: _effect(row),
    "self_effect": lambda row: _effect(row),
    "own": lambda row: _effect(row),
    "secondaries": lambda rows: tuple(_effect(row) for row in rows),
}


def _converted(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _CONVERT[key](value) if key in _CONVERT else value for key, value in row.items()}


def _species(key: str, row: Mapping[str, Any]) -> Species:
    values = _converted(row)
    slots = values.pop("abilities", {})
    ordered = tuple(slots[slot] for slot in "01HS" if slot in slots)
    return Species(id=key, abilities=ordered, hidden_ability=slots.get("H"), **values)


def _effect(row: Mapping[str, Any]) -> Effect:
    return Effect(**_converted(row))


def _move(key: str, row: Mapping[str, Any]) -> Move:
    return Move(id=key, **_converted(row))


def _item(key: str, row: Mapping[str, Any]) -> Item:
    return Item(id=key, **_converted(row))


def _ability(key: str, row: Mapping[str, Any]) -> Ability:
    return Ability(id=key, **_converted(row))


def _type(key: str, row: Mapping[str, Any]) -> PokemonType:
    damage = tuple(sorted(row["damage_taken"].items()))
    return PokemonType(key, row["name"], damage, frozenset(row["immune"]))


def _chart(types: Mapping[str, PokemonType]) -> dict[tuple[str, str], float]:
    names = ("", *types)
    chart = {(attack, defender): 1.0 for attack in names for defender in names}
    for defender in types.values():
        for attack, factor in defender.damage_taken:
            if attack in types:
                chart[attack, defender.id] = float(factor)
    return chart
