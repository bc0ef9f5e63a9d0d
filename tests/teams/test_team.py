"""Pack and unpack are inverses; damaged input is one clear error."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nashmon.core.errors import TeamError
from nashmon.teams.paste import parse_teams, write_paste
from nashmon.teams.team import PokemonSet, Team

FULL = PokemonSet(
    species="Urshifu-Rapid-Strike",
    nickname="Mr. Fist (2)",
    moves=("Surging Strikes", "Hidden Power Ice", "U-turn", "Frustration"),
    item="King's Rock",
    ability="Unseen Fist",
    nature="Jolly",
    evs=(4, 252, 0, 0, 0, 252),
    ivs=(31, 31, 0, 31, 30, 31),
    gender="M",
    level=50,
    shiny=True,
    happiness=3,
    hidden_power="Ice",
    pokeball="Cherish Ball",
    gigantamax=True,
    dynamax_level=0,
    tera_type="Water",
)

SPREADS = st.tuples(*[st.integers(0, 252)] * 6)
IVS = st.tuples(*[st.integers(0, 31)] * 6).filter(lambda ivs: any(iv != 31 for iv in ivs))
NICKNAMES = st.sampled_from(["", "A", "Ho (M)", "x: y", "- dash", "100%", "été", "(F)"])
SETS = st.builds(
    PokemonSet,
    species=st.sampled_from(["Ho-Oh", "Mr. Mime", "Farfetch’d", "Rotom-Wash", "Nidoran-F"]),
    nickname=NICKNAMES,
    moves=st.lists(
        st.sampled_from(["Soft-Boiled", "Hidden Power Fire", "U-turn", "Frustration", "Return"]),
        unique=True,
        max_size=4,
    ).map(tuple),
    item=st.sampled_from(["", "Leftovers", "King's Rock"]),
    ability=st.sampled_from(["", "Pressure", "As One (Spectrier)"]),
    nature=st.sampled_from(["", "Timid"]),
    evs=st.none() | SPREADS,
    ivs=st.none() | IVS,
    gender=st.sampled_from(["", "M", "F"]),
    level=st.integers(1, 100),
    shiny=st.booleans(),
    happiness=st.integers(0, 255),
    hidden_power=st.sampled_from(["", "Grass"]),
    pokeball=st.sampled_from(["", "Poke Ball"]),
    gigantamax=st.booleans(),
    dynamax_level=st.integers(0, 10),
    tera_type=st.sampled_from(["", "Stellar"]),
)


def test_every_field_survives_packing_and_pasting() -> None:
    team = Team((FULL,))
    assert Team.from_packed(team.packed) == team
    assert parse_teams(write_paste(team)) == [team]


@given(st.lists(SETS, min_size=1, max_size=6).map(tuple))
@settings(max_examples=30, deadline=None)
def test_any_team_survives_packing_and_pasting(members: tuple[PokemonSet, ...]) -> None:
    clean = tuple(_proper_species(member) for member in members)
    team = Team(clean)
    assert Team.from_packed(team.packed) == team
    assert parse_teams(write_paste(team)) == [team]


def _proper_species(member: PokemonSet) -> PokemonSet:
    from dataclasses import replace

    from nashmon.teams.names import display_name

    return replace(member, species=display_name("species", member.species))


def test_stated_zero_evs_differ_from_unstated_ones() -> None:
    stated, unstated = PokemonSet("Tauros", evs=(0,) * 6), PokemonSet("Tauros")
    assert stated.pack() != unstated.pack()
    assert Team.from_packed(stated.pack()).pokemon[0].evs == (0,) * 6
    assert Team.from_packed(unstated.pack()).pokemon[0].evs is None


def test_older_packed_teams_name_abilities_by_slot() -> None:
    for slot, name in (("0", "Blaze"), ("H", "Solar Power")):
        packed = f"Charizard|||{slot}|flamethrower|||||||"
        assert Team.from_packed(packed).pokemon[0].ability == name
    with pytest.raises(TeamError, match="no ability in slot '1'"):
        Team.from_packed("Charizard|||1|flamethrower|||||||")


def test_digest_ignores_order_and_nicknames_but_not_moves() -> None:
    first, second = PokemonSet("Tauros", ("Body Slam",)), PokemonSet("Snorlax", ("Rest",))
    team = Team((first, second))
    assert team.digest == Team((second, PokemonSet("Tauros", ("Body Slam",), "Bull"))).digest
    assert team.digest != Team((first, PokemonSet("Snorlax", ("Reflect",)))).digest


@pytest.mark.parametrize(
    ("packed", "message"),
    [
        ("", "empty"),
        ("Tauros|||", "Pokémon 1: expected 12 fields"),
        (
            "Tauros||||bodyslam|||||||]Snorlux||||rest|||||||",
            "Pokémon 2: unknown species 'Snorlux'",
        ),
        ("Tauros||||bodyslem|||||||", "did you mean 'Body Slam'"),
        ("Tauros||||bodyslam||||||x|", "level 'x': expected a whole number"),
        ("Tauros||||bodyslam||900,,,,,|||||", "hp EV 900: expected 0 to 255"),
        ("Tauros||||bodyslam||||32,,,,,|||", "hp IV 32: expected 0 to 31"),
        ("Tauros||||bodyslam|||Q||||", "gender 'Q'"),
    ],
)
def test_damaged_packed_teams_are_clear_errors(packed: str, message: str) -> None:
    with pytest.raises(TeamError, match=message):
        Team.from_packed(packed)


def test_a_nickname_that_would_break_the_packed_form_is_refused() -> None:
    with pytest.raises(TeamError, match="nickname"):
        PokemonSet("Tauros", nickname="a|b")
