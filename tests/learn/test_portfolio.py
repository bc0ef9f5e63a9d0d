"""Portfolio: the closest reference pulls; each strategy drops the right one."""

import numpy as np
import pytest
import torch

from nashmon.learn.batch import Batch
from nashmon.learn.games import load_game
from nashmon.learn.portfolio import Portfolio, PortfolioConfig
from nashmon.learn.schedules import Power
from nashmon.learn.tabular import TabularPolicy, to_batch
from nashmon.learn.tree import Player

TREE = load_game("rps")


def policy_with(*rows: list[float]) -> TabularPolicy:
    policy = TabularPolicy(TREE)
    with torch.no_grad():
        policy.logits.copy_(torch.tensor(rows).log())
    return policy


def batch() -> Batch:
    return to_batch(Player(TREE).play(TREE.uniform(), 100, np.random.default_rng(0)), TREE)


ROCK, PAPER = [0.8, 0.1, 0.1], [0.1, 0.8, 0.1]
EVEN = [1 / 3, 1 / 3, 1 / 3]


def portfolio_of(config: PortfolioConfig, *policies: TabularPolicy) -> Portfolio:
    portfolio = Portfolio(config, policies[0])
    for policy in policies[1:]:
        portfolio.add(policy, batch())
    return portfolio


def loss_of(portfolio: Portfolio, policy: TabularPolicy) -> tuple[torch.Tensor, dict[str, float]]:
    data = batch()
    flat = data.decisions()
    output = policy.evaluate(flat.observations, flat.masks)
    return portfolio.loss(output.log_policy[0], flat.masks[0], portfolio.prepare(data))


def test_minimum_per_state_and_per_batch() -> None:
    """Seat 0 plays like reference 0, seat 1 like reference 1: only the per-state minimum is 0."""
    references = policy_with(ROCK, ROCK), policy_with(PAPER, PAPER)
    policy = policy_with(ROCK, PAPER)
    per_state = portfolio_of(PortfolioConfig(weight=Power(1.0)), *references)
    loss, metrics = loss_of(per_state, policy)
    assert loss.item() == pytest.approx(0.0, abs=1e-6)
    per_batch = portfolio_of(PortfolioConfig(weight=Power(1.0), closest="batch"), *references)
    loss, metrics = loss_of(per_batch, policy)
    distance = 0.8 * np.log(8) + 0.1 * np.log(1 / 8)
    assert loss.item() == pytest.approx(distance / 2, rel=1e-4)
    assert metrics["portfolio_kl_ref_0"] == pytest.approx(distance / 2, rel=1e-4)


def test_the_gradient_goes_to_the_closest_reference_only() -> None:
    near, far = policy_with(ROCK, ROCK), policy_with(PAPER, PAPER)
    policy = policy_with([0.7, 0.2, 0.1], [0.7, 0.2, 0.1])
    both = portfolio_of(PortfolioConfig(weight=Power(1.0)), near, far)
    alone = portfolio_of(PortfolioConfig(weight=Power(1.0)), near)
    gradients = []
    for portfolio in (both, alone):
        (gradient,) = torch.autograd.grad(loss_of(portfolio, policy)[0], policy.logits)
        gradients.append(gradient)
    assert gradients[0].abs().max() > 1e-3
    torch.testing.assert_close(gradients[0], gradients[1])


def test_recent_drops_the_oldest() -> None:
    config = PortfolioConfig(max_size=2, strategy="recent")
    portfolio = portfolio_of(config, *(policy_with(r, r) for r in (ROCK, PAPER, EVEN)))
    kept = [r.policy.table()[0].tolist() for r in portfolio.references]
    assert kept == [pytest.approx(PAPER), pytest.approx(EVEN)]


def test_best_drops_the_weakest() -> None:
    config = PortfolioConfig(max_size=2, strategy="best")

    def strength(policy) -> float:  # type: ignore[no-untyped-def]
        return -TREE.exploitability(policy.table())

    portfolio = Portfolio(config, policy_with(EVEN, EVEN), strength)
    portfolio.add(policy_with(ROCK, ROCK), batch())
    portfolio.add(policy_with([0.4, 0.3, 0.3], [0.4, 0.3, 0.3]), batch())
    kept = [r.policy.table()[0].tolist() for r in portfolio.references]
    assert kept == [pytest.approx(EVEN), pytest.approx([0.4, 0.3, 0.3])]
    with pytest.raises(ValueError, match="score function"):
        Portfolio(config, policy_with(EVEN, EVEN))


def test_diverse_drops_the_older_of_the_two_most_alike() -> None:
    config = PortfolioConfig(max_size=3, strategy="diverse")
    almost_rock = [0.79, 0.11, 0.1]
    rows = (PAPER, ROCK, EVEN, almost_rock)
    portfolio = portfolio_of(config, *(policy_with(r, r) for r in rows))
    kept = [r.policy.table()[0].tolist() for r in portfolio.references]
    assert kept == [pytest.approx(PAPER), pytest.approx(EVEN), pytest.approx(almost_rock)]


def test_the_current_policy_is_added_at_its_interval() -> None:
    portfolio = Portfolio(PortfolioConfig(add_interval=3), policy_with(EVEN, EVEN))
    policy = policy_with(ROCK, ROCK)
    sizes = [portfolio.advance(policy, batch())["portfolio_size"] for _ in range(7)]
    assert sizes == [1, 1, 2, 2, 2, 3, 3]
    assert PortfolioConfig().max_size == 5
    assert PortfolioConfig().add_interval == 5000


def test_state_is_restored_with_all_references() -> None:
    config = PortfolioConfig()
    portfolio = portfolio_of(config, policy_with(ROCK, ROCK), policy_with(PAPER, PAPER))
    loss_of(portfolio, policy_with(EVEN, PAPER))
    fresh = Portfolio(config, policy_with(EVEN, EVEN))
    fresh.load_state_dict(portfolio.state_dict())
    for old, new in zip(portfolio.references, fresh.references, strict=True):
        assert np.array_equal(old.policy.table(), new.policy.table())
        assert old.selected == new.selected
