from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nashmon.core.errors import UnsupportedError
from nashmon.core.formats import get_format
from nashmon.observe import ObsSpec, SpecMismatchError, get_observation_space
from nashmon.observe.registry import NAMES


@pytest.mark.parametrize("name", NAMES)
def test_json_round_trip_keeps_the_hash(name: str) -> None:
    spec = get_observation_space(name, get_format("gen9ou")).spec
    again = ObsSpec.from_json(spec.to_json())
    assert again == spec
    assert again.hash == spec.hash
    spec.check(again)


@pytest.mark.parametrize("name", NAMES)
def test_column_names_are_unique_and_allocated_arrays_fit(name: str) -> None:
    space = get_observation_space(name, get_format("gen4ou"))
    arrays = space.allocate(3)
    for array in space.spec.arrays:
        names = [column.name for column in array.columns]
        assert len(set(names)) == len(names)
        assert all(column.doc and column.low < column.high for column in array.columns)
        assert arrays[array.name].shape == (3, *array.shape)
        assert arrays[array.name].dtype == np.dtype(array.dtype)


def test_one_spec_serves_all_formats_of_a_generation_and_game_type() -> None:
    ou, ubers = (get_observation_space("entity", get_format(f"gen1{t}")) for t in ("ou", "ubers"))
    assert ou.spec == ubers.spec
    doubles = get_observation_space("entity", get_format("gen9vgc2025regi"))
    assert doubles.spec != get_observation_space("entity", get_format("gen9ou")).spec


def test_a_mismatch_names_both_sides_and_the_first_difference() -> None:
    old = get_observation_space("entity", get_format("gen1ou")).spec
    new = get_observation_space("entity", get_format("gen2ou")).spec
    with pytest.raises(SpecMismatchError, match=r"checkpoint is entity v1 .gen1 singles.*gen2"):
        old.check(new, here="checkpoint", there="engine")
    field = old["field"]
    columns = (replace(field.columns[0], doc="turn / 2"), *field.columns[1:])
    arrays = tuple(replace(a, columns=columns) if a is field else a for a in old.arrays)
    with pytest.raises(SpecMismatchError, match=r"turn / 2"):
        old.check(replace(old, arrays=arrays))


def test_unknown_names_and_pairs_are_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"unknown observation 'pixels'.*entity"):
        get_observation_space("pixels", get_format("gen1ou"))
    with pytest.raises(UnsupportedError, match=r"metamon-default.*gen9vgc2025regi.*doubles"):
        get_observation_space("metamon-default", get_format("gen9vgc2025regi"))


def test_missing_arrays_and_columns_are_named() -> None:
    spec = get_observation_space("entity", get_format("gen1ou")).spec
    with pytest.raises(KeyError, match=r"pixels"):
        spec["pixels"]
    with pytest.raises(KeyError, match=r"ability"):
        spec["pokemon_ids"].column("ability")
