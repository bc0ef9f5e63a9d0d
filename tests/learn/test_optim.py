"""Optimiser plumbing: accumulation, clipping, precision, averages, failures."""

import pytest
import torch
from torch import nn

from nashmon.learn.optim import Average, Descent, OptimConfig


def module(seed: int = 0) -> nn.Linear:
    torch.manual_seed(seed)
    return nn.Linear(3, 2)


def test_accumulated_steps_equal_one_large_step() -> None:
    data = torch.randn(8, 3, generator=torch.Generator().manual_seed(1))
    whole, parts = module(), module()
    config = OptimConfig(kind="sgd", learning_rate=0.1, max_grad_norm=0.0)
    assert Descent(whole.parameters(), config).step((whole(data) ** 2).mean()) is not None
    split = OptimConfig(kind="sgd", learning_rate=0.1, max_grad_norm=0.0, accumulate=2)
    descent = Descent(parts.parameters(), split)
    assert descent.step((parts(data[:4]) ** 2).mean()) is None
    assert descent.steps == 0
    assert descent.step((parts(data[4:]) ** 2).mean()) is not None
    torch.testing.assert_close(whole.weight, parts.weight)


def test_gradients_are_clipped_to_the_norm() -> None:
    net = module()
    before = net.weight.detach().clone()
    config = OptimConfig(kind="sgd", learning_rate=1.0, max_grad_norm=0.01)
    norm = Descent(net.parameters(), config).step(1000 * net(torch.ones(1, 3)).sum())
    assert norm is not None
    assert norm > 1
    moved = torch.cat([(net.weight - before).flatten(), torch.zeros(0)])
    assert moved.norm() <= 0.0101


def test_warmup_ramps_the_rate() -> None:
    net = module()
    descent = Descent(net.parameters(), OptimConfig(learning_rate=1.0, warmup_steps=4))
    rates = []
    for _ in range(6):
        descent.step((net(torch.ones(1, 3)) ** 2).sum())
        rates.append(descent.optimizer.param_groups[0]["lr"])
    assert rates == pytest.approx([0.25, 0.5, 0.75, 1.0, 1.0, 1.0])


def test_a_non_finite_gradient_is_an_error_not_a_skipped_step() -> None:
    net = module()
    descent = Descent(net.parameters(), OptimConfig())
    with pytest.raises(FloatingPointError, match="gradient norm is nan at optimiser step 0"):
        descent.step(net(torch.full((1, 3), float("nan"))).sum())


def test_bf16_trains_on_the_cpu_and_fp16_names_what_it_needs() -> None:
    net = module()
    descent = Descent(net.parameters(), OptimConfig(precision="bf16", learning_rate=0.01))
    before = net.weight.detach().clone()
    with descent.autocast():
        output = net(torch.ones(4, 3))
    assert output.dtype == torch.bfloat16
    descent.step(output.float().pow(2).mean())
    assert not torch.equal(before, net.weight)
    with pytest.raises(ValueError, match="fp16 needs a CUDA device"):
        Descent(net.parameters(), OptimConfig(precision="fp16"))


def test_average_follows_the_closed_form() -> None:
    net = module()
    start = net.weight.detach().clone()
    average = Average(net, rate=0.1)
    with torch.no_grad():
        net.weight.add_(1.0)
    for _ in range(5):
        average.update(net)
    torch.testing.assert_close(average.module.weight, start + 1 - 0.9**5)
    assert not average.module.weight.requires_grad


def test_state_in_mid_accumulation_is_restored() -> None:
    config = OptimConfig(learning_rate=0.1, accumulate=2)
    data = torch.randn(4, 3, generator=torch.Generator().manual_seed(1))
    net = module()
    descent = Descent(net.parameters(), config)
    descent.step((net(data[:2]) ** 2).mean())
    twin = module(1)
    twin.load_state_dict(net.state_dict())
    other = Descent(twin.parameters(), config)
    other.load_state_dict(descent.state_dict())
    for n, d in ((net, descent), (twin, other)):
        d.step((n(data[2:]) ** 2).mean())
    assert torch.equal(net.weight, twin.weight)
