"""The rewards of a Gen 1 battle twice: by the engine's kernels and from the trackers' states."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nashmon.core.rewards import get_reward, reward_names
from nashmon.core.state import UniversalState
from nashmon.sim.gen1 import calls
from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1.observe import SCRATCH
from nashmon.sim.gen1.payoff import MEMORY, coefficients
from nashmon.sim.tracker import Tracker

# All that have a name, and shaping as it is while it fades.
REWARDS = (
    *(get_reward(name) for name in reward_names()),
    get_reward("default_shaped").scaled(0.3),
    get_reward("symmetric_shaped").scaled(0.3),
)
# A turn limit ends a battle before its requests are read.  Each such turn is looked at as if it
# were beyond the limit; not every one, for a block's trackers are not asked in between either.
CUT_TURNS = 8


class RewardWatch:
    """What both seats of one battle gain between their decisions."""

    def __init__(self, row: NDArray[np.int16]) -> None:
        self._row = row
        self._coefficients = np.stack([coefficients(reward) for reward in REWARDS])
        self._memory = np.zeros((len(REWARDS), 2, MEMORY))
        self._previous: list[UniversalState | None] = [None, None]
        self._scratch = np.zeros(SCRATCH, np.int64)
        self._turns = [0, 0]  # up to which each seat's battle might have been cut off

    def decision_difference(self, seat: int, state: UniversalState) -> str | None:
        """Compare when a seat is asked; the next rewards count from here."""
        problem = self._difference(seat, state, 0)
        for numbers, memory in zip(self._coefficients, self._memory, strict=True):
            calls.remember(self._row, numbers, memory[seat], seat, self._scratch)
        self._previous[seat] = state
        return problem

    def end_difference(self, seat: int, tracker: Tracker, running: bool) -> str | None:
        """Compare when the battle is over, or might be by a turn limit."""
        turn = int(self._row[at.TURN])
        begun, self._turns[seat] = turn > self._turns[seat], turn
        if running and not (begun and turn % CUT_TURNS == 0):
            return None
        won = {at.P1_WON: 1, at.P2_WON: -1}.get(int(self._row[at.OUTCOME]), 0)
        return self._difference(seat, tracker.state(), won if seat == 0 else -won)

    def _difference(self, seat: int, state: UniversalState, won: int) -> str | None:
        """The first reward that is not the tracker path's to the last bit of its float32."""
        previous = self._previous[seat]
        for reward, numbers, memory in zip(REWARDS, self._coefficients, self._memory, strict=True):
            own = (self._row, numbers, memory[seat], seat, won, self._scratch)
            shown = np.float32(calls.reward_since(*own))
            expected = np.float32(0 if previous is None else reward(previous, state))
            if shown.tobytes() != expected.tobytes():
                name = f"{reward.name}, shaping {reward.shaping:g}"
                return f"reward {name}\n  tracker: {expected!r}\n  engine:  {shown!r}"
        return None
