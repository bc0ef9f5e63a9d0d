"""Completed teams are what a server would send into battle after validating them."""

import json
import subprocess

import pytest

from nashmon.sim.showdown import tools
from nashmon.sim.showdown.install import ensure_showdown
from nashmon.sim.showdown.node import find_node
from nashmon.teams.defaults import complete
from nashmon.teams.paste import parse_teams
from nashmon.teams.pool import load_teams, named_sets
from nashmon.teams.team import PokemonSet, Team

# What the server does: unpack, validate (which fills in and corrects), pack again.
SERVER = """
const { Teams, TeamValidator } = require(process.argv[1] + '/dist/sim');
const answers = JSON.parse(require('fs').readFileSync(0, 'utf8')).map(([format, packed]) => {
	const team = Teams.unpack(packed);
	const reasons = TeamValidator.get(format).validateTeam(team);
	return reasons || Teams.pack(team);
});
console.log(JSON.stringify(answers));
"""

ODD = {
    "gen2ou": "Marowak @ Thick Club\n- Swords Dance\n- Earthquake\n\nZapdos\n- Hidden Power [Ice]",
    "gen3ou": "Zapdos\nAbility: Pressure\nEVs: 4 HP\n- Hidden Power [Grass]",
    "gen7ou": "Lopunny-Mega @ Lopunnite\nAbility: Scrappy\nEVs: 252 Atk\n- Return",
    "gen7lc": "Abra\nAbility: Magic Guard\nLevel: 5\nEVs: 240 SpA\n- Hidden Power [Fire]",
    "gen8anythinggoes": "Zacian-Crowned @ Rusted Sword\nAbility: Intrepid Sword\nEVs: 4 HP\n"
    "- Behemoth Blade\n\nKeldeo\nAbility: Justified\nEVs: 4 HP\n- Secret Sword",
    "gen8vgc2021": "\n\n".join(
        f"{species}\nAbility: {ability}\nEVs: 4 HP\n- Protect"
        for species, ability in (
            ("Rillaboom-Gmax", "Grassy Surge"),
            ("Incineroar", "Intimidate"),
            ("Amoonguss", "Regenerator"),
            ("Togekiss", "Super Luck"),
        )
    ),
    "gen9ubers": "Arceus @ Fist Plate\nAbility: Multitype\nEVs: 4 HP\n- Judgment",
    "gen9ou": "Gholdengo\nAbility: Good as Gold\nEVs: 4 HP\n- Recover",
    "gen9monotype": "Gholdengo\nAbility: Good as Gold\nTera Type: Fairy\nEVs: 4 HP\n- Recover",
    "gen9championsvgc2026regmb": "",  # shipped teams cover stat points
}


def server(questions: list[tuple[str, str]]) -> list[str]:
    command = [str(find_node().path), "-e", SERVER, str(ensure_showdown())]
    answer = subprocess.run(
        command, input=json.dumps(questions), capture_output=True, text=True, check=True
    )
    packed: list[str] = json.loads(answer.stdout)
    return packed


def compared(team: Team) -> list[tuple[object, ...]]:
    """All that matters in battle; fixed genders and names of the species need not be stated."""
    rows: list[tuple[object, ...]] = []
    for p in team.pokemon:
        who = (p.species, p.moves, p.item, p.ability, p.level, p.nature or "Serious")
        numbers = (p.evs, p.ivs or (31,) * 6, p.happiness)
        power = p.hidden_power if any(move.startswith("Hidden Power") for move in p.moves) else ""
        rows.append((*who, *numbers, power, p.tera_type, p.shiny, p.gigantamax))
    return rows


@pytest.fixture(scope="module")
def teams() -> list[tuple[str, Team]]:
    shipped = [
        (format_id, team)
        for format_id, name in named_sets()
        for team in load_teams(format_id, f"{format_id}/{name}")
    ]
    odd = [(format_id, parse_teams(text)[0]) for format_id, text in ODD.items() if text]
    return shipped + odd


def test_complete_equals_what_the_server_fills_in(teams: list[tuple[str, Team]]) -> None:
    answers = server([(format_id, team.packed) for format_id, team in teams])
    for (format_id, team), answer in zip(teams, answers, strict=True):
        assert isinstance(answer, str), (format_id, team.species, answer)
        ours, theirs = complete(team, format_id), Team.from_packed(answer)
        assert compared(ours) == compared(theirs), (format_id, team.name)


def test_completing_twice_changes_nothing(teams: list[tuple[str, Team]]) -> None:
    for format_id, team in teams:
        once = complete(team, format_id)
        assert complete(once, format_id) == once
        assert Team.from_packed(once.packed, once.name, once.idea, once.format) == once


def test_gen2_gender_follows_the_attack_dv() -> None:
    hidden_ice = PokemonSet("Snorlax", ("Rest",), ivs=(30, 2, 30, 30, 30, 30))
    team = complete(Team((hidden_ice, PokemonSet("Snorlax", ("Rest",)))), "gen2ou")
    assert [pokemon.gender for pokemon in team.pokemon] == ["F", "M"]


def test_a_mega_without_its_stone_is_left_for_the_validator_to_refuse() -> None:
    text = "Metagross-Mega @ Leftovers\nAbility: Tough Claws\nEVs: 4 HP\n- Meteor Mash"
    team = complete(parse_teams(text)[0], "gen7ou")
    assert team.pokemon[0].species == "Metagross-Mega"
    assert any("Metagrossite" in reason for reason in tools.validate_team("gen7ou", team.packed))
