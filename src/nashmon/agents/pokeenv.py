"""Players written for poke-env as agents, in any engine.

They are asked through `BattleView`, which shows them a poke-env battle made from the state; their
order is mapped to an action by identity.  At team preview they lead with a random Pokémon, as
poke-env's own players do.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nashmon.agents.registry import UnknownAgentError
from nashmon.core.actions import IllegalActionError
from nashmon.core.agent import Agent, Decisions
from nashmon.core.formats import get_format
from nashmon.core.state import UniversalState

PLAYERS = ("RandomPlayer", "MaxBasePowerPlayer", "SimpleHeuristicsPlayer")


def poke_env_agent(name: str, format_id: str) -> Agent:
    """The agent of a player class: one of PLAYERS, or `package.module.Class` of your own."""
    module, _, class_name = name.rpartition(".")
    if not module and class_name not in PLAYERS:
        known = ", ".join(f"pokeenv:{player}" for player in PLAYERS)
        raise UnknownAgentError(f"unknown poke-env player {name!r}; known: {known}")
    try:
        cls = getattr(import_module(module or "poke_env.player"), class_name)
    except (ImportError, AttributeError) as error:
        raise UnknownAgentError(f"there is no poke-env player {name!r}: {error}") from error
    player = cls(battle_format=get_format(format_id).id, start_listening=False)
    return PokeEnvAgent(player, f"pokeenv:{name}")


class PokeEnvAgent:
    """Asks a poke-env player, one decision after the other."""

    game_types = ("singles",)

    def __init__(self, player: Any, name: str) -> None:
        """`player` needs no connection: only its `choose_move` is called."""
        self.player = player
        self.name = name

    def start(self, num_slots: int) -> dict[int, Any]:
        """A battle view per slot, made when its first battle begins."""
        return {}

    def act(
        self, decisions: Decisions, memory: dict[int, Any], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """The player's order for each decision, as an action."""
        actions = np.zeros(len(decisions.slots), np.int64)
        with _seeded(int(rng.integers(1 << 62))):
            for row, state in enumerate(decisions.states()):
                slot, mask = int(decisions.slots[row]), decisions.masks[row]
                legal = np.flatnonzero(mask)
                if state.phase == "preview" or len(legal) == 1:
                    actions[row] = legal[int(random.random() * len(legal))]
                    continue
                if decisions.first[row] or slot not in memory:
                    memory[slot] = _new_view(state)
                actions[row] = self._ask(memory[slot], state, mask)
        return actions

    def _ask(self, view: Any, state: UniversalState, mask: NDArray[np.bool_]) -> int:
        order = self.player.choose_move(view.show(state, mask))
        action = view.action(order)
        if action is None or not mask[action]:
            raise IllegalActionError(
                f"{self.name} ordered {order} on turn {state.turn}, which is not legal; legal "
                f"actions: {np.flatnonzero(mask).tolist()}"
            )
        return int(action)


def _new_view(state: UniversalState) -> Any:
    from nashmon.agents.pokeenv_battle import BattleView  # slow import

    return BattleView(state.gen)


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """poke-env draws from Python's global generator; its state is put back."""
    before = random.getstate()
    random.seed(seed)
    try:
        yield
    finally:
        random.setstate(before)
