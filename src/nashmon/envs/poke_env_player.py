"""Our agents as players of poke-env: on a server, through its client.

poke-env connects, answers challenges and counts results; what is known of a battle comes from our
tracker, and the choice from our codec, so an agent sees and does exactly what it does elsewhere.

    player = NashmonPlayer(agent, "gen1ou", server_configuration=…, team=…)
    await player.battle_against(RandomPlayer(…), n_battles=100)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson
from poke_env.battle import AbstractBattle
from poke_env.player import Player
from poke_env.player.battle_order import SingleBattleOrder

from nashmon.core.actions import action_space
from nashmon.core.agent import Agent, Decisions
from nashmon.core.errors import SimulatorError
from nashmon.core.formats import get_format
from nashmon.observe.registry import get_observation_space
from nashmon.sim.tracker import ROLES, Tracker


class _Seat:
    """What the player knows of one battle: lines wait until a request tells which seat is ours."""

    def __init__(self) -> None:
        self.slot = -1  # row of the agent's memory, once it is asked
        self.waiting: list[str] = []
        self.tracker: Tracker | None = None
        self.encoder: Any = None
        self.request: dict[str, Any] = {}
        self.first = True


class NashmonPlayer(Player):  # type: ignore[misc]
    """A poke-env player that does what an agent says."""

    def __init__(
        self,
        agent: Agent,
        format_id: str,
        observation: str = "entity",
        seed: int = 0,
        **options: Any,
    ) -> None:
        """`options` are those of poke-env's `Player`: account, server, team, concurrency …"""
        rules = get_format(format_id)
        self.agent = agent
        self._rules = rules
        self._codec = action_space(rules)
        self._observation = get_observation_space(observation, rules)
        self._rng = np.random.default_rng(seed)
        self._seats: dict[str, _Seat] = {}
        num_slots = max(1, int(options.get("max_concurrent_battles", 1)))
        self._free = list(range(num_slots))
        self._memory = agent.start(num_slots)
        super().__init__(battle_format=rules.id, **options)

    async def _handle_battle_message(self, split_messages: list[list[str]]) -> None:
        # Nothing is awaited before the tracker has the lines, so they stay in order.
        tag = split_messages[0][0].removeprefix(">")
        if tag.startswith("battle-"):
            self._feed(tag, split_messages[1:])
        await super()._handle_battle_message(split_messages)

    def _feed(self, tag: str, messages: list[list[str]]) -> None:
        seat = self._seats.get(tag)
        if seat is None:
            if not any(parts[1:2] == ["init"] for parts in messages):
                return  # farewells of a battle that is over
            seat = self._seats[tag] = _Seat()
        for parts in messages:
            if len(parts) > 2 and parts[1] == "request":
                if parts[2]:
                    seat.request = orjson.loads("|".join(parts[2:]))
                    self._open(seat)
            elif seat.tracker is None:
                seat.waiting.append("|".join(parts))
            else:
                seat.tracker.feed(["|".join(parts)])

    def _open(self, seat: _Seat) -> None:
        if seat.tracker is None:
            number = ROLES.index(seat.request["side"]["id"])
            seat.tracker = Tracker(self._rules.id, number, self.username)
            seat.encoder = self._observation.encoder()
            seat.tracker.feed(seat.waiting)
            seat.waiting = []

    def choose_move(self, battle: AbstractBattle) -> SingleBattleOrder:
        """The agent's action as a choice."""
        return SingleBattleOrder(self._answer(battle))

    def teampreview(self, battle: AbstractBattle) -> str:
        """The agent's action at team preview."""
        return self._answer(battle)

    def _answer(self, battle: AbstractBattle) -> str:
        seat = self._seats[battle.battle_tag]
        if seat.tracker is None:
            raise SimulatorError(f"{battle.battle_tag}: asked to choose before any request")
        if seat.slot < 0:
            seat.slot = self._free.pop()
        seat.tracker.request(seat.request)
        action = int(self.agent.act(self._decisions(seat), self._memory, self._rng)[0])
        seat.first = False
        return f"/choose {self._codec.choice(seat.request, action)}"

    def _decisions(self, seat: _Seat) -> Decisions:
        tracker = seat.tracker
        assert tracker is not None
        arrays = self._observation.allocate(1)
        seat.encoder.write(tracker.state(), arrays, 0)
        return Decisions(
            observations=arrays,
            masks=self._codec.mask(seat.request)[None],
            slots=np.array([seat.slot]),
            first=np.array([seat.first]),
            states=lambda: [tracker.state()],
        )

    def _battle_finished_callback(self, battle: AbstractBattle) -> None:
        seat = self._seats.pop(battle.battle_tag)
        if seat.slot >= 0:
            self._free.append(seat.slot)
