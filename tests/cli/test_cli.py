import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nashmon.cli.main import app

runner = CliRunner()


def nashmon(*args: str) -> subprocess.CompletedProcess[str]:
    code = "from nashmon.cli.main import main; main()"
    command = [sys.executable, "-c", code, *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_help_names_every_verb() -> None:
    result = runner.invoke(app, ["--help"])
    assert result.exit_code == 0
    for verb in ("setup", "demo", "battle", "match", "formats", "teams"):
        assert verb in result.output


def test_formats_can_be_searched() -> None:
    result = runner.invoke(app, ["formats", "gen1ou"])
    assert "gen1ou" in result.output and "gen9ou" not in result.output


def test_a_battle_is_told_and_repeats_with_its_seed() -> None:
    stories = [runner.invoke(app, ["battle", "--seed", "3"]).output for _ in range(2)]
    assert "Turn 1" in stories[0] and "wins" in stories[0]
    assert stories[0] == stories[1]


def test_a_match_prints_an_interval() -> None:
    result = runner.invoke(app, ["match", "maxpower", "random", "--games", "4", "--workers", "0"])
    assert result.exit_code == 0, result.output
    assert "95 %" in result.output


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (("match", "nobody", "random"), "unknown agent 'nobody'"),
        (("battle", "--format", "gen1oo"), "gen1ou"),
        (("match", "random", "random", "--teams", "no/such/place"), "no/such/place"),
    ],
)
def test_bad_input_is_one_clear_error(args: tuple[str, ...], named: str) -> None:
    result = nashmon(*args)
    assert result.returncode == 1
    assert named in result.stderr
    assert "Traceback" not in result.stderr


def test_a_run_that_cannot_begin_leaves_its_place_free(tmp_path: Path) -> None:
    wrong = ["train", "-s", "init=zoo:gen1ou-hour", "-s", "format=gen9ou", "--out"]
    for folder, before in ((tmp_path / "new", False), (tmp_path / "mine", True)):
        if before:
            folder.mkdir()
            (folder / "notes").write_text("kept")
        result = runner.invoke(app, [*wrong, str(folder)])
        assert result.exit_code != 0
        assert folder.exists() == before
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes"]
