"""What happens when a move connects: Substitute, damage, statuses, lasting and special effects."""

from __future__ import annotations

import numpy as np

from nashmon.sim.gen1 import events as ev
from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1 import tables as tb
from nashmon.sim.gen1.damage import FAILED, NO_DAMAGE, move_damage
from nashmon.sim.gen1.effects import (
    alive,
    boost_stat,
    confuse,
    emit_damage,
    has_type,
    hurt,
    lose_hp,
    mon,
    next_sequence,
    restore_hp,
    set_last_damage,
    set_status,
    status_cut,
    trap,
)
from nashmon.sim.gen1.events import emit, hint
from nashmon.sim.gen1.jit import helper, kernel
from nashmon.sim.gen1.rng import chance, roll, roll_range
from nashmon.sim.gen1.special import CALLS, DONE, on_hit

_MOVES = tb.MOVE_TABLE
_SPREAD = np.array([2, 2, 2, 3, 3, 3, 4, 5])  # hits of multi-hit moves, turns of a hold

_PASSES, _BLOCKED, _STOPPED, _ABSORBED = 0, 1, 2, 3


@helper
def spread(r):
    """Two to five, as multi-hit moves and holds draw it."""
    return _SPREAD[roll(r, 8)]


@helper
def _recoil(s, lg, p, move, damage):
    share = int(_MOVES[move, tb.RECOIL])
    if share > 0:
        hurt(s, lg, p, max(1, damage // share), ev.BY_RECOIL)


@kernel
def _drain(s, lg, p, damage):
    amount = max(1, damage // 2)
    set_last_damage(s, amount)
    restore_hp(s, lg, p, amount, ev.BY_DRAIN | ev.OF_FOE)


@kernel
def hit_substitute(s, lg, t, damage):
    """Damage to a Substitute; returns whether it stands."""
    set_last_damage(s, damage)
    place = t * at.SIDE + at.SUBSTITUTE
    if damage >= s[place]:
        s[place] = 0
        emit(lg, ev.E_END, t, ev.F_SUBSTITUTE, 0, 0, 0)
        s[mon(s, t) + at.M_SUB_BROKE] = 1
        return False
    s[place] -= damage
    emit(lg, ev.E_ACTIVATE, t, ev.F_SUB_DAMAGE, 0, 0, 0)
    return True


@kernel
def _meet_substitute(s, r, lg, p, t, move, hit):
    if _MOVES[move, tb.CATEGORY] == tb.STATUS_MOVE:
        status = _MOVES[move, tb.STATUS]
        lowers = _MOVES[move, tb.AMOUNT] != 0 and t != p
        poisons = status == at.PSN or status == at.TOX
        if poisons or lowers or _MOVES[move, tb.VOLATILE] == tb.V_CONFUSION:
            return _BLOCKED
        return _PASSES
    if t == p:
        return _PASSES
    damage = int(s[at.LAST_DAMAGE]) if hit > 1 else move_damage(s, r, lg, p, t, move)
    if damage < 0:
        return _STOPPED
    if hit_substitute(s, lg, t, damage):
        if damage > 0:
            _recoil(s, lg, p, move, damage)
        if _MOVES[move, tb.DRAINS] == 1:
            _drain(s, lg, p, damage)
        if _MOVES[move, tb.SECONDARY] == tb.SECONDARY_CONFUSION:
            if chance(r, _MOVES[move, tb.CHANCE], 256):
                confuse(s, r, lg, t, 0)
                hint(s, lg, ev.H_SUB_CONFUSION, -1, 0, ev.H_SUB_CONFUSION)
    return _ABSORBED


@kernel
def _may_try(s, lg, p, t, move):
    """The move's own condition, which is looked at before any Substitute."""
    side = t * at.SIDE
    if move == tb.DISABLE:
        for k in range(s[side + at.SLOTS]):
            if s[side + at.PP + k] > 0:
                return True
        emit(lg, ev.E_FAIL, t, ev.W_PLAIN, 0, 0, 0)
        return False
    if (move == tb.LIGHT_SCREEN and s[side + at.LIGHT_SCREEN] > 0) or (
        move == tb.REFLECT and s[side + at.REFLECT] > 0
    ):
        emit(lg, ev.E_FAIL, t, ev.W_PLAIN, 0, 0, 0)
        return False
    if move == tb.SUBSTITUTE:
        one = mon(s, t)
        if s[side + at.SUBSTITUTE] > 0:
            emit(lg, ev.E_FAIL, t, ev.W_SUBSTITUTE, 0, 0, 0)
            return False
        if s[one + at.M_HP] * 4 < s[one + at.M_MAX_HP]:
            emit(lg, ev.E_FAIL, t, ev.W_WEAK, 0, 0, 0)
            return False
    elif move == tb.SPLASH:
        emit(lg, ev.E_NOTHING, p, 0, 0, 0, 0)
    return True


@kernel
def deal(s, lg, p, t, move, damage):
    """A move's damage to a Pokémon without Substitute; returns the HP lost."""
    damage = min(damage, int(s[mon(s, t) + at.M_HP]))
    set_last_damage(s, damage)
    damage = lose_hp(s, t, damage)
    emit_damage(s, lg, t, ev.BY_MOVE)
    if damage > 0:
        if _MOVES[move, tb.DRAINS] == 1:
            _drain(s, lg, p, damage)
        _recoil(s, lg, p, move, damage)
    return damage


@kernel
def _boosts(s, lg, p, t, stat, stat2, amount, blockable):
    """Stat changes of a move; returns whether any succeeded."""
    success = False
    if blockable and t != p and amount < 0 and s[t * at.SIDE + at.MIST] > 0:
        emit(lg, ev.E_ACTIVATE, t, ev.F_MIST, 0, 0, 0)
    else:
        success = boost_stat(s, lg, t, stat, amount, 0)
        if stat2 >= 0 and boost_stat(s, lg, t, stat2, amount, 0):
            success = True
    if not success:
        emit(lg, ev.E_FAIL, t, ev.W_PLAIN, 0, 0, 0)
        return False
    status_cut(s, 1 - p)
    return True


@kernel
def _status(s, r, lg, p, t, status, move, primary):
    side = t * at.SIDE
    if status == at.SLP and s[side + at.RECHARGE] > 0:
        if set_status(s, r, lg, t, status, p, move, primary):
            s[side + at.RECHARGE] = 0
            hint(s, lg, ev.H_RECHARGE_SLEEP, -1, 0, ev.H_RECHARGE_SLEEP)
        return
    has = s[mon(s, t) + at.M_STATUS]
    if has == 0:
        if set_status(s, r, lg, t, status, p, move, primary):
            status_cut(s, t)
    elif primary:
        if has == status:
            emit(lg, ev.E_FAIL, t, ev.W_STATUS, status, 0, 0)
        else:
            emit(lg, ev.E_FAIL, t, ev.W_PLAIN, 0, 0, 0)


@kernel
def _disable(s, r, lg, t):
    side = t * at.SIDE
    if s[side + at.DISABLE_TURNS] > 0:
        return
    count = 0
    for k in range(s[side + at.SLOTS]):
        if s[side + at.PP + k] > 0:
            count += 1
    pick = roll(r, count)
    slot = 0
    for k in range(s[side + at.SLOTS]):
        if s[side + at.PP + k] > 0:
            if pick == 0:
                slot = k
                break
            pick -= 1
    move = s[side + at.MOVES + slot]
    emit(lg, ev.E_START, t, ev.F_DISABLE, move, 0, 0)
    s[side + at.DISABLE_MOVE] = move
    s[side + at.DISABLE_SLOT] = slot
    s[side + at.DISABLE_TURNS] = roll_range(r, 1, 9)
    s[side + at.DISABLE_SEQ] = next_sequence(s, t)


@kernel
def _begin(s, lg, t, place, effect):
    if s[t * at.SIDE + place] == 0:
        s[t * at.SIDE + place] = 1
        emit(lg, ev.E_START, t, effect, 0, 0, 0)


@kernel
def _volatile(s, r, lg, p, t, kind):
    side = t * at.SIDE
    if not alive(s, t):
        return
    if kind == tb.V_CONFUSION:
        confuse(s, r, lg, t, 0)
    elif kind == tb.V_TRAP:
        trap(s, t, s[p * at.SIDE + at.ACTIVE])
    elif kind == tb.V_DISABLE:
        _disable(s, r, lg, t)
    elif kind == tb.V_SEED:
        _begin(s, lg, t, at.SEEDED, ev.F_SEED)
    elif kind == tb.V_BIDE:
        if s[side + at.BIDE_TURNS] == 0:
            s[side + at.BIDE_DAMAGE] = 0
            s[side + at.BIDE_TURNS] = roll_range(r, 2, 4)
            s[side + at.BIDE_SEQ] = next_sequence(s, t)
            emit(lg, ev.E_START, t, ev.F_BIDE, 0, 0, 0)
    elif kind == tb.V_FOCUS:
        _begin(s, lg, t, at.FOCUS, ev.F_FOCUS)
    elif kind == tb.V_LIGHT_SCREEN:
        _begin(s, lg, t, at.LIGHT_SCREEN, ev.F_LIGHT_SCREEN)
    elif kind == tb.V_REFLECT:
        _begin(s, lg, t, at.REFLECT, ev.F_REFLECT)
    elif kind == tb.V_MIST:
        _begin(s, lg, t, at.MIST, ev.F_MIST)
    elif kind == tb.V_SUBSTITUTE:
        s[side + at.SUBSTITUTE] = s[mon(s, t) + at.M_MAX_HP] // 4 + 1
        emit(lg, ev.E_START, t, ev.F_SUBSTITUTE, 0, 0, 0)


@kernel
def _self_effect(s, r, p, move, kind):
    side = p * at.SIDE
    if not alive(s, p):
        return
    if kind == tb.SELF_RECHARGE:
        s[side + at.RECHARGE] = 1
    elif kind == tb.SELF_RAGE:
        if s[side + at.RAGE_ACCURACY] == 0:
            s[side + at.RAGE_ACCURACY] = 255
    elif kind == tb.SELF_HOLD and s[side + at.HOLD] == 0:
        turns = spread(r)
        foe = 1 - p
        if alive(s, foe):
            s[side + at.HOLD] = turns
            s[side + at.HOLD_TOTAL] = turns
            s[side + at.HOLD_DAMAGE] = s[at.LAST_DAMAGE]
            s[side + at.HOLD_FOE] = s[foe * at.SIDE + at.ACTIVE]
            s[side + at.HOLD_MOVE] = move
            s[side + at.HOLD_SEQ] = next_sequence(s, p)
            trap(s, foe, s[side + at.ACTIVE])


@kernel
def _secondary(s, r, lg, p, t, move):
    kind = _MOVES[move, tb.SECONDARY]
    if kind >= tb.SECONDARY_STATUS:
        status = kind - tb.SECONDARY_STATUS
        if status != at.PSN and has_type(s, t, _MOVES[move, tb.TYPE]):
            return
    if not chance(r, _MOVES[move, tb.CHANCE], 256):
        return
    if kind >= tb.SECONDARY_STATUS:
        _status(s, r, lg, p, t, kind - tb.SECONDARY_STATUS, move, False)
    elif kind == tb.SECONDARY_CONFUSION:
        confuse(s, r, lg, t, 0)
    elif kind == tb.SECONDARY_FLINCH:
        if s[t * at.SIDE + at.FLINCH] == 0:
            s[t * at.SIDE + at.FLINCH] = 1
            s[t * at.SIDE + at.RECHARGE] = 0
    else:
        stat, stat2 = _MOVES[move, tb.SEC_STAT], _MOVES[move, tb.SEC_STAT2]
        _boosts(s, lg, p, t, stat, stat2, _MOVES[move, tb.SEC_AMOUNT], False)


@helper
def build_rage(s, lg, t):
    """A raging Pokémon that was hit gains Attack."""
    side = t * at.SIDE
    if s[side + at.RAGE_ACCURACY] > 0 and s[side + at.BOOSTS + at.ATK] < 6 and alive(s, t):
        boost_stat(s, lg, t, at.ATK, 1, 1)


@kernel
def _land(s, r, lg, p, t, move, fixed):
    """The move meets its target itself: damage, then every effect of its own."""
    damage = fixed if fixed >= 0 else move_damage(s, r, lg, p, t, move)
    if damage == FAILED:
        return FAILED
    did = damage >= 0
    if did:
        damage = deal(s, lg, p, t, move, damage)
    status_move = _MOVES[move, tb.CATEGORY] == tb.STATUS_MOVE
    amount = _MOVES[move, tb.AMOUNT]
    if amount != 0 and alive(s, t):
        stat, stat2 = _MOVES[move, tb.STAT], _MOVES[move, tb.STAT2]
        if not _boosts(s, lg, p, t, stat, stat2, amount, status_move):
            return FAILED
        did = True
    if _MOVES[move, tb.STATUS] > 0:
        _status(s, r, lg, p, t, _MOVES[move, tb.STATUS], move, True)
        did = True
    if _MOVES[move, tb.VOLATILE] > 0:
        _volatile(s, r, lg, p, t, _MOVES[move, tb.VOLATILE])
        did = True
    result = on_hit(s, r, lg, p, t, move)
    if result == CALLS:
        return CALLS
    if not status_move and _MOVES[move, tb.SELF_DESTRUCT] == 0:
        build_rage(s, lg, t)
    if result != DONE and not did:
        emit(lg, ev.E_FAIL, t, ev.W_PLAIN, 0, 0, 0)
        return FAILED
    return damage


@kernel
def move_hit(s, r, lg, p, t, move, hit, last, fixed):
    """One hit; `fixed` ≥ 0 is the damage of the first of several.  Returns damage or a code."""
    if not _may_try(s, lg, p, t, move):
        return FAILED
    place = t * at.SIDE + at.SUBSTITUTE
    had_substitute = s[place] > 0
    meeting = _PASSES
    if had_substitute:
        meeting = _meet_substitute(s, r, lg, p, t, move, hit)
        if meeting == _BLOCKED:
            emit(lg, ev.E_FAIL, t, ev.W_PLAIN, 0, 0, 0)
        if meeting == _BLOCKED or meeting == _STOPPED:
            return FAILED
    damage = 0
    if meeting == _PASSES:
        damage = _land(s, r, lg, p, t, move, fixed)
        if damage == FAILED or damage == CALLS:
            return damage
    kind = _MOVES[move, tb.SELF_EFFECT]
    unbroken = not had_substitute or s[place] > 0
    if kind != tb.NO_SELF and kind != tb.SELF_LOCK and (unbroken or kind == tb.SELF_HOLD):
        _self_effect(s, r, p, move, kind)
    if meeting == _PASSES and last and _MOVES[move, tb.SECONDARY] != tb.NO_SECONDARY:
        if alive(s, t):
            _secondary(s, r, lg, p, t, move)
    return damage if damage >= 0 else NO_DAMAGE
