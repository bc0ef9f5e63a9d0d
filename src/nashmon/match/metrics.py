"""What is measured of an agent while it plays: speed, kinds of actions, entropy."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nashmon.core import actions_doubles as doubles
from nashmon.core import actions_singles as singles
from nashmon.core.formats import get_format

KINDS = ("move", "switch", "gimmick", "preview")
_MOVE, _SWITCH, _GIMMICK, _PREVIEW = range(len(KINDS))


@dataclass(frozen=True, slots=True)
class AgentMetrics:
    """Sums over one agent's decisions; equal when the agent chose alike, however fast it was."""

    decisions: int = 0
    moves: int = 0  # in doubles each slot counts
    switches: int = 0
    gimmicks: int = 0
    previews: int = 0
    entropy: float = 0.0  # nats, summed over the decisions that have one
    entropies: int = 0  # decisions whose entropy is known
    seconds: float = field(default=0.0, compare=False)  # inside the agent's `act`

    def __add__(self, other: AgentMetrics) -> AgentMetrics:
        return AgentMetrics(
            *(getattr(self, f.name) + getattr(other, f.name) for f in fields(AgentMetrics))
        )

    @property
    def decisions_per_second(self) -> float:
        """Speed of the agent alone, without the engine."""
        return self.decisions / self.seconds if self.seconds > 0 else 0.0

    @property
    def mean_entropy(self) -> float | None:
        """Nats per decision; None for agents that do not say."""
        return self.entropy / self.entropies if self.entropies else None

    @property
    def mix(self) -> dict[str, float]:
        """Share of each kind of action."""
        counts = (self.moves, self.switches, self.gimmicks, self.previews)
        total = sum(counts)
        return {k: n / total if total else 0.0 for k, n in zip(KINDS, counts, strict=True)}


class Meter:
    """Sums the metrics of one agent in one format."""

    def __init__(self, format_id: str, num_actions: int) -> None:
        rules = get_format(format_id)
        self._kinds = action_kinds(rules.game_type, num_actions)
        self._has_preview = rules.has_preview
        self._counts = np.zeros(len(KINDS), np.int64)
        self._decisions = self._entropies = 0
        self._entropy = self._seconds = 0.0

    def add(
        self, actions: NDArray[np.int64], turns: NDArray[Any], seconds: float, memory: Any
    ) -> None:
        """Take one `act` call: its actions, the turn of each battle, its time, the memory after."""
        self._seconds += seconds
        self._decisions += len(actions)
        # Team preview is the only decision before turn 1.
        preview = (turns == 0) & self._has_preview
        self._counts[_PREVIEW] += preview.sum()
        self._counts[:_PREVIEW] += self._kinds[actions[~preview]].sum(axis=0)
        entropy = getattr(memory, "entropy", None)
        if entropy is not None:
            self._entropy += float(np.sum(entropy))
            self._entropies += len(entropy)

    def metrics(self) -> AgentMetrics:
        """The sums so far."""
        moves, switches, gimmicks, previews = (int(count) for count in self._counts)
        return AgentMetrics(
            self._decisions,
            moves,
            switches,
            gimmicks,
            previews,
            self._entropy,
            self._entropies,
            self._seconds,
        )


def action_kinds(game_type: str, num_actions: int) -> NDArray[np.int64]:
    """(actions, 3): how many moves, switches and gimmicks each action holds."""
    if game_type == "singles":
        codes = np.arange(num_actions)
        switch = (codes >= singles.SWITCH) & (codes < singles.GIMMICK)
        gimmick = codes >= singles.GIMMICK
        return _one_hot(~switch & ~gimmick, switch, gimmick)
    codes = np.arange(doubles.NUM_CODES)
    switch = (codes >= doubles.SWITCH) & (codes < doubles.PASS)
    gimmick = (codes < doubles.SWITCH) & (codes % 10 >= 5)
    slot = _one_hot((codes < doubles.SWITCH) & ~gimmick, switch, gimmick)
    joint: NDArray[np.int64] = slot[:, None] + slot[None, :]
    return joint.reshape(-1, _PREVIEW)


def _one_hot(
    move: NDArray[np.bool_], switch: NDArray[np.bool_], gimmick: NDArray[np.bool_]
) -> NDArray[np.int64]:
    return np.stack([move, switch, gimmick], axis=1).astype(np.int64)
