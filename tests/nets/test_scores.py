from __future__ import annotations

import torch
from torch import nn

from nashmon.nets.scores import scores, scores_simply


def test_scores_and_gradients_equal_the_operators() -> None:
    generator = torch.Generator().manual_seed(0)
    out = nn.Linear(24, 1)
    actions = torch.randn(50, 5, 24, generator=generator)
    context = torch.randn(50, 24, generator=generator)
    context[0] = -actions[0, 0]  # exactly 0 before the rectifier: no slope
    slope = torch.randn(50, 5, generator=generator)
    found = []
    for function in (scores, scores_simply):
        leaves = actions.clone().requires_grad_(), context.clone().requires_grad_()
        result = function(*leaves, out)
        grads = torch.autograd.grad(result, (*leaves, out.weight, out.bias), slope)
        found.append((result, *grads))
    for ours, theirs in zip(*found, strict=True):
        assert ours.shape == theirs.shape
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)
    assert not bool(found[0][1][0, 0].any())
    assert all(bool((part != 0).any()) for part in found[0])


def test_other_precisions_use_the_operators() -> None:
    out = nn.Linear(8, 1).double()
    actions, context = torch.randn(3, 2, 8).double(), torch.randn(3, 8).double()
    assert torch.equal(scores(actions, context, out), scores_simply(actions, context, out))
