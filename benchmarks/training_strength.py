"""How strong training runs were after so many minutes: their checkpoints against every baseline.

    nashmon train -s seed=0 --out strength0        # an hour; repeat for other seeds
    python benchmarks/training_strength.py strength0 strength1 strength2

Takes the checkpoint of each run that is nearest before each mark.  Matches are on held-out teams,
in swapped pairs, with 95 % intervals; what was played is kept in strength.jsonl of the run and not
played again.  `--quick` trains for some seconds itself.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import track
from rich.table import Table

from nashmon.agents.specs import get_agent
from nashmon.match.statistics import Record
from nashmon.train.config import load_config
from nashmon.train.evaluation import match_on
from nashmon.train.run import CONFIG, read_rows
from nashmon.train.teams import run_teams

MARKS = (5.0, 15.0, 30.0, 60.0)  # minutes
SCRIPTED = (
    *("random", "bugcatcher", "gen1trainer", "gen1boss", "grunt", "switcher", "maxdamage"),
    *("maxpower", "gymleader", "kaizo", "tactician"),
)
BASELINES = (*(f"scripted:{name}" for name in SCRIPTED), "pokeenv:SimpleHeuristicsPlayer")
SEARCH = "search:time=0.1"
QUICK = ("scripted:random", "scripted:maxpower", "scripted:gymleader")
SEED = 30_000_001
SLACK = 0.1  # minutes by which the last update may exceed a budget
RESULTS = "strength.jsonl"


def marked(run: Path, marks: list[float]) -> dict[float, Path]:
    """The kept checkpoint nearest before each mark; a mark has none if it comes 10 % too early."""
    found: list[tuple[float, Path]] = []
    for index in run.glob("checkpoints/*/checkpoint.json"):
        meta = json.loads(index.read_text(encoding="utf-8"))["index"]["meta"]
        found.append((meta["seconds"] / 60, index.parent))
    chosen = {}
    for mark in marks:
        before = [(minutes, path) for minutes, path in found if minutes <= mark + SLACK]
        if before and max(before)[0] >= 0.9 * mark:
            chosen[mark] = max(before)[1]
    return chosen


def play(run: str, checkpoint: str, opponent: str, games: int) -> list[int]:
    """Wins, draws and losses of a checkpoint."""
    torch.set_num_threads(1)
    config = load_config(Path(run) / CONFIG)
    agents = get_agent(f"run:{checkpoint}", config.format), get_agent(opponent, config.format)
    teams = run_teams(config.format, config.teams).held_out
    record = match_on(config.format, teams, agents, games, SEED)
    return [record.wins, record.draws, record.losses]


def wanted(
    runs: list[Path], marks: list[float], opponents: dict[str, int]
) -> list[tuple[Path, float, str, str, int]]:
    """What is not played yet: (run, mark, checkpoint, opponent, games)."""
    missing = []
    for run in runs:
        done = {(row["mark"], row["opponent"]) for row in read_rows(run / RESULTS)}
        for mark, path in marked(run, marks).items():
            for opponent, games in opponents.items():
                if (mark, opponent) not in done:
                    missing.append((run, mark, str(path), opponent, games))
    return missing


def measure(runs: list[Path], marks: list[float], opponents: dict[str, int]) -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), mp_context=context) as pool:
        jobs = {
            pool.submit(play, str(run), path, opponent, games): (run, mark, path, opponent)
            for run, mark, path, opponent, games in wanted(runs, marks, opponents)
        }
        for job in track(as_completed(jobs), "matches", total=len(jobs)):
            run, mark, path, opponent = jobs[job]
            row = {"mark": mark, "checkpoint": Path(path).name, "opponent": opponent}
            with (run / RESULTS).open("a", encoding="utf-8") as file:
                file.write(json.dumps({**row, "record": job.result()}) + "\n")


def show(runs: list[Path]) -> dict[str, Any]:
    """Tables per run; the summary joins the seeds' games."""
    console, total = Console(width=120), defaultdict(lambda: Record(0, 0, 0))
    for run in runs:
        rows = read_rows(run / RESULTS)
        marks = sorted({row["mark"] for row in rows})
        table = Table("opponent", *[f"{mark:g} min" for mark in marks], title=str(run))
        cells = {(row["opponent"], row["mark"]): Record(*row["record"]) for row in rows}
        for opponent in dict.fromkeys(row["opponent"] for row in rows):
            line = []
            for mark in marks:
                record = cells.get((opponent, mark))
                line.append("" if record is None else _said(record))
                if record is not None:
                    total[f"{opponent} {mark:g} min"] += record
            table.add_row(opponent, *line)
        console.print(table)
    return {name: [record.win_rate, *record.interval] for name, record in sorted(total.items())}


def _said(record: Record) -> str:
    low, high = record.interval
    return f"{100 * record.win_rate:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def quick_run(folder: Path) -> Path:
    """A run of a few seconds."""
    settings = ["budget.minutes=0.15", "evaluation.every=0", "evaluation.opponents=[]", "ranks=1"]
    command = [
        str(Path(sys.executable).with_name("nashmon")),
        "train",
        "--out",
        str(folder / "quick"),
    ]
    for setting in settings:
        command += ["-s", setting]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder / "quick"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="*", type=Path, help="directories of finished runs")
    parser.add_argument("--marks", nargs="+", type=float, default=list(MARKS), help="minutes")
    parser.add_argument("--games", type=int, default=1000, help="per checkpoint and opponent")
    parser.add_argument("--search-games", type=int, default=0, help=f"against {SEARCH}, at the end")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if options.quick:
        with tempfile.TemporaryDirectory() as folder:
            runs = [quick_run(Path(folder))]
            measure(runs, [0.15], dict.fromkeys(QUICK, 100))
            print("RESULT", json.dumps(show(runs)))
        return
    if not options.runs:
        parser.error("give directories of runs, or --quick")
    measure(options.runs, options.marks, dict.fromkeys(BASELINES, options.games))
    if options.search_games:
        measure(options.runs, [max(options.marks)], {SEARCH: options.search_games})
    print("RESULT", json.dumps(show(options.runs)))


if __name__ == "__main__":
    main()
