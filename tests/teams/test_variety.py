"""Generated teams: legal, diverse, the same for the same seed."""

import numpy as np
import pytest

from nashmon.core.dex import get_dex, to_id
from nashmon.core.errors import TeamError, UnsupportedError
from nashmon.sim.showdown.tools import validate_team, validate_teams
from nashmon.teams.defaults import complete
from nashmon.teams.sets import get_material, variety_formats
from nashmon.teams.variety import diversity, generate

FORMATS = [
    "gen2ou",
    "gen3ou",
    "gen4ou",
    "gen6ou",
    "gen7ou",
    "gen9ou",
    "gen9vgc2025regi",
    "gen9championsvgc2026regmb",
]


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("wild", [False, True])
def test_gen1_teams_are_legal_by_construction(wild: bool) -> None:
    teams = generate("gen1ou", 80, rng(2), wild=wild)
    verdicts = validate_teams([("gen1ou", complete(team, "gen1ou").packed) for team in teams])
    assert not [reasons for reasons in verdicts if reasons]


@pytest.mark.parametrize("format_id", FORMATS)
def test_generated_teams_are_legal_full_and_seeded(format_id: str) -> None:
    teams = generate(format_id, 3, rng(5), validate_team)
    assert not any(validate_team(format_id, complete(team, format_id).packed) for team in teams)
    assert all(len(team.pokemon) == 6 for team in teams)
    assert teams == generate(format_id, 3, rng(5), validate_team)


def test_teams_are_different_and_diverse() -> None:
    teams = generate("gen1ou", 200, rng(0))
    assert len({team.digest for team in teams}) == 200
    spread = diversity(teams)
    # 149 legal species, drawn evenly: log2(149) = 7.2 bits.
    assert spread.num_species == 149
    assert spread.species_entropy > 7.0
    assert spread.mean_shared < 0.5


def test_wild_teams_reach_nearly_every_legal_move() -> None:
    teams = generate("gen1ou", 300, rng(0), wild=True)
    seen = {to_id(move) for team in teams for pokemon in team.pokemon for move in pokemon.moves}
    material = get_material("gen1ou")
    possible = {move for learnset in material.learnsets.values() for move in learnset.moves}
    assert len(seen) >= 0.95 * len(possible - material.banned_moves)
    assert len(get_dex(1).species) >= 151


def test_diversity_of_known_collections() -> None:
    team = generate("gen1ou", 1, rng(0))[0]
    same = diversity([team, team])
    assert same.species_entropy == pytest.approx(np.log2(6))
    assert same.effective_species == pytest.approx(6)
    assert same.mean_shared == 6


def test_what_cannot_be_generated_is_said() -> None:
    with pytest.raises(TeamError, match="needs a validator"):
        generate("gen9ou", 1, rng(0))
    with pytest.raises(UnsupportedError, match="wild teams"):
        generate("gen9ou", 1, rng(0), validate_team, wild=True)
    with pytest.raises(UnsupportedError, match="no set data for gen9randombattle"):
        generate("gen9randombattle", 1, rng(0), validate_team)


def test_an_impossible_format_ends_with_the_reason() -> None:
    with pytest.raises(TeamError, match="after 60 repairs; last reason: no"):
        generate("gen1ou", 1, rng(0), lambda format_id, packed: ["no"])


# Formats whose teams must be unevolved, share a type or colour, or follow rules of their own.
SPECIAL = ("lc", "nfe", "mono", "metronome", "purehackmons", "inheritance")


@pytest.mark.slow
@pytest.mark.parametrize(
    "format_id",
    [name for name in variety_formats() if not any(word in name for word in SPECIAL)],
)
def test_every_ordinary_format_generates(format_id: str) -> None:
    assert len(generate(format_id, 2, rng(1), validate_team)) == 2
