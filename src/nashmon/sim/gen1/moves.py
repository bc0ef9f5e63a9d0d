"""Using a move: what may stop it, its accuracy, its hits, and what follows it."""

from __future__ import annotations

import numpy as np

from nashmon.sim.gen1 import events as ev
from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1 import tables as tb
from nashmon.sim.gen1.damage import FAILED, immune
from nashmon.sim.gen1.effects import (
    alive,
    boost_stat,
    confuse,
    cure_status,
    deduct_pp,
    faint,
    fake_trap,
    has_type,
    hurt,
    hurt_self,
    locked,
    mon,
    restore_hp,
    semi_locked,
    trap,
)
from nashmon.sim.gen1.events import emit, hint, mark_move
from nashmon.sim.gen1.hits import build_rage, deal, hit_substitute, move_hit, spread
from nashmon.sim.gen1.jit import helper, kernel
from nashmon.sim.gen1.rng import chance, roll, roll_range
from nashmon.sim.gen1.special import CALLS

_MOVES = tb.MOVE_TABLE
_ACCURACY = np.array([0.25, 0.28, 0.33, 0.40, 0.50, 0.66, 1, 1.5, 2, 2.5, 3, 3.5, 4])
_FISSURE = tb.MOVE_NUM["fissure"]
_EXPLOSION = tb.MOVE_NUM["explosion"]


@helper
def _break_off(s, p):
    """Full paralysis and confusion end what takes several turns."""
    side = p * at.SIDE
    s[side + at.BIDE_TURNS] = 0
    s[side + at.CHARGE_MOVE] = 0
    s[side + at.HOLD] = 0
    s[side + at.LOCK_MOVE] = 0


@kernel
def _bide(s, lg, p):
    """One turn of Bide, or its release."""
    side = p * at.SIDE
    stored = min(at.DAMAGE_CAP, int(s[side + at.BIDE_DAMAGE]) + int(s[at.LAST_DAMAGE]))
    s[side + at.BIDE_DAMAGE] = stored
    s[side + at.BIDE_TURNS] -= 1
    if s[side + at.BIDE_TURNS] > 0:
        emit(lg, ev.E_ACTIVATE, p, ev.F_BIDE, 0, 0, 0)
        return
    emit(lg, ev.E_END, p, ev.F_BIDE, 0, 0, 0)
    if stored == 0:
        emit(lg, ev.E_FAIL, p, ev.W_PLAIN, 0, 0, 0)
        return
    foe = 1 - p
    if s[foe * at.SIDE + at.SUBSTITUTE] > 0:
        hit_substitute(s, lg, foe, stored * 2)
    else:
        deal(s, lg, p, foe, tb.BIDE, stored * 2)
        build_rage(s, lg, foe)


@kernel
def _confusion_stops(s, r, lg, p):
    side = p * at.SIDE
    s[side + at.CONFUSED] -= 1
    if s[side + at.CONFUSED] == 0:
        emit(lg, ev.E_END, p, ev.F_CONFUSION, 0, 0, 0)
        return False
    emit(lg, ev.E_ACTIVATE, p, ev.F_CONFUSION, 0, 0, 0)
    if chance(r, 128, 256):
        return False
    level = int(s[mon(s, p) + at.M_LEVEL])
    attack, defence = int(s[side + at.STATS + at.ATK]), int(s[side + at.STATS + at.DEF])
    damage = (2 * level // 5 + 2) * attack * 40 // defence // 50 + 2
    hurt_self(s, lg, p, damage, ev.BY_CONFUSION)
    _break_off(s, p)
    s[side + at.INVULNERABLE] = 0
    return True


@kernel
def _disable_stops(s, lg, p, move):
    side = p * at.SIDE
    s[side + at.DISABLE_TURNS] -= 1
    if s[side + at.DISABLE_TURNS] == 0:
        emit(lg, ev.E_END, p, ev.F_DISABLE, 0, 0, 0)
        return False
    if s[side + at.BIDE_TURNS] > 0:
        move = tb.BIDE
    if move != s[side + at.DISABLE_MOVE]:
        return False
    emit(lg, ev.E_CANT, p, ev.C_DISABLE, move, 0, 0)
    s[side + at.CHARGE_MOVE] = 0
    return True


@kernel
def _paralysis_stops(s, r, lg, p):
    if not chance(r, 63, 256):
        return False
    side = p * at.SIDE
    emit(lg, ev.E_CANT, p, ev.C_PAR, 0, 0, 0)
    if s[side + at.CHARGE_MOVE] > 0 and s[side + at.INVULNERABLE] > 0:
        hint(s, lg, ev.H_PAR_DIG, -1, 0, ev.H_PAR_DIG)
    _break_off(s, p)
    return True


@kernel
def _may_move(s, r, lg, p, t, move):
    side = p * at.SIDE
    one = mon(s, p)
    status = s[one + at.M_STATUS]
    if status == at.FRZ:
        emit(lg, ev.E_CANT, p, ev.C_FRZ, 0, 0, 0)
        s[side + at.USED] = 0
        return False
    if status == at.SLP:
        s[one + at.M_SLEEP] -= 1
        if s[one + at.M_SLEEP] > 0:
            emit(lg, ev.E_CANT, p, ev.C_SLP, 0, 0, 0)
        s[side + at.USED] = 0
        return False
    if s[side + at.TRAPPED] > 0:
        emit(lg, ev.E_CANT, p, ev.C_TRAPPED, 0, 0, 0)
        return False
    if s[side + at.FLINCH] > 0:
        emit(lg, ev.E_CANT, p, ev.C_FLINCH, 0, 0, 0)
        return False
    if s[side + at.RECHARGE] > 0:
        emit(lg, ev.E_CANT, p, ev.C_RECHARGE, 0, 0, 0)
        s[side + at.RECHARGE] = 0
        return False
    if s[side + at.DISABLE_TURNS] > 0 and _disable_stops(s, lg, p, move):
        return False
    if s[side + at.CONFUSED] > 0 and _confusion_stops(s, r, lg, p):
        return False
    if status == at.PAR and _paralysis_stops(s, r, lg, p):
        return False
    if s[side + at.BIDE_TURNS] > 0:
        _bide(s, lg, p)
        return False
    if s[side + at.HOLD] > 0:
        foe_active = s[(1 - p) * at.SIDE + at.ACTIVE]
        if t == p or foe_active != s[side + at.HOLD_FOE]:
            s[side + at.HOLD] = 0
    return True


@kernel
def after_move_self(s, lg, p, t):
    """What a Pokémon suffers once it has acted: waking, poison, burn, Leech Seed."""
    side = p * at.SIDE
    one = mon(s, p)
    status = s[one + at.M_STATUS]
    counted = status == at.BRN or status == at.PSN or status == at.TOX
    share = max(1, s[one + at.M_MAX_HP] // 16)
    if s[side + at.TOXIC] > 0 and counted:
        s[side + at.TOXIC] += 1
    if status == at.SLP:
        if s[one + at.M_SLEEP] <= 0:
            cure_status(s, lg, p, 0)
    elif status == at.TOX:
        hurt(s, lg, p, share * (s[side + at.TOXIC] - 1), ev.BY_STATUS)
    elif counted:
        times = s[side + at.TOXIC] - 1 if s[side + at.TOXIC] > 0 else 1
        hurt(s, lg, p, share * times, ev.BY_STATUS | (ev.OF_FOE if t != p else 0))
        if s[side + at.TOXIC] > 0:
            hint(s, lg, ev.H_TOXIC, -1, 0, ev.H_TOXIC)
    if s[side + at.SEEDED] > 0 and alive(s, 1 - p):
        times = 1
        if s[side + at.TOXIC] > 0:
            s[side + at.TOXIC] += 1
            times = s[side + at.TOXIC] - 1
        amount = share * times
        lost = hurt(s, lg, p, amount, ev.BY_SEED | ev.OF_FOE)
        if s[side + at.TOXIC] > 0:
            hint(s, lg, ev.H_SEED_TOXIC, -1, 0, ev.H_SEED_TOXIC)
        if amount > lost:
            hint(s, lg, ev.H_SEED_HEAL, -1, 0, ev.H_SEED_HEAL)
        restore_hp(s, lg, 1 - p, amount, ev.SILENT)


@kernel
def _after_move(s, lg, p, t):
    side = p * at.SIDE
    if s[side + at.RECHARGE] > 0:
        if alive(s, t):
            emit(lg, ev.E_RECHARGE, p, 0, 0, 0, 0)
        else:
            s[side + at.RECHARGE] = 0
    if s[side + at.LOCK_MOVE] > 0 and s[side + at.LOCK_TURNS] <= 0 and alive(s, p):
        s[side + at.LOCK_MOVE] = 0
    if s[side + at.HOLD] > 0:
        if not alive(s, t):
            s[side + at.HOLD] = 0
        elif s[side + at.HOLD] == 1:
            if s[side + at.HOLD_TOTAL] != 5:
                fake_trap(s, p, s[t * at.SIDE + at.ACTIVE])
                fake_trap(s, t, s[side + at.ACTIVE])
        else:
            trap(s, t, s[side + at.ACTIVE])
            if s[side + at.HOLD_TOTAL] > s[side + at.HOLD]:
                s[t * at.SIDE + at.TRAPPED_MAYBE] = 1


@kernel
def _thrash(s, r, lg, p, move):
    side = p * at.SIDE
    if s[side + at.LOCK_MOVE] > 0:
        s[side + at.LOCK_TURNS] -= 1
        if s[side + at.LOCK_TURNS] == 0:
            s[side + at.CONFUSED] = 0
            confuse(s, r, lg, p, 1)
    else:
        s[side + at.LOCK_MOVE] = move
        s[side + at.LOCK_TURNS] = roll_range(r, 2, 4)
        s[side + at.LOCK_ACCURACY] = 255


@kernel
def _accuracy(s, p, t, move):
    """Accuracy out of 256, 0 when the move cannot miss."""
    accuracy = int(_MOVES[move, tb.ACCURACY])
    own, foe = p * at.SIDE, t * at.SIDE
    if _MOVES[move, tb.STATUS] == at.SLP and s[foe + at.RECHARGE] > 0:
        accuracy = tb.ALWAYS_HITS
    if accuracy != tb.ALWAYS_HITS:
        if s[own + at.LOCK_MOVE] > 0:
            accuracy = int(s[own + at.LOCK_ACCURACY])
        if s[own + at.RAGE_ACCURACY] > 0:
            accuracy = int(s[own + at.RAGE_ACCURACY])
        accuracy = int(np.floor(accuracy * _ACCURACY[s[own + at.BOOSTS + at.ACC] + 6]))
        accuracy = int(np.floor(accuracy * _ACCURACY[6 - s[foe + at.BOOSTS + at.EVA]]))
        accuracy = min(255, max(1, accuracy))
        if s[own + at.LOCK_MOVE] > 0:
            s[own + at.LOCK_ACCURACY] = accuracy
        if s[own + at.RAGE_ACCURACY] > 0:
            s[own + at.RAGE_ACCURACY] = accuracy
    if t != p and s[foe + at.TRAPPED] > 0 and s[foe + at.TRAPPED_BY] == s[own + at.ACTIVE]:
        accuracy = tb.ALWAYS_HITS
    return accuracy


@kernel
def _out_of_reach(s, lg, p, t, move):
    """Invulnerability, type immunity and the moves' own conditions of success."""
    side = t * at.SIDE
    if t != p and s[side + at.INVULNERABLE] > 0 and move != tb.SWIFT and move != tb.TRANSFORM:
        emit(lg, ev.E_MESSAGE, t, ev.G_INVULNERABLE, 0, 0, 0)
        mark_move(lg, ev.MISSED)
        emit(lg, ev.E_MISS, p, 0, 0, 0, 0)
    elif _MOVES[move, tb.IGNORE_IMMUNITY] == 0 and immune(s, t, _MOVES[move, tb.TYPE]):
        emit(lg, ev.E_IMMUNE, t, 0, 0, 0, 0)
    else:
        if move == tb.LEECH_SEED:
            unharmed = has_type(s, t, tb.GRASS)
        elif move == tb.DREAM_EATER:
            asleep = s[mon(s, t) + at.M_STATUS] == at.SLP
            unharmed = not asleep or s[side + at.SUBSTITUTE] > 0
        else:
            unharmed = False
        if unharmed:
            emit(lg, ev.E_IMMUNE, t, 0, 0, 0, 0)
            return True
        speed = s[p * at.SIDE + at.STATS + at.SPE]
        if _MOVES[move, tb.OHKO] == 1 and s[side + at.STATS + at.SPE] > speed:
            emit(lg, ev.E_IMMUNE, t, 1, 0, 0, 0)
            return True
        return False
    if _MOVES[move, tb.SELF_DESTRUCT] == 1:
        faint(s, p)
    return True


@kernel
def _all_hits(s, r, lg, p, t, move):
    most = _MOVES[move, tb.MAX_HITS]
    if most == 1:
        return move_hit(s, r, lg, p, t, move, 0, True, -1)
    hits = spread(r) if most == 5 else most
    done, damage, fixed = 0, 0, -1
    while done < hits and alive(s, t) and alive(s, p):
        result = move_hit(s, r, lg, p, t, move, done + 1, done + 1 == hits, fixed)
        if result == FAILED:
            break
        damage = max(result, 0)
        if done == 0:
            fixed = damage
        done += 1
        if s[mon(s, t) + at.M_SUB_BROKE] == 1:
            break
    if done == 0:
        return 1
    emit(lg, ev.E_HITS, t, done, 0, 0, 0)
    return damage


@kernel
def _try_move(s, r, lg, p, t, move):
    """Accuracy and hits of a move; returns damage, FAILED or CALLS."""
    side = p * at.SIDE
    if _MOVES[move, tb.SELF_EFFECT] == tb.SELF_LOCK:
        _thrash(s, r, lg, p, move)
    if _out_of_reach(s, lg, p, t, move):
        return FAILED
    accuracy = _accuracy(s, p, t, move)
    damage = 0
    if accuracy != tb.ALWAYS_HITS and not chance(r, accuracy, 256):
        mark_move(lg, ev.MISSED)
        emit(lg, ev.E_MISS, p, 0, 0, 0, 0)
        if accuracy == 255:
            hint(s, lg, ev.H_FULL_MISS, -1, 0, ev.H_FULL_MISS)
        s[at.LAST_DAMAGE] = 0
        damage = FAILED
    else:
        damage = _all_hits(s, r, lg, p, t, move)
        if damage == CALLS:
            return CALLS
    if _MOVES[move, tb.SELF_DESTRUCT] == 1:
        if s[mon(s, t) + at.M_SUB_BROKE] == 1:
            hint(s, lg, ev.H_SUB_SURVIVED, -1, move, ev.H_SUB_SURVIVED)
        else:
            faint(s, p)
    if damage == FAILED:
        s[side + at.HOLD] = 0
        return FAILED
    if _MOVES[move, tb.OHKO] == 1:
        emit(lg, ev.E_OHKO, p, 0, 0, 0, 0)
    burns = _MOVES[move, tb.SECONDARY] == tb.SECONDARY_STATUS + at.BRN
    if burns and s[mon(s, t) + at.M_STATUS] == at.FRZ:
        cure_status(s, lg, t, 0)
    return damage


@kernel
def _prepares(s, lg, p, move):
    """First turn of a two-turn move; on the second it comes out of hiding."""
    side = p * at.SIDE
    if s[side + at.CHARGE_MOVE] > 0:
        s[side + at.CHARGE_MOVE] = 0
        s[side + at.INVULNERABLE] = 0
        return False
    emit(lg, ev.E_PREPARE, p, move, 0, 0, 0)
    mark_move(lg, ev.STILL)
    s[side + at.CHARGE_MOVE] = move
    if move == tb.DIG or move == tb.FLY:
        s[side + at.INVULNERABLE] = 1
    return True


@kernel
def _provoke_rage(s, lg, t, move):
    """Explosion and Disable make the target build Rage whatever comes of them."""
    side = t * at.SIDE
    provokes = _MOVES[move, tb.SELF_DESTRUCT] == 1 or move == tb.DISABLE
    if provokes and s[side + at.RAGE_ACCURACY] > 0 and s[side + at.BOOSTS + at.ATK] < 6:
        if alive(s, t):
            boost_stat(s, lg, t, at.ATK, 1, 1)
        bit = 20 if move == tb.DISABLE else 0 if move == _EXPLOSION else 21
        hint(s, lg, ev.H_RAGE, -1, move, bit)


@kernel
def _called(s, r, p, move):
    """The move Metronome or Mirror Move becomes."""
    if move == tb.METRONOME:
        pick = 1 + roll(r, 163)
        if pick >= tb.METRONOME:
            pick += 1
    else:
        pick = np.int64(s[(1 - p) * at.SIDE + at.USED])
    s[p * at.SIDE + at.SELECTED] = pick
    s[p * at.SIDE + at.ENEMY_SELECTED] = pick
    return pick


@kernel
def _return_pp(s, lg, p, move):
    """A called move gives PP back where the caller's own PP was taken wrongly."""
    side = p * at.SIDE
    if _MOVES[move, tb.TWO_TURN] == 1:
        deduct_pp(s, lg, p, -1)
    slot = s[side + at.SELECTED_SLOT]
    one = mon(s, p)
    if s[side + at.TRANSFORMED] == 1 and slot < s[one + at.M_SLOTS]:
        s[one + at.M_PP + slot] = (s[one + at.M_PP + slot] + 1) & 63


@kernel
def use_move(s, r, lg, p, move, came_from):
    """Use a move, and the moves it calls."""
    side = p * at.SIDE
    while True:
        t = p if _MOVES[move, tb.ON_SELF] == 1 else 1 - p
        if came_from == tb.METRONOME or came_from == tb.MIRROR_MOVE:
            _return_pp(s, lg, p, move)
        s[side + at.SIDE_MOVE] = move
        s[side + at.ENEMY_MOVE] = move
        two_turn = _MOVES[move, tb.TWO_TURN] == 1
        if not two_turn or s[side + at.CHARGE_MOVE] > 0:
            s[side + at.USED] = _FISSURE if move == tb.NO_MOVE else move
        emit(lg, ev.E_MOVE, p, move, t, came_from, 0)
        if not (two_turn and _prepares(s, lg, p, move)):
            if _MOVES[move, tb.SELF_EFFECT] == tb.SELF_HOLD and s[t * at.SIDE + at.RECHARGE] > 0:
                s[t * at.SIDE + at.RECHARGE] = 0
                hint(s, lg, ev.H_TRAP_RECHARGE, -1, 0, ev.H_TRAP_RECHARGE)
            if _MOVES[move, tb.KEEPS_DAMAGE] == 0:
                s[at.LAST_DAMAGE] = 0
            result = _try_move(s, r, lg, p, t, move)
            if result == CALLS:
                came_from = move
                move = _called(s, r, p, move)
                continue
            _provoke_rage(s, lg, t, move)
            if result == FAILED and (move == tb.JUMP_KICK or move == tb.HIGH_JUMP_KICK):
                hurt_self(s, lg, p, 1, ev.BY_MOVE)
        _after_move(s, lg, p, t)
        if alive(s, t):
            after_move_self(s, lg, p, t)
        return


@kernel
def run_move(s, r, lg, p):
    """The turn of a Pokémon whose player selected a move."""
    side = p * at.SIDE
    move = np.int64(s[side + at.SELECTED])
    if move == tb.CANNOT_MOVE:
        if s[mon(s, p) + at.M_STATUS] == at.SLP:
            hint(s, lg, ev.H_SLEEP_HELD, -1, 0, ev.H_SLEEP_HELD)
        elif locked(s, p):
            hint(s, lg, ev.H_HAZE_LOCKED, -1, 0, ev.H_HAZE_LOCKED)
        elif semi_locked(s, p):
            hint(s, lg, ev.H_HAZE_BIDE, -1, 0, ev.H_HAZE_BIDE)
        after_move_self(s, lg, p, 1 - p)
        return
    t = p if _MOVES[move, tb.ON_SELF] == 1 else 1 - p
    s[mon(s, t) + at.M_SUB_BROKE] = 0
    if not _may_move(s, r, lg, p, t, move):
        after_move_self(s, lg, p, t)
        return
    came_from = np.int64(0)
    if move != tb.STRUGGLE:
        bound = locked(s, p) or semi_locked(s, p)
        if bound:
            came_from = move
        if (not bound and _MOVES[move, tb.TWO_TURN] == 0) or s[side + at.CHARGE_MOVE] > 0:
            deduct_pp(s, lg, p, 1)
        if not bound and move != s[side + at.ENEMY_SELECTED]:
            hint(s, lg, ev.H_DESYNC, -1, 0, ev.H_DESYNC)
            hint(s, lg, ev.H_DESYNC_MOVE, -1, 0, ev.H_DESYNC_MOVE)
    if move == tb.NO_MOVE:
        hint(s, lg, ev.H_NO_MOVE, -1, 0, ev.H_NO_MOVE)
    use_move(s, r, lg, p, move, came_from)
