"""Every loss term: its gradient is the right one, exists where it should and nowhere else."""

import pytest
import torch
from torch import Tensor

from nashmon.learn import masked
from nashmon.learn.batch import Decisions
from nashmon.learn.bc import imitation_loss
from nashmon.learn.offline import OfflineConfig, imitation_weights
from nashmon.learn.ppo import filter_advantages, policy_loss
from nashmon.learn.rnad import action_values, interpolation, neurd_loss, stage_at
from nashmon.learn.value import clipped_value_loss, value_loss
from nashmon.nets.distribution import ILLEGAL, masked_log_softmax

ROWS, ACTIONS = 6, 5


def problem(seed: int = 0) -> tuple[Tensor, Tensor, Tensor, torch.Generator]:
    """Logits in double precision, masks with at least one legal action, legal actions."""
    g = torch.Generator().manual_seed(seed)
    logits = torch.randn(ROWS, ACTIONS, generator=g, dtype=torch.float64, requires_grad=True)
    masks = torch.rand(ROWS, ACTIONS, generator=g) < 0.5
    actions = torch.randint(ACTIONS, (ROWS,), generator=g)
    masks[torch.arange(ROWS), actions] = True
    masks[0] = torch.tensor([False, False, True, False, False])  # a forced move
    actions[0] = 2
    return logits, masks, actions, g


def log_softmax(logits: Tensor, masks: Tensor) -> Tensor:
    hidden = torch.where(masks, logits, torch.full_like(logits, ILLEGAL))
    return torch.where(masks, torch.log_softmax(hidden, -1), torch.full_like(logits, ILLEGAL))


def policy_terms() -> list[str]:
    return ["ppo", "entropy", "kl", "imitation", "smoothed", "filter", "max_q"]


def term(name: str, logits: Tensor, masks: Tensor, actions: Tensor, g: torch.Generator) -> Tensor:
    log_policy = log_softmax(logits, masks)
    fixed = torch.Generator().manual_seed(9)
    other = torch.randn(ROWS, ACTIONS, generator=fixed, dtype=torch.float64)
    advantage = torch.randn(ROWS, generator=fixed, dtype=torch.float64)
    taken = masked.chosen(log_policy, actions)
    if name == "ppo":
        old = masked.chosen(log_softmax(other, masks), actions)
        return policy_loss(taken, old, advantage, 10.0)
    if name == "entropy":
        return -masked.entropy(log_policy, masks)
    if name == "kl":
        return masked.kl(log_policy, log_softmax(other, masks), masks)
    if name == "imitation":
        return imitation_loss(log_policy, masks, actions, 0.0)
    if name == "smoothed":
        return imitation_loss(log_policy, masks, actions, 0.2)
    if name == "filter":
        return -imitation_weights(advantage, OfflineConfig(weighting="exponential")) * taken
    q = other.masked_fill(~masks, 0.0)
    return -(log_policy.exp() * q).sum(-1)


@pytest.mark.parametrize("name", policy_terms())
def test_gradient_equals_finite_differences_and_is_zero_only_where_it_must_be(name: str) -> None:
    logits, masks, actions, g = problem()
    assert torch.autograd.gradcheck(
        lambda x: term(name, x, masks, actions, g).sum(), (logits,), eps=1e-6, atol=1e-6
    )
    term(name, logits, masks, actions, g).sum().backward()
    gradient = logits.grad
    assert gradient is not None
    assert torch.isfinite(gradient).all()
    assert (gradient[~masks] == 0).all()  # illegal actions
    free = masks.sum(-1) > 1
    assert (gradient[free].abs().amax(-1) > 1e-6).all()  # every real decision
    assert gradient[0].abs().max() < 1e-12  # a forced move teaches nothing


@pytest.mark.parametrize("name", policy_terms())
def test_a_row_without_legal_actions_gives_finite_gradients(name: str) -> None:
    logits, masks, actions, g = problem()
    masks = masks.clone()
    masks[3] = False
    term(name, logits, masks, actions, g).sum().backward()
    assert logits.grad is not None
    assert torch.isfinite(logits.grad).all()


def test_minus_infinity_in_raw_logits_leaves_no_trace() -> None:
    """A head that already wrote −inf on illegal actions must not poison KL or entropy."""
    logits, masks, _, _ = problem()
    raw = logits.detach().float().masked_fill(~masks, float("-inf")).requires_grad_()
    log_policy = masked_log_softmax(raw, masks)
    loss = masked.kl(log_policy, masked.uniform(masks), masks) - masked.entropy(log_policy, masks)
    loss.sum().backward()
    assert raw.grad is not None
    assert torch.isfinite(raw.grad).all()


def test_clipped_ratios_stop_the_gradient_and_only_those() -> None:
    log_prob = torch.log(torch.tensor([1.5, 1.5, 0.5, 0.5, 1.1])).requires_grad_()
    advantage = torch.tensor([1.0, -1.0, 1.0, -1.0, 1.0])
    loss = policy_loss(log_prob, torch.zeros(5), advantage, 0.2)
    assert loss.tolist() == pytest.approx([-1.2, 1.5, -0.5, 0.8, -1.1])
    loss.sum().backward()
    assert log_prob.grad is not None
    assert (log_prob.grad != 0).tolist() == [False, True, True, False, True]


def test_neurd_moves_logits_by_the_advantage_whatever_their_probability() -> None:
    logits, masks, _, g = problem(2)
    q = torch.randn(ROWS, ACTIONS, generator=g, dtype=torch.float64)
    log_policy = log_softmax(logits, masks)
    neurd_loss(log_policy, masks, q, threshold=100.0, clip=100.0).sum().backward()
    policy = log_policy.detach().exp()
    advantage = (q - (policy * q).sum(-1, keepdim=True)).masked_fill(~masks, 0.0)
    mean = advantage.sum(-1, keepdim=True) / masks.sum(-1, keepdim=True)
    want = -(advantage - mean).masked_fill(~masks, 0.0)
    assert logits.grad is not None
    torch.testing.assert_close(logits.grad, want)


def test_neurd_threshold_blocks_only_forces_that_push_outwards() -> None:
    logits = torch.tensor([[3.0, -3.0], [3.0, -3.0]], requires_grad=True)
    masks = torch.ones(2, 2, dtype=torch.bool)
    q = torch.tensor([[1.0, -1.0], [-1.0, 1.0]])
    loss = neurd_loss(masked_log_softmax(logits, masks), masks, q, threshold=2.0, clip=100.0)
    loss.sum().backward()
    assert logits.grad is not None
    assert logits.grad[0].abs().max() == 0  # already beyond ±2 and pushed further out
    assert logits.grad[1].abs().min() > 0  # pushed back


def test_neurd_clips_the_force() -> None:
    logits = torch.zeros(1, 2, requires_grad=True)
    masks = torch.ones(1, 2, dtype=torch.bool)
    q = torch.tensor([[1000.0, -1000.0]])
    loss = neurd_loss(masked_log_softmax(logits, masks), masks, q, threshold=9.0, clip=3.0)
    loss.sum().backward()
    assert logits.grad is not None
    assert logits.grad.abs().max() == pytest.approx(3.0)


def test_action_values_correct_only_the_taken_action() -> None:
    q = action_values(
        torch.tensor([1.0]),
        torch.tensor([3.0]),
        torch.tensor([[0.1, 0.2, 0.3]]),
        torch.tensor([0.5]),
        torch.tensor([1]),
    )
    assert q[0].tolist() == pytest.approx([0.9, 0.8 + (3.0 - 1.0) / 0.5, 0.7])


def test_stages_repeat_and_interpolate_over_their_first_half() -> None:
    stages = ((10, 2), (20, 1))
    assert [stage_at(stages, u) for u in (0, 9, 10, 19, 20, 39, 40, 65)] == [
        (0, 10), (0, 10), (10, 10), (10, 10), (20, 20), (20, 20), (40, 20), (60, 20),
    ]  # fmt: skip
    assert [interpolation(stages, u) for u in (20, 25, 30, 39)] == [0.0, 0.5, 1.0, 1.0]


@pytest.mark.parametrize("bins", [0, 11])
def test_value_loss_gradient_equals_finite_differences(bins: int) -> None:
    g = torch.Generator().manual_seed(0)
    targets = torch.rand(4, generator=g, dtype=torch.float64) * 2 - 1
    support = torch.linspace(-1, 1, bins, dtype=torch.float64) if bins else None
    shape = (4, bins) if bins else (4,)
    x = torch.randn(shape, generator=g, dtype=torch.float64, requires_grad=True)

    def loss(x: Tensor) -> Tensor:
        value = (x.softmax(-1) * support).sum(-1) if support is not None else x
        output = Decisions(torch.zeros(4, 1), value, x if bins else None)
        return value_loss(output, targets, support).sum()

    assert torch.autograd.gradcheck(loss, (x,))
    loss(x).backward()
    assert x.grad is not None
    assert x.grad.abs().max() > 1e-4


def test_value_clipping_takes_the_larger_error() -> None:
    value = torch.tensor([1.0, 0.1], requires_grad=True)
    loss = clipped_value_loss(value, torch.zeros(2), torch.tensor([1.0, 0.5]), clip=0.2)
    assert loss.tolist() == pytest.approx([0.5 * 0.8**2, 0.5 * 0.4**2])


def test_advantage_filter_keeps_the_largest_and_respects_the_floor() -> None:
    advantages = torch.tensor([0.1, -0.5, 0.02, 0.3, -0.9, 0.0, 0.2, -0.4])
    keep = filter_advantages(advantages, 0.75, 0.0)
    assert keep.nonzero().flatten().tolist() == [1, 4]
    keep = filter_advantages(advantages, 0.0, 0.35)
    assert keep.nonzero().flatten().tolist() == [1, 4, 7]
    assert filter_advantages(advantages, 0.0, 0.0).all()


def test_hierarchical_magnet_is_uniform_over_groups_then_inside() -> None:
    masks = torch.tensor([[True, True, True, False, True], [True, False, False, False, False]])
    groups = torch.tensor([0, 0, 0, 1, 1])
    probs = masked.hierarchical_uniform(masks, groups).exp()
    assert probs[0].tolist() == pytest.approx([1 / 6, 1 / 6, 1 / 6, 0, 1 / 2])
    assert probs[1].tolist() == pytest.approx([1, 0, 0, 0, 0])
    assert masked.uniform(masks).exp()[0].tolist() == pytest.approx([0.25, 0.25, 0.25, 0, 0.25])


def test_kl_is_zero_for_equal_policies_and_positive_otherwise() -> None:
    logits, masks, _, g = problem(4)
    one = log_softmax(logits.detach(), masks)
    two = log_softmax(torch.randn(logits.shape, generator=g, dtype=torch.float64), masks)
    assert masked.kl(one, one, masks).abs().max() == 0
    distance = masked.kl(one, two, masks)
    assert (distance[masks.sum(-1) > 1] > 0).all()
