from __future__ import annotations

import pytest
import torch
from torch import Tensor

from nashmon.nets.pooling import pool, pool_simply


def rows_and_weights(slots: int) -> tuple[Tensor, Tensor, Tensor]:
    """Random rows with ties: unknown Pokémon look alike, fainted and missing ones weigh nothing."""
    generator = torch.Generator().manual_seed(slots)
    rows = torch.randn(40, 2, 6, 20, generator=generator)
    rows[:, 1, 4] = rows[:, 1, 5] = rows[:, 1, 3]
    active = torch.zeros(40, 2, 6)
    active[:, :, :slots] = (torch.rand(40, 2, slots, generator=generator) < 0.8).float()
    present = (torch.rand(40, 2, 6, generator=generator) < 0.7).float()
    present[:3] = 0  # nobody is there
    present[3:6] = 1
    return rows, active, present * (1 - active)


@pytest.mark.parametrize("slots", [1, 2])
def test_pooled_numbers_and_gradients_equal_the_operators(slots: int) -> None:
    rows, active, bench = rows_and_weights(slots)
    found = []
    for function in (pool, pool_simply):
        leaf = rows.clone().requires_grad_()
        parts = function(leaf, active, bench, slots)
        slopes = [torch.randn(p.shape, generator=torch.Generator().manual_seed(7)) for p in parts]
        (grad,) = torch.autograd.grad(parts, leaf, slopes)
        found.append((*parts, grad))
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-6)
    assert bool((found[0][3] != 0).any())


def test_an_output_that_is_not_used_has_no_slope() -> None:
    rows, active, bench = rows_and_weights(1)
    leaf = rows.clone().requires_grad_()
    _, mean, _ = pool(leaf, active, bench, 1)
    (grad,) = torch.autograd.grad(mean.sum(), leaf)
    torch.testing.assert_close(grad, (bench / 6).unsqueeze(-1).expand_as(grad))


def test_rows_that_are_a_view_are_read_as_they_are() -> None:
    rows, active, bench = rows_and_weights(1)
    turned = rows.transpose(2, 3).contiguous().transpose(2, 3)
    for ours, theirs in zip(
        pool(turned, active, bench, 1), pool(rows, active, bench, 1), strict=True
    ):
        assert torch.equal(ours, theirs)


def test_what_is_not_a_number_is_passed_on_for_the_learner_to_report() -> None:
    rows, active, bench = rows_and_weights(1)
    rows[3, 0] = float("nan")
    leaf = rows.clone().requires_grad_()
    _, mean, most = pool(leaf, active, bench, 1)
    assert bool(mean[3, :20].isnan().all())
    assert bool(most[3, :20].isnan().all())
    (grad,) = torch.autograd.grad(mean.sum() + most.sum(), leaf)
    assert not bool(grad.isnan().any())
