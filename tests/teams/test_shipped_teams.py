"""Every shipped team: legal, different from the others, the same in Showdown's own hands."""

from collections import Counter

import pytest

from nashmon.core.formats import get_format
from nashmon.sim.showdown import tools
from nashmon.teams.defaults import complete
from nashmon.teams.legality import Verdicts
from nashmon.teams.paste import parse_teams, write_paste
from nashmon.teams.pool import TeamPool, load_teams, named_sets
from nashmon.teams.team import Team

MINIMUM = {
    "gen1ou": 24,
    "gen2ou": 10,
    "gen3ou": 10,
    "gen4ou": 10,
    "gen9ou": 10,
    "gen9vgc2025regi": 10,
    "gen9championsvgc2026regmb": 10,
    "gen1ubers": 4,
    "gen5ou": 4,
    "gen6ou": 4,
    "gen7ou": 4,
    "gen8ou": 4,
    "gen9doublesou": 4,
}
RANDOM_FORMATS = [f"gen{gen}randombattle" for gen in range(1, 10)] + ["gen9randomdoublesbattle"]


def all_teams() -> list[tuple[str, Team]]:
    return [
        (format_id, team)
        for format_id, name in named_sets()
        for team in load_teams(format_id, f"{format_id}/{name}")
    ]


def test_every_format_has_its_teams_and_leads() -> None:
    for format_id, minimum in MINIMUM.items():
        teams = load_teams(format_id)
        assert len(teams) >= minimum
        leads = Counter(team.species[0] for team in teams)
        assert max(leads.values()) <= max(2, len(teams) // 4), (format_id, leads)


def test_teams_are_named_full_and_all_different() -> None:
    teams = all_teams()
    for format_id, team in teams:
        assert team.format == format_id
        assert team.name
        assert team.idea
        assert len(team.pokemon) == get_format(format_id).team_size
    assert len({team.digest for _, team in teams}) == len(teams)
    assert len({(format_id, team.name) for format_id, team in teams}) == len(teams)


def test_the_validator_accepts_every_team() -> None:
    teams = all_teams()
    questions = [(format_id, complete(team, format_id).packed) for format_id, team in teams]
    for (format_id, team), reasons in zip(teams, tools.validate_teams(questions), strict=True):
        assert not reasons, (format_id, team.name, reasons)


def test_shipped_verdicts_cover_every_team() -> None:
    for format_id, team in all_teams():
        assert Verdicts(format_id).get(complete(team, format_id).packed) == (), (
            f"{format_id}: {team.name}: run tools/judge_teams.py"
        )


def test_showdown_reads_and_writes_our_teams_the_same() -> None:
    for _, team in all_teams():
        assert tools.import_team(write_paste(team)) == team.packed
        assert tools.pack(tools.unpack(team.packed)) == _with_abilities(team)
        (again,) = parse_teams(tools.export_team(team.packed))
        assert again.packed == _with_abilities(team)


@pytest.mark.parametrize("format_id", RANDOM_FORMATS)
def test_random_teams_survive_both_ways(format_id: str) -> None:
    for seed in range(4):
        theirs = tools.random_team(format_id, seed)
        team = Team.from_packed(theirs)
        (pasted,) = parse_teams(tools.export_team(theirs))
        # Showdown's paste leaves out what its importer cannot read back.
        assert Team.from_packed(tools.pack(tools.unpack(team.packed))) == team
        assert pasted == team
        assert parse_teams(write_paste(team)) == [team]


def test_default_pools_need_no_node() -> None:
    for format_id, name in named_sets():
        assert len(TeamPool.load(format_id, f"{format_id}/{name}")) > 0


def _with_abilities(team: Team) -> str:
    """Showdown's unpacker names the first ability where none is stated."""
    sets = tools.unpack(team.packed)
    members = []
    for pokemon, entry in zip(team.pokemon, sets, strict=True):
        fields = pokemon.pack().split("|")
        fields[3] = fields[3] or entry["ability"].replace(" ", "").replace("'", "")
        members.append("|".join(fields))
    return "]".join(members)
