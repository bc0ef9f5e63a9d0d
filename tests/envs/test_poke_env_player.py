"""Our agents on a real server, and poke-env's player there against our adapter of it."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from poke_env import AccountConfiguration, ServerConfiguration
from poke_env.player import MaxBasePowerPlayer, Player, RandomPlayer, SimpleHeuristicsPlayer
from poke_env.teambuilder import Teambuilder

from nashmon.agents import MaxBasePower
from nashmon.agents.pokeenv import poke_env_agent
from nashmon.core.agent import Decisions
from nashmon.envs.poke_env_player import NashmonPlayer
from nashmon.match.play import play
from nashmon.match.statistics import Record, wilson
from nashmon.sim.local_server import LocalServer
from nashmon.sim.make import default_teams, make_battles

FORMAT = "gen1ou"


class PoolTeambuilder(Teambuilder):  # type: ignore[misc]
    """A team of the shipped set for each battle."""

    def __init__(self, format_id: str, seed: int) -> None:
        self._teams = default_teams(format_id)
        self._rng = np.random.default_rng(seed)

    def yield_team(self) -> str:
        return self._teams[int(self._rng.integers(len(self._teams)))]


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    with LocalServer() as running:
        yield running


def options(server: LocalServer, name: str, seed: int, format_id: str = FORMAT) -> dict[str, Any]:
    return {
        "account_configuration": AccountConfiguration(name, None),
        "server_configuration": ServerConfiguration(server.websocket_url, ""),
        "team": PoolTeambuilder(format_id, seed),
        "max_concurrent_battles": 10,
        "log_level": 40,
        "open_timeout": None,  # a busy machine is slow to answer
        "ping_timeout": None,
    }


def contest(first: Player, second: Player, games: int) -> Record:
    async def run() -> None:
        await asyncio.wait_for(first.battle_against(second, n_battles=games), 60 + 5 * games)

    try:
        asyncio.run(run())
    finally:
        for player in (first, second):
            asyncio.run(player.ps_client.stop_listening())
    return Record(first.n_won_battles, first.n_tied_battles, first.n_lost_battles)


class Watched:
    """Plays like another agent and keeps what it was shown."""

    name = "watched"

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.seen: list[Decisions] = []

    def start(self, num_slots: int) -> Any:
        return self.inner.start(num_slots)

    def act(self, decisions: Decisions, memory: Any, rng: np.random.Generator) -> Any:
        self.seen.append(decisions)
        return self.inner.act(decisions, memory, rng)


def test_our_agent_plays_twenty_games_on_a_server(server: LocalServer) -> None:
    agent = Watched(MaxBasePower())
    ours = NashmonPlayer(agent, FORMAT, **options(server, "ours", 1))
    theirs = RandomPlayer(battle_format=FORMAT, **options(server, "theirs", 2))
    record = contest(ours, theirs, 20)
    assert record.games == 20
    assert record.wins >= 15, record
    assert sum(d.first[0] for d in agent.seen) == 20
    assert not ours._seats and sorted(ours._free) == list(range(10))
    names = set(agent.seen[0].observations)
    assert "pokemon_numbers" in names


def embedded(opponent: str, games: int) -> Record:
    agents = poke_env_agent("SimpleHeuristicsPlayer", FORMAT), poke_env_agent(opponent, FORMAT)
    with closing(make_battles(FORMAT, 32)) as battles:
        return play(agents, battles, games, seed=5)


@pytest.mark.slow
@pytest.mark.parametrize("opponent", [MaxBasePowerPlayer, RandomPlayer])
def test_the_adapter_is_as_strong_as_the_original_on_a_server(
    server: LocalServer, opponent: type[Player]
) -> None:
    games = 1000
    name = opponent.__name__
    original = SimpleHeuristicsPlayer(battle_format=FORMAT, **options(server, f"orig{name[:8]}", 3))
    rival = opponent(battle_format=FORMAT, **options(server, f"rival{name[:8]}", 4))
    there = contest(original, rival, games)
    here = embedded(name, games)
    assert there.games == here.games == games
    print(f"against {name}: server {there.win_rate:.4f} {there.interval}, ", end="")
    print(f"adapter {here.win_rate:.4f} {here.interval}")
    # Two independent win rates agree when their 99.7 % intervals overlap.
    low, high = wilson(there.score, games, 3.0), wilson(here.score, games, 3.0)
    assert low[0] <= high[1] and high[0] <= low[1]
