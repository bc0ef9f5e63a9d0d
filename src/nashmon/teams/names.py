"""Display names of species, moves, items … over all generations, as pastes write them.

A paste does not say which generation it is for, so one small table serves all of them.  It is made
from the pinned Showdown package by `tools/build_names.js`.
"""

from __future__ import annotations

import difflib
import gzip
import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

from nashmon.core.dex import to_id
from nashmon.core.errors import TeamError

Kind = Literal["species", "items", "abilities", "moves", "natures", "types"]

SINGULAR: dict[Kind, str] = {
    "species": "species",
    "items": "item",
    "abilities": "ability",
    "moves": "move",
    "natures": "nature",
    "types": "type",
}
NOTHING = frozenset({"", "none", "noitem"})  # ids that stand for "has none"


@dataclass(frozen=True, slots=True)
class HiddenPower:
    """The individual values that give one Hidden Power type, in the order of STATS."""

    ivs: tuple[int, ...]  # generations 3 and later
    dvs: tuple[int, ...]  # generation 2, 0–15


@cache
def _tables() -> dict[str, Any]:
    data = resources.files("nashmon.teams").joinpath("data/names.json.gz").read_bytes()
    tables: dict[str, Any] = json.loads(gzip.decompress(data))
    return tables


@cache
def display_name(kind: Kind, text: str) -> str:
    """The name as Showdown prints it, from a name, id or alias; "" and "None" give ""."""
    name_id = to_id(text)
    if name_id in NOTHING and kind != "moves":
        return ""
    names: dict[str, str] = _tables()["names"][kind]
    aliases: dict[str, str] = _tables()["aliases"].get(kind, {})
    name_id = aliases.get(name_id, name_id)
    if name_id in names:
        return names[name_id]
    near = difflib.get_close_matches(name_id, names, n=1, cutoff=0.75)
    hint = f" (did you mean {names[near[0]]!r}?)" if near else ""
    raise TeamError(f"unknown {SINGULAR[kind]} {text!r}{hint}")


def hidden_power(type_name: str) -> HiddenPower:
    """The best individual values for a Hidden Power type."""
    powers = _tables()["hiddenPowers"]
    if type_name not in powers:
        raise TeamError(f"Hidden Power {type_name!r}: expected one of {', '.join(powers)}")
    return HiddenPower(tuple(powers[type_name]["ivs"]), tuple(powers[type_name]["dvs"]))
