"""Damping: closed-form schedules, a controller whose effect lasts, a reference of its own."""

import math

import numpy as np
import pytest
import torch

from nashmon.learn.batch import Batch
from nashmon.learn.damping import Damping, DampingConfig
from nashmon.learn.games import load_game
from nashmon.learn.optim import OptimConfig, frozen
from nashmon.learn.ppo import PPO, PPOConfig
from nashmon.learn.schedules import ATARAXOS_LEARNING_RATE, ATARAXOS_MAGNET, Power
from nashmon.learn.tabular import NetworkPolicy, TabularPolicy, to_batch
from nashmon.learn.tree import Player


def kuhn_batch(policy: TabularPolicy, seed: int = 0) -> Batch:
    tree = load_game("kuhn")
    return to_batch(Player(tree).play(policy.table(), 200, np.random.default_rng(seed)), tree, 2.0)


def learner(config: DampingConfig, rate: float = 0.1) -> tuple[PPO, Damping, TabularPolicy]:
    policy = TabularPolicy(load_game("kuhn"))
    damping = Damping(config, policy)
    ppo_config = PPOConfig(
        optim=OptimConfig(kind="sgd", learning_rate=rate, max_grad_norm=0.0),
        entropy=Power(0.0),
        epochs=1,
        num_minibatches=1,
    )
    ppo = PPO(policy, ppo_config, torch.Generator().manual_seed(0), [damping])
    return ppo, damping, policy


@pytest.mark.parametrize("step", [0, 1, 500, 1_000_000, 3_000_000])
def test_schedules_equal_their_closed_form(step: int) -> None:
    config = DampingConfig()
    assert config.kl_schedule(step) == pytest.approx(0.05 * (1 + step / 1e6) ** -0.5)
    want = max(0.01 * (1 + step / 1e6) ** -0.7, 0.001)
    assert config.entropy_schedule(step) == pytest.approx(want)
    assert Power(2.0, 0.0)(step) == 2.0


def test_ataraxos_schedules() -> None:
    for i in (1, 40, 2300, 40_000):
        assert ATARAXOS_MAGNET(i - 1) == pytest.approx(0.05 / i**0.3)
        want = min(max(0.5 / i**1.1, 5e-6), 1e-4)
        assert ATARAXOS_LEARNING_RATE(i - 1) == pytest.approx(want)


def test_defaults_are_those_of_the_study() -> None:
    c = DampingConfig()
    assert (c.kl_coef_init, c.kl_coef_max, c.kl_power_alpha) == (0.05, 0.5, 0.5)
    assert (c.ent_coef_init, c.ent_coef_min, c.ent_power_alpha) == (0.01, 0.001, 0.7)
    assert (c.target_kl_per_step, c.kl_tolerance) == (0.01, 1.5)
    assert (c.lr_shrink_factor, c.lr_grow_factor) == (0.5, 1.1)
    assert (c.kl_coef_growth_factor, c.kl_coef_decay_factor) == (1.5, 0.9)
    assert (c.min_lr, c.max_lr) == (1e-6, 1e-3)


def test_the_multiplier_survives_the_schedule() -> None:
    """kl_t = clip(schedule(t)·m_t, 0, kl_max) after many more updates than the adaptation."""
    config = DampingConfig(kl_schedule_steps=10, adapt_interval=1, window=1, min_samples=1)
    _, damping, policy = learner(config)
    damping.observe(1.0)
    assert damping.kl_multiplier == pytest.approx(1.5)
    batch = kuhn_batch(policy)
    for _ in range(50):
        damping.advance(policy, batch)
        want = config.kl_schedule(damping.updates) * damping.kl_multiplier
        assert damping.kl_weight == pytest.approx(min(want, config.kl_coef_max))
    assert damping.kl_multiplier == pytest.approx(1.5)


def test_adapted_values_are_in_the_next_loss_and_the_next_optimiser_step() -> None:
    config = DampingConfig(
        adapt_interval=1, window=1, min_samples=1, target_kl_per_step=1e-9, max_lr=10.0
    )
    ppo, damping, policy = learner(config)
    with torch.no_grad():
        policy.logits.add_(torch.randn(policy.logits.shape, generator=ppo.generator))
    batch = kuhn_batch(policy)
    first = ppo.update(batch)  # observes a KL far above the target
    assert damping.kl_multiplier == pytest.approx(1.5)
    assert damping.lr_multiplier == pytest.approx(0.5)
    # The next loss carries the adapted weight …
    masks = batch.masks[batch.acting]
    log_policy = policy.evaluate(batch.decisions().observations, masks).log_policy[0].detach()
    reference = damping.prepare(batch)
    weight = damping.kl_weight
    assert weight == pytest.approx(1.5 * config.kl_schedule(1))
    term, metrics = damping.loss(log_policy, masks, reference)
    by_hand = weight * metrics["KL Divergence"]
    by_hand -= config.entropy_schedule(1) * metrics["Policy Entropy"]
    assert float(term) == pytest.approx(by_hand, rel=1e-5)
    # … and the next optimiser step the adapted rate (the third loss halves it a third time).
    assert first["learning_rate"] == pytest.approx(0.05)
    ppo.update(batch)
    assert ppo.descent.optimizer.param_groups[0]["lr"] == pytest.approx(0.1 * 0.5**3)


def test_the_rate_of_the_adapted_step_scales_the_weight_change() -> None:
    """Two equal learners; one has its rate halved by the controller: its step is half as long."""
    moves = []
    for multiplier in (1.0, 0.5):
        ppo, damping, policy = learner(DampingConfig(adaptive=False, max_lr=10.0))
        damping.lr_multiplier = multiplier
        before = policy.logits.detach().clone()
        ppo.update(kuhn_batch(policy))
        moves.append(policy.logits.detach() - before)
    torch.testing.assert_close(moves[0] * 0.5, moves[1], rtol=1e-4, atol=1e-7)


def test_the_controller_steers_both_ways_and_rests_inside_the_band() -> None:
    config = DampingConfig(adapt_interval=1, window=1, min_samples=1)
    _, damping, _ = learner(config)
    damping.observe(0.012)
    assert (damping.kl_multiplier, damping.lr_multiplier) == (1.0, 1.0)
    damping.observe(0.02)
    assert (damping.kl_multiplier, damping.lr_multiplier) == pytest.approx((1.5, 0.5))
    damping.observe(0.001)
    assert damping.kl_multiplier == pytest.approx(1.5 * 0.9)
    assert damping.lr_multiplier == pytest.approx(0.5 * 1.1)


def test_the_controller_waits_for_its_interval_and_looks_at_the_window_mean() -> None:
    config = DampingConfig(adapt_interval=4, window=4, min_samples=4)
    _, damping, _ = learner(config)
    for value in (0.1, 0.0, 0.0):
        damping.observe(value)
    assert damping.kl_multiplier == 1.0
    damping.observe(0.0)  # mean 0.025 > 0.015
    assert damping.kl_multiplier == pytest.approx(1.5)


def test_limits_hold_and_the_multipliers_do_not_wind_up() -> None:
    config = DampingConfig(adapt_interval=1, window=1, min_samples=1)
    _, damping, _ = learner(config)
    assert damping.learning_rate(1e-4) == 1e-4
    for _ in range(100):
        damping.observe(1.0)
    assert damping.kl_weight == pytest.approx(config.kl_coef_max)
    assert damping.learning_rate(1e-4) == pytest.approx(config.min_lr)
    damping.observe(0.0)  # a single step back is felt at once
    assert damping.kl_weight == pytest.approx(0.9 * config.kl_coef_max)
    assert damping.learning_rate(1e-4) == pytest.approx(1.1 * config.min_lr)


def test_both_terms_reach_the_policy_gradient() -> None:
    policy = TabularPolicy(load_game("kuhn"))
    gradients = {}
    for name, kl_weight, ent in (("kl", 0.1, 0.0), ("entropy", 0.0, 0.1)):
        config = DampingConfig(kl_coef_init=kl_weight, ent_coef_init=ent, ent_coef_min=0.0)
        damping = Damping(config, policy)
        with torch.no_grad():
            policy.logits.normal_(generator=torch.Generator().manual_seed(1))
        batch = kuhn_batch(policy)
        flat = batch.decisions()
        output = policy.evaluate(flat.observations, flat.masks)
        term, _ = damping.loss(output.log_policy[0], flat.masks[0], damping.prepare(batch))
        (gradients[name],) = torch.autograd.grad(term, policy.logits)
    assert all(g.abs().max() > 1e-4 for g in gradients.values())


def test_the_reference_is_a_full_frozen_copy() -> None:
    tree = load_game("kuhn")
    policy = NetworkPolicy(tree, torch.Generator().manual_seed(0), width=16)
    policy.policy.insert(2, torch.nn.Dropout(0.5))
    policy.train()
    reference = frozen(policy)
    shared = {p.data_ptr() for p in policy.parameters()}
    assert not shared & {p.data_ptr() for p in reference.parameters()}
    assert not any(p.requires_grad for p in reference.parameters())
    assert not reference.training  # no dropout in the reference
    assert np.array_equal(reference.table(), reference.table())
    before = reference.table()
    with torch.no_grad():
        for p in policy.parameters():
            p.add_(1.0)
    assert np.array_equal(before, reference.table())


def test_restoring_brings_back_the_reference_and_the_controller() -> None:
    config = DampingConfig(adapt_interval=1, window=3, min_samples=1)
    _, damping, policy = learner(config)
    with torch.no_grad():
        policy.logits.normal_(generator=torch.Generator().manual_seed(3))
    damping.snapshot(policy)
    damping.learning_rate(1e-4)
    for value in (0.5, 0.2, 0.0):
        damping.observe(value)
    damping.advance(policy, kuhn_batch(policy))
    _, fresh, _ = learner(config)
    fresh.load_state_dict(damping.state_dict())
    assert np.array_equal(fresh.reference.table(), policy.table())
    assert fresh.kl_weight == damping.kl_weight
    assert fresh.learning_rate(1e-4) == damping.learning_rate(1e-4)
    for d in (fresh, damping):
        d.observe(0.3)
    assert fresh.kl_multiplier == damping.kl_multiplier


def test_metric_names() -> None:
    ppo, _, policy = learner(DampingConfig())
    report = ppo.update(kuhn_batch(policy))
    for name in (
        "KL Divergence",
        "Policy Entropy",
        "Damping/KL Coefficient",
        "Damping/Entropy Coefficient",
        "Damping/Step",
        "Learning Rate",
    ):
        assert math.isfinite(report[name])


def test_bad_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="kl_tolerance"):
        DampingConfig(kl_tolerance=0.5)
    with pytest.raises(ValueError, match="no range"):
        DampingConfig(min_lr=1.0, max_lr=0.1)
