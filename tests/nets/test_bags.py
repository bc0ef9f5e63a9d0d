from __future__ import annotations

import torch
from torch.nn import functional as F

from nashmon.nets.bags import sum_rows


def test_sums_and_gradient_equal_the_library() -> None:
    generator = torch.Generator().manual_seed(0)
    bags = torch.randint(0, 50, (300, 7), generator=generator)
    table = torch.randn(50, 12, generator=generator, requires_grad=True)
    grad = torch.randn(300, 12, generator=generator)
    ours, theirs = sum_rows(bags, table), F.embedding_bag(bags, table, mode="sum")
    assert torch.equal(ours, theirs)
    (own,) = torch.autograd.grad(ours, table, grad)
    (expected,) = torch.autograd.grad(theirs, table, grad)
    assert torch.allclose(own, expected, atol=1e-4)
    assert bool((own != 0).any())
