"""`nashmon solve` prints a table, draws the curves and names what it does not know."""

from pathlib import Path

from typer.testing import CliRunner

from nashmon.cli.main import app


def test_solve_prints_and_draws(tmp_path: Path) -> None:
    picture = tmp_path / "curves.png"
    result = CliRunner().invoke(
        app,
        ["solve", "biased_rps", "--algo", "rnad,ppo", "--updates", "20", "--seeds", "2",
         "--plot", str(picture)],
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "rnad" in result.output
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_unknown_names_are_refused() -> None:
    for arguments, name in ((["chess"], "chess"), (["kuhn", "--algo", "luck"], "luck")):
        result = CliRunner().invoke(app, ["solve", *arguments])
        assert result.exit_code == 2
        assert name in result.output
