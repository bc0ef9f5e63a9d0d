"""Display names of species, moves, items … over all generations, as pastes write them.

A paste does not say which generation it is for, so one small table serves all of them.
"""

from __future__ import annotations

import difflib
import gzip
import json
import re
from functools import cache
from importlib import resources
from typing import Literal

from nashmon.core.errors import TeamError

Kind = Literal["species", "items", "abilities", "moves", "natures", "types"]


def to_id(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", text.lower())


SINGULAR: dict[Kind, str] = {
    "species": "species",
    "items": "item",
    "abilities": "ability",
    "moves": "move",
    "natures": "nature",
    "types": "type",
}


@cache
def _tables() -> tuple[dict[str, dict[str, str]], dict[str, dict[str, str]]]:
    data = resources.files("nashmon.teams").joinpath("data/names.json.gz").read_bytes()
    tables = json.loads(gzip.decompress(data))
    return tables["names"], tables["aliases"]


@cache
def display_name(kind: Kind, text: str) -> str:
    """The name as Showdown prints it, from a name, id or alias; "" stays ""."""
    name_id = to_id(text)
    if not name_id:
        return ""
    names, aliases = _tables()
    if name_id in names[kind]:
        return names[kind][name_id]
    if name_id in aliases.get(kind, {}):
        return names[kind][aliases[kind][name_id]]
    raise TeamError(f"unknown {SINGULAR[kind]} {text!r}{_suggest(name_id, names[kind])}")


def _suggest(name_id: str, names: dict[str, str]) -> str:
    near = difflib.get_close_matches(name_id, names, n=1, cutoff=0.75)
    return f" (did you mean {names[near[0]]!r}?)" if near else ""
