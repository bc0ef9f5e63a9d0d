"""Singles: moves 0–3 by id, switches 4–8 in bench order, moves with the gimmick 9–12."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nashmon.core.actions_request import (
    MAX_MOVES,
    Request,
    base_options,
    gimmick_of,
    gimmick_options,
    is_fainted,
    move_key,
    moves_of,
    sorted_moves,
)

SWITCH = 4  # first switch action
GIMMICK = 9  # first action with the gimmick
NUM_SWITCHES = 5
NUM_ACTIONS = 13
NUM_MINIMAL = 9


def move_ranks(request: Request) -> list[int]:
    """Per move of the request its action index 0–3.

    A single forced move keeps its place among the Pokémon's own moves; one that is not among
    them (Recharge, Struggle, Fight) is 0.
    """
    moves = moves_of(request["active"][0])
    if len(moves) == 1:
        own = tuple(map(move_key, request["side"]["pokemon"][0]["moves"]))
        forced = move_key(moves[0]["id"])
        return [sorted(own).index(forced)] if forced in own else [0]
    ranks = [0] * len(moves)
    for rank, index in enumerate(sorted_moves(tuple([move["id"] for move in moves]))):
        ranks[index] = rank
    return ranks


def legal_bits(request: Request) -> int:
    """Legal actions of a move or switch request as the bits of one number."""
    team = request["side"]["pokemon"]
    if "forceSwitch" in request:
        reviving = bool(team[0].get("reviving"))
        return _switch_bits(sum(is_fainted(entry) == reviving for entry in team[1:]))
    active = request["active"][0]
    bits = _move_bits(request, active)
    if not active.get("trapped"):
        bits |= _switch_bits(sum([entry["condition"][-1] != "t" for entry in team[1:]]))
    return bits


def _switch_bits(count: int) -> int:
    return ((1 << count) - 1) << SWITCH


def _move_bits(request: Request, active: Mapping[str, Any]) -> int:
    ranks = move_ranks(request)
    bits = 0
    for rank, option in zip(ranks, base_options(active), strict=True):
        if option is not None:
            bits |= 1 << rank
    word = gimmick_of(active)
    if word is not None:
        for rank, option in zip(ranks, gimmick_options(active, word), strict=True):
            if option is not None:
                bits |= 1 << GIMMICK + rank
    return bits


def move_choice(request: Request, action: int) -> str:
    """The choice string of a legal move action."""
    active = request["active"][0]
    rank = action - GIMMICK if action >= GIMMICK else action
    assert rank < MAX_MOVES
    index = move_ranks(request).index(rank)
    word = f" {gimmick_of(active)}" if action >= GIMMICK else ""
    return f"move {index + 1}{word}"
