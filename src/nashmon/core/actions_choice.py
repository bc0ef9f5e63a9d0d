"""Parsing one Pokémon's part of a choice string, in every spelling Showdown accepts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nashmon.core.actions_request import (
    IllegalActionError,
    Request,
    base_options,
    gimmick_of,
    moves_of,
    species_of,
)
from nashmon.core.dex import to_id

_TARGET = re.compile(r"[+-]?[1-3]")
_WORDS = {
    "terastal": "terastallize",
    "terastallize": "terastallize",
    "mega": "mega",
    "megax": "megax",
    "megay": "megay",
    "ultra": "ultra",
    "zmove": "zmove",
    "dynamax": "dynamax",
    "gigantamax": "dynamax",
    "max": "dynamax",
}


@dataclass(frozen=True, slots=True)
class MovePart:
    """Use the index-th move of the request."""

    index: int
    target: int  # 0 when none was given
    gimmick: bool


@dataclass(frozen=True, slots=True)
class SwitchPart:
    """Switch to (or revive) the Pokémon at a position of `side.pokemon`."""

    position: int


@dataclass(frozen=True, slots=True)
class PassPart:
    """Do nothing with this slot."""


Part = MovePart | SwitchPart | PassPart


def parse_part(request: Request, slot: int, text: str) -> Part:
    """What one slot does, from "move 1 +2 mega", "switch Chansey", "pass" …"""
    kind, _, data = text.strip().partition(" ")
    if kind == "move" and "active" in request:
        return _parse_move(request["active"][slot], data.strip(), text)
    if kind == "switch":
        return SwitchPart(_position(request, data.strip()))
    if kind in ("pass", "skip") and not data:
        return PassPart()
    if kind in ("default", "auto") and "active" in request and len(request["active"]) == 1:
        options = base_options(request["active"][0])
        return MovePart(next(i for i, option in enumerate(options) if option is not None), 0, False)
    raise IllegalActionError(f"{text!r} is not a choice this request can be answered with")


def _parse_move(active: Mapping[str, Any], data: str, text: str) -> MovePart:
    words = data.split()
    target, word = 0, None
    while len(words) > 1:
        if _TARGET.fullmatch(words[-1]) and to_id("".join(words)) != "conversion2":
            target = int(words.pop())
        elif words[-1] in _WORDS:
            word = _WORDS[words.pop()]
        else:
            break
    index, named_word = _find_move(active, " ".join(words), text)
    word = word or named_word
    if word == "dynamax" and "maxMoves" in active and not active.get("canDynamax"):
        word = None  # already Dynamaxed: the word changes nothing
    if "pp" not in moves_of(active)[0]:
        # A forced move (Recharge, Struggle, Outrage …): Showdown ignores what is added to it.
        word, target = None, 0
    if word is not None and word != gimmick_of(active):
        raise IllegalActionError(f"{text!r}: the request does not offer {word!r}")
    return MovePart(index, target, word is not None)


def _find_move(active: Mapping[str, Any], name: str, text: str) -> tuple[int, str | None]:
    moves = moves_of(active)
    if name.isdigit() and 1 <= int(name) <= len(moves):
        return int(name) - 1, None
    move_id = to_id(name)
    move_id = "hiddenpower" if move_id.startswith("hiddenpower") else move_id
    for index, move in enumerate(moves):
        if move["id"] == move_id:
            return index, None
    for index, option in enumerate((active.get("maxMoves") or {}).get("maxMoves", ())):
        if option["move"] == move_id:
            return index, "dynamax"
    for index, option in enumerate(active.get("canZMove") or ()):
        if option and to_id(option["move"]) == move_id:
            return index, "zmove"
    names = ", ".join(move["id"] for move in moves)
    raise IllegalActionError(f"{text!r}: the moves are {names}")


def _position(request: Request, data: str) -> int:
    team = request["side"]["pokemon"]
    if data.isdigit():
        position = int(data) - 1
        if 0 <= position < len(team):
            return position
    for position, entry in enumerate(team):
        nickname = entry["ident"].partition(": ")[2]
        if data.lower() == nickname.lower() or to_id(data) == species_of(entry):
            return position
    raise IllegalActionError(f"there is no Pokémon {data!r} to switch to")
