"""Random play inside compiled code: the engine's own speed, and quick estimates for search."""

from __future__ import annotations

import numpy as np

from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1.deal import mix
from nashmon.sim.gen1.events import START
from nashmon.sim.gen1.jit import further, helper, keep_alive, kernel, pointer
from nashmon.sim.gen1.legal import NUM_ACTIONS, write_mask
from nashmon.sim.gen1.rng import roll
from nashmon.sim.gen1.turn import advance, start


@kernel
def _pick(s, p, r, mask):
    """A uniformly random legal action, −1 when the seat is not asked."""
    if s[at.REQUEST + p] == at.WAIT:
        return -1
    write_mask(s, p, mask, NUM_ACTIONS)
    count = 0
    for action in range(NUM_ACTIONS):
        count += mask[action]
    left = roll(r, count)
    for action in range(NUM_ACTIONS):
        if mask[action] == 1:
            if left == 0:
                return action
            left -= 1
    return -1


@helper
def _material(s, p):
    """Half of a side's living Pokémon and half of its HP, as a share of the whole team."""
    base = p * at.SIDE
    size, total = s[base + at.TEAM_SIZE], 0.0
    for k in range(size):
        one = base + at.PARTY + k * at.MON
        if s[one + at.M_HP] > 0:
            total += 0.5 + 0.5 * s[one + at.M_HP] / s[one + at.M_MAX_HP]
    return total / size


@helper
def _value(s):
    """p1's result, or the difference in material while the battle runs."""
    if s[at.OUTCOME] == at.RUNNING:
        return _material(s, 0) - _material(s, 1)
    return 1.0 if s[at.OUTCOME] == at.P1_WON else -1.0 if s[at.OUTCOME] == at.P2_WON else 0.0


@kernel
def play_rows(state, seeds, max_turns, values):
    """Random play of every row of `state` for at most `max_turns` more turns, in place.

    `seeds` are the generators' states, from which the choices are drawn too; rows that have not
    begun are begun.  `values` gets p1's results: 1, 0, −1, or the difference in material between
    them while a battle runs.  Returns the steps and the decisions made.
    """
    own = np.zeros(1, np.uint64)
    masks = np.zeros(NUM_ACTIONS, np.uint8)
    silent = np.zeros(START, np.int16)
    r, mask, log = pointer(own, 0), pointer(masks, 0), pointer(silent, 0)
    rows, dice = pointer(state, 0), pointer(seeds, 0)
    steps, decisions = 0, 0
    for n in range(state.shape[0]):
        s, d = further(rows, n * at.ROW), further(dice, n)
        own[0] = mix(d[0])
        if s[at.TURN] == 0:
            start(s, d, log)
        last = s[at.TURN] + max_turns
        while s[at.OUTCOME] == at.RUNNING and s[at.TURN] < last:
            action0, action1 = _pick(s, 0, r, mask), _pick(s, 1, r, mask)
            advance(s, d, log, action0, action1)
            steps += 1
            decisions += (action0 >= 0) + (action1 >= 0)
        values[n] = _value(s)
    keep_alive(masks, silent)
    keep_alive(own, own)
    return steps, decisions
