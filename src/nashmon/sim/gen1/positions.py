"""Single moments of battles, for search: what to go on from, and what it is worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nashmon.sim.gen1.setup import Gen1Team, Row


@dataclass(frozen=True, slots=True)
class Position:
    """A battle at one moment, to go on from as often as wanted."""

    state: Row
    know: Row  # empty when nobody watched
    memory: NDArray[np.float64]
    seed: int
    teams: tuple[Gen1Team, Gen1Team]
