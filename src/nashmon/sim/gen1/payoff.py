"""Rewards as kernels: the values `core.rewards` would compute from both players' states."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nashmon.core.errors import UnsupportedError
from nashmon.core.rewards import EventReward, PotentialReward, Reward
from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1.jit import kernel
from nashmon.sim.gen1.observe import ORDER, bench_order, shown_percent

OUTCOME_ONLY, EVENTS, POTENTIAL = 0, 1, 2
KIND, WIN, LOSS, HP, STATUS, FAINT, SHAPING = range(7)  # coefficients

# What is remembered of a seat's previous decision.
ASKED = 0
PHI = 1
RESERVES = 2
FOE_ACTIVE = 3
FOE_FRACTION = 4
FOE_AILING = 5
FOE_FAINTED = 6
FRACTIONS = 7  # six, of the own Pokémon
AILING = 13  # six
MEMORY = 19


def coefficients(reward: Reward) -> NDArray[np.float64]:
    """A reward as numbers."""
    shaped = bool(reward.shaping and (reward.hp or reward.status or reward.faint))
    if not shaped:
        kind = OUTCOME_ONLY
    elif isinstance(reward, PotentialReward):
        kind = POTENTIAL
    elif isinstance(reward, EventReward):
        kind = EVENTS
    else:
        raise UnsupportedError(f"the Gen 1 engine cannot compute the reward {reward.name!r}")
    terms = (reward.hp, reward.status, reward.faint, reward.shaping)
    return np.array([kind, reward.win, reward.loss, *terms], np.float64)


@kernel
def _fraction(s, viewer, side, index):
    one = side * at.SIDE + at.PARTY + index * at.MON
    hp, full = int(s[one + at.M_HP]), int(s[one + at.M_MAX_HP])
    return hp / full if viewer == side else shown_percent(hp, full) / 100


@kernel
def _ailing(s, side, index):
    one = side * at.SIDE + at.PARTY + index * at.MON
    return s[one + at.M_HP] == 0 or s[one + at.M_STATUS] > 0


@kernel
def _suffered(s, viewer, side, w):
    """HP lost, fainted and statused of a side, in HP as its foe sees it."""
    base = side * at.SIDE
    lost, statused = 0.0, 0
    count = bench_order(s, viewer, side, w)
    for j in range(count + 1):
        index = s[base + at.ACTIVE] if j == 0 else w[ORDER + j - 1]
        one = base + at.PARTY + index * at.MON
        hp, full = int(s[one + at.M_HP]), int(s[one + at.M_MAX_HP])
        lost += 1.0 - shown_percent(hp, full) / 100
        statused += hp > 0 and s[one + at.M_STATUS] > 0
    fainted = s[base + at.TEAM_SIZE] - s[base + at.LEFT]
    return lost, fainted, statused


@kernel
def _potential(s, c, p, w):
    own_lost, own_fainted, own_ill = _suffered(s, p, p, w)
    foe_lost, foe_fainted, foe_ill = _suffered(s, p, 1 - p, w)
    return (
        c[HP] * (foe_lost - own_lost)
        + c[FAINT] * (foe_fainted - own_fainted)
        + c[STATUS] * (foe_ill - own_ill)
    )


@kernel
def _reserves(s, p):
    base = p * at.SIDE
    count = 0
    for index in range(s[base + at.TEAM_SIZE]):
        fainted = s[base + at.PARTY + index * at.MON + at.M_HP] == 0
        count += index != s[base + at.ACTIVE] and not fainted
    return count


@kernel
def _events(s, c, m, p):
    foe = 1 - p
    own_active, foe_active = s[p * at.SIDE + at.ACTIVE], s[foe * at.SIDE + at.ACTIVE]
    gained = _fraction(s, p, p, own_active) - m[FRACTIONS + own_active]
    taken = 1 if m[AILING + own_active] == 0 and _ailing(s, p, own_active) else 0
    dealt, given = 0.0, 0
    if foe_active == m[FOE_ACTIVE]:
        dealt = -(_fraction(s, p, foe, foe_active) - m[FOE_FRACTION])
        given = 1 if m[FOE_AILING] == 0 and _ailing(s, foe, foe_active) else 0
    fainted = s[foe * at.SIDE + at.TEAM_SIZE] - s[foe * at.SIDE + at.LEFT]
    lost = min(max(m[RESERVES] - _reserves(s, p), 0), 1)
    removed = min(max(fainted - m[FOE_FAINTED], 0), 1)
    return c[HP] * (dealt + gained) + c[STATUS] * (given - taken) + c[FAINT] * (removed - lost)


@kernel
def reward_since(s, c, m, p, won, w):
    """The reward since the seat's previous decision; `won` is 1, −1 or 0."""
    value = c[WIN] if won > 0 else c[LOSS] if won < 0 else 0.0
    if m[ASKED] == 0:
        return 0.0
    if c[KIND] == POTENTIAL:
        value += c[SHAPING] * (_potential(s, c, p, w) - m[PHI])
    elif c[KIND] == EVENTS:
        value += c[SHAPING] * _events(s, c, m, p)
    return value


@kernel
def remember(s, c, m, p, w):
    """Keep what the next reward of this seat is measured against."""
    m[ASKED] = 1
    if c[KIND] == POTENTIAL:
        m[PHI] = _potential(s, c, p, w)
    elif c[KIND] == EVENTS:
        foe = 1 - p
        active = s[foe * at.SIDE + at.ACTIVE]
        m[RESERVES] = _reserves(s, p)
        m[FOE_ACTIVE] = active
        m[FOE_FRACTION] = _fraction(s, p, foe, active)
        m[FOE_AILING] = 1 if _ailing(s, foe, active) else 0
        m[FOE_FAINTED] = s[foe * at.SIDE + at.TEAM_SIZE] - s[foe * at.SIDE + at.LEFT]
        for index in range(s[p * at.SIDE + at.TEAM_SIZE]):
            m[FRACTIONS + index] = _fraction(s, p, p, index)
            m[AILING + index] = 1 if _ailing(s, p, index) else 0
