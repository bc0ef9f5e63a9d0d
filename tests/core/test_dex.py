from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nashmon.core.dex import get_dex, to_id
from nashmon.core.errors import UnsupportedError

ROOT = Path(__file__).parents[2]


def test_to_id_keeps_letters_and_digits() -> None:
    assert to_id("Farfetch’d-Galar") == "farfetchdgalar"
    assert to_id("Porygon2") == "porygon2"
    assert to_id("[Gen 1] OU") == "gen1ou"


def test_generations_have_their_own_facts() -> None:
    gen1, gen2, gen9 = get_dex(1), get_dex(2), get_dex("gen9")
    assert gen1.species["chansey"].base_stats == (250, 5, 5, 105, 105, 50)
    assert gen9.species["chansey"].base_stats == (250, 5, 5, 35, 105, 50)
    assert gen1.moves["blizzard"].accuracy == 90
    assert gen1.moves["swift"].accuracy is None
    assert gen1.moves["bite"].type == "normal" and gen2.moves["bite"].type == "dark"
    assert gen1.moves["tackle"].max_pp == 56 and gen1.moves["recover"].max_pp == 32
    assert gen2.moves["splash"].max_pp == 61  # 40 PP count 7 per PP Up
    assert "steel" not in gen1.types and "fairy" not in get_dex(5).types
    assert not gen1.items.keys() & {"leftovers"} and gen1.species["tauros"].abilities == ()
    assert gen9.species["tauros"].hidden_ability == "sheerforce"


def test_type_chart() -> None:
    assert get_dex(1).type_effectiveness("ghost", ["psychic"]) == 0.0
    assert get_dex(2).type_effectiveness("ghost", ["psychic"]) == 2.0
    assert get_dex(9).type_effectiveness("fire", ["grass", "steel"]) == 4.0
    assert get_dex(9).type_effectiveness("", ["ghost"]) == 1.0
    assert get_dex(5).type_effectiveness("ghost", ["steel"]) == 0.5
    with pytest.raises(KeyError):
        get_dex(1).type_effectiveness("dark", ["ghost"])


def test_effects_of_moves() -> None:
    moves = get_dex(9).moves
    assert moves["bodyslam"].secondaries[0].chance == 30
    assert moves["bodyslam"].secondaries[0].status == "par"
    assert moves["swordsdance"].effect.boosts[0] == 2
    assert moves["closecombat"].self_effect.boosts == (0, -1, 0, -1, 0, 0, 0)
    assert moves["rapidspin"].secondaries[0].own is not None
    assert moves["gigadrain"].drain == 0.5
    assert (moves["scaleshot"].min_hits, moves["scaleshot"].max_hits) == (2, 5)
    assert moves["stealthrock"].effect.side_condition == "stealthrock"
    assert moves["seismictoss"].damage == "level"
    assert moves["uturn"].self_switch == "any"
    assert moves["hiddenpowerfire"].real_move == "hiddenpower"


def test_champions_is_a_mod_with_its_own_pp_and_megas() -> None:
    champions, gen9 = get_dex("champions"), get_dex(9)
    assert champions.gen == 9
    assert champions.moves["protect"].max_pp != gen9.moves["protect"].max_pp
    stones = {mega for item in champions.items.values() for _, mega in item.mega}
    assert "garchompmega" in stones and stones <= champions.species.keys()


@pytest.mark.parametrize("mod", [*(f"gen{gen}" for gen in range(1, 10)), "champions"])
def test_names_in_the_tables_exist(mod: str) -> None:
    dex = get_dex(mod)
    for species in dex.species.values():
        if species.id == "missingno":  # of type Bird, which no chart knows
            continue
        assert set(species.types) <= {*dex.types, ""}
        assert len(species.base_stats) == 6
        assert species.prevo is None or species.prevo in dex.species
        assert set(species.abilities) <= dex.abilities.keys()
    assert all(move.type in dex.types or not move.type for move in dex.moves.values())


def test_unknown_mod_names_the_known_ones() -> None:
    with pytest.raises(UnsupportedError, match=r"gen10.*champions"):
        get_dex("gen10")


@pytest.mark.slow
def test_tables_are_those_of_the_pinned_package() -> None:
    from nashmon.sim.showdown.install import find_showdown
    from nashmon.sim.showdown.node import find_node

    code = (
        "import gzip, sys; from pathlib import Path; import build_tables as b;"
        "made = b.files(b.export(Path(sys.argv[1]), sys.argv[2]));"
        "kept = {p.name: gzip.decompress(p.read_bytes()) for p in b.DATA.glob('*.json.gz')};"
        "assert made == kept, [n for n in made | kept if made.get(n) != kept.get(n)];"
        "assert all(p.read_bytes()[4:8] == bytes(4) for p in b.DATA.glob('*.gz'))"
    )
    command = [sys.executable, "-c", code, str(find_showdown()), str(find_node().path)]
    subprocess.run(command, check=True, cwd=ROOT / "tools", timeout=300)
