"""Damped against undamped iterated self-play at equal budgets: strength, exploitability, curves.

    python benchmarks/damping.py [--quick] [--out DIR]

Runs both presets of `nashmon selfplay` with several seeds, one process per run and core.  Then a
response is trained against each last iterate, and last iterates of equal seeds play each other.
What is finished is kept in the directory and not done again.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import tempfile
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import track
from rich.table import Table

from nashmon.agents.specs import get_agent
from nashmon.match.cells import write_atomically
from nashmon.match.statistics import Record
from nashmon.train.config import load_config
from nashmon.train.evaluation import match_on
from nashmon.train.responses import ResponseConfig, exploit
from nashmon.train.selfplay import Preset, SelfPlay, SelfPlayConfig, preset_run
from nashmon.train.teams import run_teams

PRESETS: tuple[Preset, ...] = ("baseline", "damped")
OPPONENTS = ("scripted:maxpower", "scripted:gymleader", "scripted:tactician")
SEED = 40_000_003


@dataclass(frozen=True)
class Plan:
    """The budget of every run."""

    iterations: int = 6
    updates: int = 50  # per iteration
    games: int = 1000  # per opponent, iteration and pair of last iterates
    response_updates: int = 200
    response_games: int = 3000
    seeds: int = 3
    settings: tuple[str, ...] = ("threads=1",)


QUICK = Plan(2, 3, 40, 3, 100, 1, ("threads=1", "rollout.battles=32"))


def run_one(plan: Plan, preset: Preset, seed: int, folder: Path) -> dict[str, Any]:
    """Train a preset, then exploit its last iterate."""
    torch.set_num_threads(1)
    done = folder / "summary.json"
    if done.exists():
        found: dict[str, Any] = json.loads(done.read_text(encoding="utf-8"))
        return found
    base = load_config(None, plan.settings)
    loop = SelfPlay(
        preset_run(base, preset, seed),
        SelfPlayConfig(plan.iterations, plan.updates, plan.games, OPPONENTS),
        folder,
    )
    for _ in loop.run():
        pass
    last = loop.policy_path(plan.iterations)
    budget = ResponseConfig(
        updates=plan.response_updates,
        inits=("victim",),
        fresh_games=plan.response_games,
    )
    response = exploit(base, f"run:{last.absolute()}", budget, folder / "response")
    found = {
        "preset": preset,
        "seed": seed,
        "last": str(last),
        "iterations": [asdict(row) for row in loop.done],
        "exploitability": [response.value, *response.interval],
    }
    write_atomically(done, json.dumps(found, indent=1))
    return found


def against(plan: Plan, first: str, second: str) -> Record:
    """One last iterate against another, on held-out teams."""
    config = load_config(None, plan.settings)
    agents = get_agent(f"run:{first}", config.format), get_agent(f"run:{second}", config.format)
    teams = run_teams(config.format, config.teams).held_out
    return match_on(config.format, teams, agents, plan.games, SEED)


def measure(plan: Plan, out: Path) -> dict[str, Any]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), mp_context=context) as pool:
        jobs = [
            pool.submit(run_one, plan, preset, seed, out / f"{preset}_{seed}")
            for seed in range(plan.seeds)
            for preset in PRESETS
        ]
        for job in track(as_completed(jobs), "runs", total=len(jobs)):
            job.result()
    found = [job.result() for job in jobs]
    console = Console(width=130)
    table = Table("run", *[f"{name.split(':')[1]} %" for name in OPPONENTS])
    for heading in ("exploitability", "entropy by iteration", "KL by iteration"):
        table.add_column(heading)
    for run in found:
        rows = run["iterations"]
        rates = [_said(*rows[-1]["win_rates"][name]) for name in OPPONENTS]
        value, low, high = run["exploitability"]
        table.add_row(
            f"{run['preset']} {run['seed']}",
            *rates,
            f"{value:+.3f} [{low:+.3f}, {high:+.3f}]",
            " ".join(f"{row['entropy']:.2f}" for row in rows),
            " ".join(f"{row['kl']:.3f}" for row in rows),
        )
    console.print(table)
    total = Record(0, 0, 0)
    for seed in range(plan.seeds):
        pair = [run["last"] for run in found if run["seed"] == seed]
        record = against(plan, pair[1], pair[0])
        total += record
        console.print(
            f"seed {seed}: damped against baseline {_said(record.win_rate, *record.interval)}"
        )
    return {
        "damped_against_baseline": [total.win_rate, *total.interval],
        **{
            f"exploitability_{preset}": [
                r["exploitability"] for r in found if r["preset"] == preset
            ]
            for preset in PRESETS
        },
    }


def _said(rate: float, low: float, high: float) -> str:
    return f"{100 * rate:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("damping"))
    parser.add_argument("--seeds", type=int, default=Plan.seeds)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if options.quick:
        with tempfile.TemporaryDirectory() as folder:
            print("RESULT", json.dumps(measure(QUICK, Path(folder))))
        return
    print("RESULT", json.dumps(measure(Plan(seeds=options.seeds), options.out)))


if __name__ == "__main__":
    main()
