"""How much damage a move would do: critical hits, stats, types, the random factor."""

from __future__ import annotations

from nashmon.sim.gen1 import events as ev
from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1 import tables as tb
from nashmon.sim.gen1.effects import has_type, mon
from nashmon.sim.gen1.events import emit, hint
from nashmon.sim.gen1.jit import helper, kernel
from nashmon.sim.gen1.rng import chance, roll_range

_MOVES = tb.MOVE_TABLE
_SPECIES = tb.SPECIES_TABLE
_EFFECT = tb.EFFECTIVENESS
_IMMUNE = tb.IMMUNITY

FAILED = -1  # the move fails
NO_DAMAGE = -2  # the move is not about damage


@helper
def immune(s, t, kind):
    """Whether the Pokémon on the field of seat t cannot be hit by a type."""
    types = t * at.SIDE + at.TYPES
    return _IMMUNE[kind, s[types]] == 1 or _IMMUNE[kind, s[types + 1]] == 1


@helper
def _counterable(move):
    kind = _MOVES[move, tb.TYPE]
    return (kind == tb.NORMAL or kind == tb.FIGHTING) and _MOVES[move, tb.POWER] > 0


@kernel
def _counter_damage(s, lg, p, t):
    foe = t * at.SIDE
    seen_select = s[foe + at.ENEMY_SELECTED] != tb.COUNTER
    seen_move = _counterable(s[foe + at.ENEMY_MOVE])
    own_select = s[foe + at.SELECTED] != tb.COUNTER
    own_move = _counterable(s[foe + at.SIDE_MOVE])
    damage = int(s[at.LAST_DAMAGE])
    if seen_select and seen_move and damage > 0:
        if own_select and not own_move:
            hint(s, lg, ev.H_DESYNC, t, 0, ev.H_DESYNC)
            hint(s, lg, ev.H_COUNTER_LAST, t, 0, ev.H_COUNTER_LAST)
        return 2 * damage
    if damage > 0:
        if not seen_select and own_select:
            if seen_move:
                hint(s, lg, ev.H_DESYNC, -1, 0, ev.H_DESYNC)
                hint(s, lg, ev.H_COUNTER_SLEEP, -1, 0, ev.H_COUNTER_SLEEP)
        elif not seen_move and own_move:
            hint(s, lg, ev.H_DESYNC, t, 0, ev.H_DESYNC)
            hint(s, lg, ev.H_COUNTER_LAST, t, 0, ev.H_COUNTER_LAST)
    emit(lg, ev.E_FAIL, p, ev.W_PLAIN, 0, 0, 0)
    return FAILED


@kernel
def _psywave_damage(s, r, lg, p):
    level = int(s[mon(s, p) + at.M_LEVEL])
    if ((level + (level >> 1)) & 255) < 2:
        hint(s, lg, ev.H_PSYWAVE, -1, 0, ev.H_PSYWAVE)
        return FAILED
    return roll_range(r, 1, level * 3 // 2)


@helper
def _is_critical(s, r, p, move):
    ratio = int(_SPECIES[s[mon(s, p) + at.M_SPECIES], 2]) // 2
    if s[p * at.SIDE + at.FOCUS] > 0:
        ratio //= 2
    else:
        ratio = min(255, max(1, ratio * 2))
    if _MOVES[move, tb.HIGH_CRIT] == 1:
        ratio = min(255, max(1, ratio * 4))
    else:
        ratio //= 2
    return ratio > 0 and chance(r, ratio, 256)


@kernel
def _type_damage(s, lg, t, kind, damage):
    types = t * at.SIDE + at.TYPES
    total = 0
    for k in range(2):
        effect = _EFFECT[kind, s[types + k]]
        total += effect
        if effect > 0:
            damage = damage * 20 // 10
        elif effect < 0:
            damage = damage * 5 // 10
    if total > 0:
        emit(lg, ev.E_SUPER, t, 0, 0, 0, 0)
    elif total < 0:
        emit(lg, ev.E_RESISTED, t, 0, 0, 0, 0)
    return damage


@kernel
def _formula(s, r, lg, p, t, move):
    critical = _is_critical(s, r, p, move)
    special = _MOVES[move, tb.CATEGORY] == tb.SPECIAL
    attack_stat = at.SPA if special else at.ATK
    defence_stat = at.SPD if special else at.DEF
    attack = int(s[p * at.SIDE + at.STATS + attack_stat])
    defence = int(s[t * at.SIDE + at.STATS + defence_stat])
    screen = at.LIGHT_SCREEN if special else at.REFLECT
    if s[t * at.SIDE + screen] > 0:
        defence *= 2
    level = int(s[mon(s, p) + at.M_LEVEL])
    if critical:
        level = (level * 2) & 255
        emit(lg, ev.E_CRIT, t, 0, 0, 0, 0)
        attack = int(s[mon(s, p) + at.M_STATS + attack_stat])
        defence = int(s[mon(s, t) + at.M_STATS + defence_stat])
    if attack >= 256 or defence >= 256:
        if attack >= 1024 or defence >= 1024:
            hint(s, lg, ev.H_ROLLOVER, -1, 0, ev.H_ROLLOVER)
        attack = max(1, (attack // 4) & 255)
        defence = (defence // 4) & 255
        if defence == 0:
            hint(s, lg, ev.H_ZERO_DEFENCE, -1, 0, ev.H_ZERO_DEFENCE)
            defence = 1
    if _MOVES[move, tb.SELF_DESTRUCT] == 1:
        defence = max(1, defence // 2)
    power = int(_MOVES[move, tb.POWER])
    damage = (level * 2 // 5 + 2) * power * attack // defence
    damage = min(997, damage // 50) + 2
    kind = _MOVES[move, tb.TYPE]
    if has_type(s, p, kind):
        damage += damage // 2
    damage = _type_damage(s, lg, t, kind, damage)
    if damage > 1:
        damage = damage * roll_range(r, 217, 256) // 255
    return damage


@kernel
def move_damage(s, r, lg, p, t, move):
    """Damage of a move of seat p on seat t, FAILED, or NO_DAMAGE for a move without any."""
    if _MOVES[move, tb.OHKO] == 1:
        return at.DAMAGE_CAP
    if move == tb.COUNTER:
        return _counter_damage(s, lg, p, t)
    if move == tb.PSYWAVE:
        return _psywave_damage(s, r, lg, p)
    if move == tb.SUPER_FANG:
        return max(1, int(s[mon(s, t) + at.M_HP]) // 2)
    fixed = int(_MOVES[move, tb.FIXED])
    if fixed == tb.LEVEL_DAMAGE:
        return int(s[mon(s, p) + at.M_LEVEL])
    if fixed > 0:
        return fixed
    holds = _MOVES[move, tb.SELF_EFFECT] == tb.SELF_HOLD
    if holds and _MOVES[move, tb.TYPE] == tb.NORMAL and has_type(s, t, tb.GHOST):
        return 0
    side = p * at.SIDE
    if s[side + at.HOLD] > 0 and t != p and s[t * at.SIDE + at.ACTIVE] == s[side + at.HOLD_FOE]:
        return int(s[side + at.HOLD_DAMAGE])
    if _MOVES[move, tb.POWER] == 0:
        return NO_DAMAGE
    return _formula(s, r, lg, p, t, move)
