"""Makes the arrays of a block of battles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nashmon.sim.arrays import BlockArrays
from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1.kernels import (
    LOG_LENGTH,
    LOGGED,
    NUM_ACTIONS,
    NUM_BATTLES,
    POOL0,
    POOL1,
    SEEN,
    SETTINGS,
    WATCHED,
    Block,
)
from nashmon.sim.gen1.knowledge import KNOW
from nashmon.sim.gen1.payoff import MEMORY

_SEEN = ("pokemon_ids", "pokemon_numbers", "active_numbers", "field")
_TRUTHS = ("masks", "acting", "ended", "truncated")
_VALUES = ("outcome", "rewards", "turns", "episodes")


def new_block(
    arrays: BlockArrays,
    coefficients: NDArray[np.float64],
    pools: tuple[Sequence[str], Sequence[str]] | None,
    settings: Mapping[int, int],
) -> Block:
    """The engine's arrays beside those of a step; `pools` are the two seats' lists of teams."""
    count, _, num_actions = arrays["masks"].shape
    numbers = np.zeros(SETTINGS, np.int64)
    numbers[NUM_BATTLES], numbers[NUM_ACTIONS] = count, num_actions
    for place, value in settings.items():
        numbers[place] = value
    sides0 = sides1 = np.zeros((1, at.SIDE), np.int16)
    if pools:
        numbers[POOL0], numbers[POOL1] = map(len, pools)
        sides0 = sides1 = np.zeros((len(pools[0]), at.SIDE), np.int16)
        if pools[0] is not pools[1]:
            sides1 = np.zeros((len(pools[1]), at.SIDE), np.int16)
    made: list[Any] = [
        numbers,
        coefficients,
        np.zeros(1, np.uint64),
        sides0,
        sides1,
        np.zeros((count, at.ROW), np.int16),
        np.zeros(count, np.uint64),
        np.zeros((count if numbers[WATCHED] else 0, KNOW), np.int16),
        np.zeros((count, 2, MEMORY), np.float64),
        np.zeros((count if numbers[LOGGED] else 0, LOG_LENGTH), np.int16),
        np.full((count, 2), -1, np.int32),
        np.zeros(count, np.uint8),
        *(arrays[name].view(np.uint8) for name in _TRUTHS),
        *(arrays[name] for name in _VALUES),
    ]
    if numbers[SEEN]:
        observed = arrays.observations()
        made += [observed[name].reshape(-1) for name in _SEEN]
    else:
        made += [np.zeros(0, np.int16), *[np.zeros(0, np.float32)] * 3]
    return Block(*made)


def own_arrays(block: Block) -> list[NDArray[Any]]:
    """Arrays that are neither shared by the battles nor part of a step."""
    return [block.state, block.seeds, block.know, block.memory, block.logs, block.picks]
