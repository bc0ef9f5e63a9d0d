"""The order of a turn: switches, moves, faints, the end of the turn, and what is asked next.

Showdown breaks speed ties by shuffling wherever it sorts; each place where it would do so draws
here too, even when the result changes nothing, so that the generators stay in step.
"""

from __future__ import annotations

import numpy as np

from nashmon.sim.gen1 import events as ev
from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1 import tables as tb
from nashmon.sim.gen1.effects import alive, hurt, locked, mon, reset_active, semi_locked
from nashmon.sim.gen1.events import emit
from nashmon.sim.gen1.jit import helper, kernel
from nashmon.sim.gen1.legal import chosen_slot, chosen_target, must_fight, must_struggle
from nashmon.sim.gen1.moves import run_move
from nashmon.sim.gen1.rng import roll

_MOVES = tb.MOVE_TABLE
_TURN_LIMIT = 1000


@helper
def _speed(s, p):
    return s[p * at.SIDE + at.STATS + at.SPE]


@helper
def _look_at_speeds(s):
    for p in range(2):
        if alive(s, p):
            s[p * at.SIDE + at.SPEED] = _speed(s, p)


@helper
def _update(s, r):
    """Showdown's Update: nothing but the tie shuffle of two living Pokémon."""
    if alive(s, 0) and alive(s, 1) and s[at.SPEED] == s[at.SIDE + at.SPEED]:
        roll(r, 2)


@kernel
def _bring_in(s, lg, p, index):
    """Put a Pokémon on the field, without the effects of its arrival."""
    side = p * at.SIDE
    old = s[side + at.ACTIVE]
    for k in range(at.TEAM):
        if s[side + at.ORDER + k] == index:
            s[side + at.ORDER + k] = old
    s[side + at.ORDER] = index
    s[side + at.ACTIVE] = index
    reset_active(s, p)
    one = mon(s, p)
    s[one + at.M_SEEN] = 1
    emit(lg, ev.E_SWITCH, p, index, s[one + at.M_HP], s[one + at.M_STATUS], 0)


@kernel
def _arrive(s, lg, p):
    """Effects of an arrival."""
    side, foe = p * at.SIDE, (1 - p) * at.SIDE
    one = mon(s, p)
    if s[one + at.M_STATUS] == at.TOX:
        s[one + at.M_STATUS] = at.PSN
        emit(lg, ev.E_STATUS, p, at.PSN, 0, 1, 0)
    for seat in range(2):
        if alive(s, seat):
            s[seat * at.SIDE + at.USED] = 0
    s[side + at.SELECTED_SLOT] = 0
    if alive(s, 1 - p) and s[foe + at.HOLD] > 0:
        if s[foe + at.MOVES + s[foe + at.SELECTED_SLOT]] == tb.METRONOME:
            s[foe + at.SELECTED] = tb.METRONOME
            s[foe + at.ENEMY_SELECTED] = tb.METRONOME
    status = s[one + at.M_STATUS]
    if s[side + at.LOST_ONE] == 0 and (status == at.BRN or status == at.PSN):
        hurt(s, lg, p, s[one + at.M_MAX_HP] // 16, ev.BY_STATUS)


@kernel
def _finish(s, lg, outcome, winner):
    s[at.OUTCOME] = outcome
    s[at.REQUEST] = at.WAIT
    s[at.REQUEST + 1] = at.WAIT
    emit(lg, ev.E_BLANK, 0, 0, 0, 0, 0)
    emit(lg, ev.E_WIN, winner, 0, 0, 0, 0)


@kernel
def _declare_faints(s, lg):
    """Declare the fallen; returns True when the turn stops here."""
    count = s[at.NUM_FALLEN]
    if count == 0:
        return False
    for k in range(count):
        p = s[at.FALLEN + k]
        emit(lg, ev.E_FAINT, p, 0, 0, 0, 0)
        reset_active(s, p)
        one = mon(s, p)
        s[one + at.M_FAINTED] = 1
        s[one + at.M_STATUS] = 0
        s[p * at.SIDE + at.LEFT] -= 1
        s[p * at.SIDE + at.LOST_ONE] = 1
    s[at.NUM_FALLEN] = 0
    left, other = s[at.LEFT], s[at.SIDE + at.LEFT]
    if left == 0 and other == 0:
        _finish(s, lg, at.TIED, -1)
    elif other == 0:
        _finish(s, lg, at.P1_WON, 0)
    elif left == 0:
        _finish(s, lg, at.P2_WON, 1)
    else:
        for p in range(2):
            s[at.REQUEST + p] = at.SWITCH if s[mon(s, p) + at.M_FAINTED] == 1 else at.WAIT
    return True


@helper
def _settle(s, r, lg):
    """The end of every action; returns True when the turn stops here."""
    if _declare_faints(s, lg):
        return True
    _update(s, r)
    return False


@kernel
def _commit_move(s, p, action):
    """What selecting a move does to the memory of selected moves."""
    side = p * at.SIDE
    bound = locked(s, p) or semi_locked(s, p)
    if not bound and must_fight(s, p):
        status = s[mon(s, p) + at.M_STATUS]
        if status == at.FRZ or status == at.SLP:
            slot = s[side + at.SELECTED_SLOT]
            s[side + at.ENEMY_SELECTED] = s[side + at.MOVES + slot]
        else:
            s[side + at.SELECTED] = tb.CANNOT_MOVE
            s[side + at.ENEMY_SELECTED] = tb.CANNOT_MOVE
        return
    if not bound and must_struggle(s, p):
        s[side + at.SELECTED] = tb.STRUGGLE
        s[side + at.ENEMY_SELECTED] = tb.STRUGGLE
        return
    if not bound:
        slot = chosen_slot(s, p, action)
        s[side + at.SELECTED] = s[side + at.MOVES + slot]
        s[side + at.SELECTED_SLOT] = slot
        s[side + at.SIDE_MOVE] = s[side + at.MOVES + slot]
    s[side + at.ENEMY_SELECTED] = s[side + at.MOVES + s[side + at.SELECTED_SLOT]]


@kernel
def _first_seat(s, r, switch0, switch1):
    """Who acts first: switches, then priority, then Speed, then a coin."""
    if switch0 != switch1:
        return 0 if switch0 else 1
    if not switch0:
        prio0 = _MOVES[s[at.SELECTED], tb.PRIORITY]
        prio1 = _MOVES[s[at.SIDE + at.SELECTED], tb.PRIORITY]
        if prio0 != prio1:
            return 0 if prio0 > prio1 else 1
    speed0, speed1 = _speed(s, 0), _speed(s, 1)
    if speed0 != speed1:
        return 0 if speed0 > speed1 else 1
    return roll(r, 2)


@kernel
def _count_down(s, p):
    side = p * at.SIDE
    s[side + at.FLINCH] = 0  # lasts one turn
    s[side + at.TRAPPED] = max(0, s[side + at.TRAPPED] - 1)
    s[side + at.FAKE] = max(0, s[side + at.FAKE] - 1)
    s[side + at.HOLD] = max(0, s[side + at.HOLD] - 1)


@kernel
def _num_timers(s, p):
    side = p * at.SIDE
    count = int(s[side + at.FLINCH] > 0) + int(s[side + at.TRAPPED] > 0)
    return count + int(s[side + at.FAKE] > 0) + int(s[side + at.HOLD] > 0)


@kernel
def _residual(s, r, lg):
    """Timers run down; those of equal Speed are shuffled first."""
    emit(lg, ev.E_BLANK, 0, 0, 0, 0, 0)
    _look_at_speeds(s)
    count0, count1 = _num_timers(s, 0), _num_timers(s, 1)
    if s[at.SPEED] == s[at.SIDE + at.SPEED]:
        _shuffles(r, count0 + count1)
    else:
        _shuffles(r, count0)
        _shuffles(r, count1)
    _count_down(s, 0)
    _count_down(s, 1)
    emit(lg, ev.E_UPKEEP, 0, 0, 0, 0, 0)


@kernel
def _shuffles(r, count):
    for k in range(count - 1):
        roll(r, count - k)


@kernel
def _release(s, p):
    """Holds whose other half has gone end."""
    side, foe = p * at.SIDE, (1 - p) * at.SIDE
    active = s[foe + at.ACTIVE]
    foe_alive = alive(s, 1 - p)
    if s[side + at.HOLD] > 0:
        held = foe_alive and active == s[side + at.HOLD_FOE] and s[foe + at.TRAPPED] > 0
        if not held:
            s[side + at.HOLD] = 0
    if s[side + at.TRAPPED] > 0:
        held = foe_alive and active == s[side + at.TRAPPED_BY] and s[foe + at.HOLD] > 0
        if not held:
            s[side + at.TRAPPED] = 0
    if s[side + at.FAKE] > 0:
        paired = foe_alive and active == s[side + at.FAKE_OTHER] and s[foe + at.FAKE] > 0
        if not paired:
            s[side + at.FAKE] = 0


_NUM_HANDLERS = 6  # status, Bide, Disable, trapped, faked, holding
# What is sorted first: the two doubts about holds, then statuses (0), then the others.
_HOLD_RANK, _PLAIN_RANK = 1, -1


@kernel
def _sort_handlers(r, priority, handler, count):
    """Showdown's selection sort by priority, shuffling equals."""
    done = 0
    while done + 1 < count:
        best = priority[done]
        for k in range(done + 1, count):
            best = max(best, priority[k])
        group = 0
        for k in range(done, count):
            if priority[k] == best:
                other = done + group
                priority[other], priority[k] = priority[k], priority[other]
                handler[other], handler[k] = handler[k], handler[other]
                group += 1
        for k in range(group - 1):
            pick = done + k + roll(r, group - k)
            here = done + k
            handler[here], handler[pick] = handler[pick], handler[here]
        done += group


@kernel
def _disable_moves(s, r, p):
    """Which moves the next request greys out, and whether it must be vague."""
    side = p * at.SIDE
    s[side + at.MAYBE_LOCKED] = 0
    s[side + at.DISABLED] = 0
    status = s[mon(s, p) + at.M_STATUS]
    still = status == at.SLP or status == at.FRZ
    held = s[side + at.TRAPPED] + s[side + at.FAKE] + s[side + at.HOLD]
    if not still and held + s[side + at.BIDE_TURNS] + s[side + at.DISABLE_TURNS] == 0:
        return
    _run_handlers(s, r, side, still)


@kernel
def _run_handlers(s, r, side, still):
    places = (at.BIDE_TURNS, at.DISABLE_TURNS, at.TRAPPED, at.FAKE, at.HOLD)
    priority = np.zeros(_NUM_HANDLERS, np.int64)
    handler = np.zeros(_NUM_HANDLERS, np.int64)
    order = np.zeros(_NUM_HANDLERS, np.int64)
    count = 0
    if still:
        count = 1
    sequences = (at.BIDE_SEQ, at.DISABLE_SEQ, at.TRAPPED_SEQ, at.FAKE_SEQ, at.HOLD_SEQ)
    for k in range(5):
        if s[side + places[k]] > 0:
            # Insert by age: handlers are found in the order in which effects came.
            spot = count
            low = 1 if still else 0
            while spot > low and order[spot - 1] > s[side + sequences[k]]:
                order[spot] = order[spot - 1]
                handler[spot] = handler[spot - 1]
                priority[spot] = priority[spot - 1]
                spot -= 1
            order[spot] = s[side + sequences[k]]
            handler[spot] = k + 1
            priority[spot] = _HOLD_RANK if k == 2 or k == 3 else _PLAIN_RANK
            count += 1
    _sort_handlers(r, priority, handler, count)
    for k in range(count):
        _apply_handler(s, side, handler[k])


@kernel
def _apply_handler(s, side, which):
    if which <= 1:
        s[side + at.MAYBE_LOCKED] = 0
    elif which == 2:
        if s[side + at.DISABLE_SLOT] < s[side + at.SLOTS]:
            s[side + at.DISABLED] = 1 << s[side + at.DISABLE_SLOT]
    elif which == 3:
        if s[side + at.TRAPPED_MAYBE] > 0:
            s[side + at.MAYBE_LOCKED] = 1
    elif which == 4 or s[side + at.HOLD_TOTAL] - s[side + at.HOLD] > 1:
        s[side + at.MAYBE_LOCKED] = 1


@kernel
def _all_of(s, p, ghosts):
    """Whether all living Pokémon of a side are Ghosts, or else know Transform only."""
    side = p * at.SIDE
    for k in range(s[side + at.TEAM_SIZE]):
        one = side + at.PARTY + k * at.MON
        if s[one + at.M_FAINTED] == 1:
            continue
        active = s[side + at.ACTIVE] == k
        if ghosts:
            species = s[one + at.M_SPECIES]
            first, second = _TYPES[species, 0], _TYPES[species, 1]
            if active:
                first, second = s[side + at.TYPES], s[side + at.TYPES + 1]
            if first != tb.GHOST and second != tb.GHOST:
                return False
        elif not _only_transform(s, side, one, active):
            return False
    return True


_TYPES = tb.SPECIES_TABLE


@kernel
def _only_transform(s, side, one, active):
    slots = s[side + at.SLOTS] if active else s[one + at.M_SLOTS]
    moves = side + at.MOVES if active else one + at.M_MOVES
    for k in range(slots):
        if s[moves + k] != tb.TRANSFORM:
            return False
    return True


@kernel
def _out_of_pp(s, side, one, active):
    slots = s[side + at.SLOTS] if active else s[one + at.M_SLOTS]
    pp = side + at.PP if active else one + at.M_PP
    for k in range(slots):
        if s[pp + k] != 0:
            return False
    return True


@kernel
def _stuck(s, p):
    """Whether a side can make no progress any more (Showdown's Endless Battle Clause)."""
    side = p * at.SIDE
    for k in range(s[side + at.TEAM_SIZE]):
        one = side + at.PARTY + k * at.MON
        if s[one + at.M_FAINTED] == 1 or s[one + at.M_STATUS] == at.FRZ:
            continue
        active = s[side + at.ACTIVE] == k
        if _only_transform(s, side, one, active) and _all_of(s, 1 - p, False):
            continue
        if _out_of_pp(s, side, one, active) and _all_of(s, 1 - p, True):
            continue
        return False
    return True


@kernel
def _warn(s, lg):
    turn = s[at.TURN]
    if (turn >= 500 and turn % 100 == 0) or (turn >= 900 and turn % 10 == 0) or turn >= 990:
        emit(lg, ev.E_MESSAGE, 0, ev.G_TURNS_LEFT, _TURN_LIMIT - turn, 0, 0)


@kernel
def _end_turn(s, r, lg):
    s[at.TURN] += 1
    _release(s, 0)
    _release(s, 1)
    for p in range(2):
        _disable_moves(s, r, p)
        s[p * at.SIDE + at.LOST_ONE] = 0
    if _stuck(s, 0) and _stuck(s, 1):
        emit(lg, ev.E_MESSAGE, 0, ev.G_ENDLESS, 0, 0, 0)
        _finish(s, lg, at.TIED, -1)
        return
    if s[at.TURN] > _TURN_LIMIT:
        emit(lg, ev.E_MESSAGE, 0, ev.G_TURN_LIMIT, 0, 0, 0)
        _finish(s, lg, at.TIMED_OUT, -1)
        return
    if s[at.TURN] > 100:
        _warn(s, lg)
    emit(lg, ev.E_TURN, 0, s[at.TURN], 0, 0, 0)
    for p in range(2):
        s[at.REQUEST + p] = at.MOVE


@kernel
def _arrivals(s, r, lg, first, both):
    """Arrivals one after the other; returns True when the turn stops here."""
    _arrive(s, lg, first)
    if _settle(s, r, lg):
        return True
    if both:
        _arrive(s, lg, 1 - first)
        return _settle(s, r, lg)
    return False


@kernel
def _arrival_order(s, r, earlier):
    """Who of two newcomers arrives first; `earlier` was brought in before the other."""
    later = 1 - earlier
    if _speed(s, later) > _speed(s, earlier):
        return later
    if _speed(s, later) < _speed(s, earlier):
        return earlier
    return later if roll(r, 2) == 0 else earlier


@kernel
def start(s, r, lg):
    """Bring in the first Pokémon of both sides and begin turn 1."""
    emit(lg, ev.E_BEGIN, 0, 0, 0, 0, 0)
    for p in range(2):
        _bring_in(s, lg, p, 0)
    first = _arrival_order(s, r, 0)
    _update(s, r)
    _arrivals(s, r, lg, first, True)
    _end_turn(s, r, lg)


@kernel
def _replace(s, r, lg, target0, target1):
    """Forced switches; −1 for a side that has none."""
    _look_at_speeds(s)
    both = target0 >= 0 and target1 >= 0
    first = 0 if target0 >= 0 else 1
    if both:
        first = _first_seat(s, r, True, True)
    _bring_in(s, lg, first, target0 if first == 0 else target1)
    if both:
        _bring_in(s, lg, 1 - first, target1 if first == 0 else target0)
        first = _arrival_order(s, r, first)
    _update(s, r)
    if not _arrivals(s, r, lg, first, both):
        _end_turn(s, r, lg)


@kernel
def _act(s, r, lg, p, target):
    """One side's part of the turn; returns True when the turn stops here."""
    if target >= 0:
        _bring_in(s, lg, p, target)
        _update(s, r)
        return _arrivals(s, r, lg, p, False)
    run_move(s, r, lg, p)
    return _settle(s, r, lg)


@kernel
def advance(s, r, lg, action0, action1):
    """One step of a battle with two legal actions, −1 for a seat that is not asked."""
    target0, target1 = chosen_target(s, 0, action0), chosen_target(s, 1, action1)
    emit(lg, ev.E_TURN_START, 0, 0, 0, 0, 0)
    if s[at.REQUEST] != at.MOVE:
        _replace(s, r, lg, target0, target1)
        return
    _look_at_speeds(s)
    if target0 < 0:
        _commit_move(s, 0, action0)
    if target1 < 0:
        _commit_move(s, 1, action1)
    first = _first_seat(s, r, target0 >= 0, target1 >= 0)
    _update(s, r)
    _update(s, r)
    if _act(s, r, lg, first, target0 if first == 0 else target1):
        return
    if _act(s, r, lg, 1 - first, target1 if first == 0 else target0):
        return
    _residual(s, r, lg)
    _update(s, r)
    _end_turn(s, r, lg)
