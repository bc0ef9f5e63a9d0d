"""The league's commands as a user meets them: what they write, and one clear error each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nashmon.cli.main import app
from nashmon.core.errors import NashmonError


def nashmon(*arguments: str | Path) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.json")}


@pytest.fixture
def population(tmp_path: Path) -> Path:
    path = tmp_path / "population.json"
    for name in ("random", "maxpower"):
        nashmon("population", "add", path, f"scripted:{name}", "--id", name)
    return path


def test_a_population_is_kept_and_its_table_played_once(population: Path, tmp_path: Path) -> None:
    nashmon(
        "population", "add", population, "scripted:grunt", "--id", "grunt", "--parents", "random"
    )
    assert "grunt" in nashmon("population", "list", population)
    assert json.loads(nashmon("population", "show", population, "grunt"))["parents"] == ["random"]
    out = tmp_path / "payoff"
    play = ("payoff", population, "--games", "4", "--budget", "100", "--workers", "0", "-o", out)
    nashmon(*play)
    before = files(out)
    assert sum(map(sum, json.loads(before["payoff.json"])["games"])) == 2 * (3 * 4 + 100)
    nashmon(*play)
    assert files(out) == before
    assert "support" in nashmon("nash", out / "payoff.csv", "--samples", "5")
    nashmon("population", "remove", population, "grunt", "--reason", "weak")
    assert "grunt" not in nashmon("population", "list", population)


TABLES = {
    "asymmetric.csv": ("agent,a,b\na,0.5,0.7\nb,0.4,0.5\n", r"0\.7 and .*0\.4 do not sum to 1"),
    "hole.csv": ("agent,a,b\na,0.5\nb,0.4,0.5\n", "row a has 1 of 2 cells"),
    "blank.csv": ("agent,a,b\na,0.5,nan\nb,0.4,0.5\n", "expected a number between 0 and 1"),
    "unplayed.csv": (
        "first,second,wins,draws,games\na,b,5,0,10\na,c,5,0,10\n",
        r"b – c was never played \(1 of 3 pairs\)",
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_nash_refuses_a_wrong_table(name: str, tmp_path: Path) -> None:
    text, message = TABLES[name]
    (tmp_path / name).write_text(text)
    with pytest.raises(NashmonError, match=message) as error:
        nashmon("nash", tmp_path / name)
    assert name in str(error.value)


def test_unknown_and_unfit_agents_are_refused(population: Path, tmp_path: Path) -> None:
    before = population.read_text()
    with pytest.raises(NashmonError, match="unknown agent 'nobody'"):
        nashmon("population", "add", population, "scripted:nobody")
    with pytest.raises(NashmonError, match="no member 'nobody'"):
        nashmon("population", "show", population, "nobody")
    with pytest.raises(NashmonError, match=r"plays gen9ou, the population .* gen1ou"):
        nashmon("population", "add", population, "scripted:random", "-f", "gen9ou")
    with pytest.raises(NashmonError, match=r"zoo:gen1ou-magnet .*gen1 .* gen9ou"):
        nashmon("population", "add", tmp_path / "new.json", "zoo:gen1ou-magnet", "-f", "gen9ou")
    assert population.read_text() == before
    assert not (tmp_path / "new.json").exists()


def test_a_mixture_that_is_none_is_refused(population: Path, tmp_path: Path) -> None:
    path = tmp_path / "mixture.json"
    agents = [{"spec": "scripted:random", "probability": p} for p in (0.5, 0.4)]
    path.write_text(json.dumps({"format": "gen1ou", "agents": agents}))
    with pytest.raises(NashmonError, match=r"sum to 0\.9, expected 1"):
        nashmon("population", "add", population, f"mixture:{path}")
    path.write_text(json.dumps({"format": "gen9ou", "agents": agents[:1]}))
    with pytest.raises(NashmonError):
        nashmon("population", "add", population, f"mixture:{path}")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["agents=[scripted:random, scripted:nobody]"], "unknown agent 'nobody'"),
        (["agents=[zoo:gen1ou-magnet]", "run.format=gen9ou"], "gen9ou"),
        (["psro.variant=best"], "choose from psro, anytime"),
        (["psro.solver=best"], "unknown solver 'best'"),
        (["rounds=3"], "unknown setting rounds"),
    ],
)
def test_psro_refuses_before_it_writes(settings: list[str], message: str, tmp_path: Path) -> None:
    changes = [part for setting in settings for part in ("-s", setting)]
    with pytest.raises(NashmonError, match=message):
        nashmon("psro", "-o", tmp_path / "league", *changes)
    assert not (tmp_path / "league").exists()
