"""Exact exploitability of PSRO and its variants by trained responses, beside fictitious play.

python benchmarks/psro.py            Kuhn and Leduc without suits
python benchmarks/psro.py --quick    Kuhn
"""

import argparse
import json
import time

from nashmon.league.oracles import ExactTree
from nashmon.league.psro import PSRO
from nashmon.league.rounds import PSROConfig
from nashmon.learn.games import load_game

# (name, variant, solver, stages)
RUNS = (
    ("fictitious play", "psro", "uniform", 1),
    ("psro", "psro", "lp", 1),
    ("anytime", "anytime", "lp", 60),
    ("selfplay", "selfplay", "lp", 30),
)


def measure(
    game_name: str, variant: str, solver: str, stages: int, budget: int
) -> dict[str, float]:
    """Exploitability (NashConv / 2, game units) once `budget` responses were trained."""
    game = ExactTree(load_game(game_name))
    start = game.add("start", game.tree.uniform())
    members = {start.id: start}
    oracles = game.oracles()
    config = PSROConfig(
        rounds=budget, variant=variant, solver=solver, stages=stages, min_gain=-1.0, patience=budget
    )
    begin, exact, responses = time.perf_counter(), float("nan"), 0
    loop = PSRO(config, [start], oracles)
    for result in loop.run():
        members |= {member.id: member for member in loop.population()}
        exact = game.exploitability([members[n] for n in result.population], result.mixture)
        responses = len(game.tables) - 1
        if responses >= budget or exact <= 1e-6:
            break
    seconds = time.perf_counter() - begin
    return {"exploitability": exact, "responses": responses, "seconds": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    games = [("kuhn", 30)] if options.quick else [("kuhn", 30), ("leduc_ranks", 300)]
    report: dict[str, dict[str, float]] = {}
    for game, budget in games:
        anchor = 0.0
        for name, variant, solver, stages in RUNS:
            row = measure(game, variant, solver, stages, budget)
            anchor = anchor or row["exploitability"]
            row["ratio_to_fictitious_play"] = row["exploitability"] / anchor
            report[f"{game} {name}"] = row
            print(
                f"{game:12} {name:16} exploitability {row['exploitability']:.5f} after "
                f"{row['responses']:.0f} responses, {row['ratio_to_fictitious_play']:.3f} of "
                f"fictitious play, {row['seconds']:.1f} s"
            )
    print("RESULT " + json.dumps(report))


if __name__ == "__main__":
    main()
