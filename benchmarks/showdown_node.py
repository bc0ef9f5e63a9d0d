"""Choices per CPU second inside Node: our run-time patch against the stock simulator, interleaved.

Random legal battles with teams from Showdown's own generators, requests and log produced as for the
bridge but not sent.  Both builds play the same battles in turn, so that the machine's mood cancels.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import time
from pathlib import Path
from typing import Any

from nashmon.sim.showdown import tools
from nashmon.sim.showdown.install import NODE_DIR, ensure_showdown
from nashmon.sim.showdown.node import find_node
from nashmon.sim.showdown.process import NODE_OPTIONS

SCRIPT = Path(__file__).with_suffix(".js")
# format → (generator of its teams, battles that take about a second unpatched)
FORMATS = {
    "gen1ou": ("gen1randombattle", 50),
    "gen4ou": ("gen4randombattle", 30),
    "gen9ou": ("gen9randombattle", 20),
    "gen9vgc2025regi": ("gen9randomdoublesbattle", 40),
    "gen9championsvgc2026regmb": ("gen9randomdoublesbattle", 40),
}


class Player:
    """One Node process that plays random battles."""

    def __init__(self, node: str, build: str) -> None:
        patch = str(NODE_DIR / "patch.js") if build == "patched" else "stock"
        self._process = subprocess.Popen(
            [node, *NODE_OPTIONS, str(SCRIPT), str(ensure_showdown()), patch],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def play(self, job: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        result: dict[str, Any] = json.loads(self._process.stdout.readline())
        return result

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


def measure(
    format_id: str, nodes: dict[str, str], rounds: int, warm: float
) -> dict[str, dict[str, float]]:
    generator, count = FORMATS[format_id]
    teams = [tools.random_team(generator, seed) for seed in range(16)]
    players = {
        f"{build} {name}".strip(): Player(node, build)
        for name, node in nodes.items()
        for build in ("stock", "patched")
    }
    job = {"format": format_id, "teams": teams, "count": count}
    for player in players.values():
        seed, until = 1_000_000, time.monotonic() + warm
        while time.monotonic() < until:
            player.play({**job, "seed": seed})
            seed += count
    rates: dict[str, list[float]] = {name: [] for name in players}
    for index in range(rounds):
        results = {k: p.play({**job, "seed": index * count}) for k, p in players.items()}
        assert len({(r["choices"], r["bytes"]) for r in results.values()}) == 1, results
        for name, result in results.items():
            rates[name].append(result["choices"] / result["cpu_seconds"])
    for player in players.values():
        player.close()
    return {
        name: {"median": round(statistics.median(values)), "best": round(max(values))}
        for name, values in rates.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="three formats, few rounds")
    parser.add_argument("--formats", nargs="+", choices=FORMATS, default=None)
    parser.add_argument("--nodes", nargs="+", default=[], help="other node binaries to compare")
    args = parser.parse_args()
    formats = args.formats or (["gen1ou", "gen9ou", "gen9vgc2025regi"] if args.quick else FORMATS)
    nodes = {"": str(find_node().path), **{path: path for path in args.nodes}}
    rounds, warm = (3, 3.0) if args.quick else (15, 10.0)
    results: dict[str, Any] = {}
    for format_id in formats:
        found = measure(format_id, nodes, rounds, warm)
        results[format_id] = {
            "choices_per_cpu_second": found,
            "speedup": round(found["patched"]["median"] / found["stock"]["median"], 2),
        }
        print(format_id, json.dumps(results[format_id]))
    print("RESULT", json.dumps({"node": find_node().version, "formats": results}))


if __name__ == "__main__":
    main()
