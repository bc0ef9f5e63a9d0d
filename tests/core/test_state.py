"""The state types: JSON, equality."""

from __future__ import annotations

import orjson
import pytest

from nashmon.core.state import (
    UniversalMove,
    UniversalPokemon,
    UniversalSide,
    UniversalState,
)

ZAPDOS = UniversalPokemon(
    species="zapdos",
    base_species="zapdos",
    ident="Sparky",
    level=100,
    gender="N",
    hp_fraction=0.5,
    hp=150,
    max_hp=300,
    fainted=False,
    status="slp",
    status_turns=2,
    types=("electric", "flying"),
    tera_type=None,
    terastallized=False,
    item="",
    ability=None,
    moves=(UniversalMove("roost", 3, 16), UniversalMove("thunderbolt", 24, 24, True)),
    stats=(1, 2, 3, 4, 5),
    active=True,
    revealed=True,
    selected=True,
    volatiles=(("confusion", 1),),
)
SIDE = UniversalSide(
    (ZAPDOS,), (), (("spikes", 2),), (("wish",),), 6, 0, ("tera",), None, ("zapdos",)
)
STATE = UniversalState(
    *("gen9ou", 9, "singles", 7, "move"),
    own=SIDE,
    foe=SIDE._replace(active=(None,), gimmicks_used=()),
    weather="raindance",
    weather_turns=2,
    fields=(("trickroom", 1),),
    force_switch=(False,),
    trapped=(True,),
    maybe_trapped=(False,),
    can_gimmick=("tera",),
    reviving=False,
)


def test_json_round_trip() -> None:
    assert UniversalState.from_dict(orjson.loads(orjson.dumps(STATE.to_dict()))) == STATE


def test_gimmick_used_is_any_gimmick() -> None:
    assert STATE.own.gimmick_used
    assert not STATE.foe.gimmick_used


@pytest.mark.parametrize("made", [ZAPDOS, SIDE, STATE, ZAPDOS.moves[0]])
def test_states_cannot_be_changed_and_are_equal_field_by_field(made: tuple[object, ...]) -> None:
    again = type(made)(*made)
    assert again == made and hash(again) == hash(made)
    with pytest.raises(AttributeError):
        setattr(made, made._fields[0], None)  # type: ignore[attr-defined]
    assert made._replace(**{made._fields[0]: "other"}) != made  # type: ignore[attr-defined]
