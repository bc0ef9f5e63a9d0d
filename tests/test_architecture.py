"""Imports point one way, only the command line prints, and files stay readable."""

import ast
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src" / "nashmon"

# Each package may import itself and what is listed here (DESIGN: imports point one way).
LAYERS = (
    ("core",),
    ("observe", "teams"),
    ("sim",),
    ("envs", "replays"),
    ("nets",),
    ("learn", "agents"),
    ("match",),
    ("league",),
    ("train",),
    ("review",),
    ("cli",),
)
FORBIDDEN = {
    "learn": {"core", "observe", "teams", "sim", "envs", "replays", "agents"},
    "core": {"torch", "poke_env", "gymnasium"},
    "teams": {"observe"},
    "observe": {"teams", "torch", "poke_env", "gymnasium"},
}
MODULES = sorted(SRC.rglob("*.py"))


def level(package: str) -> int:
    return next(i for i, names in enumerate(LAYERS) if package in names)


def imported(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "use absolute imports"
            names.add(node.module or "")
    return names


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SRC)))
def test_module_keeps_the_architecture(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    parts = path.relative_to(SRC).parts
    if len(parts) > 1:
        package = parts[0]
        for name in imported(tree):
            root = name.split(".")
            target = root[1] if root[0] == "nashmon" and len(root) > 1 else root[0]
            assert target not in FORBIDDEN.get(package, set()), f"{package} imports {name}"
            if root[0] == "nashmon" and len(root) > 1 and target != package:
                assert level(target) < level(package), f"{package} imports {name}"
        if package != "cli":
            calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
            prints = [c.lineno for c in calls if getattr(c.func, "id", "") == "print"]
            assert not prints, f"print at lines {prints}: use logging"
    assert text.count("\n") <= 600, "split this module"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SRC)))
def test_no_broad_except(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ExceptHandler):
            assert node.type is not None, f"bare except at line {node.lineno}"
            assert getattr(node.type, "id", "") != "Exception", f"broad except, line {node.lineno}"


def test_readme_is_short() -> None:
    readme = SRC.parents[1] / "README.md"
    assert len(readme.read_text(encoding="utf-8").splitlines()) <= 120
