"""Predicted damage against the simulators' own rolls, and against numbers known by hand."""

import damage_truth
import numpy as np
import pytest

from nashmon.agents.combatant import Arena, Combatant, usual_stats
from nashmon.agents.damage import hit_chance, strike
from nashmon.core.dex import get_dex

ARENA = Arena()


def fighter(mod: str, species: str, **facts: object) -> Combatant:
    dex = get_dex(mod)
    stats = usual_stats(mod, species, 100)
    types = dex.species[species].types
    values = {"types": types, "own_types": types, "level": 100, "max_hp": stats[0]}
    values["stats"] = stats[1:]
    return Combatant(species=species, **{**values, **facts})  # type: ignore[arg-type]


def check(samples: list[damage_truth.Sample], least: int, share: float) -> None:
    assert len(samples) >= least
    wrong = [sample.text for sample in samples if not sample.fits]
    assert len(wrong) <= (1 - share) * len(samples), "\n".join(wrong)
    # Where no hit can be cut short by a faint, the mean of the rolls is the predicted one.
    whole = [s for s in samples if s.fits and 20 <= s.predicted.high < s.hp and not s.critical]
    plain = [s for s in whole if s.predicted.high <= 1.25 * s.predicted.low]
    ratios = [s.seen / ((s.predicted.low + s.predicted.high) / 2) for s in plain]
    tolerance = 4 * 0.05 / len(ratios) ** 0.5 + 0.005  # 0.05: spread of one roll
    assert abs(float(np.mean(ratios)) - 1) < tolerance


@pytest.mark.parametrize("gen", [1, 2, 3, 4, 6, 9])
def test_damage_seen_in_showdown_is_predicted(gen: int) -> None:
    samples = damage_truth.collect(f"gen{gen}ou", 4, seed=gen)
    check(samples, 10, 0.93)


def test_damage_seen_in_the_gen1_engine_is_predicted() -> None:
    check(damage_truth.collect("gen1ou", 40, 5, "gen1", "wild:20:3"), 150, 0.98)


@pytest.mark.slow
@pytest.mark.parametrize("gen", range(1, 10))
def test_damage_of_many_pairs_is_predicted(gen: int) -> None:
    samples = damage_truth.collect(f"gen{gen}ou", 120, seed=100 + gen)
    check(samples, 600, 0.98)
    expected = float(np.mean([s.predicted.crit_chance for s in samples]))
    seen = float(np.mean([s.critical for s in samples]))
    assert abs(seen - expected) < 0.03


def test_tauros_body_slam_on_tauros_in_generation_one() -> None:
    dex, tauros = get_dex(1), fighter("gen1", "tauros")
    assert (tauros.max_hp, tauros.stats) == (353, (298, 288, 238, 238, 318))
    blow = strike(dex, tauros, tauros, dex.moves["bodyslam"], ARENA)
    assert (blow.low, blow.high) == (95, 112)
    assert blow.crit_chance == 55 / 256
    assert hit_chance(dex, tauros, tauros, dex.moves["bodyslam"], ARENA) == 255 / 256


def test_garchomp_earthquake_in_generation_nine() -> None:
    dex = get_dex(9)
    chomp = fighter("gen9", "garchomp", stats=(359, 226, 176, 206, 333))
    foe = fighter("gen9", "heatran", max_hp=323, stats=(200, 248, 359, 248, 253))
    blow = strike(dex, chomp, foe, dex.moves["earthquake"], ARENA)
    assert blow.effect == 4.0
    assert blow.low >= foe.max_hp
    levitating = fighter("gen9", "rotomwash", ability="levitate")
    assert strike(dex, chomp, levitating, dex.moves["earthquake"], ARENA).high == 0


@pytest.mark.parametrize(
    ("changes", "factor"),
    [
        ({"item": "choiceband"}, 1.5),
        ({"item": "lifeorb"}, 1.3),
        ({"ability": "hugepower"}, 2.0),
        ({"boosts": (2, 0, 0, 0, 0, 0, 0)}, 2.0),
        ({"status": "brn"}, 0.5),
    ],
)
def test_what_changes_an_attack(changes: dict[str, object], factor: float) -> None:
    dex, foe = get_dex(9), fighter("gen9", "blissey")
    plain = strike(dex, fighter("gen9", "tauros"), foe, dex.moves["bodyslam"], ARENA)
    changed = strike(dex, fighter("gen9", "tauros", **changes), foe, dex.moves["bodyslam"], ARENA)
    assert changed.high / plain.high == pytest.approx(factor, rel=0.01)


@pytest.mark.parametrize(
    ("move", "changes", "factor"),
    [
        ("surf", {"item": "assaultvest"}, 1 / 1.5),
        ("surf", {"ability": "waterabsorb"}, 0.0),
        ("icebeam", {"ability": "thickfat"}, 0.5),
        ("flamethrower", {"ability": "flashfire"}, 0.0),
        ("surf", {"boosts": (0, 0, 0, 2, 0, 0, 0)}, 0.5),
        ("surf", {"tera_type": "grass", "types": ("grass",)}, 0.5),
    ],
)
def test_what_changes_a_defence(move: str, changes: dict[str, object], factor: float) -> None:
    dex, user = get_dex(9), fighter("gen9", "starmie")
    plain = strike(dex, user, fighter("gen9", "snorlax"), dex.moves[move], ARENA)
    changed = strike(dex, user, fighter("gen9", "snorlax", **changes), dex.moves[move], ARENA)
    assert changed.high / plain.high == pytest.approx(factor, abs=0.02)


def test_fixed_damage_and_halved_defence() -> None:
    dex = get_dex(1)
    chansey, gengar = fighter("gen1", "chansey"), fighter("gen1", "gengar", hp_fraction=0.5)
    toss = strike(dex, chansey, gengar, dex.moves["seismictoss"], ARENA)
    assert (toss.low, toss.high) == (100, 100)  # Ghosts are not immune in this generation
    fang = strike(dex, chansey, gengar, dex.moves["superfang"], ARENA)
    assert fang.low == round(gengar.max_hp * 0.5) // 2
    snorlax, foe = fighter("gen1", "snorlax"), fighter("gen1", "starmie")
    boom = strike(dex, snorlax, foe, dex.moves["selfdestruct"], ARENA)
    assert boom.high > 1.8 * strike(dex, snorlax, foe, dex.moves["doubleedge"], ARENA).high


def test_reflect_halves_and_a_critical_hit_ignores_it() -> None:
    dex, tauros = get_dex(1), fighter("gen1", "tauros")
    plain = strike(dex, tauros, tauros, dex.moves["bodyslam"], ARENA)
    behind = strike(dex, tauros, tauros, dex.moves["bodyslam"], Arena(reflect=True))
    assert behind.high == pytest.approx(plain.high / 2, abs=2)
    assert behind.crit_high == plain.crit_high
