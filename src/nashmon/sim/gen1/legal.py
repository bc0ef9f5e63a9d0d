"""Which of the 13 actions a seat has, and what an action means.

0–3 are the active Pokémon's moves by name, 4–8 its bench: the living first, each group by rank.
A request with a single forced choice offers that move's place, or 0 when it is not among them.
"""

from __future__ import annotations

from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1 import tables as tb
from nashmon.sim.gen1.effects import locked, mon, semi_locked
from nashmon.sim.gen1.jit import helper, kernel

_MOVES = tb.MOVE_TABLE

NUM_ACTIONS = 13
FIRST_SWITCH = 4


@helper
def must_fight(s, p):
    """Whether the only move on offer is Fight: asleep, frozen or held."""
    status = s[mon(s, p) + at.M_STATUS]
    return status == at.FRZ or status == at.SLP or s[p * at.SIDE + at.TRAPPED] > 0


@helper
def _usable(s, p, slot):
    side = p * at.SIDE
    return s[side + at.PP + slot] > 0 and (s[side + at.DISABLED] >> slot) & 1 == 0


@kernel
def must_struggle(s, p):
    """Whether no move can be selected."""
    for slot in range(s[p * at.SIDE + at.SLOTS]):
        if _usable(s, p, slot):
            return False
    return True


@helper
def place_of(s, p, slot):
    """The place of a slot among the moves sorted by name."""
    moves = p * at.SIDE + at.MOVES
    rank = _MOVES[s[moves + slot], tb.ALPHA]
    place = 0
    for k in range(s[p * at.SIDE + at.SLOTS]):
        other = _MOVES[s[moves + k], tb.ALPHA]
        if other < rank or (other == rank and k < slot):
            place += 1
    return place


@kernel
def chosen_slot(s, p, action):
    """The slot an action 0–3 selects."""
    for slot in range(s[p * at.SIDE + at.SLOTS]):
        if place_of(s, p, slot) == action:
            return slot
    return 0


@kernel
def chosen_target(s, p, action):
    """The Pokémon an action 4–8 switches to, −1 for any other action."""
    if action < FIRST_SWITCH:
        return -1
    side = p * at.SIDE
    living = 0  # bits by rank
    for k in range(s[side + at.TEAM_SIZE]):
        one = side + at.PARTY + k * at.MON
        if k != s[side + at.ACTIVE] and s[one + at.M_FAINTED] == 0:
            living |= 1 << s[one + at.M_RANK]
    for _ in range(action - FIRST_SWITCH):
        living &= living - 1  # drop the lowest
    lowest = living & -living
    for k in range(s[side + at.TEAM_SIZE]):
        one = side + at.PARTY + k * at.MON
        if lowest == 1 << s[one + at.M_RANK]:
            return k
    return -1


@kernel
def _forced_place(s, p, move):
    for slot in range(s[p * at.SIDE + at.SLOTS]):
        if s[p * at.SIDE + at.MOVES + slot] == move:
            return place_of(s, p, slot)
    return 0


@kernel
def _mark_moves(s, p, mask):
    side = p * at.SIDE
    if locked(s, p):
        if s[side + at.RECHARGE] > 0:
            mask[0] = 1
        elif s[side + at.LOCK_MOVE] > 0:
            mask[_forced_place(s, p, s[side + at.LOCK_MOVE])] = 1
        elif s[side + at.CHARGE_MOVE] > 0:
            mask[_forced_place(s, p, s[side + at.CHARGE_MOVE])] = 1
        else:
            mask[_forced_place(s, p, tb.RAGE)] = 1
        return
    vague = s[side + at.MAYBE_LOCKED] > 0
    if not vague and semi_locked(s, p):
        move = tb.BIDE if s[side + at.BIDE_TURNS] > 0 else s[side + at.HOLD_MOVE]
        mask[_forced_place(s, p, move)] = 1
        return
    status = s[mon(s, p) + at.M_STATUS]
    held = s[side + at.TRAPPED] > 0 and not vague
    if status == at.FRZ or status == at.SLP or held or must_struggle(s, p):
        mask[0] = 1
        return
    for slot in range(s[side + at.SLOTS]):
        if _usable(s, p, slot):
            mask[place_of(s, p, slot)] = 1


@kernel
def write_mask(s, p, mask, size):
    """Fill one seat's row of 13 or 9 legal actions; empty when it is not asked."""
    for k in range(size):
        mask[k] = 0
    request = s[at.REQUEST + p]
    if request == at.WAIT:
        return
    if request == at.MOVE:
        _mark_moves(s, p, mask)
        if locked(s, p):
            return
    benched = s[p * at.SIDE + at.LEFT] - (1 if request == at.MOVE else 0)
    for k in range(benched):
        mask[FIRST_SWITCH + k] = 1
