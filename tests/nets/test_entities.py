from __future__ import annotations

import pytest
import torch

from nashmon.nets.entities import four
from nashmon.nets.parts import add_parts
from nashmon.observe.spec import ArraySpec, Column


@pytest.mark.parametrize("paired", [False, True])
def test_parts_are_added_where_they_belong(paired: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    shapes = [(36, 8), (36, 8), (2, 1, 8), (3, 2, 2, 8), (3, 6, 8)]
    parts = [torch.randn(shape, generator=generator, requires_grad=True) for shape in shapes]
    rows, numbers, sides, slots, pairs = parts
    used = parts if paired else parts[:4]
    slope = torch.randn(36, 8, generator=generator)

    expected = (rows + numbers).view(3, 2, 6, 8) + sides
    expected = torch.cat((expected[:, :, :2] + slots, expected[:, :, 2:]), dim=2)
    if paired:
        expected = torch.stack((expected[:, 0] + pairs, expected[:, 1]), dim=1)
    expected = expected.flatten(0, 2)
    wanted = torch.autograd.grad(expected, used, slope)

    found = add_parts(1.0 * rows, numbers, sides, slots, pairs if paired else None)
    torch.testing.assert_close(found, expected)
    for ours, theirs in zip(torch.autograd.grad(found, used, slope), wanted, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_columns_of_the_four_moves_must_stand_side_by_side() -> None:
    names = ("level", "pp_0", "pp_1", "pp_2", "pp_3")
    array = ArraySpec("numbers", "float32", tuple(Column(name, "", 0.0, 1.0) for name in names))
    assert four(array, "pp") == slice(1, 5)
    names = ("pp_0", "level", "pp_1", "pp_2", "pp_3")
    array = ArraySpec("numbers", "float32", tuple(Column(name, "", 0.0, 1.0) for name in names))
    with pytest.raises(ValueError, match=r"columns pp_0 … pp_3 of numbers"):
        four(array, "pp")
