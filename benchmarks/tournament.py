"""How fast a tournament's games are, against the engine playing the same format at random.

The anchor is the bare engine: random legal actions without agents, counters or files, measured in
the same run.  The ratio is games/s of the tournament over games/s of the anchor.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from contextlib import closing
from pathlib import Path

import numpy as np

from nashmon.core.agent import RandomAgent
from nashmon.match.play import play
from nashmon.match.tournament import Tournament, TournamentConfig
from nashmon.sim.base import NO_ACTION
from nashmon.sim.make import make_battles

AGENTS = ("scripted:random", "pokeenv:RandomPlayer", "pokeenv:SimpleHeuristicsPlayer")


def engine_rate(format_id: str, games: int) -> float:
    """Games/s of random legal actions."""
    rng = np.random.default_rng(0)
    with closing(make_battles(format_id, 32)) as battles:
        step = battles.reset(0)
        start = time.perf_counter()
        while battles.episodes.sum() < games:
            scores = np.where(step.masks, rng.random(step.masks.shape), -1.0)
            step = battles.step(np.where(step.acting, scores.argmax(axis=2), NO_ACTION))
        return int(battles.episodes.sum()) / (time.perf_counter() - start)


def match_rate(format_id: str, games: int) -> float:
    """Games/s of a match between random agents, with all that a match counts."""
    with closing(make_battles(format_id, 32)) as battles:
        start = time.perf_counter()
        play((RandomAgent(), RandomAgent()), battles, games, 1)
        return games / (time.perf_counter() - start)


def tournament_rate(format_id: str, games: int) -> float:
    """Games/s of a round robin in this process, files included."""
    with tempfile.TemporaryDirectory() as folder:
        config = TournamentConfig(AGENTS, format_id, games, workers=0)
        event = Tournament(config, Path(folder))
        start = time.perf_counter()
        played = int(np.triu(event.run().games, 1).sum())
        return played / (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--format", default="gen1ou")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    rounds, games, cell = (1, 200, 40) if args.quick else (3, 1000, 200)
    engine_rate(args.format, 10)  # compile
    rates = [
        (
            engine_rate(args.format, games),
            match_rate(args.format, games),
            tournament_rate(args.format, cell),
        )
        for _ in range(rounds)
    ]
    engine, match, event = (statistics.median(column) for column in zip(*rates, strict=True))
    print(f"{args.format}: engine alone {engine:,.0f} games/s")
    print(f"match of random agents {match:,.0f} games/s, {match / engine:.2f} of the engine")
    print(f"tournament of {len(AGENTS)} agents {event:,.1f} games/s, {event / engine:.3f}")
    result = {
        "format": args.format,
        "engine_games_per_s": engine,
        "match_ratio": match / engine,
        "tournament_ratio": event / engine,
    }
    print("RESULT " + json.dumps(result))


if __name__ == "__main__":
    main()
