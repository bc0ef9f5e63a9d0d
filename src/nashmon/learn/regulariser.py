"""What keeps a policy near a reference; learners take any number of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from torch import Tensor

from nashmon.learn.batch import Batch, Policy

Metrics = dict[str, float]


class Regulariser(Protocol):
    """A loss term on the policy, with its own state."""

    name: str

    def prepare(self, batch: Batch) -> Tensor:
        """Reference data for each decision (M, …), computed once per update without gradient."""
        ...

    def loss(
        self, log_policy: Tensor, masks: Tensor, reference: Tensor, weights: Tensor | None = None
    ) -> tuple[Tensor, Metrics]:
        """The term for some decisions: log_policy (m, A) and their rows of the reference."""
        ...

    def learning_rate(self, base: float) -> float:
        """The learning rate to use in this update."""
        ...

    def advance(self, policy: Policy, batch: Batch) -> Metrics:
        """Called once after each update: schedules, controllers, new references."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """Everything needed to continue."""
        ...

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from `state_dict`."""
        ...


def state_of(regularisers: Sequence[Regulariser]) -> list[dict[str, Any]]:
    """States in order, each with its name."""
    return [{"name": r.name, "state": r.state_dict()} for r in regularisers]


def load_states(regularisers: Sequence[Regulariser], states: list[dict[str, Any]]) -> None:
    """Restore states; a different set of regularisers is an error that names both."""
    have, saved = [r.name for r in regularisers], [s["name"] for s in states]
    if have != saved:
        raise ValueError(f"saved regularisers {saved} differ from the learner's {have}")
    for regulariser, state in zip(regularisers, states, strict=True):
        regulariser.load_state_dict(state["state"])
