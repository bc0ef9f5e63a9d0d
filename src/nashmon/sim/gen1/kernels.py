"""The loops over battles; everything else works on one battle's row.

`rows` are the engine's own arrays: state (battles, ROW), seeds (battles,), knowledge (battles,
KNOW), memory (battles, 2, MEMORY), logs (battles, length).  `out` are the arrays of a `Step`.
Without logs the events of a step are passed through a spare one, or, with no knowledge either, not
made at all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1.events import START, WIDTH
from nashmon.sim.gen1.jit import kernel
from nashmon.sim.gen1.knowledge import begin_knowledge, update_knowledge
from nashmon.sim.gen1.legal import chosen_target, write_mask
from nashmon.sim.gen1.observe import write_entity
from nashmon.sim.gen1.payoff import remember, reward_since
from nashmon.sim.gen1.turn import advance, start


class Rows(NamedTuple):
    """The engine's arrays."""

    state: NDArray[np.int16]
    seeds: NDArray[np.uint64]
    know: NDArray[np.int16]
    memory: NDArray[np.float64]
    logs: NDArray[np.int16]


class Out(NamedTuple):
    """The arrays of a step; the observation's have no battles when kernels do not write them."""

    masks: NDArray[np.bool_]
    acting: NDArray[np.bool_]
    ended: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    outcome: NDArray[np.int8]
    rewards: NDArray[np.float32]
    turns: NDArray[np.int32]
    ids: NDArray[np.int16]
    numbers: NDArray[np.float32]
    actives: NDArray[np.float32]
    field: NDArray[np.float32]


EVENTS_PER_STEP = 256  # more than any turn can make
_LOG_LENGTH = START + EVENTS_PER_STEP * WIDTH


@kernel
def _spare_log(rows):
    unwatched = rows.know.shape[0] == 0 or rows.logs.shape[0] > 0
    return np.zeros(0 if unwatched else _LOG_LENGTH, np.int16)


@kernel
def _clean_log(rows, spare, n):
    log = rows.logs[n] if rows.logs.shape[0] > 0 else spare
    if log.shape[0] > 0:
        log[0] = 0
        log[1] = -1
    return log


@kernel
def _show(rows, out, scratch, n):
    """Write what each seat sees and may do."""
    s = rows.state[n]
    out.turns[n] = s[at.TURN]
    for p in range(2):
        write_mask(s, p, out.masks[n, p])
        asked = s[at.REQUEST + p] != at.WAIT
        out.acting[n, p] = asked
        if asked and out.ids.shape[0] > 0:
            ids, numbers = out.ids[n, p], out.numbers[n, p]
            actives, field = out.actives[n, p], out.field[n, p]
            write_entity(s, rows.know[n], p, ids, numbers, actives, field, scratch)


@kernel
def _ask(rows, out, coefficients, scratch, n):
    """The next question, and each seat's reward since it was last asked."""
    s = rows.state[n]
    _show(rows, out, scratch, n)
    for p in range(2):
        if out.acting[n, p]:
            memory = rows.memory[n, p]
            if memory[0] > 0:
                out.rewards[n, p] = reward_since(s, coefficients, memory, p, 0, scratch[4])
            remember(s, coefficients, memory, p, scratch[4])


@kernel
def _settle(rows, out, coefficients, turn_limit, scratch, n):
    """After a step: the end of the battle, or the next question."""
    s = rows.state[n]
    result = s[at.OUTCOME]
    if result == at.RUNNING and s[at.TURN] <= turn_limit:
        _ask(rows, out, coefficients, scratch, n)
        return
    won = 1 if result == at.P1_WON else -1 if result == at.P2_WON else 0
    out.ended[n] = True
    out.truncated[n] = result == at.RUNNING
    out.outcome[n] = won
    for p in range(2):
        seat_won = won if p == 0 else -won
        memory = rows.memory[n, p]
        out.rewards[n, p] = reward_since(s, coefficients, memory, p, seat_won, scratch[4])


@kernel
def step_rows(rows, out, coefficients, turn_limit, actions, first, last):
    """Advance battles first … last − 1 for which an action is given."""
    scratch = np.zeros((5, 8), np.int64)
    spare = _spare_log(rows)
    watched = rows.know.shape[0] > 0
    for n in range(first, last):
        out.ended[n] = False
        out.truncated[n] = False
        out.outcome[n] = 0
        out.rewards[n, 0] = 0.0
        out.rewards[n, 1] = 0.0
        action0, action1 = actions[n, 0], actions[n, 1]
        if action0 < 0 and action1 < 0:
            continue
        s = rows.state[n]
        log = _clean_log(rows, spare, n)
        target0 = chosen_target(s, 0, action0) if action0 >= 0 else -1
        target1 = chosen_target(s, 1, action1) if action1 >= 0 else -1
        advance(s, rows.seeds[n : n + 1], log, action0, action1, target0, target1)
        if watched:
            update_knowledge(rows.know[n], s, log)
        _settle(rows, out, coefficients, turn_limit, scratch, n)


@kernel
def start_row(rows, out, coefficients, n):
    """Begin battle n, whose state holds two teams."""
    scratch = np.zeros((5, 8), np.int64)
    s = rows.state[n]
    log = _clean_log(rows, _spare_log(rows), n)
    rows.memory[n, :, :] = 0.0
    watched = rows.know.shape[0] > 0
    if watched:
        begin_knowledge(rows.know[n], s)
    start(s, rows.seeds[n : n + 1], log)
    if watched:
        update_knowledge(rows.know[n], s, log)
    _ask(rows, out, coefficients, scratch, n)


@kernel
def show_row(rows, out, n):
    """Write what battle n looks like, without touching it."""
    _show(rows, out, np.zeros((5, 8), np.int64), n)
