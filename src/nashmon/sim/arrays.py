"""The arrays behind a `Step`, in this process's memory or shared with worker processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.sharedctypes import RawArray
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nashmon.sim.base import Step

Layout = dict[str, tuple[tuple[int, ...], str]]  # array name → (shape of the whole block, dtype)

_OBSERVATION = "observation."
_ALIGNMENT = 64  # cache line, so that two workers never write to the same one


def step_layout(
    num_battles: int, num_actions: int, observations: Mapping[str, tuple[tuple[int, ...], str]]
) -> Layout:
    """All arrays of a block; `observations` gives the shape and dtype for one seat."""
    layout: Layout = {
        "masks": ((num_battles, 2, num_actions), "bool"),
        "acting": ((num_battles, 2), "bool"),
        "ended": ((num_battles,), "bool"),
        "truncated": ((num_battles,), "bool"),
        "outcome": ((num_battles,), "int8"),
        "rewards": ((num_battles, 2), "float32"),
        "turns": ((num_battles,), "int32"),
        "episodes": ((num_battles,), "int64"),
        "actions": ((num_battles, 2), "int64"),
    }
    for name, (shape, dtype) in observations.items():
        layout[_OBSERVATION + name] = ((num_battles, 2, *shape), dtype)
    return layout


@dataclass(frozen=True, slots=True)
class BlockArrays:
    """Named arrays of one block, or of a range of its battles."""

    arrays: dict[str, NDArray[Any]]

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.arrays[name]

    def rows(self, start: int, stop: int) -> BlockArrays:
        """The same memory, restricted to battles start … stop − 1."""
        return BlockArrays({name: array[start:stop] for name, array in self.arrays.items()})

    def observations(self) -> dict[str, NDArray[Any]]:
        """Observation arrays by the names of the ObsSpec."""
        return {
            name.removeprefix(_OBSERVATION): array
            for name, array in self.arrays.items()
            if name.startswith(_OBSERVATION)
        }

    def step(self) -> Step:
        """The `Step` view of these arrays."""
        names = ("masks", "acting", "ended", "truncated", "outcome", "rewards", "turns")
        return Step(self.observations(), *(self.arrays[name] for name in names))


def local_arrays(layout: Layout) -> BlockArrays:
    """Arrays in ordinary memory."""
    return BlockArrays({name: np.zeros(shape, dtype) for name, (shape, dtype) in layout.items()})


def shared_memory(layout: Layout) -> Any:
    """Zeroed memory for a layout that worker processes can inherit; freed with its last user."""
    return RawArray("b", sum(_sizes(layout)))


def shared_arrays(layout: Layout, memory: Any) -> BlockArrays:
    """Arrays over memory made by `shared_memory`."""
    arrays, offset = {}, 0
    for (name, (shape, dtype)), size in zip(layout.items(), _sizes(layout), strict=True):
        arrays[name] = np.ndarray(shape, dtype, buffer=memory, offset=offset)
        offset += size
    return BlockArrays(arrays)


def _sizes(layout: Layout) -> list[int]:
    sizes = (int(np.prod(shape)) * np.dtype(dtype).itemsize for shape, dtype in layout.values())
    return [-(-size // _ALIGNMENT) * _ALIGNMENT for size in sizes]
