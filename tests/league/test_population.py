from __future__ import annotations

import json
from pathlib import Path

import pytest

from nashmon.core.errors import NashmonError
from nashmon.league.population import Member, Population, PopulationError, make_member


@pytest.fixture
def population(tmp_path: Path) -> Population:
    return Population.create(tmp_path / "population.json", "gen1ou")


def test_members_keep_their_ids_parents_and_provenance(population: Population) -> None:
    first = population.add(make_member("scripted:random", "gen1ou", "random"))
    child = make_member("maxpower", "gen1ou", "child", "response", ("random",), {"updates": 3})
    population.add(child)
    again = Population.open(population.path)
    assert again.members() == [first, child]
    assert again.get("child").parents == ("random",)
    assert again.get("child").provenance == {"updates": 3}


def test_removal_is_an_entry_and_the_id_stays_taken(population: Population) -> None:
    member = population.add(make_member("random", "gen1ou", "a"))
    population.remove("a", "weak")
    assert population.members() == [] and population.all_members() == [member]
    assert population.entries()[-1] == {"remove": "a", "reason": "weak"}
    with pytest.raises(PopulationError, match="already names"):
        population.add(make_member("maxpower", "gen1ou", "a"))
    with pytest.raises(PopulationError, match="no member 'a'"):
        population.remove("a")


def test_adding_twice_changes_nothing(population: Population) -> None:
    member = make_member("random", "gen1ou")
    population.add(member)
    before = population.path.read_text()
    assert population.add(make_member("random", "gen1ou")) == member
    assert population.path.read_text() == before


def test_generated_ids_are_stable_and_tell_agents_apart() -> None:
    first, second = make_member("random", "gen1ou"), make_member("maxpower", "gen1ou")
    assert first.id == make_member("random", "gen1ou").id
    assert first.id != second.id
    assert first.kind == "scripted"


@pytest.mark.parametrize(
    ("member", "message"),
    [
        (lambda: make_member("nobody", "gen1ou"), "unknown agent 'nobody'"),
        (lambda: make_member("random", "gen1oo"), "gen1ou"),
        (lambda: make_member("random", "gen9ou"), "plays gen9ou, the population"),
        (lambda: make_member("random", "gen1ou", parents=("x",)), "parent 'x'"),
        (lambda: make_member("random", "gen1ou", "a/b"), "id 'a/b'"),
        (lambda: Member("a", "random", "guess", "gen1ou", ""), "unknown kind 'guess'"),
    ],
)
def test_wrong_members_are_refused(population: Population, member: object, message: str) -> None:
    with pytest.raises(NashmonError, match=message):
        population.add(member())  # type: ignore[operator]
    assert population.members() == []


def test_damaged_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    with pytest.raises(PopulationError, match="no population"):
        Population.open(path)
    path.write_text("{}")
    with pytest.raises(PopulationError, match="not a population"):
        Population.open(path)
    path.write_text(json.dumps({"schema": 99, "format": "gen1ou", "entries": []}))
    with pytest.raises(PopulationError, match="schema 99"):
        Population.open(path)
