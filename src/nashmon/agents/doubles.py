"""Doubles: codes of both slots are scored from the state, then the best legal pair is taken."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from nashmon.agents.combatant import Combatant, arena, combatant
from nashmon.agents.damage import hit_chance, strike
from nashmon.agents.move_table import Bools, Floats, likely_moves
from nashmon.agents.situation import fill_guesses
from nashmon.agents.situation_states import type_edge
from nashmon.core.actions_doubles import NUM_CODES, PASS, SWITCH, decode
from nashmon.core.actions_preview import picks
from nashmon.core.dex import Dex, Move
from nashmon.core.formats import Format, get_format
from nashmon.core.state import UniversalPokemon, UniversalState
from nashmon.observe.vocab import vocabularies

Rng = np.random.Generator
Combatants = list[Combatant]
NEVER = -1e9
_TIE = 1e-6
_SPREAD = ("allAdjacentFoes", "allAdjacent")
_NUM_PAIRS = NUM_CODES * NUM_CODES


class Field:
    """One doubles state with what all scorers ask of it."""

    def __init__(self, state: UniversalState) -> None:
        self.state = state
        self.rules = get_format(state.format)
        self.dex: Dex = self.rules.dex
        self.own = [_fit(self.dex, pokemon) for pokemon in state.own.active]
        self.foes = [_fit(self.dex, pokemon) for pokemon in state.foe.active]
        self.bench = [_fit(self.dex, pokemon) for pokemon in state.own.bench]
        self._danger: dict[tuple[int, bool], float] = {}

    def user(self, slot: int, gimmick: bool) -> Combatant | None:
        """Who acts in a slot, Terastallized when that is the gimmick it uses."""
        own, pokemon = self.own[slot], self.state.own.active[slot]
        if own is None or pokemon is None or not gimmick:
            return own
        if self.state.can_gimmick[slot] == "tera" and pokemon.tera_type is not None:
            types = own.types if pokemon.tera_type == "stellar" else (pokemon.tera_type,)
            return replace(own, types=types, tera_type=pokemon.tera_type)
        return own

    def targets(
        self, slot: int, move: Move, target: int
    ) -> tuple[list[Combatant], list[Combatant]]:
        """Foes and allies a move of a slot hits."""
        foes = [foe for foe in self.foes if foe is not None]
        partner = self.own[1 - slot]
        allies = [partner] if partner is not None else []
        if target > 0:
            aimed = self.foes[target - 1]
            return ([aimed] if aimed is not None else foes), []
        if target < 0:
            aimed = self.own[-target - 1]
            return [], ([aimed] if aimed is not None and -target - 1 != slot else [])
        if move.target == "allAdjacent":
            return foes, allies
        return (foes if move.target != "self" else []), []

    def damage(self, user: Combatant, target: Combatant, move: Move, spread: bool) -> float:
        """Expected damage as a fraction of the target's maximum HP."""
        field = arena(self.state, own_attacks=True, spread=spread)
        blow = strike(self.dex, user, target, move, field)
        return blow.mean / target.max_hp * hit_chance(self.dex, user, target, move, field)

    def danger(self, index: int, benched: bool = False) -> float:
        """Sum of both foes' best expected damage on an own Pokémon."""
        key = (index, benched)
        if key not in self._danger:
            target = (self.bench if benched else self.own)[index]
            self._danger[key] = 0.0 if target is None else self._danger_to(target)
        return self._danger[key]

    def _danger_to(self, target: Combatant) -> float:
        field, total = arena(self.state, own_attacks=False), 0.0
        for pokemon, foe in zip(self.state.foe.active, self.foes, strict=True):
            if pokemon is None or foe is None:
                continue
            blows = [
                chance * strike(self.dex, foe, target, move, field).mean
                for move, chance in foe_moves(self.rules, pokemon)
            ]
            acts = {"slp": 0.3, "frz": 0.1, "par": 0.75}.get(foe.status or "", 1.0)
            total += acts * max(blows, default=0.0) / target.max_hp
        return total


def _fit(dex: Dex, pokemon: UniversalPokemon | None) -> Combatant | None:
    return None if pokemon is None or pokemon.fainted else combatant(dex, pokemon)


def foe_moves(rules: Format, pokemon: UniversalPokemon) -> list[tuple[Move, float]]:
    """Seen and likely moves of a foe, each with its chance."""
    return _foe_moves(rules.id, pokemon.species, tuple(move.id for move in pokemon.moves[:4]))


@lru_cache(maxsize=4096)
def _foe_moves(format_id: str, species: str, seen: tuple[str, ...]) -> list[tuple[Move, float]]:
    rules = get_format(format_id)
    words = vocabularies(rules.mod)
    known = [words["moves"].ids[move] for move in seen] + [1] * (4 - len(seen))
    number = np.array([words["species"].ids[species]])
    moves, chance = fill_guesses(np.array([known]), number, likely_moves(format_id))
    pairs = zip(moves[0].tolist(), chance[0].tolist(), strict=True)
    return [(rules.dex.moves[words["moves"].words[m]], c) for m, c in pairs if m > 1]


class DoublesScorer(ABC):
    """Scores the 45 codes of a slot, and what two codes are worth together."""

    @abstractmethod
    def move(self, field: Field, slot: int, move: Move, target: int, gimmick: bool) -> float:
        """Worth of one move at one target."""

    @abstractmethod
    def switch(self, field: Field, slot: int, index: int) -> float:
        """Worth of bringing in bench `index`."""

    def pair(self, field: Field, codes: tuple[int, int]) -> float:
        """Worth of two codes beyond the sum of both."""
        return 0.0

    def preview(self, field: Field, pokemon: UniversalPokemon) -> float:
        """Worth of bringing a Pokémon."""
        types = [field.dex.species[name].types for name in field.state.foe.preview]
        edges = [type_edge(field.dex, pokemon.types, other) for other in types]
        return sum(edges) / max(len(edges), 1)


def choose_doubles(
    states: Sequence[UniversalState], masks: Bools, scorer: DoublesScorer, rng: Rng
) -> NDArray[np.int64]:
    """The best legal action of each state."""
    actions = np.zeros(len(states), np.int64)
    for row, state in enumerate(states):
        scores = (
            _preview(state, scorer)
            if state.phase == "preview"
            else _pairs(state, masks[row], scorer)
        )
        wide = np.full(masks.shape[-1], NEVER)
        wide[: len(scores)] = scores
        wide += rng.random(len(wide)) * _TIE
        actions[row] = np.where(masks[row], wide, 4 * NEVER).argmax()
    return actions


def _pairs(state: UniversalState, mask: NDArray[np.bool_], scorer: DoublesScorer) -> Floats:
    legal = mask[:_NUM_PAIRS].reshape(NUM_CODES, NUM_CODES)
    field = Field(state)
    first = _slot_scores(field, 0, np.asarray(legal.any(axis=1)), scorer)
    second = _slot_scores(field, 1, np.asarray(legal.any(axis=0)), scorer)
    scores = np.where(legal, first[:, None] + second[None, :], NEVER)
    # Only the best few pairs can win by what they are worth together.
    for index in np.argsort(scores, axis=None)[::-1][:24].tolist():
        codes = divmod(index, NUM_CODES)
        if legal[codes]:
            scores[codes] += scorer.pair(field, codes)
    return scores.reshape(-1)


def _slot_scores(field: Field, slot: int, legal: Bools, scorer: DoublesScorer) -> Floats:
    scores = np.full(NUM_CODES, NEVER)
    for code in np.flatnonzero(legal).tolist():
        scores[code] = _code_score(field, slot, code, scorer)
    return scores


def _code_score(field: Field, slot: int, code: int, scorer: DoublesScorer) -> float:
    state = field.state
    if code == PASS:
        return 0.0
    if code >= SWITCH:
        return scorer.switch(field, slot, code - SWITCH)
    move, target, gimmick = decode(code)
    pokemon = state.own.active[slot]
    if state.phase != "move" or pokemon is None or move >= len(pokemon.moves):
        return 0.0  # a revival, or a forced move that is not among its own
    return scorer.move(field, slot, field.dex.moves[pokemon.moves[move].id], target, gimmick)


def _preview(state: UniversalState, scorer: DoublesScorer) -> Floats:
    field = Field(state)
    team = state.own.bench
    worth = [scorer.preview(field, pokemon) for pokemon in team]
    brought = min(len(team), field.rules.picked)
    ways = picks(len(team), brought, 2)
    return np.array(
        [sum(worth[k] for k in way) + 0.3 * (worth[way[0]] + worth[way[1]]) for way in ways]
    )


def spread_targets(move: Move, foes: list[Combatant], allies: list[Combatant]) -> bool:
    """Whether the move's damage is shared out."""
    return move.target in _SPREAD and len(foes) + len(allies) > 1
