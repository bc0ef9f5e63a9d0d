"""The `Battles` protocol: N battles advanced together for both seats.

Every engine implements it, so a policy cannot tell them apart.  Seat 0 is p1, seat 1 is p2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nashmon.core.actions import IllegalActionError
from nashmon.core.state import UniversalState
from nashmon.observe.spec import ObsSpec

NO_ACTION = -1  # what a seat that is not asked passes to `step`

# Values of `Step.outcome`: from p1's side, 0 is a draw.
P1_WIN, DRAW, P2_WIN = 1, 0, -1


@dataclass(slots=True)
class Step:
    """What changed and who must act now.

    Arrays belong to the engine and are overwritten by the next step.  When battle n ends it is
    restarted at once: `ended[n]`, `truncated[n]`, `outcome[n]` and `rewards[n]` speak of the battle
    that ended, everything else of the new one.
    """

    observations: dict[str, NDArray[Any]]  # name → (battles, 2, …), layout in the ObsSpec
    masks: NDArray[np.bool_]  # (battles, 2, actions): legal actions; a row is empty when not acting
    acting: NDArray[np.bool_]  # (battles, 2): this seat must choose
    ended: NDArray[np.bool_]  # (battles,): a battle ended in this step
    truncated: NDArray[np.bool_]  # (battles,): … because of the turn limit (counted as a draw)
    outcome: NDArray[np.int8]  # (battles,): P1_WIN, DRAW or P2_WIN where ended
    rewards: NDArray[np.float32]  # (battles, 2): since the seat's previous decision
    turns: NDArray[np.int32]  # (battles,): turn number of the running battle


class Battles(Protocol):
    """A block of battles of one format."""

    format_id: str
    num_battles: int
    num_actions: int
    obs_spec: ObsSpec

    @property
    def episodes(self) -> NDArray[np.int64]:
        """(battles,): how many battles ended in each row since `reset`."""
        ...

    def reset(self, seed: int) -> Step:
        """Start all battles; the same seed and actions give the same battles."""
        ...

    def step(self, actions: NDArray[np.integer[Any]]) -> Step:
        """Advance with actions (battles, 2); seats that are not acting pass NO_ACTION.

        A battle whose acting seats all pass NO_ACTION is left as it is (paused).  An illegal
        action, or an action for only one of two acting seats, raises before anything changes.
        """
        ...

    def states(self, pairs: Sequence[tuple[int, int]]) -> list[UniversalState]:
        """The state of each (battle, seat) as that player knows it now."""
        ...

    def finished_log(self, row: int) -> list[str]:
        """Protocol lines, both sides' secrets included, of the battle that last ended in a row.

        Only for blocks made with `keep_logs=True`.
        """
        ...

    def close(self) -> None:
        """Free processes and memory; safe to call twice."""
        ...


def check_actions(
    actions: NDArray[np.integer[Any]], acting: NDArray[np.bool_], masks: NDArray[np.bool_]
) -> None:
    """Raise `IllegalActionError` unless `step` may take these actions; changes nothing."""
    if actions.shape != acting.shape or not np.issubdtype(actions.dtype, np.integer):
        raise IllegalActionError(
            f"actions must be integers of shape {acting.shape}, got {actions.dtype} {actions.shape}"
        )
    given = actions != NO_ACTION
    for row, seat in np.argwhere(given & ~acting)[:1]:
        raise IllegalActionError(
            f"battle {row}, p{seat + 1}: this seat is not acting, got action {actions[row, seat]}"
        )
    for row, seat in np.argwhere(acting & ~given & given.any(axis=1, keepdims=True))[:1]:
        raise IllegalActionError(
            f"battle {row}, p{seat + 1}: this seat must act too, got no action"
        )
    in_range = (actions >= 0) & (actions < masks.shape[-1])
    safe = np.where(in_range, actions, 0)[..., None]
    legal = in_range & np.take_along_axis(masks, safe, axis=-1)[..., 0]
    for row, seat in np.argwhere(given & ~legal)[:1]:
        allowed = np.flatnonzero(masks[row, seat]).tolist()
        shown = ", ".join(map(str, allowed[:20])) + (" …" if len(allowed) > 20 else "")
        raise IllegalActionError(
            f"battle {row}, p{seat + 1}: action {actions[row, seat]} is not legal; legal: {shown}"
        )
