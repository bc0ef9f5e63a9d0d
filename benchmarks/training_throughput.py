"""Decisions per second that a learner takes in: our loop against poke-env with a server.

Both sides use the same network and the same learner on two cores.  The anchor plays self-play
battles through poke-env's client and a local websocket server, acting with the same network;
its learner's time is that of our update, per decision.

    python benchmarks/training_throughput.py [--quick] [--scaling]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import multiprocessing
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from poke_env import AccountConfiguration, ServerConfiguration
from poke_env.teambuilder import Teambuilder

from nashmon.agents.neural import NeuralAgent
from nashmon.core.agent import Decisions
from nashmon.core.settings import override, read_settings
from nashmon.envs.poke_env_player import NashmonPlayer
from nashmon.sim.local_server import LocalServer
from nashmon.sim.make import default_teams
from nashmon.train.config import RunConfig
from nashmon.train.profiler import profile
from nashmon.train.trainer import Trainer

FORMAT = "gen1ou"
WARM_DECISIONS = 1000  # a fresh server compiles while it plays its first battles


def config(*changes: str) -> RunConfig:
    """The default run, with some settings changed."""
    return read_settings(RunConfig, override({}, ["teams.train=[competitive]", *changes]))


def measure_ours(seconds: float, *changes: str) -> dict[str, float]:
    """The whole loop, warm: decisions/s, and where the time goes."""
    found = profile(config(*changes), seconds, warmup=3)
    return {
        "decisions_per_second": found.decisions_per_second,
        "collect_microseconds": found.collect_us,
        "update_microseconds": found.update_us,
        "processor_microseconds": found.cpu_us,
        "ranks": float(found.setting["ranks"]),
    }


class Counted(NeuralAgent):
    """A network that counts its decisions."""

    decisions = 0

    def act(self, decisions: Decisions, memory: Any, rng: np.random.Generator) -> Any:
        """Act and count."""
        self.decisions += len(decisions.slots)
        return super().act(decisions, memory, rng)


class PoolTeambuilder(Teambuilder):  # type: ignore[misc]
    """A team of the shipped set for each battle."""

    def __init__(self, seed: int) -> None:
        """Teams in a fixed order of chance."""
        self._teams = default_teams(FORMAT)
        self._rng = np.random.default_rng(seed)

    def yield_team(self) -> str:
        """The next team."""
        return self._teams[int(self._rng.integers(len(self._teams)))]


def poke_env_worker(url: str, concurrency: int, seconds: float, out: Any) -> None:
    """Self-play through poke-env until the time is over; sends decisions per second."""
    torch.set_num_threads(1)
    trainer = Trainer(config(), Path(tempfile.mkdtemp()))
    agents = [Counted(trainer.policy, f"net{i}") for i in (0, 1)]
    logging.disable(logging.WARNING)

    async def run() -> float:
        players = [
            NashmonPlayer(
                agent,
                FORMAT,
                account_configuration=AccountConfiguration(f"net{seat}", None),
                server_configuration=ServerConfiguration(url, ""),
                team=PoolTeambuilder(seat),
                max_concurrent_battles=concurrency,
                log_level=50,
            )
            for seat, agent in enumerate(agents)
        ]
        game = asyncio.create_task(players[0].battle_against(players[1], n_battles=10**6))
        while sum(agent.decisions for agent in agents) < WARM_DECISIONS:
            await asyncio.sleep(0.1)
        before, start = sum(agent.decisions for agent in agents), time.perf_counter()
        await asyncio.sleep(seconds)
        rate = (sum(a.decisions for a in agents) - before) / (time.perf_counter() - start)
        game.cancel()
        return rate

    out.send(asyncio.run(run()))
    out.close()
    time.sleep(0.2)


def measure_poke_env(seconds: float, concurrency: int) -> float:
    """Decisions/s of the same network acting through poke-env and a local server."""
    context = multiprocessing.get_context("spawn")
    with LocalServer() as server:
        receiver, sender = context.Pipe(duplex=False)
        arguments = (server.websocket_url, concurrency, seconds, sender)
        process = context.Process(target=poke_env_worker, args=arguments)
        process.start()
        sender.close()
        try:
            return float(receiver.recv())
        finally:
            process.kill()
            process.join()


def main() -> None:
    """Measure, print, conclude."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="under 50 seconds")
    parser.add_argument("--scaling", action="store_true", help="battles and network sizes too")
    options = parser.parse_args()
    seconds = 8.0 if options.quick else 30.0
    ours = measure_ours(seconds)
    anchors = {n: measure_poke_env(seconds / 2, n) for n in ((20,) if options.quick else (10, 50))}
    acting = max(anchors.values())
    anchor = 1.0 / (1.0 / acting + ours["update_microseconds"] / 1e6)
    rate = ours["decisions_per_second"]
    print(f"cores {os.cpu_count()}, torch {torch.__version__}")
    print(f"ours            {rate:10,.0f} learned decisions/s", end="")
    print(f"  (collect {ours['collect_microseconds']:.0f} µs", end="")
    print(f" + update {ours['update_microseconds']:.0f} µs", end="")
    print(f"; processor {ours['processor_microseconds']:.0f} µs, {ours['ranks']:.0f} ranks)")
    print(f"poke-env acting {acting:10,.0f} decisions/s, best of {list(anchors)} at once")
    print(f"poke-env + same learner {anchor:,.0f}; ratio {rate / anchor:.1f}")
    result: dict[str, Any] = {"ratio": rate / anchor, "ours": rate, "poke_env": anchor, **ours}
    if options.scaling:
        table = {}
        for battles in (64, 256, 1024, 2048):
            table[f"battles {battles}"] = measure_ours(12.0, f"rollout.battles={battles}")
        for size, memory in (("tiny", "lstm"), ("small", "none"), ("small", "lstm")):
            change = (f"network.size={size}", f"network.options={{memory: {memory}}}")
            table[f"{size} {memory}"] = measure_ours(12.0, *change)
        for name, row in table.items():
            print(f"{name:16} {row['decisions_per_second']:10,.0f} decisions/s")
        result["scaling"] = {k: v["decisions_per_second"] for k, v in table.items()}
    print("RESULT " + json.dumps(result))


if __name__ == "__main__":
    main()
