"""The next battle of a row, from team templates: `sim.seeds.battle_setup` in compiled code."""

from __future__ import annotations

import numpy as np

from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1.jit import helper, kernel
from nashmon.sim.seeds import GOLDEN, MIX_1, MIX_2

_GOLDEN, _MIX_1, _MIX_2 = np.uint64(GOLDEN), np.uint64(MIX_1), np.uint64(MIX_2)
_30, _27, _31, _32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_SIZE = at.TEAM_SIZE - at.HEADER


@helper
def mix(x):
    """The next number of SplitMix64 in state x, as uint64."""
    x = np.uint64(x) + _GOLDEN  # a call has widened it to a signed number
    x = (x ^ (x >> _30)) * _MIX_1
    x = (x ^ (x >> _27)) * _MIX_2
    return x ^ (x >> _31)


@helper
def _copy_side(s, p, sides, team):
    for j in range(at.SIDE):
        s[at.HEADER + p * at.SIDE + j] = sides[team * at.SIDE + j]


@kernel
def deal(s, dice, picks, sides0, count0, sides1, count1, stream, n, episode):
    """Put teams and dice of battle `episode` of row n into its row.

    Returns False, having changed nothing, when one of its teams is not among the templates yet.
    """
    key = mix(mix(stream[0] ^ np.uint64(n)) ^ np.uint64(episode))
    drawn = mix(key)
    team0 = np.int64(((drawn >> _32) * np.uint64(count0)) >> _32)
    team1 = np.int64(((drawn & _LOW) * np.uint64(count1)) >> _32)
    if sides0[team0 * at.SIDE + _SIZE] == 0 or sides1[team1 * at.SIDE + _SIZE] == 0:
        return False
    for j in range(at.HEADER):
        s[j] = 0
    s[at.CLAUSES] = 1
    _copy_side(s, 0, sides0, team0)
    _copy_side(s, 1, sides1, team1)
    picks[0], picks[1] = team0, team1
    dice[0] = key
    return True
