"""What a league costs on Gen 1 OU: a payoff cell, a round, and growth with the population.

python benchmarks/psro.py            400 games per cell, 20 updates per response; exact games
python benchmarks/psro.py --quick    100 games, 5 updates; without exact games

Anchors measured in the same run: a cell against the bare match with the same games, a round
against the training of its response alone, book-keeping of a large population against a small one,
exploitability after some responses against fictitious play.  Times are CPU seconds of one core.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from nashmon.core.settings import override, read_settings
from nashmon.league.cells import Cells, battles_of, entrant
from nashmon.league.nash import solver
from nashmon.league.oracles import ExactTree
from nashmon.league.payoff import allocate_games
from nashmon.league.population import Member, make_member
from nashmon.league.psro import PSRO
from nashmon.league.rounds import PSROConfig, Round
from nashmon.learn.games import load_game
from nashmon.match.cells import CellStore
from nashmon.match.statistics import Record
from nashmon.match.tournament import Batch, TournamentConfig, conditions_of, play_batch
from nashmon.train.psro import League, LeagueConfig
from nashmon.train.responses import response_run, train_response

AGENTS = ("zoo:gen1ou-magnet", "scripted:maxpower")
# (name, variant, solver, stages)
EXACT = (
    ("fictitious play", "psro", "uniform", 1),
    ("psro", "psro", "lp", 1),
    ("anytime", "anytime", "lp", 10),
    ("selfplay", "selfplay", "lp", 5),
    ("pipeline", "pipeline", "lp", 2),
)


def cpu(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def payoff_cell(games: int) -> dict[str, float]:
    """Seconds of a cell, beside the match alone."""
    conditions = conditions_of(TournamentConfig(AGENTS, "gen1ou", games))
    members = [make_member(spec, "gen1ou") for spec in AGENTS]
    pairs = [(start, min(start + 50, games // 2)) for start in range(0, games // 2, 50)]
    play_batch(Batch(AGENTS, conditions, (0, 2)))  # compiles what is not compiled yet

    def bare() -> None:
        for part in pairs:
            play_batch(Batch(AGENTS, conditions, part))

    def cell() -> None:
        with tempfile.TemporaryDirectory() as folder:
            jobs = battles_of(lambda: members, conditions, 0)
            Cells(CellStore(Path(folder), conditions), jobs).fill(members, {(0, 1): games})

    match, filled = cpu(bare), cpu(cell)
    return {"games": games, "seconds": filled, "match": match, "ratio": filled / match}


def psro_round(games: int, updates: int) -> dict[str, float]:
    """Seconds of a round, beside the training of its response alone."""
    changes = [
        f"agents=[{', '.join(AGENTS)}]",
        "psro={rounds: 1, min_gain: -1.0}",
        f"oracle.updates={updates}",
        f"payoff={{games: {games}, workers: 0}}",
        "run.threads=1",
        "run.teams.train=[competitive]",
    ]
    config = read_settings(LeagueConfig, override({}, changes))
    with tempfile.TemporaryDirectory() as folder:
        run = response_run(config.run, [(AGENTS[0], 1.0)], AGENTS[0], updates, 1)
        warm = replace(run, budget=replace(run.budget, updates=1))
        train_response(warm, Path(folder) / "warm")  # compiles what is not compiled yet
        league = League.create(config, Path(folder))
        whole = cpu(lambda: list(league.run()))
        alone = cpu(lambda: train_response(run, Path(folder) / "alone"))
    return {"updates": updates, "seconds": whole, "training": alone, "ratio": whole / alone}


def book_keeping(sizes: list[int]) -> list[dict[str, float]]:
    """What a round costs beside training and games: read the table, allocate, solve."""
    conditions = conditions_of(TournamentConfig(AGENTS, "gen1ou", 400))
    rng = np.random.default_rng(1)
    skill = rng.normal(0.0, 0.7, max(sizes))
    members = [
        Member(f"m{i}", "scripted:random", "response", "gen1ou", str(i)) for i in range(max(sizes))
    ]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        cells = Cells(CellStore(Path(folder), conditions), battles_of(list, conditions, 0))
        for i, j in combinations(range(max(sizes)), 2):
            won = int(rng.binomial(400, 1 / (1 + np.exp(skill[j] - skill[i]))))
            pair = entrant(members[i]), entrant(members[j])
            cells.store.add(pair, (0, 200), Record(won, 0, 400 - won))
        for size in sizes:
            table = cells.table(members[:size])
            row = {
                "population": size,
                "new_cells": size,
                "read": cpu(lambda size=size: cells.table(members[:size])),
                "allocate": cpu(lambda table=table: allocate_games(table, 400, 0.01, 1000)),
                "lp": cpu(lambda table=table: solver("lp")(table.win_rates)),
                "nash": cpu(lambda table=table: solver("nash")(table.win_rates)),
            }
            row["ratio"] = (row["read"] + row["nash"]) / (
                (rows[0]["read"] + rows[0]["nash"]) if rows else row["read"] + row["nash"]
            )
            rows.append(row)
    return rows


def exact(game_name: str, variant: str, solver_name: str, stages: int, budget: int) -> Any:
    """Exploitability (NashConv / 2, game units) once about `budget` responses were trained."""
    game = ExactTree(load_game(game_name))
    start = game.add("start", game.tree.uniform())
    config = PSROConfig(budget, variant, solver_name, stages, -1.0, budget)  # type: ignore[arg-type]
    begin, found = time.process_time(), float("nan")
    loop = PSRO(config, [start], game.oracles())
    rounds: list[Round] = []
    for result in loop.run():
        rounds.append(result)
        if len(game.tables) > budget:
            break
    everyone = {member.id: member for member in loop.population()}
    last = rounds[-1]
    found = game.exploitability([everyone[name] for name in last.population], last.mixture)
    seconds = time.process_time() - begin
    return {"exploitability": found, "rounds": len(rounds), "seconds": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    report: dict[str, Any] = {"cell": payoff_cell(100 if quick else 400)}
    row = report["cell"]
    print(
        f"cell of {row['games']:.0f} games: {row['seconds']:.2f} s, {row['ratio']:.2f} of the match"
    )
    report["round"] = psro_round(*(100, 5) if quick else (400, 20))
    row = report["round"]
    print(
        f"round of {row['updates']:.0f} updates: {row['seconds']:.2f} s, "
        f"{row['ratio']:.2f} of its training"
    )
    report["growth"] = book_keeping([4, 8, 16] if quick else [4, 8, 16, 32])
    for row in report["growth"]:
        print(
            f"population of {row['population']:2}: {row['new_cells']} new cells; read "
            f"{row['read']:.3f} s, allocate {row['allocate']:.3f} s, lp {row['lp']:.3f} s, nash "
            f"{row['nash']:.3f} s; {row['ratio']:.1f} of a population of 4"
        )
    if not quick:
        report["exact"] = {}
        for name, variant, solver_name, stages in EXACT:
            row = exact("leduc_ranks", variant, solver_name, stages, 150)
            anchor = report["exact"].get("fictitious play", row)["exploitability"]
            row["ratio"] = row["exploitability"] / anchor
            report["exact"][name] = row
            print(
                f"leduc_ranks {name:16} exploitability {row['exploitability']:.4f}, "
                f"{row['ratio']:.3f} of fictitious play, {row['seconds']:.1f} s"
            )
    print("RESULT " + json.dumps(report))


if __name__ == "__main__":
    main()
