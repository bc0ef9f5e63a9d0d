"""PettingZoo parallel environment: both seats of one battle."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from nashmon.envs.spaces import MASK_KEY, LegalDiscrete, observation_space
from nashmon.sim.base import NO_ACTION, Step
from nashmon.sim.make import make_battles

SEATS = ("p1", "p2")

Observation = dict[str, NDArray[Any]]


class BattleParallelEnv(ParallelEnv):  # type: ignore[misc]
    """Both players act each step; a seat with nothing to decide has an all-zero mask.

    The action of such a seat is ignored, so any integer may be passed for it.
    """

    metadata: ClassVar[dict[str, Any]] = {"name": "nashmon_battle_v0", "render_modes": []}

    def __init__(self, format_id: str = "gen1ou", **options: Any) -> None:
        self._battles = make_battles(format_id, num_battles=1, **options)
        self.render_mode = None
        self.possible_agents = list(SEATS)
        self.agents: list[str] = []
        num_actions = self._battles.num_actions
        space = observation_space(self._battles.obs_spec, num_actions)
        self.observation_spaces: dict[str, spaces.Space[Any]] = dict.fromkeys(SEATS, space)
        self.action_spaces = {seat: LegalDiscrete(num_actions) for seat in SEATS}
        self._rng = np.random.default_rng()
        self._step: Step | None = None

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Arrays of the observation and the seat's mask."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Action indices of the format's codec."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Start a battle: teams and dice follow from the seed."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self.agents = list(SEATS)
        self._step = self._battles.reset(int(self._rng.integers(1 << 62)))
        return self._observations(), self._infos()

    def step(self, actions: dict[str, int]) -> tuple[Any, ...]:
        """Play the actions of both seats; illegal ones raise."""
        assert self._step is not None, "call reset() first"
        joint = np.full((1, 2), NO_ACTION, dtype=np.int64)
        for index, seat in enumerate(SEATS):
            if self._step.acting[0, index]:
                joint[0, index] = actions[seat]
        last = self._observations()
        step = self._step = self._battles.step(joint)
        ended, truncated = bool(step.ended[0]), bool(step.truncated[0])
        rewards = {seat: float(step.rewards[0, index]) for index, seat in enumerate(SEATS)}
        observations, infos = self._observations(), self._infos()
        if ended:
            self.agents = []
            for index, seat in enumerate(SEATS):
                observations[seat] = {**last[seat], MASK_KEY: np.zeros_like(last[seat][MASK_KEY])}
                infos[seat][MASK_KEY] = observations[seat][MASK_KEY]
                infos[seat]["outcome"] = int(step.outcome[0]) * (1 if index == 0 else -1)
                self.action_spaces[seat].legal = None
        done = dict.fromkeys(SEATS, ended and not truncated)
        return observations, rewards, done, dict.fromkeys(SEATS, truncated), infos

    def close(self) -> None:
        """End the simulator."""
        self._battles.close()

    def _observations(self) -> dict[str, Observation]:
        assert self._step is not None
        result = {}
        for index, seat in enumerate(SEATS):
            arrays = {k: v[0, index].copy() for k, v in self._step.observations.items()}
            arrays[MASK_KEY] = self._step.masks[0, index].astype(np.int8)
            self.action_spaces[seat].legal = arrays[MASK_KEY]
            result[seat] = arrays
        return result

    def _infos(self) -> dict[str, dict[str, Any]]:
        assert self._step is not None
        turn = int(self._step.turns[0])
        return {
            seat: {
                MASK_KEY: self._step.masks[0, index].astype(np.int8),
                "acting": bool(self._step.acting[0, index]),
                "turn": turn,
            }
            for index, seat in enumerate(SEATS)
        }
