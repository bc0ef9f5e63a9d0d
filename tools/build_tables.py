"""Write the dex and format tables of a pokemon-showdown package as data files.

Usage: python tools/build_tables.py PACKAGE_DIR [--out DIR] [--node NODE]
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "src" / "nashmon" / "core" / "data"
KINDS = ("species", "moves", "items", "abilities", "types", "natures")


def export(package: Path, node: str = "node") -> dict[str, Any]:
    """All tables of the package, as its own dex gives them."""
    command = [node, str(HERE / "build_tables.js"), str(package)]
    output = subprocess.run(command, check=True, capture_output=True, timeout=300).stdout
    tables: dict[str, Any] = json.loads(output)
    return tables


def delta(table: dict[str, Any], base: dict[str, Any]) -> dict[str, Any]:
    """Rows of a mod that differ from its generation; a row the mod lacks is null."""
    changes: dict[str, Any] = {"base": f"gen{table['gen']}", "gen": table["gen"]}
    for kind in KINDS:
        rows = {key: row for key, row in table[kind].items() if base[kind].get(key) != row}
        rows |= {key: None for key in base[kind] if key not in table[kind]}
        if rows:
            changes[kind] = rows
    return changes


def files(tables: dict[str, Any]) -> dict[str, bytes]:
    """File name → JSON text, in a form that depends on the package alone."""
    dexes = tables["dexes"]
    out: dict[str, Any] = {}
    for mod, table in dexes.items():
        base = f"gen{table['gen']}"
        out[f"dex_{mod}"] = table if mod == base else delta(table, dexes[base])
    out["formats"] = {"version": tables["version"], "formats": tables["formats"]}
    return {f"{name}.json.gz": _text(value) for name, value in sorted(out.items())}


def _text(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", type=Path, help="installed pokemon-showdown directory")
    parser.add_argument("--out", type=Path, default=DATA)
    parser.add_argument("--node", default="node")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    contents = files(export(arguments.package, arguments.node))
    for old in arguments.out.glob("*.json.gz"):
        if old.name not in contents:
            old.unlink()
    for name, content in contents.items():
        (arguments.out / name).write_bytes(gzip.compress(content, compresslevel=9, mtime=0))


if __name__ == "__main__":
    main()
