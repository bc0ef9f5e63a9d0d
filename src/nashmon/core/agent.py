"""The `Agent` protocol: anything that picks actions, for a batch of decisions at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nashmon.core.state import UniversalState


@dataclass(frozen=True, slots=True)
class Decisions:
    """A batch of B decisions that one agent must answer now."""

    observations: Mapping[str, NDArray[Any]]  # name → (B, …)
    masks: NDArray[np.bool_]  # (B, actions), at least one legal action per row
    slots: NDArray[np.int64]  # (B,): which row of the agent's memory each decision belongs to
    first: NDArray[np.bool_]  # (B,): first decision of its battle; memory of the slot is stale
    states: Callable[[], list[UniversalState]]  # built only when an agent asks for them
    # (decision, rng, sampler of the foe's team) → a position that this player could not tell from
    # the real one, and its seat there; only where the engine can go on from positions.
    imagine: Callable[[int, np.random.Generator, Any], Any] | None = None


class Agent(Protocol):
    """Picks actions.  All memory is in the object made by `start`, all chance in `rng`."""

    name: str

    def start(self, num_slots: int) -> Any:
        """Memory for that many battles played side by side (None for agents without memory)."""
        ...

    def act(self, decisions: Decisions, memory: Any, rng: np.random.Generator) -> NDArray[np.int64]:
        """One legal action per decision; updates `memory` in place."""
        ...


class RandomAgent:
    """Picks uniformly among the legal actions; lives here because every layer needs an opponent."""

    name = "random"

    def start(self, num_slots: int) -> None:
        """No memory."""

    def act(self, decisions: Decisions, memory: Any, rng: np.random.Generator) -> NDArray[np.int64]:
        """The legal action with the largest random number."""
        scores = rng.random(decisions.masks.shape)
        best: NDArray[np.int64] = np.where(decisions.masks, scores, -1.0).argmax(axis=1)
        return best
