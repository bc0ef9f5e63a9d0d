"""Gymnasium spaces made from an observation spec and a legal mask."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from nashmon.observe.spec import ObsSpec

MASK_KEY = "action_mask"


class LegalDiscrete(spaces.Discrete[np.int64]):
    """Actions 0 … n − 1 whose plain `sample()` draws one that is legal now."""

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.legal: NDArray[np.int8] | None = None

    def sample(self, mask: Any = None, probability: Any = None) -> np.int64:
        """A random action: of `mask` if given, else of the environment's current mask."""
        if mask is None and probability is None:
            mask = self.legal
        action: np.int64 = super().sample(mask=mask, probability=probability)
        return action


def observation_space(spec: ObsSpec, num_actions: int) -> spaces.Dict:
    """The observation's arrays plus the legal mask of the seat."""
    boxes: dict[str, spaces.Space[Any]] = {
        array.name: spaces.Box(
            low=_bounds(array.shape, [c.low for c in array.columns], array.dtype),
            high=_bounds(array.shape, [c.high for c in array.columns], array.dtype),
            dtype=np.dtype(array.dtype).type,
        )
        for array in spec.arrays
    }
    boxes[MASK_KEY] = spaces.MultiBinary(num_actions)
    return spaces.Dict(boxes)


def _bounds(shape: tuple[int, ...], columns: list[float], dtype: str) -> NDArray[Any]:
    return np.broadcast_to(np.asarray(columns, dtype=dtype), shape).copy()
