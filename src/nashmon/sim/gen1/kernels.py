"""The loops over battles; everything else works on one battle's row.

Kernels first turn a `Block` of arrays into one of addresses: an array inside a loop would count its
users in memory that all threads write to.  Without logs the events of a step are passed through a
spare one, or, with no knowledge either, not made at all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1.deal import deal
from nashmon.sim.gen1.events import COUNT, LAST_MOVE, ROOM, START, WIDTH
from nashmon.sim.gen1.jit import fetch, fetch_add, further, helper, keep_alive, kernel, pointer
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


class Block(NamedTuple):
    """All arrays of a block of battles; those of switched-off parts hold no battles."""

    settings: NDArray[np.int64]  # by the places below
    coefficients: NDArray[np.float64]  # of the reward
    stream: NDArray[np.uint64]  # the block's seed
    sides0: NDArray[np.int16]  # p1's teams as templates; a size of 0: not read yet
    sides1: NDArray[np.int16]
    # The engine's own.
    state: NDArray[np.int16]  # (battles, ROW)
    seeds: NDArray[np.uint64]
    know: NDArray[np.int16]  # (battles, KNOW)
    memory: NDArray[np.float64]  # (battles, 2, MEMORY)
    logs: NDArray[np.int16]  # (battles, LOG_LENGTH)
    picks: NDArray[np.int32]  # (battles, 2): places of the teams among the templates
    waiting: NDArray[np.uint8]  # 1: the next battle must be set up outside of the kernel
    # Those of a `Step`; truth values as bytes.
    masks: NDArray[np.uint8]
    acting: NDArray[np.uint8]
    ended: NDArray[np.uint8]
    truncated: NDArray[np.uint8]
    outcome: NDArray[np.int8]
    rewards: NDArray[np.float32]
    turns: NDArray[np.int32]
    episodes: NDArray[np.int64]
    ids: NDArray[np.int16]
    numbers: NDArray[np.float32]
    actives: NDArray[np.float32]
    field: NDArray[np.float32]


# Places in `settings`: counts, then whether knowledge, logs and observations are kept.
NUM_BATTLES, NUM_ACTIONS, TURN_LIMIT, POOL0, POOL1, WATCHED, LOGGED, SEEN = range(8)
DEALS = 8  # whether a step may begin the next battle of a row itself
CHUNK = 9  # battles that a thread takes at a time
SETTINGS = 10

_INT16_LINE, _FLOAT32_LINE = 32, 16  # numbers in a cache line
_ROW_NUMBERS = NUMBER_BLOCK // (2 * at.TEAM)
EVENTS_PER_STEP = 256  # more than any turn can make
LOG_LENGTH = START + EVENTS_PER_STEP * WIDTH


@helper
def _addresses(block):
    return Block(
        pointer(block.settings, 0),
        pointer(block.coefficients, 0),
        pointer(block.stream, 0),
        pointer(block.sides0, 0),
        pointer(block.sides1, 0),
        pointer(block.state, 0),
        pointer(block.seeds, 0),
        pointer(block.know, 0),
        pointer(block.memory, 0),
        pointer(block.logs, 0),
        pointer(block.picks, 0),
        pointer(block.waiting, 0),
        pointer(block.masks, 0),
        pointer(block.acting, 0),
        pointer(block.ended, 0),
        pointer(block.truncated, 0),
        pointer(block.outcome, 0),
        pointer(block.rewards, 0),
        pointer(block.turns, 0),
        pointer(block.episodes, 0),
        pointer(block.ids, 0),
        pointer(block.numbers, 0),
        pointer(block.actives, 0),
        pointer(block.field, 0),
    )


@helper
def _clean_log(b, spare, n):
    log = spare
    if b.settings[LOGGED]:
        log = further(b.logs, n * LOG_LENGTH)
    log[ROOM] = EVENTS_PER_STEP if b.settings[WATCHED] or b.settings[LOGGED] else 0
    log[COUNT] = 0
    log[LAST_MOVE] = -1
    return log


@helper
def _show(b, w, n):
    """Write what each seat sees and may do."""
    s = further(b.state, n * at.ROW)
    b.turns[n] = s[at.TURN]
    size = b.settings[NUM_ACTIONS]
    for p in range(2):
        seat = 2 * n + p
        write_mask(s, p, further(b.masks, seat * size), size)
        asked = s[at.REQUEST + p] != at.WAIT
        b.acting[seat] = asked
        if asked and b.settings[SEEN]:
            write_entity(
                s,
                further(b.know, n * KNOW),
                p,
                further(b.ids, seat * ID_BLOCK),
                further(b.numbers, seat * NUMBER_BLOCK),
                further(b.actives, seat * ACTIVE_BLOCK),
                further(b.field, seat * FIELD_BLOCK),
                w,
            )


@helper
def _ask(b, w, n):
    """The next question, and each seat's reward since it was last asked."""
    s = further(b.state, n * at.ROW)
    _show(b, w, n)
    for p in range(2):
        if b.acting[2 * n + p]:
            memory = further(b.memory, (2 * n + p) * MEMORY)
            if memory[0] > 0:
                b.rewards[2 * n + p] = reward_since(s, b.coefficients, memory, p, 0, w)
            remember(s, b.coefficients, memory, p, w)


@helper
def _finish(b, w, n):
    """The end of a battle, by the rules or by the turn limit."""
    s = further(b.state, n * at.ROW)
    result = s[at.OUTCOME]
    won = 1 if result == at.P1_WON else -1 if result == at.P2_WON else 0
    b.ended[n] = 1
    b.truncated[n] = result == at.RUNNING
    b.outcome[n] = won
    b.episodes[n] += 1
    for p in range(2):
        memory = further(b.memory, (2 * n + p) * MEMORY)
        b.rewards[2 * n + p] = reward_since(
            s, b.coefficients, memory, p, won if p == 0 else -won, w
        )


@helper
def _deal(b, n):
    """Set up the row's next battle, if its teams are among the templates."""
    return deal(
        further(b.state, n * at.ROW),
        further(b.seeds, n),
        further(b.picks, 2 * n),
        b.sides0,
        b.settings[POOL0],
        b.sides1,
        b.settings[POOL1],
        b.stream,
        n,
        b.episodes[n],
    )


@kernel
def _begin(s, dice, k, memory, log, watched):
    """Begin a battle whose row holds two teams."""
    for j in range(2 * MEMORY):
        memory[j] = 0.0
    if watched:
        begin_knowledge(k, s)
    start(s, dice, log)
    if watched:
        update_knowledge(k, s, log)


@helper
def _begin_row(b, spare, n):
    log = _clean_log(b, spare, n)
    know = further(b.know, n * KNOW if b.settings[WATCHED] else 0)
    memory = further(b.memory, 2 * n * MEMORY)
    _begin(
        further(b.state, n * at.ROW),
        further(b.seeds, n),
        know,
        memory,
        log,
        b.settings[WATCHED] > 0,
    )
    b.waiting[n] = 0


@helper
def _advance_row(b, spare, n, action0, action1):
    """One step of battle n; returns whether it goes on."""
    s = further(b.state, n * at.ROW)
    log = _clean_log(b, spare, n)
    advance(s, further(b.seeds, n), log, action0, action1)
    if b.settings[WATCHED]:
        update_knowledge(further(b.know, n * KNOW), s, log)
    return s[at.OUTCOME] == at.RUNNING and s[at.TURN] <= b.settings[TURN_LIMIT]


@helper
def _step_row(b, spare, w, n, action0, action1):
    """Advance battle n; returns 1 when its next battle must be set up by the caller."""
    b.ended[n] = b.truncated[n] = 0
    b.outcome[n] = 0
    b.rewards[2 * n] = b.rewards[2 * n + 1] = 0.0
    if action0 < 0 and action1 < 0:
        return 0
    if not _advance_row(b, spare, n, action0, action1):
        _finish(b, w, n)
        if not b.settings[DEALS] or not _deal(b, n):
            b.waiting[n] = 1
            return 1
        _begin_row(b, spare, n)
    _ask(b, w, n)
    return 0


@helper
def _fetch_block(address, start, width, per_line):
    for j in range(0, width, per_line):
        fetch(address, start + j)
    fetch(address, start + width - 1)


@helper
def _fetch_row(b, n):
    """Ask for the memory of a battle while the one before it is played."""
    _fetch_block(b.state, n * at.ROW, at.ROW, _INT16_LINE)
    if b.settings[SEEN]:
        _fetch_block(b.know, n * KNOW, KNOW, _INT16_LINE)
        for half in range(4 * n, 4 * n + 4):  # each seat's two rows of Pokémon on the field
            fetch(b.ids, half * (ID_BLOCK // 2))
            _fetch_block(b.numbers, half * (NUMBER_BLOCK // 2), _ROW_NUMBERS, _FLOAT32_LINE)
        _fetch_block(b.actives, 2 * n * ACTIVE_BLOCK, 2 * ACTIVE_BLOCK, _FLOAT32_LINE)
        _fetch_block(b.field, 2 * n * FIELD_BLOCK, 2 * FIELD_BLOCK, _FLOAT32_LINE)


@kernel
def step_rows(block, actions, taken):
    """Advance the battles for which an action is given; returns how many wait to be set up.

    Threads that call this at once share `taken`, the number of battles taken so far.
    """
    b = _addresses(block)
    scratch, events = np.zeros(SCRATCH, np.int64), np.zeros(LOG_LENGTH, np.int16)
    w, spare, given = pointer(scratch, 0), pointer(events, 0), pointer(actions, 0)
    count, chunk = b.settings[NUM_BATTLES], b.settings[CHUNK]
    waiting = 0
    first = fetch_add(taken, chunk)
    while first < count:
        for n in range(first, min(first + chunk, count)):
            if n + 1 < count:
                _fetch_row(b, n + 1)
            waiting += _step_row(b, spare, w, n, given[2 * n], given[2 * n + 1])
        first = fetch_add(taken, chunk)
    keep_alive(scratch, events)
    return waiting


@kernel
def start_rows(block, which):
    """Begin the battles of some rows; those that wait have been set up by the caller.

    Returns how many rows could not be set up here and wait for the caller.
    """
    b = _addresses(block)
    scratch, events = np.zeros(SCRATCH, np.int64), np.zeros(LOG_LENGTH, np.int16)
    w, spare = pointer(scratch, 0), pointer(events, 0)
    waiting = 0
    for n in which:
        if b.waiting[n] == 0 and not _deal(b, n):
            b.waiting[n] = 1
            waiting += 1
            continue
        _begin_row(b, spare, n)
        _ask(b, w, n)
    keep_alive(scratch, events)
    return waiting


@kernel
def show_rows(block, which):
    """Write what some battles look like, without touching them."""
    b = _addresses(block)
    scratch = np.zeros(SCRATCH, np.int64)
    for n in which:
        if b.settings[WATCHED]:
            forget_shown(further(b.know, n * KNOW))
        _show(b, pointer(scratch, 0), n)
    keep_alive(scratch, scratch)


@kernel
def find_fault(block, actions):
    """Whether some action may not be taken; `check_actions` then says which."""
    masks, acting, given = pointer(block.masks, 0), pointer(block.acting, 0), pointer(actions, 0)
    size = block.settings[NUM_ACTIONS]
    for seat in range(2 * block.settings[NUM_BATTLES]):
        action = given[seat]
        if action == -1:
            if acting[seat] and given[seat ^ 1] != -1:
                return True
        elif action < 0 or action >= size or not masks[seat * size + action]:
            return True
    return False
