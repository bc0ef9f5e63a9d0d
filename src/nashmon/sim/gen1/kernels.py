"""The loops over battles; everything else works on one battle's row.

`state` is (battles, ROW) int16, `seeds` (battles,) uint64, `logs` (battles, length) int16 with
length 0 when nobody watches.
"""

from __future__ import annotations

from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1.jit import kernel
from nashmon.sim.gen1.legal import chosen_target, write_mask
from nashmon.sim.gen1.turn import advance, start


@kernel
def start_battle(state, seeds, logs, n):
    """Begin battle n, whose row holds two teams."""
    start(state[n], seeds[n : n + 1], logs[n])


@kernel
def step_battle(state, seeds, logs, n, action0, action1):
    """Advance battle n with two legal actions (anything for a seat that is not asked)."""
    s = state[n]
    target0 = chosen_target(s, 0, action0) if s[at.REQUEST] != at.WAIT else -1
    target1 = chosen_target(s, 1, action1) if s[at.REQUEST + 1] != at.WAIT else -1
    advance(s, seeds[n : n + 1], logs[n], action0, action1, target0, target1)


@kernel
def step_block(state, seeds, logs, actions, masks, first, last):
    """Advance battles first … last − 1 and write their masks."""
    for n in range(first, last):
        if state[n, at.OUTCOME] == at.RUNNING:
            step_battle(state, seeds, logs, n, actions[n, 0], actions[n, 1])
        for p in range(2):
            write_mask(state[n], p, masks[n, p])
