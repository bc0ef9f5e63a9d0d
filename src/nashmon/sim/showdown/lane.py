"""One Node process and what its battles need in Python: trackers, encoders, codec, rewards."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from nashmon.core.actions import ActionSpace, action_space
from nashmon.core.errors import SimulatorError
from nashmon.core.formats import get_format
from nashmon.core.rewards import Reward, get_reward
from nashmon.core.state import UniversalState
from nashmon.observe.registry import Encoder, get_observation_space
from nashmon.sim.arrays import BlockArrays
from nashmon.sim.base import DRAW, P1_WIN, P2_WIN
from nashmon.sim.seeds import TeamSampler, battle_setup
from nashmon.sim.showdown.messages import UNAVAILABLE, BattleStart, BattleUpdate, Choice
from nashmon.sim.showdown.process import ShowdownProcess
from nashmon.sim.tracker import Tracker
from nashmon.sim.tracker_lines import Line, read

log = logging.getLogger(__name__)

NAMES = ("Red", "Blue")
_OUTCOME = {0: P1_WIN, 1: P2_WIN, None: DRAW}


@dataclass(frozen=True, slots=True)
class LaneConfig:
    """What a block of embedded Showdown battles plays, and how it is seen."""

    format_id: str
    teams: TeamSampler
    observation: str = "entity"
    actions: str = "default"
    reward: str = "binary"
    turn_limit: int = 1000
    patched: bool = True  # the run-time speed patch of the simulator
    stall_seconds: float = 60.0
    on_failure: Literal["raise", "restart"] = "raise"
    keep_logs: bool = False  # remember the protocol log of the last battle of each row
    # Steps go in two halves: Python reads one while Node plays the other.  Where other processes
    # keep all cores busy that only costs messages.
    overlap: bool = True


class _View:
    """One seat of one battle."""

    __slots__ = ("encoder", "previous", "request", "tracker", "was_asked")

    def __init__(self, tracker: Tracker, encoder: Encoder) -> None:
        self.tracker = tracker
        self.encoder = encoder
        self.request: dict[str, Any] | None = None
        self.was_asked = False  # a battle may end before a seat ever chose
        self.previous: UniversalState | None = None  # at its last decision, for shaped rewards


class Lane:
    """Plays the battles of rows `first_row` … of a block and writes their arrays."""

    def __init__(self, config: LaneConfig, arrays: BlockArrays, first_row: int = 0) -> None:
        self._config = config
        self._parts = 2 if config.overlap else 1  # of a step
        self._format = get_format(config.format_id)
        self._space: ActionSpace = action_space(self._format, config.actions)
        self._observation = get_observation_space(config.observation, self._format)
        self._reward: Reward = get_reward(config.reward)
        self._is_shaped = self._reward.is_shaped
        self._arrays = arrays
        self.first_row = first_row
        self._num = len(arrays["ended"])
        # By 2n + seat.
        flat = {k: v.reshape(-1, *v.shape[2:]) for k, v in arrays.observations().items()}
        self._flat_observations = flat
        self._flat_masks = list(arrays["masks"].reshape(2 * self._num, -1))
        self._flat_acting = arrays["acting"].reshape(-1)
        self._flat_rewards = arrays["rewards"].reshape(-1)
        self._views: list[tuple[_View, _View]] = []
        self._logs: dict[int, list[str]] = {}
        self._held: dict[int, bool] = {}  # ended rows Node still has → whether by the turn limit
        self._seed = 0
        self._process = self._new_process()

    def _new_process(self) -> ShowdownProcess:
        return ShowdownProcess(patched=self._config.patched, timeout=self._config.stall_seconds)

    def close(self) -> None:
        """End the Node process."""
        self._process.close()

    def reset(self, seed: int) -> None:
        """Start battle 0 of every row."""
        self._seed = seed
        self._arrays["episodes"][:] = 0
        self._clear_results()
        self._held = {}
        if self._views or not self._process.alive:
            self._process.close()
            self._process = self._new_process()
        self._views = [self._new_views() for _ in range(self._num)]
        self._start(range(self._num))

    def resume(self, seed: int) -> None:
        """Go on after a failure: rows start their next battle, the lost ones count as truncated."""
        self._seed = seed
        self._arrays["episodes"][:] += 1
        self._clear_results()
        self._held = {}
        self._arrays["ended"][:] = True
        self._arrays["truncated"][:] = True
        self._views = [self._new_views() for _ in range(self._num)]
        self._start(range(self._num))

    def step(self) -> None:
        """Play the actions found in the arrays (already checked against the masks)."""
        self._clear_results()
        rows = np.flatnonzero((self._arrays["actions"] >= 0).any(axis=1)).tolist()
        try:
            self._play(rows)
        except SimulatorError as error:
            if self._config.on_failure == "raise":
                raise
            log.warning("restarting a simulator and its %d battles: %s", self._num, error)
            self._process.close()
            self._process = self._new_process()
            self.resume(self._seed)

    def _play(self, rows: list[int]) -> None:
        """Advance rows in a few parts: while Node plays one, Python works on another."""
        size = max(1, -(-len(rows) // self._parts))
        parts = [rows[first : first + size] for first in range(0, len(rows), size)]
        actions = self._arrays["actions"].tolist()
        for part in parts:
            self._process.send_choose([self._choices(row, actions[row]) for row in part])
        num_starts = 0
        for _ in parts:
            ended = [
                row for row in self._apply(self._process.receive_each()) if row not in self._held
            ]
            self._send_start(ended)
            num_starts += bool(ended)
        for _ in range(num_starts):
            self._apply(self._process.receive_each())
        self._start(self._let_go())

    def _choices(self, row: int, actions: list[int]) -> Choice:
        first, second = (
            None
            if action < 0 or seen.request is None
            else self._space.legal_choice(seen.request, action)
            for seen, action in zip(self._views[row], actions, strict=True)
        )
        return row, first, second

    def _let_go(self) -> list[int]:
        """Rows whose ended battle Node had to keep, once nothing more is wanted of it."""
        held, self._held = self._held, {}
        for row, truncated in held.items():
            if self._config.keep_logs:
                self._logs[row] = self._process.log(row).lines
            if truncated:
                self._process.end([row])
        return list(held)

    def states(self, pairs: Sequence[tuple[int, int]]) -> list[UniversalState]:
        """States by (row, seat) within this lane."""
        return [self._views[row][seat].tracker.state() for row, seat in pairs]

    def finished_log(self, row: int) -> list[str]:
        """Protocol lines of the battle that last ended in a row of this lane."""
        if row not in self._logs:
            raise SimulatorError(
                f"no log of battle {self.first_row + row}: keep_logs is off or none ended"
            )
        return self._logs[row]

    def _clear_results(self) -> None:
        for name in ("ended", "truncated", "outcome", "rewards"):
            self._arrays[name][:] = 0

    def _new_views(self) -> tuple[_View, _View]:
        trackers = [Tracker(self._format.id, k, NAMES[k], NAMES[1 - k]) for k in (0, 1)]
        first, second = (_View(tracker, self._observation.encoder()) for tracker in trackers)
        return first, second

    def _start(self, rows: Sequence[int]) -> None:
        if rows:
            self._send_start(rows)
            self._apply(self._process.receive_each())

    def _send_start(self, rows: Iterable[int]) -> None:
        starts = []
        for row in rows:
            episode = int(self._arrays["episodes"][row])
            teams, seed = battle_setup(
                self._config.teams, self._seed, self.first_row + row, episode
            )
            for seen in self._views[row]:
                seen.tracker.dissolve()
            self._views[row] = self._new_views()
            starts.append(BattleStart(row, self._format.id, teams, NAMES, seed))
        if starts:
            self._process.send_start(starts)

    def _apply(self, updates: Iterable[BattleUpdate]) -> list[int]:
        """Take what happened; returns the rows whose battle ended."""
        ended = []
        for update in updates:
            if update.failure is not None:
                raise SimulatorError(str(update.failure))
            row = update.id
            for seen, lines in zip(self._views[row], _read(update.sent), strict=True):
                seen.tracker.take(lines)
            self._arrays["turns"][row] = update.turn
            if update.ended or update.turn > self._config.turn_limit:
                self._finish(row, update)
                ended.append(row)
            else:
                for seat in (0, 1):
                    self._ask(row, seat, update)
        return ended

    def _ask(self, row: int, seat: int, update: BattleUpdate) -> None:
        error, request = update.errors[seat], update.requests[seat]
        if error is not None and not error.startswith(UNAVAILABLE):
            raise SimulatorError(f"battle {self.first_row + row}, p{seat + 1}: {error}")
        index = 2 * row + seat
        mask = self._flat_masks[index]
        seen = self._views[row][seat]
        if request is not None:
            seen.request = request
            seen.tracker.request(request)
        if request is None or request.get("wait"):
            self._flat_acting[index] = False
            mask[:] = False
            return
        self._flat_acting[index] = True
        self._space.mask(request, mask)
        state = seen.tracker.state()
        seen.encoder.write(state, self._flat_observations, index)
        if self._is_shaped:
            if seen.previous is not None:
                self._flat_rewards[index] = self._reward(seen.previous, state)
            seen.previous = state
        seen.was_asked = True

    def _finish(self, row: int, update: BattleUpdate) -> None:
        truncated = not update.ended
        if truncated or self._config.keep_logs:
            self._held[row] = truncated
        self._arrays["ended"][row] = True
        self._arrays["truncated"][row] = truncated
        self._arrays["outcome"][row] = DRAW if truncated else _OUTCOME[update.winner]
        self._arrays["episodes"][row] += 1
        for seat, seen in enumerate(self._views[row]):
            if seen.was_asked:
                final = seen.tracker.state()
                self._arrays["rewards"][row, seat] = self._reward(seen.previous or final, final)


def _read(sent: Iterable[Any]) -> tuple[list[Line], list[Line]]:
    """The lines of both seats; what they see alike is read once."""
    first: list[Line] = []
    second: list[Line] = []
    for text in sent:
        if text.__class__ is str:
            line = read(text)
            if line is not None:
                first.append(line)
                second.append(line)
        else:
            for lines, own in zip((first, second), text, strict=True):
                line = None if own is None else read(own)
                if line is not None:
                    lines.append(line)
    return first, second
