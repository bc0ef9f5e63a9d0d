"""Embedded Showdown as a `Battles` block: lanes in this process or in worker processes."""

from __future__ import annotations

import gc
import itertools
import logging
import multiprocessing
import os
from collections.abc import Sequence
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nashmon.core.actions import action_space
from nashmon.core.errors import NashmonError, SimulatorError
from nashmon.core.formats import get_format
from nashmon.core.state import UniversalState
from nashmon.observe.registry import get_observation_space
from nashmon.sim.arrays import Layout, local_arrays, shared_arrays, shared_memory, step_layout
from nashmon.sim.base import Step, check_actions
from nashmon.sim.showdown.lane import Lane, LaneConfig

log = logging.getLogger(__name__)

_GRACE_SECONDS = 30.0  # on top of the simulator's own stall limit


class ShowdownBattles:
    """`num_battles` battles of any format, spread over `workers` processes (0: this process)."""

    def __init__(self, config: LaneConfig, num_battles: int, workers: int = 0) -> None:
        if num_battles < 1 or workers < 0:
            raise ValueError(f"need num_battles ≥ 1 and workers ≥ 0, got {num_battles}, {workers}")
        battle_format = get_format(config.format_id)
        space = get_observation_space(config.observation, battle_format)
        self.format_id = battle_format.id
        self.num_battles = num_battles
        self.num_actions = action_space(battle_format, config.actions).num_actions
        self.obs_spec = space.spec
        layout = step_layout(
            num_battles,
            self.num_actions,
            {a.name: (a.shape, a.dtype) for a in self.obs_spec.arrays},
        )
        self._lanes: Sequence[Lane | _RemoteLane]
        if workers == 0:
            self._arrays = local_arrays(layout)
            self._lanes = [Lane(config, self._arrays)]
        else:
            memory = shared_memory(layout)
            self._arrays = shared_arrays(layout, memory)
            lanes = min(workers, num_battles)
            if lanes >= (os.cpu_count() or 1):
                config = replace(config, overlap=False)
            bounds = np.linspace(0, num_battles, lanes + 1).astype(int)
            self._lanes = [
                _RemoteLane(config, layout, memory, int(start), int(stop))
                for start, stop in itertools.pairwise(bounds)
            ]
        self._seed: int | None = None
        self._closed = False

    @property
    def episodes(self) -> NDArray[np.int64]:
        """Battles that ended in each row since `reset`."""
        return self._arrays["episodes"]

    def reset(self, seed: int) -> Step:
        """Start all battles; the same seed and actions give the same battles."""
        self._seed = seed
        self._all("reset", seed)
        return self._arrays.step()

    def step(self, actions: NDArray[np.integer[Any]]) -> Step:
        """Advance every battle that got its actions."""
        if self._seed is None:
            raise SimulatorError("call reset(seed) before step")
        check_actions(actions, self._arrays["acting"], self._arrays["masks"])
        self._arrays["actions"][:] = actions
        self._all("step")
        return self._arrays.step()

    def states(self, pairs: Sequence[tuple[int, int]]) -> list[UniversalState]:
        """The state of each (battle, seat)."""
        lanes = [self._lane_of(row) for row, _ in pairs]
        found: dict[tuple[int, int], UniversalState] = {}
        for index in sorted(set(lanes)):
            lane = self._lanes[index]
            mine = [pair for pair, owner in zip(pairs, lanes, strict=True) if owner == index]
            local = [(row - lane.first_row, seat) for row, seat in mine]
            found.update(zip(mine, lane.states(local), strict=True))
        return [found[pair] for pair in pairs]

    def finished_log(self, row: int) -> list[str]:
        """Protocol lines of the battle that last ended in a row (needs `keep_logs=True`)."""
        lane = self._lanes[self._lane_of(row)]
        return lane.finished_log(row - lane.first_row)

    def close(self) -> None:
        """End all processes; safe to call twice."""
        if self._closed:
            return
        self._closed = True
        for lane in self._lanes:
            lane.close()

    def __enter__(self) -> ShowdownBattles:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _lane_of(self, row: int) -> int:
        starts = [lane.first_row for lane in self._lanes]
        if not 0 <= row < self.num_battles:
            raise IndexError(f"battle {row} of {self.num_battles}")
        return int(np.searchsorted(starts, row, side="right")) - 1

    def _all(self, command: str, *args: Any) -> None:
        """Run a command in all lanes at once; afterwards every lane is ready again."""
        if self._closed:
            raise SimulatorError("these battles are closed")
        for lane in self._lanes:
            if isinstance(lane, _RemoteLane):
                lane.send(command, *args)
        errors = []
        for lane in self._lanes:
            try:
                if isinstance(lane, _RemoteLane):
                    lane.receive()
                else:
                    getattr(lane, command)(*args)
            except NashmonError as error:
                errors.append(error)
        if errors:
            self._seed = None  # the block is no longer in step: only reset may follow
            raise errors[0]


class _RemoteLane:
    """A lane in a worker process, writing into the shared arrays."""

    def __init__(
        self, config: LaneConfig, layout: Layout, memory: Any, start: int, stop: int
    ) -> None:
        self._arguments = (config, layout, memory, start, stop)
        self._patience = config.stall_seconds + _GRACE_SECONDS
        self._rows = range(start, stop)
        self.first_row = start
        self._process: SpawnProcess | None = None
        self._connection: Connection | None = None

    def send(self, command: str, *args: Any) -> None:
        if self._process is None or not self._process.is_alive():
            self._spawn()
        assert self._connection is not None
        self._connection.send((command, args))

    def receive(self) -> Any:
        assert self._connection is not None
        try:
            if not self._connection.poll(self._patience):
                raise self._lost(f"gave no answer for {self._patience:.0f} s")
            kind, value = self._connection.recv()
        except (EOFError, ConnectionResetError):
            raise self._lost("died") from None
        if kind == "error":
            raise value
        return value

    def states(self, pairs: Sequence[tuple[int, int]]) -> list[UniversalState]:
        self.send("states", list(pairs))
        states: list[UniversalState] = self.receive()
        return states

    def finished_log(self, row: int) -> list[str]:
        self.send("finished_log", row)
        lines: list[str] = self.receive()
        return lines

    def close(self) -> None:
        if self._process is None or self._connection is None:
            return
        self._connection.close()  # the worker ends when its pipe closes
        self._process.join(5.0)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process = None

    def _spawn(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, child = context.Pipe()
        self._process = context.Process(target=_serve, args=(child, *self._arguments), daemon=True)
        self._process.start()
        child.close()

    def _lost(self, what: str) -> SimulatorError:
        assert self._process is not None
        self._process.kill()
        self._process.join()
        code = self._process.exitcode
        self._process = None
        rows = f"{self._rows.start}–{self._rows.stop - 1}"
        return SimulatorError(
            f"the worker process of battles {rows} {what} (exit code {code}); "
            "call reset(seed) to start them again in a new worker"
        )


def collect_seldom() -> None:
    """Set Python's garbage collector as lanes need it.

    States live for a turn or two and form no cycles: the default thresholds would traverse the
    whole heap thousands of times a second for nothing.
    """
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)


def _serve(
    connection: Connection, config: LaneConfig, layout: Layout, memory: Any, start: int, stop: int
) -> None:
    """Worker process: obey commands until the pipe closes."""
    collect_seldom()
    block = shared_arrays(layout, memory)
    lane: Lane | None = None
    try:
        while True:
            try:
                command, args = connection.recv()
            except EOFError:
                return
            try:
                lane = lane or Lane(config, block.rows(start, stop), start)
                connection.send(("ok", getattr(lane, command)(*args)))
            except NashmonError as error:
                connection.send(("error", error))
    finally:
        if lane is not None:
            lane.close()
