from __future__ import annotations

import numpy as np
import pytest

from nashmon.observe.tables import move_features, species_features, type_chart
from nashmon.observe.vocab import vocabularies


def row(mod: str, move: str) -> dict[str, float]:
    table = move_features(mod)
    values = table.values[vocabularies(mod)["moves"][move]]
    return {name: float(value) for name, value in zip(table.columns, values, strict=True) if value}


def test_move_features_say_what_a_move_does() -> None:
    slam = row("gen1", "bodyslam")
    assert slam["power"] == pytest.approx(85 / 128)
    assert slam["status_par"] == pytest.approx(0.3)
    assert slam["type_normal"] == slam["category_physical"] == 1
    combat = row("gen9", "closecombat")
    assert combat["user_boost_def"] == combat["user_boost_spd"] == -0.25
    assert row("gen9", "swordsdance")["user_boost_atk"] == 0.5
    assert row("gen9", "growl")["target_boost_atk"] == -0.25
    assert row("gen9", "stealthrock")["side_condition_stealthrock"] == 1
    assert row("gen9", "thunderwave")["accuracy"] == pytest.approx(0.9)
    assert row("gen9", "trickroom")["pseudo_weather_trickroom"] == 1
    assert row("gen9", "trickroom")["priority"] == pytest.approx(-7 / 8)


def test_facts_follow_the_generation() -> None:
    assert row("gen3", "bite")["category_special"] == 1
    assert row("gen4", "bite")["category_physical"] == 1
    assert "type_dark" not in move_features("gen1").columns


@pytest.mark.parametrize("mod", ["gen1", "gen4", "gen9", "champions"])
def test_tables_align_with_the_vocabulary_and_are_constant(mod: str) -> None:
    for table in (move_features(mod), species_features(mod)):
        assert table.values.shape == (len(vocabularies(mod)[table.vocab]), len(table.columns))
        assert len(set(table.columns)) == len(table.columns)
        assert not table.values[:2].any()
        assert np.isfinite(table.values).all()
        assert np.abs(table.values).max() <= 2
        with pytest.raises(ValueError, match="read-only"):
            table.values[0, 0] = 1


def test_species_features_hold_base_stats_and_types() -> None:
    table = species_features("gen1")
    values = table.values[vocabularies("gen1")["species"]["tauros"]]
    tauros = dict(zip(table.columns, values, strict=True))
    assert tauros["base_spe"] == pytest.approx(110 / 256)
    assert tauros["type_normal"] == 1
    assert tauros["type_fire"] == 0


def test_type_chart_is_indexed_attacker_first() -> None:
    types = vocabularies("gen1")["types"]
    chart = type_chart("gen1")
    assert chart[types["water"], types["fire"]] == 2
    assert chart[types["fire"], types["water"]] == 0.5
    assert chart[types["ghost"], types["psychic"]] == 0  # the first generation's slip
    assert (chart[:2] == 1).all()
    assert (chart[:, :2] == 1).all()
