"""Single kernels for callers in Python, who hold arrays where kernels pass addresses."""

from __future__ import annotations

from nashmon.sim.gen1 import effects, knowledge, legal, observe, payoff, turn
from nashmon.sim.gen1.jit import kernel, pointer


@kernel
def start(state, seed, log):
    """`turn.start` on one row, one seed and one log."""
    turn.start(pointer(state, 0), pointer(seed, 0), pointer(log, 0))


@kernel
def advance(state, seed, log, action0, action1):
    """`turn.advance`."""
    turn.advance(pointer(state, 0), pointer(seed, 0), pointer(log, 0), action0, action1)


@kernel
def write_mask(state, seat, mask):
    """`legal.write_mask` into bytes."""
    legal.write_mask(pointer(state, 0), seat, pointer(mask, 0), mask.shape[0])


@kernel
def begin_knowledge(know, state):
    """`knowledge.begin_knowledge`."""
    knowledge.begin_knowledge(pointer(know, 0), pointer(state, 0))


@kernel
def update_knowledge(know, state, log):
    """`knowledge.update_knowledge`."""
    knowledge.update_knowledge(pointer(know, 0), pointer(state, 0), pointer(log, 0))


@kernel
def write_entity(state, know, seat, ids, numbers, actives, field, scratch):
    """`observe.write_entity`."""
    observe.write_entity(
        pointer(state, 0),
        pointer(know, 0),
        seat,
        pointer(ids, 0),
        pointer(numbers, 0),
        pointer(actives, 0),
        pointer(field, 0),
        pointer(scratch, 0),
    )


@kernel
def gather_moves(state, know, viewer, side, index, scratch):
    """`observe.gather_moves`."""
    s, k, w = pointer(state, 0), pointer(know, 0), pointer(scratch, 0)
    return observe.gather_moves(s, k, viewer, side, index, w)


@kernel
def bench_order(state, viewer, side, scratch):
    """`observe.bench_order`."""
    return observe.bench_order(pointer(state, 0), viewer, side, pointer(scratch, 0))


@kernel
def forced_move(state, seat):
    """`observe.forced_move`."""
    return observe.forced_move(pointer(state, 0), seat)


@kernel
def is_locked(state, seat):
    """`effects.locked`."""
    return effects.locked(pointer(state, 0), seat)


@kernel
def shows_moves(state, seat):
    """`knowledge.shows_moves`."""
    return knowledge.shows_moves(pointer(state, 0), seat)


@kernel
def full_pp(state, seat, slot):
    """`knowledge.full_pp`."""
    return knowledge.full_pp(pointer(state, 0), seat, slot)


@kernel
def remember(state, coefficients, memory, seat, scratch):
    """`payoff.remember`."""
    s, c, m = pointer(state, 0), pointer(coefficients, 0), pointer(memory, 0)
    payoff.remember(s, c, m, seat, pointer(scratch, 0))


@kernel
def reward_since(state, coefficients, memory, seat, won, scratch):
    """`payoff.reward_since`."""
    s, c, m = pointer(state, 0), pointer(coefficients, 0), pointer(memory, 0)
    return payoff.reward_since(s, c, m, seat, won, pointer(scratch, 0))
