"""The shipped tables are what the tools make of the pinned package."""

import gzip
import subprocess
from pathlib import Path

import pytest

from nashmon.sim.showdown.install import ensure_showdown
from nashmon.sim.showdown.node import find_node

ROOT = Path(__file__).parents[2]
DATA = ROOT / "src" / "nashmon" / "teams" / "data"


def build(tool: str, output: Path) -> None:
    command = [str(find_node().path), str(ROOT / "tools" / tool), str(ensure_showdown())]
    subprocess.run([*command, str(output)], check=True)


def content(file: Path) -> bytes:
    """Unpacked: the packer's bytes may differ between versions of Node."""
    return gzip.decompress(file.read_bytes())


def test_names_are_up_to_date(tmp_path: Path) -> None:
    build("build_names.js", tmp_path / "names.json.gz")
    assert content(tmp_path / "names.json.gz") == content(DATA / "names.json.gz")


@pytest.mark.slow
def test_sets_are_up_to_date(tmp_path: Path) -> None:
    build("build_sets.js", tmp_path)
    made = {file.name: content(file) for file in tmp_path.iterdir()}
    assert made == {file.name: content(file) for file in (DATA / "sets").iterdir()}
