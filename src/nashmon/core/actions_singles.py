"""Singles: moves 0–3 by id, switches 4–8 in bench order, moves with the gimmick 9–12."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from nashmon.core.actions_request import (
    MAX_MOVES,
    Request,
    base_options,
    gimmick_of,
    gimmick_options,
    move_key,
    moves_of,
    num_living,
    sorted_moves,
)

SWITCH = 4  # first switch action
GIMMICK = 9  # first action with the gimmick
NUM_SWITCHES = 5
NUM_ACTIONS = 13
NUM_MINIMAL = 9
DECLINE_BIT = 1  # action 0 of a Revival Blessing request: pass


@lru_cache(maxsize=65536)
def _ranks(move_ids: tuple[str, ...]) -> tuple[int, ...]:
    ranks = [0] * len(move_ids)
    for rank, index in enumerate(sorted_moves(move_ids)):
        ranks[index] = rank
    return tuple(ranks)


@lru_cache(maxsize=65536)
def _forced_rank(forced: str, own: tuple[str, ...]) -> tuple[int, ...]:
    keys = sorted(map(move_key, own))
    return (keys.index(move_key(forced)) if move_key(forced) in keys else 0,)


def move_ranks(request: Request) -> tuple[int, ...]:
    """Per move of the request its action index 0–3.

    A single forced move keeps its place among the Pokémon's own moves; one that is not among
    them (Recharge, Struggle, Fight) is 0.
    """
    moves = moves_of(request["active"][0])
    if len(moves) == 1:
        return _forced_rank(moves[0]["id"], tuple(request["side"]["pokemon"][0]["moves"]))
    return _ranks(tuple([move["id"] for move in moves]))


def legal_bits(request: Request) -> int:
    """Legal actions of a move or switch request as the bits of one number."""
    team = request["side"]["pokemon"]
    if "forceSwitch" in request:
        living = num_living(team, 1)
        if not team[0].get("reviving"):
            return _switch_bits(living)
        # Showdown lets a player without living reserves decline to revive.
        return _switch_bits(len(team) - 1 - living) | (DECLINE_BIT if not living else 0)
    active = request["active"][0]
    ranks = move_ranks(request)
    if len(active) == 1:  # nothing but moves: most requests
        bits = 0
        for rank, move in zip(ranks, active["moves"], strict=True):
            if not move.get("disabled"):
                bits |= 1 << rank
    else:
        bits = _move_bits(ranks, active)
        if active.get("trapped"):
            return bits
    return bits | _switch_bits(num_living(team, 1))


def _switch_bits(count: int) -> int:
    return ((1 << count) - 1) << SWITCH


def _move_bits(ranks: tuple[int, ...], active: Mapping[str, Any]) -> int:
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
    """The choice string of a legal action that is no switch."""
    if "forceSwitch" in request:
        return "pass"
    active = request["active"][0]
    rank = action - GIMMICK if action >= GIMMICK else action
    assert rank < MAX_MOVES
    index = move_ranks(request).index(rank)
    word = f" {gimmick_of(active)}" if action >= GIMMICK else ""
    return f"move {index + 1}{word}"
