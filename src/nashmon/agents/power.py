"""The agent that always picks its strongest move."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nashmon.core.agent import Decisions
from nashmon.core.dex import Dex
from nashmon.core.errors import UnsupportedError
from nashmon.core.formats import get_format
from nashmon.core.state import UniversalState

_NUM_MOVES = 4


class MaxBasePower:
    """Strongest legal move by power × accuracy × same-type bonus × effectiveness (singles)."""

    name = "maxpower"

    def start(self, num_slots: int) -> None:
        """No memory."""

    def act(self, decisions: Decisions, memory: Any, rng: np.random.Generator) -> NDArray[np.int64]:
        """The best move; without one, a random legal action (a switch)."""
        scores = rng.random(decisions.masks.shape) * 1e-3
        for row, state in enumerate(decisions.states()):
            powers = _move_scores(state)
            scores[row, : len(powers)] += powers
        best: NDArray[np.int64] = np.where(decisions.masks, scores, -1.0).argmax(axis=1)
        return best


def _move_scores(state: UniversalState) -> list[float]:
    if state.game_type != "singles":
        raise UnsupportedError(f"maxpower plays singles, not {state.format}")
    own, foe = state.own.active[0], state.foe.active[0]
    if state.phase != "move" or own is None:
        return []
    dex = get_format(state.format).dex
    foe_types = foe.types if foe is not None else ()
    return [_score(dex, m.id, own.types, foe_types) for m in own.moves[:_NUM_MOVES]]


def _score(dex: Dex, move_id: str, own: tuple[str, ...], foe: tuple[str, ...]) -> float:
    move = dex.moves[move_id]
    accuracy = 1.0 if move.accuracy is None else move.accuracy / 100
    bonus = 1.5 if move.type in own else 1.0
    return move.power * accuracy * bonus * dex.type_effectiveness(move.type, foe)
