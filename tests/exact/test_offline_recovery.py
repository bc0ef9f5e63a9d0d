"""BC and offline RL on logged games of Kuhn poker whose best policy is known exactly."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from nashmon.learn.batch import Batch
from nashmon.learn.bc import BC, BCConfig
from nashmon.learn.critic import TabularCritic
from nashmon.learn.games import load_game
from nashmon.learn.offline import Offline, OfflineConfig
from nashmon.learn.optim import OptimConfig
from nashmon.learn.tabular import TabularPolicy, to_batch
from nashmon.learn.tree import Player

TREE = load_game("kuhn")
OPPONENT = TREE.uniform()
BEST_VALUE, BEST = TREE.best_response(OPPONENT, 0)
SEAT_0 = (TREE.infoset_player == 0)[:, None]
OPTIMAL = np.where(SEAT_0 & (BEST.sum(1, keepdims=True) > 0), BEST, OPPONENT)
SUPPORT = torch.linspace(-1.0, 1.0, 21)


def value(policy: TabularPolicy) -> float:
    """Exact return of the policy in seat 0 against the opponent that made the data."""
    return TREE.value(np.where(SEAT_0, policy.table(), OPPONENT))


def logged(optimal_share: float, missing: float, seed: int, games: int = 800) -> Batch:
    """Seat 0's games; a part of the decisions is random and a part of the labels is lost."""
    rng = np.random.default_rng(seed)
    behaviour = optimal_share * OPTIMAL + (1 - optimal_share) * OPPONENT
    batch = to_batch(Player(TREE).play(behaviour, games, rng), TREE, TREE.max_return)
    batch = batch.columns(torch.arange(0, 2 * games, 2))
    lost = torch.from_numpy(rng.random(batch.actions.shape) < missing)
    return replace(batch, actions=batch.actions.masked_fill(lost, -1))


def train_bc(batch: Batch, updates: int = 120) -> TabularPolicy:
    policy = TabularPolicy(TREE)
    config = BCConfig(optim=OptimConfig(kind="sgd", learning_rate=1.0, max_grad_norm=0.0))
    learner = BC(policy, config, torch.Generator().manual_seed(0))
    for _ in range(updates):
        learner.update(batch)
    return policy


def train_offline(batch: Batch, seed: int, updates: int = 150, **changes: object) -> TabularPolicy:
    policy = TabularPolicy(TREE)
    g = torch.Generator().manual_seed(seed)
    config = OfflineConfig(
        optim=OptimConfig(kind="adam", learning_rate=0.1, max_grad_norm=0.0),
        discounts=(0.9, 1.0),
        critic_weight=1.0,
        target_rate=0.1,
    )
    critic = TabularCritic(TREE, SUPPORT, 3, 2, g)
    learner = Offline(policy, critic, replace(config, **changes), g)  # type: ignore[arg-type]
    for _ in range(updates):
        learner.update(batch)
    return policy


def test_bc_recovers_the_optimal_policy_despite_missing_labels() -> None:
    policy = train_bc(logged(optimal_share=1.0, missing=0.4, seed=0))
    assert value(policy) == pytest.approx(BEST_VALUE, abs=0.02)


def test_bc_recovers_the_behaviour_of_mixed_data() -> None:
    policy = train_bc(logged(optimal_share=0.5, missing=0.4, seed=0, games=8000))
    behaviour = 0.5 * OPTIMAL + 0.5 * OPPONENT
    assert value(policy) == pytest.approx(TREE.value(behaviour), abs=0.03)


@pytest.mark.parametrize(
    "changes",
    [
        {"weighting": "filter"},
        {"weighting": "exponential", "beta": 20.0},
        {"weighting": "filter", "max_q_weight": 0.5, "reduce": "min"},
        {"weighting": "filter", "action_samples": 4},
    ],
    ids=["filter", "exponential", "max_q", "sampled"],
)
def test_offline_recovers_the_optimal_policy_from_poor_data(changes: dict[str, object]) -> None:
    policy = train_offline(logged(optimal_share=0.3, missing=0.3, seed=1), 1, **changes)
    assert value(policy) > BEST_VALUE - 0.05


def test_offline_beats_bc_on_poor_data_with_an_interval() -> None:
    """95 % interval of the paired difference over data sets lies far above zero."""
    gains = []
    for seed in range(4):
        batch = logged(optimal_share=0.3, missing=0.3, seed=seed, games=400)
        gains.append(value(train_offline(batch, seed, 100)) - value(train_bc(batch, 80)))
    half_width = 3.18 * np.std(gains, ddof=1) / np.sqrt(len(gains))  # t, 3 degrees of freedom
    assert np.mean(gains) - half_width > 0.1
