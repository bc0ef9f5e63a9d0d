"""Gives the foe in a position another team, as far as a player could not tell the difference."""

from __future__ import annotations

from nashmon.sim.gen1 import knowledge as kn
from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1 import tables as tb
from nashmon.sim.gen1.jit import helper, kernel
from nashmon.sim.gen1.observe import shown_percent

_MOVES = tb.MOVE_TABLE
_LONGEST_SLEEP = 7
_MAX_STAT = 999
# What a team can contradict, times 8 plus the Pokémon's index.
WRONG_SPECIES, WRONG_MOVES, TOO_FEW_MOVES = 1, 2, 3


@helper
def _one(side, index):
    return side * at.SIDE + at.PARTY + index * at.MON


@helper
def book_of(viewer, side):
    """Where a viewer's book about a side begins."""
    return kn.BOOKS + (2 * viewer + side) * kn.BOOK


@helper
def _knows(know, page, move):
    """Whether a move is written on a page."""
    found = False
    for slot in range(at.NUM_MOVES):
        if move > 0 and know[page + slot * kn.ENTRY] == move:
            found = True
    return found


@kernel
def _merge_moves(state, one, know, page, new):
    """Revealed moves stay in their slots with their PP; the team's fill the others."""
    count = new[at.M_SLOTS]
    for slot in range(at.NUM_MOVES):
        move, found = know[page + slot * kn.ENTRY], False
        for k in range(count):
            found |= new[at.M_MOVES + k] == move
        if move > 0 and not found:
            return WRONG_MOVES
    following = 0
    for slot in range(at.NUM_MOVES):
        if _knows(know, page, state[one + at.M_MOVES + slot]):
            if slot >= count:
                return TOO_FEW_MOVES
            continue
        move = 0
        while slot < count and move == 0:
            if following == count:
                return TOO_FEW_MOVES
            if not _knows(know, page, new[at.M_MOVES + following]):
                move = new[at.M_MOVES + following]
            following += 1
        state[one + at.M_MOVES + slot] = move
        state[one + at.M_PP + slot] = _MOVES[move, tb.MAX_PP] if move > 0 else 0
    state[one + at.M_SLOTS] = count
    return 0


@kernel
def _merge(state, one, know, page, new):
    """Give a seen Pokémon the team's stats and unrevealed moves."""
    for fact in (at.M_SPECIES, at.M_LEVEL):
        if new[fact] != state[one + fact]:
            return WRONG_SPECIES
    fault = _merge_moves(state, one, know, page, new)
    if fault != 0:
        return fault
    full = new[at.M_MAX_HP]
    shown = shown_percent(state[one + at.M_HP], state[one + at.M_MAX_HP])
    left = full if shown == 100 else max(shown * full // 100, 1 if shown > 0 else 0)
    state[one + at.M_MAX_HP], state[one + at.M_HP] = full, left
    for fact in range(at.M_STATS, at.M_SPEED_BONUS + 1):
        state[one + fact] = new[fact]
    return 0


@helper
def _scaled(value, was, now):
    return min(max(value * now // was, 1), _MAX_STAT)


@kernel
def _match_field(before, state, side):
    """Carry the new stats and moves over to the Pokémon on the field, unless it has copied them."""
    base = side * at.SIDE
    if state[base + at.TRANSFORMED] != 0:
        return
    one = _one(side, state[base + at.ACTIVE])
    for k in range(5):
        was, now = before[one + at.M_STATS + k], state[one + at.M_STATS + k]
        for place in (base + at.STORED + k, base + at.STATS + k):
            state[place] = _scaled(state[place], was, now)
        if k == at.SPE:
            state[base + at.SPEED] = _scaled(state[base + at.SPEED], was, now)
    state[base + at.SLOTS] = state[one + at.M_SLOTS]
    for slot in range(at.NUM_MOVES):
        if state[base + at.VIRTUAL] >> slot & 1:
            continue
        was, now = before[one + at.M_MOVES + slot], state[one + at.M_MOVES + slot]
        if was == now:
            continue
        state[base + at.MOVES + slot] = now
        state[base + at.PP + slot] = state[one + at.M_PP + slot]
        # A move selected but never carried out is as unknown as its slot.
        for place in (at.SELECTED, at.ENEMY_SELECTED, at.SIDE_MOVE):
            if was > 0 and now > 0 and before[base + place] == was:
                state[base + place] = now


@kernel
def _match_own_book(state, know, side):
    """The foe knows its own team: its book follows the new moves."""
    base, book = side * at.SIDE, book_of(side, side)
    for index in range(state[base + at.TEAM_SIZE]):
        one = _one(side, index)
        for slot in range(at.NUM_MOVES):
            entry = book + kn.LEARNED + index * kn.PAGE + slot * kn.ENTRY
            move = state[one + at.M_MOVES + slot]
            if know[entry] == move:
                continue
            know[entry], know[entry + 1] = move, state[one + at.M_PP + slot]
            know[entry + 2] = _MOVES[move, tb.MAX_PP] if move > 0 else 0
            for place in range(kn.MAX_NOW):
                now = book + kn.NOW + place * kn.NOW_ENTRY
                if index == state[base + at.ACTIVE] and know[now + 3] == slot + 1:
                    for k in range(kn.ENTRY):
                        know[now + k] = know[entry + k]
    for slot in range(at.NUM_MOVES):
        offered = state[base + at.MOVES + slot] if slot < state[base + at.SLOTS] else 0
        know[kn.LISTED + side * at.NUM_MOVES + slot] = offered


@kernel
def _redraw_sleep(state, know, dice):
    """How long a sleep will last is drawn anew, by a number in [0, 1) for each Pokémon."""
    for side in range(2):
        for index in range(state[side * at.SIDE + at.TEAM_SIZE]):
            one = _one(side, index)
            if state[one + at.M_STATUS] != at.SLP or state[one + at.M_SELF_SLEPT] != 0:
                continue
            if state[one + at.M_SLEEP] > 0:
                slept = know[kn.NEWS + side * kn.NEWS_SIZE + kn.STATUS_TURNS + index]
                longest = max(_LONGEST_SLEEP - slept, 1)
                state[one + at.M_SLEEP] = 1 + int(dice[side * at.TEAM + index] * longest)


@kernel
def fill_foe(before, state, know, seat, team, dice):
    """Write a team (six Pokémon's facts) into a copy of a position; 0 or what it contradicts.

    What `seat` has seen of its foe stays.
    """
    foe = 1 - seat
    for index in range(state[foe * at.SIDE + at.TEAM_SIZE]):
        one = _one(foe, index)
        if state[one + at.M_SEEN] != 0:
            page = book_of(seat, foe) + kn.LEARNED + index * kn.PAGE
            fault = _merge(state, one, know, page, team[index])
            if fault != 0:
                return fault * 8 + index
        else:
            for fact in range(at.MON):
                state[one + fact] = team[index, fact]
        state[one + at.M_RANK] = team[index, at.M_RANK]
    _match_field(before, state, foe)
    _match_own_book(state, know, foe)
    _redraw_sleep(state, know, dice)
    return 0
