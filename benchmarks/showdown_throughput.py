"""Decisions per second of embedded Showdown against poke-env over a local websocket server.

Ours includes tracker, state, entity observation and legal mask for every decision; poke-env's
random players choose from its own parsed battle.  Both use the same teams and the same two cores;
runs alternate, and each side gets its best arrangement: ours a process per core with a block of its
own, as in training (one block with two workers stands beside it), poke-env's a server and one or
two processes of players with as many battles as suit it.  A decision is one answered request.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import logging
import multiprocessing
import os
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeVar

import numpy as np

from nashmon.core.formats import get_format
from nashmon.observe.entity import EntityEncoder
from nashmon.sim.base import NO_ACTION, Battles
from nashmon.sim.local_server import LocalServer
from nashmon.sim.make import Engine, choose_engine, default_teams, make_battles
from nashmon.sim.showdown import lane, process
from nashmon.sim.showdown.battles import collect_seldom

WARM_SECONDS = 30.0  # for both: Node's compiled code still gets faster after 20 s
QUICK_WARM_SECONDS = 3.0
CORES = 2
BLOCK_ROWS = 128  # one block is divided among workers, and waits for the slowest
START_SECONDS = 60.0  # within which poke-env must have all its battles running
QUICK_FORMATS = ("gen1ou", "gen9vgc2025regi")
T = TypeVar("T")
FORMATS = ("gen1ou", "gen9ou", "gen9vgc2025regi")


def random_step(battles: Battles, step: Any, rng: np.random.Generator) -> tuple[Any, int]:
    """One random-legal step of all battles; returns it with the number of decisions.

    Uniform over the legal actions, as poke-env's random player, at a cost that does not matter: the
    lanes stand still meanwhile, and a number for each of 2,025 actions would be 5 % of their time.
    """
    masks = step.masks[step.acting]  # (decisions, actions)
    legal = np.flatnonzero(masks)
    counts = np.count_nonzero(masks, axis=1)
    picks = np.cumsum(counts) - counts + (rng.random(len(counts)) * counts).astype(np.int64)
    actions = np.full(step.acting.shape, NO_ACTION, dtype=np.int64)
    actions[step.acting] = legal[picks] % masks.shape[1]
    return battles.step(actions), len(counts)


@dataclass(frozen=True, slots=True)
class Clock:
    """How long each side plays before it is measured, and how long it is measured."""

    warm: float
    seconds: float


def play(battles: Battles, clock: Clock, seed: int) -> float:
    """Decisions per second of a block of battles, which is closed."""
    with closing(battles):
        rng = np.random.default_rng(seed)
        step = battles.reset(seed)
        start = time.perf_counter()
        while time.perf_counter() - start < clock.warm:
            step, _ = random_step(battles, step, rng)
        total, start = 0, time.perf_counter()
        while time.perf_counter() - start < clock.seconds:
            step, count = random_step(battles, step, rng)
            total += count
        return total / (time.perf_counter() - start)


def measure_block(
    format_id: str, clock: Clock, seed: int, rows: int, engine: Engine = "showdown"
) -> float:
    """One block of battles over two workers."""
    return play(make_battles(format_id, rows, workers=CORES, engine=engine), clock, seed)


def rank(format_id: str, clock: Clock, seed: int, rows: int, begin: Any, out: Any) -> None:
    """A process with a block of its own; sends decisions per second."""
    collect_seldom()
    battles = make_battles(format_id, rows, engine="showdown", overlap=False)
    begin.wait(START_SECONDS)
    out.send(play(battles, clock, seed))


def measure_ours(format_id: str, clock: Clock, seed: int, rows: int) -> float:
    """A process per core, each with its share of the battles."""
    context = multiprocessing.get_context("spawn")
    begin = context.Barrier(CORES)  # or one would have the machine for itself at first
    jobs = []
    for number in range(CORES):
        receiver, sender = context.Pipe(duplex=False)
        arguments = (format_id, clock, CORES * seed + number, rows // CORES, begin, sender)
        jobs.append((_started(context, rank, arguments, sender), receiver))
    return _total(jobs)


def _started(context: Any, target: Callable[..., None], arguments: Any, sender: Any) -> Any:
    process = context.Process(target=target, args=arguments, daemon=True)
    process.start()
    sender.close()  # the receiver then notices when the process dies
    return process


def _total(jobs: list[tuple[Any, Any]]) -> float:
    """The sum of what the processes send, which are then ended."""
    try:
        return sum(float(receiver.recv()) for _, receiver in jobs)
    finally:
        for process, _ in jobs:
            process.kill()
            process.join()


def poke_env_worker(
    format_id: str, url: str, teams: list[str], concurrency: int, clock: Clock, out: Any
) -> None:
    """Random players of poke-env until the time is over; sends decisions per second."""
    from poke_env import AccountConfiguration, ServerConfiguration
    from poke_env.player import RandomPlayer
    from poke_env.teambuilder import Teambuilder

    class Pool(Teambuilder):
        def __init__(self, seed: int) -> None:
            self._rng = np.random.default_rng(seed)

        def yield_team(self) -> str:
            return teams[int(self._rng.integers(len(teams)))]

    answered: set[tuple[str, str, int]] = set()

    class Counting(RandomPlayer):
        def choose_move(self, battle: Any) -> Any:
            # A request answered twice (poke-env retries rejected choices) is one decision.
            answered.add((self.username, battle.battle_tag, battle.last_request.get("rqid", 0)))
            return super().choose_move(battle)

    logging.disable(logging.WARNING)  # its warnings cost time and are not the point

    async def run() -> float:
        tag = f"{os.getpid()}x{time.time_ns() % 10**6}"
        server = ServerConfiguration(url, "http://127.0.0.1:1/action.php?")
        players = [
            Counting(
                account_configuration=AccountConfiguration(f"B{seat}{tag}", None),
                battle_format=format_id,
                server_configuration=server,
                max_concurrent_battles=concurrency,
                team=Pool(seat) if teams else None,
                log_level=50,
            )
            for seat in (0, 1)
        ]
        task = asyncio.create_task(players[0].battle_against(players[1], n_battles=10**6))
        # Logging in and starting battles is no part of the comparison: on a busy machine it takes
        # longer than the warm-up, which would count as slowness.
        deadline = time.perf_counter() + START_SECONDS
        while len({battle for _, battle, _ in answered}) < concurrency:
            if time.perf_counter() > deadline:
                raise TimeoutError(f"poke-env did not start {concurrency} battles of {format_id}")
            await asyncio.sleep(0.05)
        await asyncio.sleep(clock.warm)
        start, before = time.perf_counter(), len(answered)
        await asyncio.sleep(clock.seconds)
        rate = (len(answered) - before) / (time.perf_counter() - start)
        task.cancel()
        return rate

    out.send(asyncio.run(run()))
    out.close()
    time.sleep(0.2)


def measure_poke_env(format_id: str, clients: int, concurrency: int, clock: Clock) -> float:
    """Processes of players, each with so many battles at once, on one server."""
    teams = [team for team in default_teams(format_id) if team]
    context = multiprocessing.get_context("spawn")
    with LocalServer() as server:
        jobs = []
        for _ in range(clients):
            receiver, sender = context.Pipe(duplex=False)
            arguments = (format_id, server.websocket_url, teams, concurrency, clock, sender)
            jobs.append((_started(context, poke_env_worker, arguments, sender), receiver))
        return _total(jobs)


def time_split(format_id: str, seconds: float, rows: int) -> dict[str, float]:
    """Microseconds per decision in each part of one lane, measured inside one process.

    The collector is set as in the processes of real lanes.
    """
    thresholds = gc.get_threshold()
    collect_seldom()
    try:
        return _time_split(format_id, seconds, rows)
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()


def _time_split(format_id: str, seconds: float, rows: int) -> dict[str, float]:
    spent: dict[str, float] = defaultdict(float)

    def timed(owner: Any, name: str, part: str) -> Callable[[], None]:
        original = getattr(owner, name)

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            begin = time.perf_counter()
            try:
                return original(*args, **kwargs)
            finally:
                spent[part] += time.perf_counter() - begin

        setattr(owner, name, wrapper)
        return lambda: setattr(owner, name, original)

    battles = make_battles(format_id, rows, engine="showdown", overlap=False)
    mine = battles._lanes[0]  # type: ignore[attr-defined]
    undo = [
        timed(lane.Tracker, "take", "tracker: messages"),
        timed(lane.Tracker, "request", "tracker: request"),
        timed(lane.Tracker, "state", "state"),
        timed(EntityEncoder, "write", "entity observation"),
        timed(type(mine._space), "mask", "mask"),
        timed(type(mine._space), "legal_choice", "choice"),
        timed(lane.ShowdownProcess, "send_choose", "messages to Node"),
        timed(lane.ShowdownProcess, "send_start", "messages to Node"),
        timed(lane.ShowdownProcess, "_receive", "waiting for Node"),
        timed(process, "parse_update", "reading its messages"),
        timed(lane, "_read", "reading its messages"),
    ]
    try:
        rng = np.random.default_rng(1)
        step, total = battles.reset(1), 0
        spent.clear()
        start = time.perf_counter()
        while time.perf_counter() - start < seconds:
            step, count = random_step(battles, step, rng)
            total += count
        wall = time.perf_counter() - start
    finally:
        for restore in undo:
            restore()
        battles.close()
    split = {part: 1e6 * value / total for part, value in spent.items()}
    split["everything else in Python"] = 1e6 * wall / total - sum(split.values())
    return split


def compare(format_id: str, args: argparse.Namespace) -> dict[str, Any]:
    """Both sides in turn in one format, printed and as a row of the result."""
    clock, short = Clock(args.warm, args.seconds), Clock(args.warm, args.seconds / 2)

    def ours_at(rows: int) -> float:
        return measure_ours(format_id, short, 0, rows)

    def theirs_at(arrangement: tuple[int, int]) -> float:
        return measure_poke_env(format_id, *arrangement, short)

    rows = best_of(args.rows, ours_at)
    clients, concurrency = best_of(args.poke_env, theirs_at)
    ours, theirs = [], []
    for number in range(args.rounds):
        ours.append(measure_ours(format_id, clock, number, rows))
        theirs.append(measure_poke_env(format_id, clients, concurrency, clock))
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    print(
        f"{format_id}: ours {median(ours):,.0f}/s ({rows} battles), poke-env "
        f"{median(theirs):,.0f}/s ({clients} × {concurrency} battles), ratio {median(ratios):.2f}"
    )
    block = measure_block(format_id, short, 0, BLOCK_ROWS)
    print(f"    one block, two workers: {block:,.0f}/s, ratio {block / median(theirs):.2f}")
    native = median(ours)
    if choose_engine(get_format(format_id), "auto") != "showdown":
        native = measure_block(format_id, Clock(0.5, min(args.seconds, 2.0)), 0, 1024, "auto")
        print(f"    its default engine: {native:,.0f}/s, ratio {native / median(theirs):,.0f}")
    split = time_split(format_id, args.seconds / 2, rows // CORES)
    for part, micros in sorted(split.items(), key=lambda item: -item[1]):
        print(f"    {part:38s} {micros:7.1f} µs per decision")
    return {
        "ours_per_s": round(median(ours)),
        "poke_env_per_s": round(median(theirs)),
        "battles": rows,
        "poke_env": [clients, concurrency],
        "ratio": round(median(ratios), 2),
        "ratio_range": [round(min(ratios), 2), round(max(ratios), 2)],
        "one_block_per_s": round(block),
        "one_block_ratio": round(block / median(theirs), 2),
        "default_engine_per_s": round(native),
        "split_us": {part: round(value, 1) for part, value in split.items()},
    }


def best_of(choices: list[T], measure: Callable[[T], float]) -> T:
    """The choice with the highest rate."""
    return max(choices, key=measure) if len(choices) > 1 else choices[0]


def arrangement(text: str) -> tuple[int, int]:
    """`CLIENTSxBATTLES` of the command line."""
    clients, battles = text.split("x")
    return int(clients), int(battles)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="under 50 s: two formats, one round")
    parser.add_argument("--formats", nargs="+", default=list(FORMATS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--warm", type=float, default=WARM_SECONDS)
    parser.add_argument("--rows", type=int, nargs="+", default=[32, 128], help="battles of ours")
    parser.add_argument(
        "--poke-env",
        type=arrangement,
        nargs="+",
        default=[(1, 10), (1, 25), (1, 50), (2, 12), (2, 25)],
        help="processes of players × battles of each, as 2x12",
    )
    args = parser.parse_args()
    if args.quick:
        args.rounds, args.seconds, args.rows, args.poke_env = 1, 1.5, [32], [(2, 12)]
        args.warm, args.formats = QUICK_WARM_SECONDS, list(QUICK_FORMATS)
    print("RESULT " + json.dumps({name: compare(name, args) for name in args.formats}))


if __name__ == "__main__":
    main()
