"""Microseconds of processor time per observation written, for each space, on real battles.

Usage: python benchmarks/observe.py [--quick] [--formats gen1ou gen9ou …]
Random-legal battles are played first; each player's states are then written in order, with a
fresh encoder per battle and seat (warm: rows are remembered between decisions, as in training)
and with an encoder that forgets everything before each write (cold).
"""

from __future__ import annotations

import argparse
import json
from time import thread_time

import numpy as np

from nashmon.core.formats import get_format
from nashmon.core.state import UniversalState
from nashmon.observe import ObservationSpace, get_observation_space
from nashmon.observe.registry import NAMES
from nashmon.sim.make import make_battles

FORMATS = ("gen1ou", "gen9ou", "gen9vgc2025regi")
TARGETS = {"singles": 40.0, "doubles": 60.0}  # entity observation, warm

Sequences = list[list[UniversalState]]


def play(format_id: str, decisions: int, seed: int) -> Sequences:
    """The states of each player in each battle, in order, at least so many in all."""
    rng = np.random.default_rng(seed)
    battles = make_battles(format_id, 8, engine="showdown")
    running: dict[tuple[int, int], list[UniversalState]] = {}
    done: Sequences = []
    try:
        step = battles.reset(seed)
        while sum(map(len, done)) < decisions:
            pairs = [(int(n), int(seat)) for n, seat in np.argwhere(step.acting)]
            for pair, state in zip(pairs, battles.states(pairs), strict=True):
                running.setdefault(pair, []).append(state)
            noise = rng.random(step.masks.shape) * step.masks
            step = battles.step(np.where(step.acting, noise.argmax(axis=2), -1))
            for n in np.flatnonzero(step.ended):
                done += [running.pop((int(n), seat), []) for seat in (0, 1)]
    finally:
        battles.close()
    return [states for states in done if states]


def measure(space: ObservationSpace, sequences: Sequences, repeats: int, cold: bool) -> float:
    """Mean microseconds of processor time per write, best of the repeats (noise only adds)."""
    out = space.allocate(1)
    times = []
    for _ in range(repeats):
        spent, writes = 0.0, 0
        for states in sequences:
            encoder = space.encoder()
            start = thread_time()
            for state in states:
                if cold:
                    encoder.reset()
                encoder.write(state, out, 0)
            spent += thread_time() - start
            writes += len(states)
        times.append(1e6 * spent / writes)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--formats", nargs="+", default=list(FORMATS))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    decisions, repeats = (300, 7) if options.quick else (5000, 9)
    results: dict[str, dict[str, float]] = {}
    for format_id in options.formats:
        game_type = get_format(format_id).game_type
        sequences = play(format_id, decisions, options.seed)
        row: dict[str, float] = {}
        for name in NAMES:
            if name != "entity" and game_type != "singles":
                continue
            space = get_observation_space(name, get_format(format_id))
            row[name] = round(measure(space, sequences, repeats, cold=False), 1)
            if name == "entity":
                row["entity cold"] = round(measure(space, sequences, repeats, cold=True), 1)
                row["entity target"] = TARGETS[game_type]
        results[format_id] = row
        states = sum(map(len, sequences))
        print(f"{format_id} ({states} states):", ", ".join(f"{k} {v} µs" for k, v in row.items()))
    print("RESULT", json.dumps({"microseconds_per_write": results}))


if __name__ == "__main__":
    main()
