"""Exact exploitability (NashConv / 2, game units) of every algorithm after a stated budget.

python benchmarks/exact_games.py            the table of docs/exact-games.md
python benchmarks/exact_games.py --quick    biased RPS and Kuhn, one seed
"""

import argparse
import json
import statistics
from dataclasses import replace

import torch

from nashmon.learn.presets import networked, preset
from nashmon.learn.solve import SolveConfig, solve

# (game, algorithm, updates, games per update (0: all, weighted), network, seeds)
SMALL = ("ppo", "magnet", "damped", "portfolio", "rnad")
THREE = ("ppo", "magnet", "rnad")
FULL = [
    *[("biased_rps", a, 600, 0, False, 3) for a in SMALL],
    *[("kuhn", a, 600, 0, False, 3) for a in SMALL],
    *[("kuhn", a, 600, 4096, False, 3) for a in THREE],
    *[("kuhn", a, 600, 0, True, 3) for a in THREE],
    *[("leduc_ranks", a, 4000, 0, False, 3) for a in THREE],
    *[("leduc_ranks", a, 1000, 4096, False, 3) for a in THREE],
    *[("leduc_ranks", a, 400, 0, True, 3) for a in THREE],
    ("leduc_ranks", "rnad", 6000, 0, True, 3),
    ("leduc", "nfsp", 300, 4096, False, 3),
]
QUICK = [
    *[("biased_rps", a, 600, 0, False, 1) for a in ("ppo", "magnet", "damped", "rnad")],
    *[("kuhn", a, 600, 0, False, 1) for a in ("ppo", "magnet", "damped", "rnad")],
]


def build(game: str, algo: str, updates: int, games: int, network: bool) -> SolveConfig:
    config = preset(game, algo, updates, games)
    return networked(config) if network else config


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="", help="rows whose name starts so, as 'leduc rnad'")
    parser.add_argument("--first-seed", type=int, default=10, help="settings were tuned on others")
    options = parser.parse_args()
    torch.set_num_threads(1)
    result: dict[str, dict[str, float]] = {}
    for game, algo, updates, games, network, seeds in QUICK if options.quick else FULL:
        form = "network" if network else "table"
        name = f"{game} {algo} {form} {updates}x{games or 'all'} seeds={seeds}"
        if not name.startswith(options.only):
            continue
        config = build(game, algo, updates, games, network)
        first = options.first_seed
        runs = [list(solve(replace(config, seed=seed))) for seed in range(first, first + seeds)]
        ends = [run[-1].exploitability for run in runs]
        row = {
            "start": statistics.median(run[0].exploitability for run in runs),
            "best": statistics.median(min(p.exploitability for p in run) for run in runs),
            "end": statistics.median(ends),
            "worst": max(ends),
            "seconds": statistics.median(run[-1].seconds for run in runs),
        }
        result[name] = {k: round(v, 4) for k, v in row.items()}
        print(name, result[name], flush=True)
    print("RESULT " + json.dumps(result))


if __name__ == "__main__":
    main()
