"""Installs the pinned pokemon-showdown package into the user's cache, once per lock file."""

from __future__ import annotations

import functools
import hashlib
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from nashmon.core.errors import SetupError
from nashmon.core.home import home_directory
from nashmon.sim.showdown.node import find_node, npm_command

NODE_DIR = Path(__file__).parent / "node"
INSTALL_SECONDS = 900


def showdown_version() -> str:
    """The pinned version of the pokemon-showdown package."""
    package = json.loads((NODE_DIR / "package.json").read_text(encoding="utf-8"))
    return str(package["dependencies"]["pokemon-showdown"])


def showdown_path() -> Path:
    """Where the pinned Showdown is, or will be, installed."""
    return home_directory() / _install_name()


def find_showdown() -> Path:
    """The directory of the installed pokemon-showdown package; an error when it is missing."""
    package = _package(showdown_path())
    if not package.is_dir():
        raise SetupError(
            f"Pokémon Showdown {showdown_version()} is not installed in {showdown_path()}: "
            "run `nashmon setup`"
        )
    return package


def ensure_showdown() -> Path:
    """Install the pinned Showdown unless it is there; safe when several processes do it at once."""
    target = showdown_path()
    if not _package(target).is_dir():
        target.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        try:
            _npm_ci(work)
            _publish(work, target)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return _package(target)


def _package(directory: Path) -> Path:
    return directory / "node_modules" / "pokemon-showdown"


@functools.cache
def _install_name() -> str:
    lock = (NODE_DIR / "package-lock.json").read_bytes()
    return f"showdown-{showdown_version()}-{hashlib.sha256(lock).hexdigest()[:12]}"


def _npm_ci(directory: Path) -> None:
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(NODE_DIR / name, directory / name)
    # Optional packages and scripts would compile a database driver that battles never use.
    options = ["--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    command = [*npm_command(find_node()), "ci", *options]
    try:
        done = subprocess.run(
            command, cwd=directory, capture_output=True, text=True, timeout=INSTALL_SECONDS
        )
    except subprocess.TimeoutExpired as error:
        raise SetupError(f"npm did not finish within {INSTALL_SECONDS} s") from error
    if done.returncode != 0:
        raise SetupError(f"npm could not install Pokémon Showdown:\n{done.stderr.strip()[-2000:]}")
    if not _package(directory).is_dir():
        raise SetupError("npm finished without installing the pokemon-showdown package")


def _publish(work: Path, target: Path) -> None:
    """Move the finished installation into place; whoever comes second keeps the first one's."""
    try:
        work.rename(target)
    except OSError:
        if not _package(target).is_dir():
            raise
