import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nashmon.nets.distribution import (
    ILLEGAL,
    NO_ACTION,
    entropy,
    log_prob,
    masked_log_softmax,
    sample,
    shape_policy,
)
from nashmon.sim import base


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_the_word_for_no_action_is_the_engines() -> None:
    assert NO_ACTION == base.NO_ACTION


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.1, 300.0))
def test_masked_softmax_is_normalised_and_finite(seed: int, scale: float) -> None:
    logits = (scale * torch.randn(8, 6, generator=generator(seed))).requires_grad_()
    mask = torch.rand(8, 6, generator=generator(seed + 1)) < 0.5
    log_policy = masked_log_softmax(logits, mask)
    sums = log_policy.exp().sum(-1)
    assert torch.allclose(sums, mask.any(-1).float(), atol=1e-5)
    assert bool((log_policy[~mask] == ILLEGAL).all())
    (entropy(log_policy).sum() + log_policy.max(-1).values.sum()).backward()
    assert logits.grad is not None
    assert bool(logits.grad.isfinite().all())
    assert bool((logits.grad[~mask] == 0).all())


def test_entropy_of_uniform_and_of_nothing() -> None:
    mask = torch.tensor([[True, True, True, False], [False] * 4])
    assert torch.allclose(
        entropy(masked_log_softmax(torch.zeros(2, 4), mask)), torch.tensor([math.log(3), 0.0])
    )


def test_samples_follow_the_log_policy() -> None:
    logits = torch.tensor([0.0, 2.0, -1.0, 5.0, 1.0])
    mask = torch.tensor([True, True, True, False, True])
    log_policy = masked_log_softmax(logits, mask).expand(40_000, 5)
    actions, log_probs = sample(log_policy, generator(1))
    counts = torch.bincount(actions, minlength=5).double()
    expected = log_policy[0].double().exp() * 40_000
    assert counts[3] == 0
    chi_square = ((counts - expected) ** 2 / expected.clamp(min=1e-9))[mask].sum()
    assert chi_square < 16.3  # 3 degrees of freedom, p = 0.001
    assert torch.equal(log_probs, log_policy.gather(1, actions[:, None]).squeeze(1))


def test_extreme_rows_are_sampled_safely() -> None:
    mask = torch.zeros(3, 7, dtype=torch.bool)
    mask[0, 6] = True
    mask[1, 0] = True
    log_policy = masked_log_softmax(torch.randn(3, 7, generator=generator()), mask)
    for seed in range(50):
        actions, log_probs = sample(log_policy, generator(seed))
        assert actions.tolist() == [6, 0, NO_ACTION]
        assert log_probs.tolist() == [0, 0, 0]


@pytest.mark.parametrize(("temperature", "top_p"), [(0.5, 1.0), (2.0, 0.7), (1.0, 0.5)])
def test_shaped_policy_is_the_stated_distribution(temperature: float, top_p: float) -> None:
    probs = torch.tensor([0.4, 0.3, 0.2, 0.1, 0.0])
    log_policy = torch.where(probs > 0, probs.log(), ILLEGAL)
    shaped = shape_policy(log_policy[None], temperature, top_p)[0].exp()
    sharp = probs ** (1 / temperature)
    sharp = sharp / sharp.sum()
    kept, total = torch.zeros(5), 0.0
    for index in sharp.argsort(descending=True):
        if total >= top_p:
            break
        total += float(sharp[index])
        kept[index] = sharp[index]
    assert torch.allclose(shaped, kept / kept.sum(), atol=1e-6)


def test_temperature_zero_is_greedy_and_keeps_empty_rows_empty() -> None:
    log_policy = masked_log_softmax(
        torch.tensor([[1.0, 3.0, 9.0], [0.0, 0.0, 0.0]]),
        torch.tensor([[True, True, False], [False, False, False]]),
    )
    actions, log_probs = sample(shape_policy(log_policy, temperature=0.0), generator())
    assert actions.tolist() == [1, NO_ACTION] and log_probs.tolist() == [0, 0]


@pytest.mark.parametrize("wrong", [{"temperature": -1.0}, {"top_p": 0.0}, {"top_p": 1.5}])
def test_senseless_shapes_are_refused(wrong) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        shape_policy(torch.zeros(1, 2), **wrong)


def test_log_prob_ignores_rows_without_action() -> None:
    log_policy = masked_log_softmax(torch.randn(2, 3), torch.ones(2, 3, dtype=torch.bool))
    found = log_prob(log_policy, torch.tensor([2, NO_ACTION]))
    assert found[0] == log_policy[0, 2] and found[1] == 0
