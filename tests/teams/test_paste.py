"""Pastes as people write them, and errors that name file and line."""

from pathlib import Path

import pytest

from nashmon.core.errors import TeamError
from nashmon.teams.paste import parse_teams, read_teams, write_paste

PASTE = """=== [gen9ou] Rain: swift and wet ===

Peli (Pelipper) (M) @ Damp Rock
Ability: Drizzle
Level: 99
Shiny: Yes
Tera Type: Ground
EVs: 248 HP / 252 Def / 8 SpA
Bold Nature
IVs: 0 Atk
- U-turn
- Hidden Power [Grass]

lando-t @ none
- EQ
~ Frustration
"""


def test_a_paste_with_header_nickname_aliases_and_defaults() -> None:
    (team,) = parse_teams(PASTE)
    assert (team.format, team.name, team.idea) == ("gen9ou", "Rain", "swift and wet")
    first, second = team.pokemon
    assert (first.nickname, first.species, first.gender) == ("Peli", "Pelipper", "M")
    assert (first.item, first.level, first.shiny) == ("Damp Rock", 99, True)
    assert first.evs == (248, 0, 252, 8, 0, 0)
    assert first.ivs == (31, 0, 31, 31, 31, 31)
    assert first.moves == ("U-turn", "Hidden Power Grass")
    assert (second.species, second.item) == ("Landorus-Therian", "")
    assert second.moves == ("Earthquake", "Frustration")
    assert second.happiness == 0  # what an unstated Frustration means


def test_header_and_text_come_back() -> None:
    (team,) = parse_teams(PASTE)
    assert parse_teams(write_paste(team, header=True)) == [team]


def test_one_file_holds_many_teams_pasted_or_packed(tmp_path: Path) -> None:
    file = tmp_path / "teams.txt"
    packed = "Tauros||||bodyslam|||||||"
    file.write_text(f"=== A ===\nTauros\n- Rest\n\n=== [gen1ou] B ===\nSnorlax\n- Rest\n\n{'':5}\n")
    assert [team.name for team in read_teams(file)] == ["A", "B"]
    file.write_text(f"{packed}\n\ngen1ou]My team|{packed}\n")
    first, second = read_teams(file)
    assert first.pokemon == second.pokemon
    assert (second.format, second.name) == ("gen1ou", "My team")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no team"),
        ("=== Empty ===\n\n", "'Empty' has no Pokémon"),
        ("Tauros\n- Body Slam\nAbillity: Intimidate", "line 3: line not understood: 'Abillity"),
        ("Tauros\n\nSnorlux\n- Rest", "line 3: unknown species 'Snorlux' .did you mean 'Snorlax'"),
        ("Tauros @ Lefties\n- Rust", "line 2: unknown move 'Rust'"),
        ("Ability: Intimidate\n- Rest", "line 1: expected 'Species @ Item'"),
        ("Tauros\nEVs: 252 Attak", "line 2: EV '252 Attak': expected 'number stat'"),
        ("Tauros\nLevel: 101", "level 101: expected 1 to 100"),
        ("Tauros\nLevel: ten", "line 2: level 'ten'"),
        ("Tauros\nLevel: 5\nLevel: 6", "line 3: level is given twice"),
        ("Tauros\nShiny: perhaps", "line 2: 'perhaps': expected Yes or No"),
        ("Tauros\n-", "line 2: expected a move after '-'"),
    ],
)
def test_malformed_pastes_name_the_line(text: str, message: str) -> None:
    with pytest.raises(TeamError, match=message):
        parse_teams(text, "my.txt")


def test_unreadable_files_are_clear_errors(tmp_path: Path) -> None:
    with pytest.raises(TeamError, match="cannot be read"):
        read_teams(tmp_path / "missing.txt")
    (tmp_path / "binary.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TeamError, match="not UTF-8"):
        read_teams(tmp_path / "binary.txt")
