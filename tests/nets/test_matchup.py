from pathlib import Path

import numpy as np
import pytest
import torch
from policies import random_masks, random_observations, small_entity

from nashmon.agents.situation_gen1 import situation_from_gen1
from nashmon.nets.build import build_policy, load_policy, policy_meta
from nashmon.nets.checkpoint import save
from nashmon.nets.config import PolicyConfig
from nashmon.nets.matchup import PAIR, Matchup
from nashmon.nets.policy import Policy
from nashmon.sim.make import make_battles


def matchup_of(policy: Policy) -> Matchup:
    found = policy.encoder.matchup
    assert isinstance(found, Matchup)
    return found


@pytest.fixture(scope="module")
def positions() -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Decisions of p1 in the middle of random Gen 1 battles."""
    rng = np.random.default_rng(0)
    with make_battles("gen1ou", 256) as battles:
        step = battles.reset(1)
        for _ in range(25):
            counts = step.masks.sum(axis=-1)
            picks = (rng.random(counts.shape) * counts).astype(int)
            actions = (step.masks.cumsum(axis=-1) > picks[..., None]).argmax(axis=-1)
            step = battles.step(np.where(counts > 0, actions, -1))
        rows = np.flatnonzero(step.masks[:, 0, :4].any(axis=-1))
        shown = {name: array[rows, 0].copy() for name, array in step.observations.items()}
        return shown, step.masks[rows, 0].copy()


@pytest.mark.parametrize("format_id", ["gen1ou", "gen9ou", "gen9vgc2025regi"])
def test_the_kernel_gives_the_numbers_of_the_tensors(format_id: str) -> None:
    policy = small_entity(format_id, matchup=True)
    shown = random_observations(policy.observation, (64,), 3)
    numbers = policy.observation["pokemon_numbers"]
    shown["pokemon_numbers"][:9, :, numbers.column("fainted")] = 1
    made, wanted = matchup_of(policy)(shown), matchup_of(policy).estimate(shown)
    for ours, theirs in zip(made, wanted, strict=True):
        assert ours.shape == theirs.shape
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
    assert (made[0] > 0).float().mean() > 0.1


def test_estimates_are_close_to_the_damage_formula(
    positions: tuple[dict[str, np.ndarray], np.ndarray],
) -> None:
    """Of moves that use it: rounding, burns and critical hits that ignore stages are left out."""
    shown, masks = positions
    truth = situation_from_gen1(shown, masks, "gen1ou")
    policy = build_policy("gen1ou", PolicyConfig(matchup=True))
    tensors = {name: torch.from_numpy(array) for name, array in shown.items()}
    dealt, pairs = matchup_of(policy)(tensors)
    off = np.abs(dealt[:, 0, :, 0, 0].numpy() - truth.hit[:, 0].clip(max=1.5))
    assert off.mean() < 0.01 and np.quantile(off, 0.98) < 0.08
    best = pairs.view(len(masks), 6, PAIR)[..., 0].numpy()
    assert np.abs(best - truth.hit.max(axis=2).clip(max=1.5)).mean() < 0.015
    faster = pairs.view(len(masks), 6, PAIR)[:, 0, 5].numpy()
    healthy = (truth.own_status[:, 0] == 0) & (truth.foe_status[:, 0] == 0)
    expected = np.sign(truth.own_speed[:, 0] - truth.foe_speed)
    agree = np.sign(faster) == expected
    assert healthy.sum() > 50 and agree[healthy].mean() > 0.95


def test_damage_reaches_the_scores_of_moves_and_switches() -> None:
    """Without the facts of attacks the policy is another one, everywhere."""
    policy = small_entity("gen1ou", matchup=True, memory="none")
    shown = random_observations(policy.observation, (1, 32), 5)
    masks = random_masks((1, 32, policy.actions.num_actions), 1.0)
    effect = policy.encoder.embedded({name: array[0] for name, array in shown.items()})[2]
    assert effect.shape[-1] == 4
    before = policy.evaluate(shown, masks).log_policy
    matchup_of(policy).strikes.zero_()
    after = policy.evaluate(shown, masks).log_policy
    assert ((before - after).abs().amax(dim=-1) > 1e-3).float().mean() > 0.9


def test_a_checkpoint_brings_the_facts_of_attacks_along(tmp_path: Path) -> None:
    policy = small_entity("gen1ou", matchup=True)
    save(tmp_path / "saved", {"policy": dict(policy.state_dict())}, policy_meta(policy))
    again, _ = load_policy(tmp_path / "saved")
    shown = random_observations(policy.observation, (2, 3), 1)
    masks = random_masks((2, 3, policy.actions.num_actions), 0.5)
    masks[..., 0] = True
    first, second = policy.evaluate(shown, masks), again.evaluate(shown, masks)
    assert torch.equal(first.log_policy, second.log_policy)
