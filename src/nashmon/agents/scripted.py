"""`ScriptedAgent`: singles agents that score actions from a `Situation`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nashmon.agents.doubles import DoublesScorer, choose_doubles
from nashmon.agents.move_table import Floats
from nashmon.agents.situation import GIMMICK, MOVES, TEAM, Situation
from nashmon.agents.situation_gen1 import shows_gen1, situation_from_gen1
from nashmon.agents.situation_states import situation_from_states
from nashmon.core.agent import Decisions
from nashmon.core.errors import UnsupportedError
from nashmon.core.formats import Format, get_format
from nashmon.core.state import UniversalState

_TIE = 1e-6  # random part of a score: breaks ties, decides nothing else
NEVER = -1e9
_GIMMICK_WORTH = 1.15  # damage gained by a gimmick from which on it is used


@dataclass(slots=True)
class ScriptedMemory:
    """What every scripted agent remembers: the format it plays."""

    num_slots: int
    rules: Format | None = None


class ScriptedAgent(ABC):
    """Picks the action with the highest score; subclasses say what a score is.

    Scores are (B, 9): moves 0–3, then switches to bench 0–4.  The gimmick is added to the chosen
    move where it pays.
    """

    name: str
    line: str  # what it does, for lists of agents
    game_types: tuple[str, ...] = ("singles",)
    doubles: DoublesScorer | None = None  # how it plays doubles, if it does

    def start(self, num_slots: int) -> ScriptedMemory:
        """Memory for that many battles."""
        return ScriptedMemory(num_slots)

    @abstractmethod
    def scores(
        self,
        s: Situation,
        memory: ScriptedMemory,
        slots: NDArray[np.int64],
        rng: np.random.Generator,
    ) -> Floats:
        """(B, 9): how good each move and each switch is; illegal ones may have any score."""

    def act(
        self, decisions: Decisions, memory: ScriptedMemory, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """The best legal action."""
        states = None
        if memory.rules is None:
            states = decisions.states()
            memory.rules = get_format(states[0].format)
            if memory.rules.game_type not in self.game_types:
                raise UnsupportedError(
                    f"{self.name} plays {' and '.join(self.game_types)}; "
                    f"{memory.rules.id} is {memory.rules.game_type}"
                )
        if memory.rules.game_type == "doubles":
            assert self.doubles is not None
            return choose_doubles(states or decisions.states(), decisions.masks, self.doubles, rng)
        s = self._situation(decisions, memory.rules, states)
        scores = self.scores(s, memory, decisions.slots, rng)
        actions = self._choose(s, scores, rng)
        self.remember(s, actions, memory, decisions)
        return actions

    def remember(
        self, s: Situation, actions: NDArray[np.int64], memory: ScriptedMemory, decisions: Decisions
    ) -> None:
        """Keep what later decisions need; most agents need nothing."""
        return

    def lead_scores(self, s: Situation, rng: np.random.Generator) -> Floats:
        """(B, 6): how good each Pokémon is as the lead at team preview."""
        return rng.random((s.size, TEAM))

    @staticmethod
    def _situation(
        decisions: Decisions, rules: Format, states: list[UniversalState] | None
    ) -> Situation:
        if rules.mod == "gen1" and shows_gen1(decisions.observations):
            return situation_from_gen1(decisions.observations, decisions.masks, rules.id)
        return situation_from_states(states or decisions.states(), decisions.masks)

    def _choose(self, s: Situation, scores: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
        wide: Floats = np.full(s.masks.shape, NEVER)
        wide[:, : scores.shape[1]] = scores
        if wide.shape[-1] > GIMMICK:
            better = s.gimmick_gain >= _GIMMICK_WORTH
            with_gimmick = np.where(better, scores[:, :MOVES] + 10 * _TIE, NEVER / 2)
            wide[:, GIMMICK : GIMMICK + MOVES] = with_gimmick
        if s.preview.any():
            wide[s.preview] = self._preview_scores(s, wide.shape[-1], rng)[s.preview]
        wide += rng.random(wide.shape) * _TIE
        best: NDArray[np.int64] = np.where(s.masks, wide, 4 * NEVER).argmax(axis=1)
        return best

    def _preview_scores(self, s: Situation, width: int, rng: np.random.Generator) -> Floats:
        """Picks are numbered by their lead first (docs/actions.md)."""
        leads = self.lead_scores(s, rng)
        wide = np.full((s.size, width), NEVER)
        for row in np.flatnonzero(s.preview):
            count = int(s.masks[row].sum())
            team = max(1, int((s.own_hp[row] > 0).sum()) or TEAM)
            each = max(1, count // team)
            for action in np.flatnonzero(s.masks[row]):
                wide[row, action] = leads[row, min(int(action) // each, TEAM - 1)]
        return wide


def switch_scores(per_pokemon: Floats) -> Floats:
    """(B, 5): scores of the bench from scores of the whole party."""
    return per_pokemon[:, 1:]


def joined(moves: Floats, switches: Floats) -> Floats:
    """(B, 9) from (B, 4) and (B, 5)."""
    return np.concatenate([moves, switches], axis=1)
