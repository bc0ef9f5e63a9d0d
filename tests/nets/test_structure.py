import math
from collections import OrderedDict

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from nashmon.nets.structure import StructureError, flatten, restore

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.binary(max_size=5)
)
arrays = hnp.arrays(
    st.sampled_from([np.float32, np.float64, np.int16, np.int64, np.uint8, np.uint32, np.bool_]),
    hnp.array_shapes(min_dims=0, max_dims=3, max_side=3),
)
keys = st.one_of(st.text(max_size=3), st.integers(), st.sampled_from(["$tensor", "$dict", "$x"]))
values = st.recursive(
    st.one_of(scalars, arrays, arrays.map(torch.from_numpy)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(keys, inner, max_size=3),
    ),
    max_leaves=8,
)


def same(a, b) -> bool:
    if isinstance(a, torch.Tensor):
        return isinstance(b, torch.Tensor) and same(a.numpy(), b.numpy())
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float):
        return a == b or (math.isnan(a) and math.isnan(b))
    return a == b


@settings(max_examples=80, deadline=None)
@given(values)
def test_every_storable_value_comes_back_the_same(value) -> None:
    structure, found = flatten(value)
    assert same(value, restore(structure, found))


def test_optimizer_state_comes_back() -> None:
    layer = torch.nn.Linear(2, 2)
    optimizer = torch.optim.AdamW(layer.parameters())
    layer(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    state = optimizer.state_dict()
    assert same(state, restore(*flatten(state)))


def test_tied_tensors_are_stored_apart() -> None:
    weight = torch.ones(2)
    _, found = flatten({"a": weight, "b": weight})
    assert found["value.a"].data_ptr() != found["value.b"].data_ptr()


def test_numpy_scalars_keep_their_type() -> None:
    back = restore(*flatten({"x": np.float32(0.1), "n": np.int64(3)}))
    assert type(back["x"]) is np.float32 and type(back["n"]) is np.int64


def test_state_dicts_become_plain_dicts() -> None:
    assert restore(*flatten(OrderedDict(a=1))) == {"a": 1}


@pytest.mark.parametrize(
    "value", [{"a": {"b": object()}}, {"a": {"b": {1, 2}}}, {"a": {"b": np.array(["x"])}}]
)
def test_other_values_are_refused_by_place(value) -> None:
    with pytest.raises(StructureError, match=r"value\.a\.b"):
        flatten(value)


def test_unknown_tags_are_refused() -> None:
    with pytest.raises(StructureError, match=r"\$future"):
        restore({"$future": 1}, {})
