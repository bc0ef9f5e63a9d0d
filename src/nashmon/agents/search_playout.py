"""Play-outs of Gen 1 battles by a simple sensible player, for search.

The player attacks with what it expects to hurt most, heals when low, puts healthy foes to sleep or
paralyses them, and does something random now and then.  It looks at nothing but the position.
"""

from __future__ import annotations

import numpy as np

from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1 import tables as tb
from nashmon.sim.gen1.deal import mix
from nashmon.sim.gen1.effects import mon
from nashmon.sim.gen1.events import START
from nashmon.sim.gen1.jit import further, helper, keep_alive, kernel, pointer
from nashmon.sim.gen1.legal import FIRST_SWITCH, NUM_ACTIONS, chosen_slot, write_mask
from nashmon.sim.gen1.rng import roll
from nashmon.sim.gen1.turn import advance

_MOVES = tb.MOVE_TABLE
_EFFECT = tb.EFFECTIVENESS
_IMMUNE = tb.IMMUNITY
_ELECTRIC = tb.TYPE_NUM["electric"]
THREAT = 0.06  # what threatening the whole HP of the foe on the field is worth
_WHOLE = 1000  # scores are in thousandths of the foe's HP


@helper
def _factor(s, p, kind):
    """Effectiveness of a type on the Pokémon on the field of seat p, as a fraction."""
    types = p * at.SIDE + at.TYPES
    first, second = s[types], s[types + 1]
    if _IMMUNE[kind, first] == 1 or _IMMUNE[kind, second] == 1:
        return 0.0
    return 2.0 ** (_EFFECT[kind, first] + _EFFECT[kind, second])


@kernel
def _score(s, p, slot):
    """How good a move looks, in thousandths of the foe's HP."""
    t = 1 - p
    own, foe = p * at.SIDE, t * at.SIDE
    me, them = mon(s, p), mon(s, t)
    move = s[own + at.MOVES + slot]
    power = _MOVES[move, tb.POWER]
    accuracy = _MOVES[move, tb.ACCURACY]
    sure = 1.0 if accuracy == tb.ALWAYS_HITS else accuracy / 256.0
    kind = _MOVES[move, tb.TYPE]
    left = s[them + at.M_HP]
    damage = 0.0
    if _MOVES[move, tb.FIXED] != 0:
        fixed = _MOVES[move, tb.FIXED]
        damage = s[me + at.M_LEVEL] if fixed == tb.LEVEL_DAMAGE else fixed
    elif power > 0:
        special = _MOVES[move, tb.CATEGORY] == tb.SPECIAL
        attack = s[own + at.STATS + (at.SPA if special else at.ATK)]
        guard = s[foe + at.STATS + (at.SPD if special else at.DEF)]
        if (s[foe + at.LIGHT_SCREEN] if special else s[foe + at.REFLECT]) > 0:
            guard *= 2
        damage = (s[me + at.M_LEVEL] * 2 // 5 + 2) * power * attack / max(1, guard) / 50.0 + 2.0
        if kind == s[own + at.TYPES] or kind == s[own + at.TYPES + 1]:
            damage *= 1.5
        damage *= 0.92 * _factor(s, t, kind) * (1.0 + _MOVES[move, tb.MIN_HITS]) / 2.0
    if damage > 0.0:
        score = _WHOLE * min(1.0, damage / max(1, left)) * sure
        if _MOVES[move, tb.SELF_DESTRUCT] == 1:
            score *= 0.9 if s[me + at.M_HP] * 3 < s[me + at.M_MAX_HP] else 0.4
        if _MOVES[move, tb.SELF_EFFECT] == tb.SELF_RECHARGE and damage < left:
            score *= 0.6
        if _MOVES[move, tb.TWO_TURN] == 1:
            score *= 0.5
        return int(score)
    return _support(s, p, move, sure)


@kernel
def _support(s, p, move, sure):
    """The same for moves that do no damage."""
    t = 1 - p
    me, them = mon(s, p), mon(s, t)
    if move == tb.RECOVER or move == tb.SOFT_BOILED or move == tb.REST:
        share = s[me + at.M_HP] / s[me + at.M_MAX_HP]
        return int(_WHOLE * 0.9 * (1.0 - share)) if share < 0.6 else 0
    status = _MOVES[move, tb.STATUS]
    if status == 0 or s[them + at.M_STATUS] != 0 or s[t * at.SIDE + at.SUBSTITUTE] > 0:
        return 20
    if status == at.SLP:
        base = t * at.SIDE
        for k in range(s[base + at.TEAM_SIZE]):
            one = base + at.PARTY + k * at.MON
            slept = s[one + at.M_STATUS] == at.SLP and s[one + at.M_SELF_SLEPT] == 0
            if slept and s[one + at.M_HP] > 0:
                return 0
        return int(750 * sure)
    if _factor(s, t, _MOVES[move, tb.TYPE]) == 0.0 and _MOVES[move, tb.TYPE] == _ELECTRIC:
        return 0
    return int(350 * sure) if status == at.PAR else int(150 * sure)


@kernel
def _pick(s, p, r, mask):
    """An action for a seat, −1 when it is not asked."""
    if s[at.REQUEST + p] == at.WAIT:
        return -1
    write_mask(s, p, mask, NUM_ACTIONS)
    moving = s[at.REQUEST + p] == at.MOVE
    noise = roll(r, 100)
    if moving and noise >= 12:
        best, best_score = -1, -1
        for action in range(FIRST_SWITCH):
            if mask[action] == 1:
                score = _score(s, p, chosen_slot(s, p, action)) + roll(r, 60)
                if score > best_score:
                    best, best_score = action, score
        if best >= 0:
            return best
    count = 0
    # A random turn is mostly a random move: a switch loses the turn.
    last = FIRST_SWITCH if moving and noise >= 5 else NUM_ACTIONS
    for action in range(last):
        count += mask[action]
    if count == 0:
        last = NUM_ACTIONS
        for action in range(last):
            count += mask[action]
    left = roll(r, count)
    for action in range(last):
        if mask[action] == 1:
            if left == 0:
                return action
            left -= 1
    return -1


@helper
def _side_worth(s, p):
    """What a side is worth: living Pokémon, their HP, less for a status; of a whole team 1."""
    base = p * at.SIDE
    total = 0.0
    for k in range(s[base + at.TEAM_SIZE]):
        one = base + at.PARTY + k * at.MON
        if s[one + at.M_HP] > 0:
            worth = 0.4 + 0.6 * s[one + at.M_HP] / s[one + at.M_MAX_HP]
            status = s[one + at.M_STATUS]
            if status == at.FRZ:
                worth *= 0.35
            elif status == at.SLP:
                worth *= 0.75
            elif status == at.PAR:
                worth *= 0.8
            elif status != 0:
                worth *= 0.9
            total += worth
    return total / s[base + at.TEAM_SIZE]


@kernel
def _threat(s, p):
    """How much of the foe's HP the Pokémon on the field would take with its best move."""
    me = mon(s, p)
    if s[me + at.M_HP] == 0:
        return 0.0
    best = 0
    for slot in range(s[p * at.SIDE + at.SLOTS]):
        if s[p * at.SIDE + at.PP + slot] > 0:
            best = max(best, _score(s, p, slot))
    status = s[me + at.M_STATUS]
    if status == at.SLP or status == at.FRZ:
        best //= 5
    elif status == at.PAR:
        best = best * 3 // 4
    return best / _WHOLE


@helper
def _value(s):
    if s[at.OUTCOME] == at.RUNNING:
        # Squashed: a lead in material is not yet a win.
        gap = _side_worth(s, 0) - _side_worth(s, 1) + THREAT * (_threat(s, 0) - _threat(s, 1))
        return gap * (1.5 - 0.5 * abs(gap)) * 0.9
    return 1.0 if s[at.OUTCOME] == at.P1_WON else -1.0 if s[at.OUTCOME] == at.P2_WON else 0.0


@kernel
def legal_actions(state, masks):
    """Fill (rows, 2, 13) masks of positions."""
    rows, out = pointer(state, 0), pointer(masks, 0)
    for n in range(state.shape[0]):
        s = further(rows, n * at.ROW)
        for p in range(2):
            write_mask(s, p, further(out, (2 * n + p) * NUM_ACTIONS), NUM_ACTIONS)


@kernel
def try_pairs(state, seat, own, allowed, asked, seeds, max_turns, total, count):
    """Play every pair of own and allowed foe actions in every sample once; returns how many.

    state (samples, ROW), own actions (n,), allowed (samples, 13) answers of the foe; a foe that is
    not `asked` does nothing.  Each pair is followed by sensible play for `max_turns`; values seen
    from `seat` are added to total (samples, 13, 13).  All pairs of a sample have the same dice, so
    that what differs is due to the actions.
    """
    own_dice = np.zeros(1, np.uint64)
    work = np.zeros(at.ROW, np.int16)
    dice = np.zeros(1, np.uint64)
    masks = np.zeros(NUM_ACTIONS, np.uint8)
    silent = np.zeros(START, np.int16)
    r, mask, log = pointer(own_dice, 0), pointer(masks, 0), pointer(silent, 0)
    s, d = pointer(work, 0), pointer(dice, 0)
    sign = 1.0 if seat == 0 else -1.0
    played = 0
    for k in range(len(state)):
        for i in own:
            for j in range(NUM_ACTIONS):
                if not allowed[k, j]:
                    continue
                work[:] = state[k]
                dice[0] = seeds[k]
                own_dice[0] = mix(seeds[k])
                answer = j if asked[k] else -1
                last = s[at.TURN] + max_turns
                advance(s, d, log, answer if seat else i, i if seat else answer)
                while s[at.OUTCOME] == at.RUNNING and s[at.TURN] < last:
                    first, second = _pick(s, 0, r, mask), _pick(s, 1, r, mask)
                    advance(s, d, log, first, second)
                total[k, i, j] += sign * _value(s)
                count[k, i, j] += 1
                played += 1
    keep_alive(masks, silent)
    keep_alive(own_dice, work)
    keep_alive(dice, dice)
    return played
