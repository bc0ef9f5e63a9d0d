"""Reading a Showdown request: bench order, own moves, the gimmick on offer.

A request is the JSON object Showdown sends with `|request|`; nothing else decides what is legal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from nashmon.core.dex import to_id
from nashmon.core.errors import NashmonError, UnsupportedError

Request = Mapping[str, Any]

MAX_MOVES = 4
MAX_TEAM = 6

# Request flag → word of the choice string.  A request offers one kind at a time to a Pokémon: a
# Z-crystal, a Mega Stone and Terastallization exclude each other.  Only Let's Go can offer two
# (Mega X and Y); the first in this order is then the one that can be chosen.
GIMMICKS = (
    ("canTerastallize", "terastallize"),
    ("canMegaEvo", "mega"),
    ("canMegaEvoX", "megax"),
    ("canMegaEvoY", "megay"),
    ("canUltraBurst", "ultra"),
    ("canDynamax", "dynamax"),
    ("canZMove", "zmove"),
)


class IllegalActionError(NashmonError, ValueError):
    """An action the request does not allow, or a choice that is none of its actions."""


def move_key(move_id: str) -> str:
    """The id moves are sorted by: without the type or power Showdown appends to three of them."""
    for stem in ("hiddenpower", "return", "frustration"):
        if move_id.startswith(stem):
            return stem
    return move_id


@lru_cache(maxsize=65536)
def sorted_moves(move_ids: tuple[str, ...]) -> tuple[int, ...]:
    """Positions of the moves in the order of the singles actions (equal ids keep their order)."""
    return tuple(sorted(range(len(move_ids)), key=lambda index: move_key(move_ids[index])))


def is_fainted(entry: Mapping[str, Any]) -> bool:
    """Whether a `side.pokemon` entry has fainted."""
    return str(entry["condition"]).endswith("fnt")


def num_living(team: Sequence[Mapping[str, Any]], start: int) -> int:
    """How many entries from a position on have not fainted ("0 fnt" alone ends in t)."""
    return sum([entry["condition"][-1] != "t" for entry in team[start:]])


def species_of(entry: Mapping[str, Any]) -> str:
    """Species id of a `side.pokemon` entry, from its details ("Tauros, L74, M")."""
    return _species_of(entry["details"])


@lru_cache(maxsize=65536)
def _species_of(details: str) -> str:
    return to_id(details.split(",", 1)[0])


def level_of(entry: Mapping[str, Any]) -> int:
    """Level of a `side.pokemon` entry; details leave out level 100."""
    for part in entry["details"].split(", ")[1:]:
        if part[0] == "L" and part[1:].isdigit():
            return int(part[1:])
    return 100


def num_active(request: Request) -> int:
    """Number of active slots the request speaks of."""
    slots = request.get("active") or request.get("forceSwitch")
    if slots is not None:
        return len(slots)
    return sum(1 for entry in request["side"]["pokemon"] if entry["active"])


def is_reviving(request: Request) -> bool:
    """Whether the forced switch is a Revival Blessing choice."""
    if "forceSwitch" not in request:
        return False
    team = request["side"]["pokemon"]
    return any(entry.get("reviving") for entry in team[: len(request["forceSwitch"])])


def bench_order(request: Request) -> list[int]:
    """Positions in `side.pokemon` of the Pokémon switch action k refers to.

    Living first (fainted first during Revival Blessing), each group by (species, ident).
    """
    team: Sequence[Mapping[str, Any]] = request["side"]["pokemon"]
    reviving = is_reviving(request)
    keyed = []
    for position in range(num_active(request), len(team)):
        entry = team[position]
        fainted = entry["condition"][-1] == "t"  # "0 fnt" alone ends so
        species = _species_of(entry["details"])
        keyed.append((fainted is not reviving, species, entry["ident"], position))
    keyed.sort()
    return [position for _, _, _, position in keyed]


def bench_index(request: Request, position: int, choice: str) -> int:
    """The k of a Pokémon at a position of `side.pokemon`."""
    bench = bench_order(request)
    if position not in bench:
        raise IllegalActionError(f"{choice!r}: the Pokémon at {position + 1} is on the field")
    return bench.index(position)


def display_name(entry: Mapping[str, Any]) -> str:
    """How an entry's species is called."""
    details: str = entry["details"]
    return details.split(",", 1)[0]


def check_size(request: Request) -> None:
    """Refuse teams the action spaces have no numbers for."""
    size = len(request["side"]["pokemon"])
    if size > MAX_TEAM:
        raise UnsupportedError(f"actions are defined for teams of {MAX_TEAM}, this one has {size}")


def moves_of(active: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The moves a request offers to one Pokémon, at most four."""
    moves: list[dict[str, Any]] = active["moves"]
    if len(moves) > MAX_MOVES:
        names = ", ".join(move["id"] for move in moves)
        raise UnsupportedError(f"actions are defined for {MAX_MOVES} moves, not {names}")
    return moves


def gimmick_of(active: Mapping[str, Any]) -> str | None:
    """The word that combines a move with the gimmick on offer, None when there is none."""
    if len(active) == 1:  # nothing but moves
        return None
    for flag, word in GIMMICKS:
        if active.get(flag):
            return word
    return None


def base_options(active: Mapping[str, Any]) -> list[Mapping[str, Any] | None]:
    """Per move of the request what it does without a gimmick, None where it cannot be used.

    A Dynamaxed Pokémon uses its Max Moves, which only their own `disabled` forbids.
    """
    options: Sequence[Mapping[str, Any]] = moves_of(active)
    if "maxMoves" in active and not active.get("canDynamax"):
        options = active["maxMoves"]["maxMoves"]
    return [None if option.get("disabled") else option for option in options]


def gimmick_options(active: Mapping[str, Any], word: str) -> list[Mapping[str, Any] | None]:
    """Per move what it does with the gimmick, None where that cannot be used.

    Z-moves and Max Moves may be chosen while the move itself is disabled (Encore, Choice items).
    """
    if word == "zmove":
        return list(active["canZMove"])
    if word == "dynamax":
        options = active["maxMoves"]["maxMoves"]
        return [None if option.get("disabled") else option for option in options]
    return [None if move.get("disabled") else move for move in moves_of(active)]
