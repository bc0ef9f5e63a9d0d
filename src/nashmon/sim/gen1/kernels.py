"""The loops over battles; everything else works on one battle's row.

`rows` are the engine's own arrays: state (battles, ROW), seeds (battles,), knowledge (battles,
KNOW), memory (battles, 2, MEMORY), logs (battles, length), and each seat's rows of the twelve
Pokémon, kept from step to step.  `out` are the arrays of a `Step`, which callers may overwrite.
Without logs the events of a step are passed through a spare one, or, with no knowledge either, not
made at all.  What takes `rows` and `out` is a helper: a call would copy all their arrays' facts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1.events import COUNT, LAST_MOVE, ROOM, START, WIDTH
from nashmon.sim.gen1.jit import helper, keep_alive, kernel, pointer
from nashmon.sim.gen1.knowledge import KNOW, begin_knowledge, forget_shown, update_knowledge
from nashmon.sim.gen1.legal import write_mask
from nashmon.sim.gen1.observe import (
    ACTIVE_BLOCK,
    FIELD_BLOCK,
    ID_BLOCK,
    NUMBER_BLOCK,
    SCRATCH,
    write_entity,
)
from nashmon.sim.gen1.payoff import MEMORY, remember, reward_since
from nashmon.sim.gen1.turn import advance, start


class Rows(NamedTuple):
    """The engine's arrays."""

    state: NDArray[np.int16]
    seeds: NDArray[np.uint64]
    know: NDArray[np.int16]
    memory: NDArray[np.float64]
    logs: NDArray[np.int16]
    ids: NDArray[np.int16]
    numbers: NDArray[np.float32]


class Out(NamedTuple):
    """The arrays of a step; the observation's have no battles when kernels do not write them."""

    masks: NDArray[np.uint8]
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
LOG_LENGTH = START + EVENTS_PER_STEP * WIDTH


@helper
def _spare_log(rows):
    """A buffer for events that only pass through; without room when nobody learns from them."""
    log = np.zeros(LOG_LENGTH, np.int16)
    log[ROOM] = EVENTS_PER_STEP if rows.know.shape[0] > 0 else 0
    return log


@helper
def _clean_log(rows, spare, n):
    log = pointer(spare, 0)
    if rows.logs.shape[0] > 0:
        log = pointer(rows.logs, n * LOG_LENGTH)
        log[ROOM] = EVENTS_PER_STEP
    log[COUNT] = 0
    log[LAST_MOVE] = -1
    return log


@helper
def _show(rows, out, w, n):
    """Write what each seat sees and may do."""
    s = pointer(rows.state, n * at.ROW)
    out.turns[n] = s[at.TURN]
    size = out.masks.shape[2]
    for p in range(2):
        seat = 2 * n + p
        write_mask(s, p, pointer(out.masks, seat * size), size)
        asked = s[at.REQUEST + p] != at.WAIT
        out.acting[n, p] = asked
        if asked and out.ids.shape[0] > 0:
            _observe(rows, out, s, p, w, n)


@helper
def _observe(rows, out, s, p, w, n):
    seat = 2 * n + p
    write_entity(
        s,
        pointer(rows.know, n * KNOW),
        p,
        pointer(rows.ids, seat * ID_BLOCK),
        pointer(rows.numbers, seat * NUMBER_BLOCK),
        pointer(out.ids, seat * ID_BLOCK),
        pointer(out.numbers, seat * NUMBER_BLOCK),
        pointer(out.actives, seat * ACTIVE_BLOCK),
        pointer(out.field, seat * FIELD_BLOCK),
        w,
    )


@helper
def _ask(rows, out, c, w, n):
    """The next question, and each seat's reward since it was last asked."""
    s = pointer(rows.state, n * at.ROW)
    _show(rows, out, w, n)
    for p in range(2):
        if out.acting[n, p]:
            memory = pointer(rows.memory, (2 * n + p) * MEMORY)
            if memory[0] > 0:
                out.rewards[n, p] = reward_since(s, c, memory, p, 0, w)
            remember(s, c, memory, p, w)


@helper
def _settle(rows, out, c, turn_limit, w, n):
    """After a step: the end of the battle, or the next question."""
    s = pointer(rows.state, n * at.ROW)
    result = s[at.OUTCOME]
    if result == at.RUNNING and s[at.TURN] <= turn_limit:
        _ask(rows, out, c, w, n)
        return
    won = 1 if result == at.P1_WON else -1 if result == at.P2_WON else 0
    out.ended[n] = True
    out.truncated[n] = result == at.RUNNING
    out.outcome[n] = won
    for p in range(2):
        memory = pointer(rows.memory, (2 * n + p) * MEMORY)
        out.rewards[n, p] = reward_since(s, c, memory, p, won if p == 0 else -won, w)


@kernel
def step_rows(rows, out, coefficients, turn_limit, actions, first, last):
    """Advance battles first … last − 1 for which an action is given."""
    scratch = np.zeros(SCRATCH, np.int64)
    w, c = pointer(scratch, 0), pointer(coefficients, 0)
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
        s = pointer(rows.state, n * at.ROW)
        log = _clean_log(rows, spare, n)
        advance(s, pointer(rows.seeds, n), log, action0, action1)
        if watched:
            update_knowledge(pointer(rows.know, n * KNOW), s, log)
        _settle(rows, out, c, turn_limit, w, n)
    keep_alive(scratch, spare)


@kernel
def start_rows(rows, out, coefficients, which):
    """Begin the battles of some rows, whose states hold two teams."""
    scratch = np.zeros(SCRATCH, np.int64)
    spare = _spare_log(rows)
    watched = rows.know.shape[0] > 0
    for n in which:
        s = pointer(rows.state, n * at.ROW)
        log = _clean_log(rows, spare, n)
        for p in range(2):
            for j in range(MEMORY):
                rows.memory[n, p, j] = 0.0
        if watched:
            begin_knowledge(pointer(rows.know, n * KNOW), s)
        start(s, pointer(rows.seeds, n), log)
        if watched:
            update_knowledge(pointer(rows.know, n * KNOW), s, log)
        _ask(rows, out, pointer(coefficients, 0), pointer(scratch, 0), n)
    keep_alive(scratch, spare)


@kernel
def show_row(rows, out, n):
    """Write what battle n looks like, without touching it."""
    scratch = np.zeros(SCRATCH, np.int64)
    if rows.know.shape[0] > 0:
        forget_shown(pointer(rows.know, n * KNOW))
    _show(rows, out, pointer(scratch, 0), n)
    keep_alive(scratch, scratch)
