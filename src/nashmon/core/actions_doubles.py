"""Doubles: 45 codes per slot and which pairs of them go together.

Code 10·m + (t + 2) + 5·g is move m (request order) at target t with gimmick g; 40–43 switch to
bench[k]; 44 passes.  Targets are Showdown's: 1 and 2 the foe's slots, −1 and −2 the own ones, 0
none.  When Revival Blessing may raise the partner lying in the other slot, that is the code of
move 0 aimed at that slot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nashmon.core.actions_choice import MovePart, Part, PassPart, parse_part
from nashmon.core.actions_request import (
    IllegalActionError,
    Request,
    base_options,
    bench_index,
    bench_order,
    display_name,
    gimmick_of,
    gimmick_options,
    is_fainted,
    move_key,
    moves_of,
    num_living,
)
from nashmon.core.actions_space import ActionSpace, Mask
from nashmon.core.formats import Format

NUM_CODES = 45
NUM_ACTIONS = NUM_CODES * NUM_CODES
SWITCH = 40
NUM_SWITCHES = 4
PASS = 44
PASS_BIT = 1 << PASS

# Per slot: target type → legal targets.  Other types (spread, self, field …) take none.
_TARGETS: tuple[dict[str, tuple[int, ...]], ...] = tuple(
    {
        "normal": (ally, 1, 2),
        "any": (ally, 1, 2),
        "adjacentFoe": (1, 2),
        "adjacentAlly": (ally,),
        "adjacentAllyOrSelf": (-2, -1),
    }
    for ally in (-2, -1)
)


def encode(move: int, target: int, gimmick: bool) -> int:
    """The code of a move."""
    return 10 * move + target + 2 + 5 * gimmick


def decode(code: int) -> tuple[int, int, bool]:
    """Move, target and gimmick of a code below 40."""
    return code // 10, code % 5 - 2, code % 10 >= 5


def target_bits(slot: int, target_type: str | None) -> int:
    """Codes of move 0 without gimmick for every legal target, as bits."""
    targets = _TARGETS[slot].get(target_type or "", (0,))
    return sum(1 << encode(0, target, False) for target in targets)


_TARGET_BITS = tuple(
    {name: target_bits(slot, name) for name in _TARGETS[slot]} for slot in range(2)
)
_NO_TARGET_BITS = 1 << encode(0, 0, False)


def move_index(request: Request, slot: int, index: int) -> int:
    """The m of the request's index-th move: a single forced move keeps its own place."""
    moves = moves_of(request["active"][slot])
    if len(moves) > 1:
        return index
    own = [move_key(move) for move in request["side"]["pokemon"][slot]["moves"]]
    forced = move_key(moves[0]["id"])
    return own.index(forced) if forced in own else 0


def slot_bits(request: Request, slot: int, bench_size: int) -> int:
    """Legal codes of one slot in a move request, looked at alone."""
    entry = request["side"]["pokemon"][slot]
    active = request["active"][slot]
    if active is None or entry.get("commanding") or is_fainted(entry):
        return PASS_BIT
    if len(active) == 1:  # nothing but moves: spare the questions below
        options = [None if move.get("disabled") else move for move in moves_of(active)]
        return _option_bits(request, slot, options) | ((1 << bench_size) - 1) << SWITCH
    bits = _option_bits(request, slot, base_options(active))
    word = gimmick_of(active)
    if word is not None:
        bits |= _option_bits(request, slot, gimmick_options(active, word)) << 5
    if not active.get("trapped"):
        bits |= ((1 << bench_size) - 1) << SWITCH
    return bits


def _option_bits(request: Request, slot: int, options: Sequence[Mapping[str, Any] | None]) -> int:
    bits = 0
    table = _TARGET_BITS[slot]
    offset = 10 * move_index(request, slot, 0) if len(options) == 1 else 0
    for option in options:
        if option is not None:
            bits |= table.get(option.get("target", ""), _NO_TARGET_BITS) << offset
        offset += 10
    return bits


def forced_bits(request: Request) -> tuple[int, int]:
    """Legal codes of both slots in a forced switch, each looked at alone."""
    team = request["side"]["pokemon"]
    forced = request["forceSwitch"]
    living = sum(not is_fainted(entry) for entry in team[2:])
    spare = living < sum(forced)
    return _forced_slot(request, 0, living, spare), _forced_slot(request, 1, living, spare)


def _forced_slot(request: Request, slot: int, living: int, spare: bool) -> int:
    team = request["side"]["pokemon"]
    if not request["forceSwitch"][slot]:
        return PASS_BIT
    if team[slot].get("reviving"):
        bits = ((1 << len(team) - 2 - living) - 1) << SWITCH
        if is_fainted(team[1 - slot]):
            bits |= 1 << encode(0, slot - 2, False)
    else:
        bits = ((1 << living) - 1) << SWITCH
    # With fewer reserves than slots to fill one stays empty; a revival may then be declined.
    return bits | PASS_BIT if spare else bits


def _compatible() -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Pairs of codes that go together: gimmicks of different kinds, and of the same kind."""
    different = np.ones((NUM_CODES, NUM_CODES), np.bool_)
    for code in range(SWITCH, PASS):
        different[code, code] = False
    gimmick = np.array([code < SWITCH and decode(code)[2] for code in range(NUM_CODES)])
    return different, different & ~np.logical_and.outer(gimmick, gimmick)


_COMPATIBLE, _ONE_GIMMICK = _compatible()


@lru_cache(maxsize=8192)
def to_mask(bits: int) -> NDArray[np.bool_]:
    """The 45 booleans of a slot's bits; do not write to it."""
    octets = np.frombuffer(bits.to_bytes(8, "little"), np.uint8)
    mask = np.unpackbits(octets, count=NUM_CODES, bitorder="little").view(np.bool_)
    mask.flags.writeable = False
    return mask


@lru_cache(maxsize=4096)
def joint_mask(first: int, second: int, one_gimmick: bool) -> NDArray[np.bool_]:
    """The 2,025 pairs of two slots' codes that go together; do not write to it.

    Positions repeat (the same moves against the same bench), so most calls find it made already.
    """
    pairs = (_ONE_GIMMICK if one_gimmick else _COMPATIBLE) & to_mask(second)
    pairs &= to_mask(first)[:, None]
    if first & second & PASS_BIT and PASS_BIT not in (first, second):
        # One reserve for two empty slots: exactly one of them takes it.
        pairs[:PASS, :PASS] = False
        pairs[PASS, PASS] = False
    pairs.flags.writeable = False
    return pairs.reshape(NUM_ACTIONS)


def same_gimmick(request: Request) -> bool:
    """Whether both slots are offered a gimmick that only one Pokémon may use this turn."""
    first, second = request["active"]
    if first is None or second is None or len(first) == 1 or len(second) == 1:
        return False
    words = gimmick_of(first), gimmick_of(second)
    return words[0] == words[1] or all(word in ("mega", "megax", "megay") for word in words)


def slot_choice(request: Request, slot: int, code: int, bench: list[int]) -> str:
    """The part of the choice string one slot's legal code stands for."""
    if code == PASS:
        return "pass"
    if code >= SWITCH:
        return f"switch {bench[code - SWITCH] + 1}"
    move, target, gimmick = decode(code)
    if "forceSwitch" in request:
        return f"switch {-target}"  # the fainted partner, raised by Revival Blessing
    active = request["active"][slot]
    number = 1 if len(active["moves"]) == 1 else move + 1
    word = f" {gimmick_of(active)}" if gimmick else ""
    aim = f" {target}" if target else ""
    return f"move {number}{word}{aim}"


class DoublesSpace(ActionSpace):
    """The 2,025 pairs of slot codes; the first ones double as team preview picks."""

    leads = 2

    def __init__(self, format: Format, name: str) -> None:
        """Use `action_space` instead."""
        self._many_megas = format.mod == "mixandmega"
        super().__init__(format, name, NUM_ACTIONS)

    def slot_masks(self, request: Request) -> Mask:
        """Legal codes of both slots, shape (2, 45), each looked at alone.

        A pair of them need not be legal: `mask(request).reshape(45, 45)[a]` are the codes that go
        with a.
        """
        first, second = self._bits(request)
        return np.stack([to_mask(first), to_mask(second)])

    def _bits(self, request: Request) -> tuple[int, int]:
        if "forceSwitch" in request:
            return forced_bits(request)
        if "active" not in request:
            raise IllegalActionError("slots have codes in move and switch requests only")
        team = request["side"]["pokemon"]
        bench_size = num_living(team, 2)
        return (
            slot_bits(request, 0, bench_size),
            slot_bits(request, 1, bench_size),
        )

    def _joint(self, request: Request) -> Mask:
        one_gimmick = "active" in request and not self._many_megas and same_gimmick(request)
        return joint_mask(*self._bits(request), one_gimmick)

    def _fill(self, request: Request, out: Mask) -> None:
        out[:NUM_ACTIONS] = self._joint(request)

    def _is_legal(self, request: Request, action: int) -> bool:
        return bool(self._joint(request)[action])

    def _choice(self, request: Request, action: int) -> str:
        bench = bench_order(request)
        first, second = divmod(action, NUM_CODES)
        return ", ".join(
            slot_choice(request, slot, code, bench) for slot, code in enumerate((first, second))
        )

    def _action(self, request: Request, choice: str) -> int:
        texts = [text.strip() for text in choice.split(",")]
        codes = []
        for slot in range(2):
            if self._must_pass(request, slot) and (not texts or texts[0] not in ("pass", "skip")):
                codes.append(PASS)
                continue
            if not texts:
                raise IllegalActionError(f"{choice!r} says nothing for slot {slot + 1}")
            codes.append(self._code(request, slot, parse_part(request, slot, texts.pop(0)), choice))
        if texts:
            raise IllegalActionError(f"{choice!r} says more than this request asks")
        return codes[0] * NUM_CODES + codes[1]

    def _must_pass(self, request: Request, slot: int) -> bool:
        if "forceSwitch" in request:
            return not request["forceSwitch"][slot]
        entry = request["side"]["pokemon"][slot]
        return bool(entry.get("commanding")) or is_fainted(entry)

    def _code(self, request: Request, slot: int, part: Part, choice: str) -> int:
        if isinstance(part, PassPart):
            return PASS
        if isinstance(part, MovePart):
            index = move_index(request, slot, part.index)
            return encode(index, part.target, part.gimmick)
        if "forceSwitch" in request and part.position == 1 - slot:
            return encode(0, slot - 2, False)
        return SWITCH + bench_index(request, part.position, choice)

    def _describe(self, request: Request, action: int) -> str:
        if not {"active", "forceSwitch"} & set(request) or action >= NUM_ACTIONS:
            return "nothing"
        first, second = divmod(action, NUM_CODES)
        return (
            f"{self._describe_code(request, 0, first)}; {self._describe_code(request, 1, second)}"
        )

    def _describe_code(self, request: Request, slot: int, code: int) -> str:
        team = request["side"]["pokemon"]
        if code == PASS:
            return "pass"
        if code >= SWITCH:
            bench = bench_order(request)
            k = code - SWITCH
            return (
                f"switch to {display_name(team[bench[k]])}" if k < len(bench) else "an empty place"
            )
        move, target, gimmick = decode(code)
        if "active" not in request or request["active"][slot] is None:
            return f"revive slot {-target}"
        moves = moves_of(request["active"][slot])
        index = 0 if len(moves) == 1 else move
        name = moves[index]["move"] if index < len(moves) else f"no move {move + 1}"
        word = f" with {gimmick_of(request['active'][slot]) or 'gimmick'}" if gimmick else ""
        return f"{name}{word}" + (f" at {target:+d}" if target else "")
