"""Random play to the end inside compiled code: the engine's own speed, and quick play-outs."""

from __future__ import annotations

import numpy as np

from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1.events import START
from nashmon.sim.gen1.jit import keep_alive, kernel, pointer
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


@kernel
def play_out(state, seeds, seed):
    """Play battles to their ends; rows that have not begun are begun.

    `seed` starts the generator of the choices.  Returns the steps and the decisions made.
    """
    own = np.zeros(1, np.uint64)
    own[0] = np.uint64(seed)
    masks = np.zeros(NUM_ACTIONS, np.uint8)
    silent = np.zeros(START, np.int16)
    r, mask, log = pointer(own, 0), pointer(masks, 0), pointer(silent, 0)
    steps, decisions = 0, 0
    for n in range(state.shape[0]):
        s, dice = pointer(state, n * at.ROW), pointer(seeds, n)
        if s[at.TURN] == 0:
            start(s, dice, log)
        while s[at.OUTCOME] == at.RUNNING:
            action0, action1 = _pick(s, 0, r, mask), _pick(s, 1, r, mask)
            advance(s, dice, log, action0, action1)
            steps += 1
            decisions += (action0 >= 0) + (action1 >= 0)
    keep_alive(masks, silent)
    keep_alive(own, own)
    return steps, decisions
