"""Metamon's schema: golden export, import and its errors."""

from __future__ import annotations

import pytest
from test_state import STATE, ZAPDOS

from nashmon.core.errors import UnsupportedError
from nashmon.core.metamon import NO_MOVE, MetamonError, from_metamon, to_metamon
from nashmon.core.state import UniversalMove

ROOST = {
    "name": "roost",
    "move_type": "flying",
    "category": "status",
    "base_power": 0,
    "accuracy": 1.0,
    "priority": 0,
    "current_pp": 3,
    "max_pp": 16,
}


def example() -> dict[str, object]:
    foe = ZAPDOS._replace(item=None, fainted=True, hp_fraction=0.0, moves=(), last_move="surf")
    side = STATE.foe._replace(active=(foe,), num_fainted=2, preview=("rotomwash",), conditions=())
    return to_metamon(STATE._replace(foe=side))


def test_export_writes_metamons_words() -> None:
    data = example()
    own, foe = data["player_active_pokemon"], data["opponent_active_pokemon"]
    assert isinstance(own, dict) and isinstance(foe, dict)
    assert own["moves"][0] == ROOST
    shown = {key: own[key] for key in ("types", "tera_type", "item", "ability", "status", "effect")}
    assert shown == {
        "types": "electric flying",
        "tera_type": "notype",
        "item": "noitem",
        "ability": "unknownability",
        "status": "slp",
        "effect": "confusion",
    }
    assert (own["base_spa"], own["base_hp"], own["lvl"], own["hp_pct"]) == (125, 90, 100, 0.5)
    assert (foe["item"], foe["status"]) == ("unknownitem", "fnt")
    assert data["player_prev_move"] == NO_MOVE
    assert data["opponents_remaining"] == 4
    assert (data["player_conditions"], data["opponent_conditions"]) == ("spikes", "noconditions")
    assert (data["weather"], data["battle_field"]) == ("raindance", "trickroom")
    assert data["opponent_teampreview"] == ["rotom"]
    assert data["can_tera"] is True


def test_the_largest_condition_is_shown_as_metamon_compares_them() -> None:
    # Spikes (two layers) against a Reflect that began on turn 7 − 1 = 6.
    side = STATE.own._replace(conditions=(("reflect", 1), ("spikes", 2)))
    data = to_metamon(STATE._replace(own=side, foe=STATE.own))
    assert data["player_conditions"] == "reflect"


def test_hidden_power_keeps_its_type_as_the_type_of_the_move() -> None:
    mon = ZAPDOS._replace(moves=(UniversalMove("hiddenpowerice", 24, 24),))
    side = STATE.own._replace(active=(mon,))
    data = to_metamon(STATE._replace(format="gen4ou", gen=4, own=side, foe=STATE.own))
    assert data["player_active_pokemon"]["moves"][0]["name"] == "hiddenpower"
    assert to_metamon(from_metamon(data))["player_active_pokemon"] == data["player_active_pokemon"]


def test_files_of_older_versions_lack_some_keys() -> None:
    data = example()
    for key in ("can_tera", "opponent_teampreview"):
        del data[key]
    del data["player_active_pokemon"]["base_species"]  # type: ignore[attr-defined]
    state = from_metamon(data)
    assert (state.can_gimmick, state.foe.preview) == ((None,), ())
    assert state.own.active[0] is not None and state.own.active[0].base_species == "zapdos"


def test_unknown_and_missing_keys_are_errors_that_name_them() -> None:
    with pytest.raises(MetamonError, match="unknown keys colour"):
        from_metamon({**example(), "colour": 1})
    data = example()
    del data["weather"]
    with pytest.raises(MetamonError, match="missing keys weather"):
        from_metamon(data)


def test_states_without_actives_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="preview"):
        to_metamon(STATE._replace(phase="preview"))
