"""The numbers of `matchup` on a CPU: one pass over each decision instead of sixty over the batch.

Rows are addressed by numbers throughout: a slice of an array would be an object of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

_TEAM, _MOVES = 6, 4
# Places of the columns in `at`.
STATS, BASES, BOOSTS, KNOWN, LEVEL, MAX_HP, BASE_HP, HP, FAINTED, SPEED = 0, 5, 10, *range(15, 22)
MOVE, SCREENS, TYPES = 22, 26, 28


@njit(nogil=True, cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _bodies(n: int, numbers: Any, active: Any, at: Any, slots: int, bonus: float, out: Any) -> None:
    """Five stats, level, maximum HP and HP of each of twelve Pokémon into `out` (12, 8)."""
    for p in range(2 * _TEAM):
        level = numbers[n, p, at[LEVEL]] * np.float32(128)
        known = numbers[n, p, at[KNOWN]] > 0
        for k in range(5):
            usual = (numbers[n, p, at[BASES + k]] * 512 + bonus) * (level / 100) + 5
            out[p, k] = numbers[n, p, at[STATS + k]] * 1024 if known else usual
        most = (numbers[n, p, at[BASE_HP]] * 512 + bonus) * (level / 100) + level + 10
        out[p, 5] = level
        out[p, 6] = max(1.0, numbers[n, p, at[MAX_HP]] * 1024 if known else most)
        out[p, 7] = numbers[n, p, at[HP]] * (1 - numbers[n, p, at[FAINTED]])
        if p % _TEAM < slots:
            slot = (p // _TEAM) * slots + p % _TEAM
            for k in range(5):
                stage = active[n, slot, at[BOOSTS + k]] * 8
                out[p, k] *= (2 + max(stage, 0)) / (2 - min(stage, 0))
            for k in range(2):
                if at[SCREENS + k] >= 0 and active[n, slot, at[SCREENS + k]] > 0:
                    out[p, 1 + 2 * k] *= 2


@njit(nogil=True, cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _share(
    n: int, ids: Any, move: int, pair: Any, speed: float, at: Any, body: Any, tables: Any
) -> Any:
    """What a move of the first of a pair takes of the second's maximum HP."""
    facts, kinds, chart = tables
    user, target = pair
    fixed = facts[move, 3] + facts[move, 4] * body[user, 5]
    if facts[move, 0] + fixed <= 0 or body[user, 7] <= 0 or body[target, 7] <= 0:
        return 0.0
    kind = kinds[move]
    factor, stab = 1.0, 1.0
    for k in range(TYPES, len(at)):
        factor *= chart[kind, ids[n, target, at[k]]]
        if ids[n, user, at[k]] == kind:
            stab = 1.5
    if factor == 0:
        return 0.0
    damage = fixed
    if facts[move, 0] > 0:
        side = 0 if facts[move, 1] > 0 else 2
        force = facts[move, 0] * body[user, side] / max(body[target, side + 1], 1.0)
        hit = (0.4 * body[user, 5] + 2) * force / 50 + 2
        critical = min(facts[move, 5] * speed, 1.0)
        damage += hit * stab * (1 + critical) * facts[move, 2] * 0.925 * factor
    return damage / body[target, 6]


@njit(nogil=True, cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def write_matchups(
    ids: Any, numbers: Any, active: Any, tables: Any, at: Any, bonus: float, cap: float, out: Any
) -> None:
    """Fill `out`: of own slots' moves (N, S, 4, S, 2), of pairs (N, 6, S, 6); both hold zeros."""
    dealt, pairs = out
    slots = dealt.shape[1]
    body = np.zeros((2 * _TEAM, 8))
    for n in range(len(ids)):
        _bodies(n, numbers, active, at, slots, bonus, body)
        for s in range(slots):
            foe = _TEAM + s
            foe_speed = numbers[n, foe, at[SPEED]] * 256
            for own in range(_TEAM):
                if body[own, 7] <= 0 or body[foe, 7] <= 0:
                    continue
                first, second, most, worst = 0.0, 0.0, 0.0, 0.0
                speed = numbers[n, own, at[SPEED]] * 256
                for k in range(_MOVES):
                    move = ids[n, own, at[MOVE + k]]
                    share = min(cap, _share(n, ids, move, (own, foe), speed, at, body, tables))
                    left = min(cap, share / max(body[foe, 7], 0.01))
                    if own < slots:
                        dealt[n, own, k, s, 0], dealt[n, own, k, s, 1] = share, left
                    second = max(second, min(share, first))
                    first, most = max(first, share), max(most, left)
                    move = ids[n, foe, at[MOVE + k]]
                    taken = _share(n, ids, move, (foe, own), foe_speed, at, body, tables)
                    worst = max(worst, min(cap, taken))
                pairs[n, own, s, 0], pairs[n, own, s, 1], pairs[n, own, s, 2] = first, second, most
                pairs[n, own, s, 3] = worst
                pairs[n, own, s, 4] = min(cap, worst / max(body[own, 7], 0.01))
                order = 4 * (body[own, 4] - body[foe, 4]) / max(body[own, 4] + body[foe, 4], 1.0)
                pairs[n, own, s, 5] = min(1.0, max(-1.0, order))
