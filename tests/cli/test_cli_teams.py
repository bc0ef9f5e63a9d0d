"""`nashmon teams` as a user meets it."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from nashmon.cli.main import app
from nashmon.core.errors import NashmonError
from nashmon.core.home import HOME_VARIABLE
from nashmon.sim.showdown.install import showdown_path
from nashmon.teams import read_teams
from nashmon.teams.pool import load_teams

RUNNER = CliRunner()


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = showdown_path()
    home = tmp_path / "home"
    home.mkdir()
    (home / installed.name).symlink_to(installed)
    monkeypatch.setenv(HOME_VARIABLE, str(home))
    monkeypatch.setenv("COLUMNS", "200")


def run(*args: str, text: str = "", status: int = 0) -> str:
    result = RUNNER.invoke(app, ["teams", *args], input=text)
    assert result.exit_code == status, result.output
    return result.stdout


def test_list_and_show() -> None:
    assert "gen1ou" in run("list")
    assert "Classic Starmie" in run("list", "gen1ou")
    assert run("show", "gen1ou", "classic").startswith("=== [gen1ou] Classic Starmie")
    assert run("show", "gen1ou", "0", "--packed").strip() == load_teams("gen1ou")[0].packed


def test_pack_and_unpack_are_inverses(tmp_path: Path) -> None:
    paste = run("show", "gen4ou", "0")
    packed = run("pack", text=paste)
    assert run("pack", text=run("unpack", text=packed)) == packed


def test_check_lists_reasons_and_fails(tmp_path: Path) -> None:
    file = tmp_path / "bad.txt"
    file.write_text("=== Bad ===\nMewtwo\n- Psychic\n")
    assert "Mewtwo" in run("check", "gen1ou", str(file), status=1)
    assert "5 of 5 teams are legal" in run("check", "gen1ubers")


def test_generate_writes_a_file_that_can_be_read(tmp_path: Path) -> None:
    file = tmp_path / "new.txt"
    run("generate", "gen1ou", "4", "--seed", "3", "--output", str(file))
    assert len(read_teams(file)) == 4
    assert "4 of 4" in run("check", "gen1ou", str(file))


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (("list", "gen1oo"), "gen1ou"),
        (("show", "gen1ou", "nobody"), "no team 'nobody'"),
        (("check", "gen1ou", "nowhere.txt"), "nowhere.txt"),
        (("pack", "nowhere.txt"), "cannot be read"),
        (("generate", "gen9ou", "1", "--wild"), "wild teams"),
    ],
)
def test_bad_input_names_the_thing(args: tuple[str, ...], named: str) -> None:
    result = RUNNER.invoke(app, ["teams", *args])
    assert isinstance(result.exception, NashmonError)
    assert named in str(result.exception)
