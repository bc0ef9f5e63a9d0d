"""The small changes moves are made of: damage, healing, statuses, stat stages, passing effects.

In all kernels `s` is the battle's row, `r` its generator, `lg` its event buffer, `p` a seat.
"""

from __future__ import annotations

import numpy as np

from nashmon.sim.gen1 import events as ev
from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1 import tables as tb
from nashmon.sim.gen1.events import emit, hint
from nashmon.sim.gen1.jit import helper, kernel
from nashmon.sim.gen1.rng import roll, roll_range

_SPECIES = tb.SPECIES_TABLE
_STAGES = np.array([0.25, 0.28, 0.33, 0.40, 0.50, 0.66, 1, 1.5, 2, 2.5, 3, 3.5, 4])


@helper
def mon(s, p):
    """Offset of the seat's Pokémon on the field among the facts of its side."""
    return p * at.SIDE + at.PARTY + s[p * at.SIDE + at.ACTIVE] * at.MON


@helper
def alive(s, p):
    """Whether the Pokémon on the field has hit points."""
    return s[mon(s, p) + at.M_HP] > 0


@helper
def has_type(s, p, kind):
    """Whether the Pokémon on the field is of a type now."""
    types = p * at.SIDE + at.TYPES
    return kind != 0 and (s[types] == kind or s[types + 1] == kind)


@helper
def scale_stat(s, p, stat, factor):
    """Multiply a current stat, at least 1; lasts until the stat is computed anew."""
    place = p * at.SIDE + at.STATS + stat
    s[place] = max(1, int(np.floor(s[place] * factor)))


@kernel
def status_cut(s, p):
    """The Speed cut of paralysis and the Attack cut of burn."""
    status = s[mon(s, p) + at.M_STATUS]
    if status == at.PAR:
        scale_stat(s, p, at.SPE, 0.25)
    elif status == at.BRN:
        scale_stat(s, p, at.ATK, 0.5)


@kernel
def reset_active(s, p):
    """Facts of the Pokémon on the field as they are when it comes in."""
    side = p * at.SIDE
    one = mon(s, p)
    for k in range(side + at.VOLATILE, side + at.VOLATILE_END):
        s[k] = 0
    for k in range(5):
        s[side + at.STORED + k] = s[one + at.M_STATS + k]
        s[side + at.STATS + k] = s[one + at.M_STATS + k]
    species = s[one + at.M_SPECIES]
    s[side + at.SPECIES] = species
    s[side + at.TYPES] = _SPECIES[species, 0]
    s[side + at.TYPES + 1] = _SPECIES[species, 1]
    s[side + at.SLOTS] = s[one + at.M_SLOTS]
    for k in range(at.NUM_MOVES):
        s[side + at.MOVES + k] = s[one + at.M_MOVES + k]
        s[side + at.PP + k] = s[one + at.M_PP + k]
    status_cut(s, p)
    s[side + at.SPEED] = s[side + at.STATS + at.SPE]


@helper
def next_sequence(s, p):
    """A number that orders passing effects by when they came."""
    place = p * at.SIDE + at.SEQUENCE
    s[place] += 1
    return s[place]


@kernel
def faint(s, p):
    """The Pokémon on the field loses all HP and waits to be declared fainted."""
    one = mon(s, p)
    if s[one + at.M_FAINTED] == 1:
        return
    for k in range(s[at.NUM_FALLEN]):
        if s[at.FALLEN + k] == p:
            return
    s[one + at.M_HP] = 0
    s[at.FALLEN + s[at.NUM_FALLEN]] = p
    s[at.NUM_FALLEN] += 1


@kernel
def lose_hp(s, p, amount):
    """Take HP from the Pokémon on the field; returns how much it had to give."""
    place = mon(s, p) + at.M_HP
    if s[place] <= 0 or amount <= 0:
        return 0
    if amount >= s[place]:
        amount = s[place]
        faint(s, p)
    else:
        s[place] -= amount
    return amount


@helper
def set_last_damage(s, amount):
    """Remember the battle's last damage."""
    s[at.LAST_DAMAGE] = min(amount, at.DAMAGE_CAP)


@helper
def emit_damage(s, lg, p, cause):
    """Log the HP left after damage."""
    one = mon(s, p)
    emit(lg, ev.E_DAMAGE, p, s[one + at.M_HP], s[one + at.M_STATUS], cause, 0)


@kernel
def hurt(s, lg, p, amount, cause):
    """Damage that is not a move's own: statuses, Leech Seed, recoil; returns the HP lost."""
    if not alive(s, p):
        return 0
    lost = lose_hp(s, p, max(amount, 1))
    emit_damage(s, lg, p, cause)
    return lost


@kernel
def hurt_self(s, lg, p, amount, cause):
    """Damage of confusion or a failed Jump Kick, which a Substitute passes on to the foe's."""
    if not alive(s, p):
        return
    set_last_damage(s, amount)
    if s[p * at.SIDE + at.SUBSTITUTE] > 0:
        foe = 1 - p
        place = foe * at.SIDE + at.SUBSTITUTE
        if s[place] > 0:
            s[place] = max(0, s[place] - amount)
            if s[place] == 0:
                emit(lg, ev.E_END, foe, ev.F_SUBSTITUTE, 0, 0, 0)
                s[mon(s, foe) + at.M_SUB_BROKE] = 1
            else:
                emit(lg, ev.E_ACTIVATE, foe, ev.F_SUB_DAMAGE, 0, 0, 0)
            hint(s, lg, ev.H_SUB_HIT, -1, 0, ev.H_SUB_HIT)
        else:
            hint(s, lg, ev.H_SUB_NO_HIT, -1, 0, ev.H_SUB_NO_HIT)
        return
    lose_hp(s, p, amount)
    emit_damage(s, lg, p, cause)


@kernel
def restore_hp(s, lg, p, amount, cause):
    """Heal the Pokémon on the field, unless it is full or has fainted."""
    one = mon(s, p)
    hp = s[one + at.M_HP]
    if hp <= 0 or hp >= s[one + at.M_MAX_HP] or amount <= 0:
        return
    s[one + at.M_HP] = min(s[one + at.M_MAX_HP], hp + amount)
    emit(lg, ev.E_HEAL, p, s[one + at.M_HP], s[one + at.M_STATUS], cause, 0)


@kernel
def boost_stat(s, lg, p, stat, amount, by_rage):
    """One stat stage change; returns whether it counts as a success."""
    place = p * at.SIDE + at.BOOSTS + stat
    stage = s[place]
    if (amount > 0 and stage >= 6) or (amount < 0 and stage <= -6):
        return False
    stage = min(6, max(-6, stage + amount))
    if stat >= at.ACC:
        s[place] = stage
        emit(lg, ev.E_BOOST, p, stat, amount, by_rage, 0)
        return True
    current = p * at.SIDE + at.STATS + stat
    if (amount > 0 and s[current] == 999) or (amount < 0 and s[current] == 1):
        back = -1 if amount > 0 else 1
        s[place] = stage + back
        emit(lg, ev.E_BOOST, p, stat, amount, by_rage, 0)
        emit(lg, ev.E_BOOST, p, stat, back, 0, 0)
        which = ev.H_BOOST_999 if amount > 0 else ev.H_DROP_1
        hint(s, lg, which, -1, 0, which)
        return False
    s[place] = stage
    value = max(1, int(np.floor(s[p * at.SIDE + at.STORED + stat] * _STAGES[stage + 6])))
    s[current] = min(999, value) if amount > 0 else value
    emit(lg, ev.E_BOOST, p, stat, amount, by_rage, 0)
    return True


@kernel
def clause_stops(s, lg, p, status, by):
    """Whether the Sleep or the Freeze Clause keeps seat `by` from inflicting a status."""
    if s[at.CLAUSES] == 0:
        return False
    if by == p or (status != at.SLP and status != at.FRZ):
        return False
    for k in range(s[p * at.SIDE + at.TEAM_SIZE]):
        one = p * at.SIDE + at.PARTY + k * at.MON
        if s[one + at.M_STATUS] != status:
            continue
        if status == at.FRZ:
            emit(lg, ev.E_MESSAGE, p, ev.G_FREEZE_CLAUSE, 0, 0, 0)
            return True
        if s[one + at.M_HP] > 0 and s[one + at.M_SELF_SLEPT] == 0:
            emit(lg, ev.E_MESSAGE, p, ev.G_SLEEP_CLAUSE, 0, 0, 0)
            hint(s, lg, ev.H_SLEEP_CLAUSE, -1, 0, ev.H_SLEEP_CLAUSE)
            return True
    return False


@kernel
def set_status(s, r, lg, p, status, by, move, primary):
    """Give a status; `primary`: the move is about nothing else, so its failure is told."""
    one = mon(s, p)
    if s[one + at.M_HP] <= 0:
        return False
    if s[one + at.M_STATUS] == status:
        if primary:
            emit(lg, ev.E_FAIL, p, ev.W_STATUS, status, 0, 0)
        return False
    # Haze turns the bad poison of even a Poison type into poison, without asking.
    if (status == at.PSN or status == at.TOX) and move != tb.HAZE and has_type(s, p, tb.POISON):
        if primary:
            emit(lg, ev.E_IMMUNE, p, 0, 0, 0, 0)
        return False
    if s[at.CLAUSES] == 1:
        roll(r, 2)  # Showdown shuffles the handlers of the two clauses
    if clause_stops(s, lg, p, status, by):
        return False
    s[one + at.M_STATUS] = status
    s[one + at.M_SELF_SLEPT] = 1 if by == p else 0
    emit(lg, ev.E_STATUS, p, status, move if status == at.SLP else 0, 0, 0)
    if status == at.SLP:
        s[one + at.M_SLEEP] = roll_range(r, 1, 8)
    elif status == at.TOX:
        s[p * at.SIDE + at.TOXIC] = 1
    return True


@kernel
def cure_status(s, lg, p, silent):
    """End a status of the Pokémon on the field."""
    one = mon(s, p)
    if s[one + at.M_HP] <= 0 or s[one + at.M_STATUS] == 0:
        return
    emit(lg, ev.E_CURE, p, s[one + at.M_STATUS], silent, 0, 0)
    s[one + at.M_STATUS] = 0


@kernel
def confuse(s, r, lg, p, silent):
    """Begin confusion; nothing when it is confused already."""
    place = p * at.SIDE + at.CONFUSED
    if not alive(s, p) or s[place] > 0:
        return
    emit(lg, ev.E_START, p, ev.F_CONFUSION, 0, 0, silent)
    s[place] = roll_range(r, 2, 6)


@kernel
def trap(s, p, by):
    """Hold the Pokémon on the field of seat p for two turns."""
    side = p * at.SIDE
    if not alive(s, p):
        return
    if s[side + at.TRAPPED] == 0:
        s[side + at.TRAPPED_BY] = by
        s[side + at.TRAPPED_MAYBE] = 0
        s[side + at.TRAPPED_SEQ] = next_sequence(s, p)
    s[side + at.TRAPPED] = 2


@kernel
def fake_trap(s, p, other):
    """Leave the Pokémon on the field in doubt whether a hold goes on."""
    side = p * at.SIDE
    if not alive(s, p):
        return
    if s[side + at.FAKE] == 0:
        s[side + at.FAKE] = 2
        s[side + at.FAKE_SEQ] = next_sequence(s, p)
    s[side + at.FAKE_OTHER] = other


@helper
def locked(s, p):
    """Whether it must go on with a move and cannot leave."""
    side = p * at.SIDE
    return (
        s[side + at.RECHARGE] > 0
        or s[side + at.LOCK_MOVE] > 0
        or s[side + at.CHARGE_MOVE] > 0
        or s[side + at.RAGE_ACCURACY] > 0
    )


@helper
def semi_locked(s, p):
    """Whether it must go on with a move but may leave."""
    side = p * at.SIDE
    return s[side + at.BIDE_TURNS] > 0 or s[side + at.HOLD] > 0


@kernel
def deduct_pp(s, lg, p, amount):
    """Take PP from the last selected slot; it wraps around at 64."""
    side = p * at.SIDE
    slot = s[side + at.SELECTED_SLOT]
    if slot >= s[side + at.SLOTS]:
        return
    pp = s[side + at.PP + slot] - amount
    if pp < 0:
        hint(s, lg, ev.H_UNDERFLOW, p, 0, ev.H_UNDERFLOW)
    pp &= 63
    s[side + at.PP + slot] = pp
    copied = (s[side + at.VIRTUAL] >> slot) & 1
    if copied == 0 or s[side + at.TRANSFORMED] == 0:
        s[mon(s, p) + at.M_PP + slot] = pp
