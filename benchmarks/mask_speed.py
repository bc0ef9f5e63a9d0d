"""Cost of a mask in microseconds, on requests of random-legal battles.

Usage: mask_speed.py [--requests N] [--quick]
The best of many short runs is reported: a busy machine only adds to it.
"""

from __future__ import annotations

import argparse
import json
import timeit
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nashmon.core.actions import ActionSpace, action_space
from nashmon.core.actions_doubles import joint_mask, to_mask
from nashmon.sim.showdown.messages import BattleStart, seed_words
from nashmon.sim.showdown.process import ShowdownProcess

FORMATS = ("gen1randombattle", "gen9randombattle", "gen9randomdoublesbattle")
LIMITS = {"singles": 5.0, "doubles": 15.0}


def collect(process: ShowdownProcess, format_id: str, count: int) -> list[dict[str, Any]]:
    """Move requests of as many battles as are needed."""
    space = action_space(format_id)
    rng = np.random.default_rng(0)
    requests: list[dict[str, Any]] = []
    while len(requests) < count:
        update = process.start([BattleStart(0, format_id, seed=seed_words(len(requests)))])[0]
        while not update.ended and len(requests) < count:
            choices: list[str | None] = [None, None]
            for seat, request in enumerate(update.requests):
                if request is not None and "wait" not in request:
                    requests += [request] * ("active" in request)
                    legal = np.flatnonzero(space.mask(request))
                    choices[seat] = space.choice(request, int(rng.choice(legal)))
            update = process.choose([(0, choices[0], choices[1])])[0]
        process.end([0])
    return requests


def forget() -> None:
    joint_mask.cache_clear()
    to_mask.cache_clear()


def all_masks(space: ActionSpace, requests: list[dict[str, Any]], row: NDArray[np.bool_]) -> None:
    for request in requests:
        space.mask(request, row)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=400)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    count = 100 if args.quick else args.requests
    result: dict[str, dict[str, float]] = {}
    with ShowdownProcess() as process:
        for format_id in FORMATS:
            space = action_space(format_id)
            requests = collect(process, format_id, count)
            row = np.zeros(space.num_actions, np.bool_)
            masks = partial(all_masks, space, requests, row)
            # Masks of doubles are remembered; every run starts without any.
            runs = timeit.repeat(masks, setup=forget, number=1, repeat=100)
            micros = min(runs) / len(requests) * 1e6
            limit = LIMITS[space.format.game_type]
            print(f"{format_id:28} {micros:6.2f} µs per mask (aim {limit:g})")
            result[format_id] = {"micros": round(micros, 2), "limit": limit}
    print("RESULT " + json.dumps(result))


if __name__ == "__main__":
    main()
