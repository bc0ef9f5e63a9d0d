import pytest
import torch

from nashmon.core.rewards import get_reward
from nashmon.nets.config import PolicyConfig
from nashmon.nets.value import ValueRangeError, build_value, check_value_range, two_hot

CENTRES = torch.linspace(-1, 1, 5)


def test_two_hot_has_the_return_as_its_mean() -> None:
    returns = torch.linspace(-1, 1, 41).view(1, 41)
    probs = two_hot(returns, CENTRES)
    assert torch.allclose((probs * CENTRES).sum(-1), returns, atol=1e-6)
    assert torch.allclose(probs.sum(-1), torch.ones(1, 41))
    assert bool(((probs > 1e-6).sum(-1) <= 2).all())


def test_two_hot_by_hand() -> None:
    assert torch.allclose(
        two_hot(torch.tensor([0.25, -1.0, 1.0]), CENTRES),
        torch.tensor([[0, 0, 0.5, 0.5, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 1.0]]),
    )


def test_returns_outside_the_range_are_an_error() -> None:
    with pytest.raises(ValueRangeError, match=r"1\.5.*\[-1, 1\]"):
        two_hot(torch.tensor([0.0, 1.5]), CENTRES)
    config = PolicyConfig(value="categorical")
    check_value_range(config, -1.0, 1.0)
    with pytest.raises(ValueRangeError, match=r"\[-1, 2\].*\[-1, 1\]"):
        check_value_range(config, -1.0, 2.0)
    check_value_range(PolicyConfig(value="scalar"), -100.0, 100.0)


def test_the_range_is_held_against_the_rewards_bounds() -> None:
    config = PolicyConfig(value="categorical")
    check_value_range(config, *get_reward("outcome").bounds)
    with pytest.raises(ValueRangeError, match="100"):
        check_value_range(config, *get_reward("binary").bounds)
    wide = PolicyConfig(value="categorical", value_low=-200, value_high=200)
    check_value_range(wide, *get_reward("symmetric_shaped").bounds)
    with pytest.raises(ValueRangeError, match="inf"):
        check_value_range(wide, *get_reward("default_shaped").bounds)


def test_categorical_value_is_the_mean_of_its_distribution() -> None:
    head = build_value(PolicyConfig(value="categorical", value_bins=5, width=8))
    value, logits = head(torch.randn(3, 8))
    assert logits is not None
    assert torch.allclose(value, (logits.softmax(-1) * CENTRES).sum(-1))
    assert bool((value.abs() <= 1).all())


def test_cross_entropy_to_two_hot_recovers_the_mean_return() -> None:
    torch.manual_seed(0)
    head = build_value(PolicyConfig(value="categorical", value_bins=5, width=8))
    optimizer = torch.optim.Adam(head.parameters(), lr=0.05)
    features = torch.ones(4, 8)
    targets = torch.tensor([1.0, 1.0, 1.0, -1.0])
    for _ in range(80):
        _, logits = head(features)
        loss = -(two_hot(targets, CENTRES) * logits.log_softmax(-1)).sum(-1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert abs(float(head(features)[0][0].detach()) - 0.5) < 0.02
