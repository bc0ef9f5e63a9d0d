"""Numbers that change with the update count, as closed forms."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Power:
    """clip(start · (1 + t/horizon)^−power, low, high); power 0 is a constant."""

    start: float
    power: float = 0.0
    horizon: float = 1.0
    low: float = 0.0
    high: float = float("inf")

    def __call__(self, step: int) -> float:
        """The value at update `step` (0 for the first)."""
        value = self.start * math.pow(1.0 + step / max(1.0, self.horizon), -self.power)
        return min(max(value, self.low), self.high)


# Ataraxos (arXiv 2511.07312): the iteration index i starts at 1, so (1 + t)^−p with horizon 1.
ATARAXOS_MAGNET = Power(start=0.05, power=0.3)
ATARAXOS_LEARNING_RATE = Power(start=0.5, power=1.1, low=5e-6, high=1e-4)
