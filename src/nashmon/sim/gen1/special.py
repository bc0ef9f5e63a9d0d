"""Moves with a rule of their own once they hit: Haze, Transform, Rest, Mimic and the like."""

from __future__ import annotations

from nashmon.sim.gen1 import events as ev
from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1 import tables as tb
from nashmon.sim.gen1.effects import (
    alive,
    cure_status,
    emit_damage,
    lose_hp,
    mon,
    restore_hp,
    set_status,
)
from nashmon.sim.gen1.events import emit, hint
from nashmon.sim.gen1.jit import kernel
from nashmon.sim.gen1.rng import roll

_MOVES = tb.MOVE_TABLE
_SPECIES = tb.SPECIES_TABLE

DONE, REFUSED, CALLS = 1, 0, -3


@kernel
def _can_recover(s, lg, p):
    one = mon(s, p)
    missing = s[one + at.M_MAX_HP] - s[one + at.M_HP]
    if missing == 0:
        return False
    if (missing == 255 or missing == 511) and s[one + at.M_HP] % 256 != 0:
        hint(s, lg, ev.H_RECOVERY, -1, 0, ev.H_RECOVERY)
        return False
    return True


@kernel
def _rest(s, r, lg, p):
    if not _can_recover(s, lg, p):
        return REFUSED
    if not set_status(s, r, lg, p, at.SLP, p, tb.REST, False):
        return REFUSED
    one = mon(s, p)
    s[one + at.M_SLEEP] = 2
    restore_hp(s, lg, p, s[one + at.M_MAX_HP], ev.SILENT)
    return DONE


@kernel
def _end(s, lg, p, place, effect):
    if s[p * at.SIDE + place] > 0:
        s[p * at.SIDE + place] = 0
        emit(lg, ev.E_END, p, effect, 1, 0, 0)


@kernel
def _haze_one(s, r, lg, p, user):
    side = p * at.SIDE
    for k in range(7):
        s[side + at.BOOSTS + k] = 0
    for k in range(5):
        s[side + at.STATS + k] = s[side + at.STORED + k]
    status = s[mon(s, p) + at.M_STATUS]
    if p != user:
        if status == at.FRZ or status == at.SLP:
            s[side + at.SELECTED] = tb.CANNOT_MOVE
            s[side + at.ENEMY_SELECTED] = tb.CANNOT_MOVE
        cure_status(s, lg, p, 1)
    elif status == at.TOX:
        set_status(s, r, lg, p, at.PSN, user, tb.HAZE, False)
    s[side + at.SPEED] = s[side + at.STATS + at.SPE]
    _end(s, lg, p, at.DISABLE_TURNS, ev.F_DISABLE)
    _end(s, lg, p, at.CONFUSED, ev.F_CONFUSION)
    _end(s, lg, p, at.MIST, ev.F_MIST)
    _end(s, lg, p, at.FOCUS, ev.F_FOCUS)
    _end(s, lg, p, at.SEEDED, ev.F_SEED)
    _end(s, lg, p, at.LIGHT_SCREEN, ev.F_LIGHT_SCREEN)
    _end(s, lg, p, at.REFLECT, ev.F_REFLECT)
    _end(s, lg, p, at.TOXIC, ev.F_TOXIC)


@kernel
def _haze(s, r, lg, p):
    emit(lg, ev.E_ACTIVATE, p, ev.F_HAZE, 0, 0, 0)
    emit(lg, ev.E_CLEAR_BOOSTS, p, 0, 0, 0, 0)
    for seat in range(2):
        _haze_one(s, r, lg, seat, p)


@kernel
def _transform(s, lg, p, t):
    side, foe = p * at.SIDE, t * at.SIDE
    one = mon(s, p)
    species = s[foe + at.SPECIES]
    # Until the next look at Speeds it counts with its own values on the new species.
    base = 2 * int(_SPECIES[species, 2]) + int(s[one + at.M_SPEED_BONUS])
    s[side + at.SPEED] = base * int(s[one + at.M_LEVEL]) // 100 + 5
    s[side + at.SPECIES] = species
    s[side + at.TRANSFORMED] = 1
    for k in range(2):
        s[side + at.TYPES + k] = s[foe + at.TYPES + k]
    for k in range(5):
        s[side + at.STORED + k] = s[foe + at.STORED + k]
        s[side + at.STATS + k] = s[foe + at.STATS + k]
    for k in range(7):
        s[side + at.BOOSTS + k] = s[foe + at.BOOSTS + k]
    slots = s[foe + at.SLOTS]
    s[side + at.SLOTS] = slots
    s[side + at.VIRTUAL] = 15
    for k in range(at.NUM_MOVES):
        move = s[foe + at.MOVES + k]
        s[side + at.MOVES + k] = move
        s[side + at.PP + k] = min(5, _MOVES[move, tb.BASE_PP]) if k < slots else 0
    emit(lg, ev.E_TRANSFORM, p, 0, 0, 0, 0)


@kernel
def _mimic(s, r, lg, p, t):
    side, foe = p * at.SIDE, t * at.SIDE
    slot = s[side + at.SELECTED_SLOT]
    move = s[foe + at.MOVES + roll(r, s[foe + at.SLOTS])]
    s[side + at.MOVES + slot] = move
    s[side + at.VIRTUAL] |= 1 << slot
    emit(lg, ev.E_START, p, ev.F_MIMIC, move, 0, 0)


@kernel
def _conversion(s, lg, p, t):
    own, other = p * at.SIDE + at.TYPES, t * at.SIDE + at.TYPES
    s[own], s[own + 1] = s[other], s[other + 1]
    emit(lg, ev.E_START, p, ev.F_TYPE, s[own], s[own + 1], 0)


@kernel
def _recover(s, lg, p):
    if not _can_recover(s, lg, p):
        return REFUSED
    restore_hp(s, lg, p, s[mon(s, p) + at.M_MAX_HP] // 2, ev.BY_MOVE)
    return DONE


@kernel
def on_hit(s, r, lg, p, t, move):
    """DONE, REFUSED (the move fails) or CALLS (it uses another move)."""
    if move == tb.METRONOME:
        return CALLS
    if move == tb.MIRROR_MOVE:
        used = s[(1 - p) * at.SIDE + at.USED]
        return REFUSED if used == 0 or used == tb.MIRROR_MOVE else CALLS
    if move == tb.CONVERSION:
        _conversion(s, lg, p, t)
    elif move == tb.HAZE:
        _haze(s, r, lg, p)
    elif move == tb.MIMIC:
        _mimic(s, r, lg, p, t)
    elif move == tb.PAY_DAY:
        emit(lg, ev.E_PAY_DAY, p, 0, 0, 0, 0)
    elif move == tb.RECOVER or move == tb.SOFT_BOILED:
        return _recover(s, lg, p)
    elif move == tb.REST:
        return _rest(s, r, lg, p)
    elif move == tb.SUBSTITUTE:
        one = mon(s, p)
        if s[one + at.M_MAX_HP] > 3 and alive(s, p):
            lose_hp(s, p, s[one + at.M_MAX_HP] // 4)
            emit_damage(s, lg, p, ev.BY_MOVE)
    elif move == tb.TRANSFORM:
        _transform(s, lg, p, t)
    return DONE
