"""Gymnasium environments: one learner against an opponent agent, single and vectorised."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from nashmon.core.agent import Agent, RandomAgent
from nashmon.envs.duel import Duel, DuelStep
from nashmon.envs.spaces import MASK_KEY, LegalDiscrete, observation_space
from nashmon.sim.make import make_battles

Observation = dict[str, NDArray[Any]]


class BattleEnv(gymnasium.Env[Observation, np.int64]):
    """One battle at a time; `info["action_mask"]` and the observation carry the legal actions."""

    metadata = {"render_modes": ["ansi"]}  # noqa: RUF012 (Gymnasium declares it so)

    def __init__(
        self,
        format_id: str = "gen1ou",
        opponent: Agent | None = None,
        seat: int = 0,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        self.render_mode = render_mode
        self._battles = make_battles(format_id, num_battles=1, **options)
        self._duel = Duel(self._battles, opponent or RandomAgent(), seat)
        self._seat = seat
        self._over = True
        self.action_space: LegalDiscrete = LegalDiscrete(self._battles.num_actions)
        self.observation_space = observation_space(
            self._battles.obs_spec, self._battles.num_actions
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a battle: teams and dice follow from the seed."""
        super().reset(seed=seed)
        step = self._duel.reset(int(self.np_random.integers(1 << 62)))
        self._over = False
        return self._observation(step), self._info(step)

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play one decision; illegal actions raise."""
        if self._over:
            raise gymnasium.error.ResetNeeded("the battle is over: call reset()")
        last = self._last
        step = self._duel.step(np.array([action]))
        ended, truncated = bool(step.ended[0]), bool(step.truncated[0])
        self._over = ended
        info = self._info(step)
        observation = self._observation(step)
        if ended:  # the block has begun the next battle; a finished one has nothing to choose
            info["outcome"] = int(step.outcome[0])
            observation = {**last, MASK_KEY: np.zeros_like(last[MASK_KEY])}
            info[MASK_KEY] = observation[MASK_KEY]
            self.action_space.legal = None
        return observation, float(step.rewards[0]), ended and not truncated, truncated, info

    def render(self) -> str | None:
        """The state the learner sees, as indented text."""
        if self.render_mode != "ansi":
            return None
        return repr(self._battles.states([(0, self._seat)])[0])

    def close(self) -> None:
        """End the simulator."""
        self._battles.close()

    def _observation(self, step: DuelStep) -> Observation:
        observation = {name: array[0].copy() for name, array in step.observations.items()}
        observation[MASK_KEY] = step.masks[0].astype(np.int8)
        self._last = observation
        self.action_space.legal = observation[MASK_KEY]
        return observation

    def _info(self, step: DuelStep) -> dict[str, Any]:
        return {MASK_KEY: step.masks[0].astype(np.int8), "turn": int(step.turns[0])}


class BattleVectorEnv(VectorEnv[Observation, NDArray[np.int64], NDArray[Any]]):
    """Many battles in lock-step; a battle that ends is replaced in the same step."""

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012

    def __init__(
        self,
        format_id: str = "gen1ou",
        num_envs: int = 32,
        opponent: Agent | None = None,
        seat: int = 0,
        **options: Any,
    ) -> None:
        self.num_envs = num_envs
        self._battles = make_battles(format_id, num_battles=num_envs, **options)
        self._duel = Duel(self._battles, opponent or RandomAgent(), seat)
        num_actions = self._battles.num_actions
        self.single_action_space = LegalDiscrete(num_actions)
        self.single_observation_space = observation_space(self._battles.obs_spec, num_actions)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start all battles from one seed."""
        if isinstance(seed, list):
            raise ValueError("one integer seeds the whole block; row n plays battle (seed, n)")
        super().reset(seed=seed)
        step = self._duel.reset(int(self.np_random.integers(1 << 62)))
        return self._observation(step), self._info(step)

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Observation, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Play one decision in every battle; illegal actions raise."""
        step = self._duel.step(np.asarray(actions))
        info = self._info(step)
        if step.ended.any():
            info["final_info"] = {"outcome": step.outcome.copy()}
            info["_final_info"] = step.ended.copy()
        terminated = step.ended & ~step.truncated
        return self._observation(step), step.rewards, terminated, step.truncated, info

    def close_extras(self, **kwargs: Any) -> None:
        """End the simulators."""
        self._battles.close()

    def _observation(self, step: DuelStep) -> Observation:
        observation = {name: array.copy() for name, array in step.observations.items()}
        observation[MASK_KEY] = step.masks.astype(np.int8)
        return observation

    def _info(self, step: DuelStep) -> dict[str, Any]:
        return {MASK_KEY: step.masks.astype(np.int8), "turn": step.turns.copy()}
