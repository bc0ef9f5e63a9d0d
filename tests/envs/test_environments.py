import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test

import nashmon.envs  # noqa: F401  (registers the ids)
from nashmon.agents import MaxBasePower
from nashmon.core.actions import IllegalActionError
from nashmon.core.errors import UnknownFormatError, UnsupportedError
from nashmon.envs.gymnasium_env import BattleEnv, BattleVectorEnv
from nashmon.envs.pettingzoo_env import BattleParallelEnv

FORMATS = ["gen1ou", "gen9ou", "gen9vgc2025regi"]


@pytest.mark.parametrize("format_id", FORMATS)
def test_gymnasium_checker_passes(format_id: str) -> None:
    env = gymnasium.make(f"nashmon/{format_id}-v0").unwrapped
    assert env.spec is not None
    # The checker's own test of determinism draws an action before the reset that it is used after,
    # where it need not be legal; the test below draws it where it is.
    env.spec.nondeterministic = True
    check_env(env, skip_render_check=True)
    env.close()


@pytest.mark.parametrize("format_id", FORMATS)
def test_steps_are_deterministic(format_id: str) -> None:
    env = gymnasium.make(f"nashmon/{format_id}-v0").unwrapped
    runs = []
    for _ in range(2):
        observation, _ = env.reset(seed=123)
        env.action_space.seed(5)
        seen = [observation]
        for _ in range(6):
            observation, reward, *_ = env.step(env.action_space.sample())
            seen += [observation, {"reward": np.asarray(reward)}]
        runs.append(seen)
    for first, second in zip(*runs, strict=True):
        assert first.keys() == second.keys()
        for name, value in first.items():
            np.testing.assert_array_equal(value, second[name])
    assert not np.array_equal(runs[0][0]["field"], runs[0][-2]["field"])
    env.close()


@pytest.mark.parametrize("format_id", FORMATS)
def test_pettingzoo_checker_passes(format_id: str) -> None:
    env = BattleParallelEnv(format_id)
    parallel_api_test(env, num_cycles=60)
    env.close()


def test_an_episode_ends_with_the_outcome_and_then_needs_a_reset() -> None:
    env = BattleEnv("gen1ou", opponent=MaxBasePower(), seat=1, reward="binary")
    _, info = env.reset(seed=4)
    total, ended = 0.0, False
    while not ended:
        assert info["action_mask"].any()
        _, reward, terminated, truncated, info = env.step(env.action_space.sample())
        total += reward
        ended = terminated or truncated
    assert not info["action_mask"].any()
    assert np.sign(total) == info["outcome"]
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.int64(0))
    env.close()


def test_illegal_actions_raise() -> None:
    env = BattleEnv("gen1ou")
    _, info = env.reset(seed=1)
    with pytest.raises(IllegalActionError, match="not legal"):
        env.step(np.flatnonzero(info["action_mask"] == 0)[0])
    env.close()


@pytest.mark.parametrize("observation", ["entity", "metamon-default"])
def test_vector_environment_steps_all_battles(observation: str) -> None:
    env = BattleVectorEnv("gen1ou", num_envs=4, observation=observation)
    observations, info = env.reset(seed=2)
    rng = np.random.default_rng(2)
    finished = 0
    for _ in range(400):
        assert env.observation_space.contains(observations)
        assert info["action_mask"].any(axis=1).all()
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in info["action_mask"]])
        observations, rewards, terminated, truncated, info = env.step(actions)
        assert rewards.shape == (4,)
        finished += int((terminated | truncated).sum())
        if finished >= 2:
            break
    assert finished >= 2
    env.close()


def test_vector_environment_is_found_by_id() -> None:
    env = gymnasium.make_vec("nashmon/gen1ou-v0", num_envs=2)
    assert env.num_envs == 2
    env.close()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"format_id": "gen1oo"}, UnknownFormatError, "gen1ou"),
        ({"format_id": "gen5triplescustomgame"}, UnsupportedError, "triples"),
        (
            {"format_id": "gen9vgc2025regi", "observation": "metamon-default"},
            UnsupportedError,
            "gen9vgc2025regi",
        ),
        ({"format_id": "gen1randombattle", "teams": "competitive"}, UnsupportedError, "its own"),
    ],
)
def test_impossible_environments_are_refused_by_name(
    options: dict[str, str], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        BattleEnv(**options)
