"""Singles: moves 0–3 by id, switches 4–8 in bench order, moves with the gimmick 9–12."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from nashmon.core.actions_choice import PassPart, SwitchPart, parse_part
from nashmon.core.actions_preview import num_picks
from nashmon.core.actions_request import (
    MAX_MOVES,
    IllegalActionError,
    Request,
    base_options,
    bench_index,
    bench_order,
    display_name,
    gimmick_of,
    gimmick_options,
    move_key,
    moves_of,
    num_living,
    sorted_moves,
)
from nashmon.core.actions_space import ActionSpace, Mask
from nashmon.core.formats import Format

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


# Row b holds the bits of b: turning a number into a mask is one copy.
_BIT_ROWS = ((np.arange(1 << NUM_ACTIONS)[:, None] >> np.arange(NUM_ACTIONS)) & 1).astype(np.bool_)


class SinglesSpace(ActionSpace):
    """13 actions (or the first nine); more only where team preview has more picks."""

    leads = 1

    def __init__(self, format: Format, name: str) -> None:
        """Use `action_space` instead."""
        self._width = NUM_MINIMAL if name == "minimal" else NUM_ACTIONS
        super().__init__(format, name, max(self._width, num_picks(format, self.leads)))
        self._rows = _BIT_ROWS[:, : self._width]

    def _fill(self, request: Request, out: Mask) -> None:
        if self.num_actions > self._width:
            out[self._width :] = False
            out = out[: self._width]
        out[:] = self._rows[legal_bits(request)]

    def _is_legal(self, request: Request, action: int) -> bool:
        return action < self._width and bool(legal_bits(request) >> action & 1)

    def _choice(self, request: Request, action: int) -> str:
        if SWITCH <= action < GIMMICK:
            return f"switch {bench_order(request)[action - SWITCH] + 1}"
        return move_choice(request, action)

    def _action(self, request: Request, choice: str) -> int:
        part = parse_part(request, 0, choice)
        if isinstance(part, SwitchPart):
            return SWITCH + bench_index(request, part.position, choice)
        if isinstance(part, PassPart):
            if "forceSwitch" in request:
                return 0  # declines a Revival Blessing
            raise IllegalActionError("an active Pokémon cannot pass in singles")
        rank = move_ranks(request)[part.index]
        if part.gimmick and self.name == "minimal":
            raise IllegalActionError(f"the minimal actions have no gimmick: {choice!r}")
        return rank + GIMMICK if part.gimmick else rank

    def _describe(self, request: Request, action: int) -> str:
        team = request["side"]["pokemon"]
        if SWITCH <= action < GIMMICK:
            bench = bench_order(request)
            k = action - SWITCH
            return (
                f"switch to {display_name(team[bench[k]])}" if k < len(bench) else "an empty place"
            )
        if "active" not in request or action >= NUM_ACTIONS:
            return "pass" if action == 0 else "nothing"
        rank = action - GIMMICK if action >= GIMMICK else action
        active = request["active"][0]
        ranks = move_ranks(request)
        if rank not in ranks:
            return "no move"
        word = f" with {gimmick_of(active) or 'gimmick'}" if action >= GIMMICK else ""
        return f"{moves_of(active)[ranks.index(rank)]['move']}{word}"
