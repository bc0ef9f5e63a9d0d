"""poke-env's `Battle`, made from a state: what its players read, in every engine.

A view belongs to one slot of an agent's memory and is brought up to date before each decision, so
its Pokémon are the same objects throughout a battle.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from enum import Enum
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from poke_env.battle import (
    Battle,
    Effect,
    Field,
    Move,
    Pokemon,
    PokemonGender,
    PokemonType,
    SideCondition,
    Status,
    Weather,
)

from nashmon.core.actions_singles import GIMMICK, SWITCH
from nashmon.core.state import (
    BOOSTS,
    HAZARDS,
    STATS,
    UniversalMove,
    UniversalPokemon,
    UniversalSide,
    UniversalState,
)

log = logging.getLogger(__name__)

NUM_MOVES = SWITCH
_FLAGS = {
    "mega": "_can_mega_evolve",
    "zmove": "_can_z_move",
    "dynamax": "_can_dynamax",
    "tera": "_can_tera",
}
_GENDERS = {"M": PokemonGender.MALE, "F": PokemonGender.FEMALE, "N": PokemonGender.NEUTRAL}
_PERCENT = 100  # the scale poke-env keeps a foe's hit points in

_E = TypeVar("_E", bound=Enum)


@lru_cache(maxsize=8)
def _by_id(kind: type[_E]) -> dict[str, _E]:
    return {name.replace("_", "").lower(): member for name, member in kind.__members__.items()}


def _named(kind: type[_E], ids: Iterable[tuple[str, int]]) -> dict[_E, int]:
    """Members with their counts; what poke-env has no name for is left out."""
    members = _by_id(kind)
    return {members[name]: count for name, count in ids if name in members}


@lru_cache(maxsize=64)
def _type(name: str) -> PokemonType:
    return PokemonType.from_name(name)


class BattleView:
    """A `Battle` that shows what one player knows, and which action each of its orders is."""

    def __init__(self, gen: int) -> None:
        self.battle = Battle("battle-view", "player", log, gen)
        self.battle._player_role = "p1"
        self._gen = gen
        self._sources: dict[str, UniversalPokemon] = {}  # what each Pokémon shows now

    def show(self, state: UniversalState, mask: NDArray[np.bool_]) -> Battle:
        """Bring the battle up to date; only what the mask allows is available."""
        battle = self.battle
        battle._turn = state.turn
        battle._team = self._side(state.own, battle._team, own=True)
        battle._opponent_team = self._side(state.foe, battle._opponent_team, own=False)
        battle._team_size = {"p1": state.own.team_size, "p2": state.foe.team_size}
        battle._side_conditions = _conditions(state.own, state.turn)
        battle._opponent_side_conditions = _conditions(state.foe, state.turn)
        weather = [(state.weather, state.turn - state.weather_turns)] if state.weather else []
        battle._weather = _named(Weather, weather)
        battle._fields = _named(Field, [(name, state.turn - age) for name, age in state.fields])
        battle._force_switch = state.phase == "switch"
        battle._reviving = state.reviving
        battle._trapped = state.phase == "move" and state.trapped[0]
        battle._maybe_trapped = state.phase == "move" and state.maybe_trapped[0]
        battle._used_tera = "tera" in state.own.gimmicks_used
        battle._used_dynamax = "dynamax" in state.own.gimmicks_used
        battle._used_mega_evolve = "mega" in state.own.gimmicks_used
        battle._used_z_move = "zmove" in state.own.gimmicks_used
        self._offer(state, mask)
        return battle

    def _side(
        self, side: UniversalSide, known: dict[str, Pokemon], own: bool
    ) -> dict[str, Pokemon]:
        role = "p1" if own else "p2"
        shown = {}
        for pokemon in (*side.active, *side.bench):
            # Without a preview poke-env knows no foe that has not been on the field.
            if pokemon is None or not (own or pokemon.revealed):
                continue
            ident = f"{role}: {pokemon.ident}"
            shown[ident] = known.get(ident) or Pokemon(self._gen, species=pokemon.species)
            if self._sources.get(ident) != pokemon:  # most of a team is as it was
                update_pokemon(shown[ident], pokemon)
                self._sources[ident] = pokemon
        return shown

    def _offer(self, state: UniversalState, mask: NDArray[np.bool_]) -> None:
        battle, own = self.battle, state.own
        team = battle._team
        active = own.active[0]
        self._moves: list[tuple[Move, int]] = []
        if state.phase == "move" and active is not None:
            user = team[f"p1: {active.ident}"]
            for rank in np.flatnonzero(mask[:NUM_MOVES] | _with_gimmick(mask)).tolist():
                self._moves.append((_offered(user, active, rank, self._gen), rank))
        battle._available_moves = [move for move, rank in self._moves if mask[rank]]
        self._switches = [
            (team[f"p1: {pokemon.ident}"], SWITCH + k)
            for k, pokemon in enumerate(own.bench)
            if mask[SWITCH + k]
        ]
        battle._available_switches = [pokemon for pokemon, _ in self._switches]
        gimmick = state.can_gimmick[0] if state.phase == "move" else None
        for name, flag in _FLAGS.items():
            offered = gimmick is not None and gimmick.startswith(name)
            setattr(battle, flag, offered and bool(_with_gimmick(mask).any()))

    def action(self, order: Any) -> int | None:
        """The action of a `SingleBattleOrder`; None when it is none."""
        chosen = getattr(order, "order", None)
        for pokemon, action in self._switches:
            if chosen is pokemon:
                return action
        gimmick = any(getattr(order, name, False) for name in _ORDER_FLAGS)
        for move, rank in self._moves:
            if chosen is move:
                return GIMMICK + rank if gimmick else rank
        return None


_ORDER_FLAGS = ("mega", "z_move", "dynamax", "terastallize")


def _with_gimmick(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(4,): which moves can be combined with the gimmick."""
    found = np.zeros(NUM_MOVES, np.bool_)
    part = mask[GIMMICK : GIMMICK + NUM_MOVES]
    found[: len(part)] = part
    return found


def _conditions(side: UniversalSide, turn: int) -> dict[SideCondition, int]:
    pairs = [(n, count if n in HAZARDS else turn - count) for n, count in side.conditions]
    return _named(SideCondition, pairs)


def _offered(user: Pokemon, active: UniversalPokemon, rank: int, gen: int) -> Move:
    """The move behind an action; a request that greys out all moves offers a special one."""
    if rank < len(active.moves) and not active.moves[rank].disabled:
        move = user.moves[active.moves[rank].id]
        return move.dynamaxed if user.is_dynamaxed else move
    if active.must_recharge:
        return Move("recharge", gen)
    held = active.status in ("slp", "frz") or any(
        n == "partiallytrapped" for n, _ in active.volatiles
    )
    return Move("fight" if gen == 1 and held else "struggle", gen)


def update_pokemon(target: Pokemon, source: UniversalPokemon) -> None:
    """Make a poke-env Pokémon say what the state says."""
    if target._species != source.species:
        target._update_from_pokedex(source.species)
    target._name = source.ident
    target._active = source.active
    target._level = source.level
    target._gender = None if source.gender is None else _GENDERS[source.gender]
    target._revealed = source.revealed
    _update_health(target, source)
    types = [_type(name) for name in source.types] or [PokemonType.THREE_QUESTION_MARKS]
    target._type_1, target._type_2 = types[0], types[1] if len(types) > 1 else None
    target._terastallized = source.terastallized
    target._terastallized_type = None if source.tera_type is None else _type(source.tera_type)
    target._ability = source.ability or None
    target._item = target._item if source.item is None else source.item
    if source.stats is not None:
        target._stats.update(zip(STATS[1:], source.stats, strict=True))
        target._stats["hp"] = source.max_hp
    target._boosts.update(zip(BOOSTS, source.boosts, strict=True))
    target._effects = _named(Effect, source.volatiles)
    target._must_recharge = source.must_recharge
    target._protect_counter = source.protect_count
    target._preparing_move = (
        None if source.preparing is None else Move(source.preparing, target._gen)
    )
    target._moves._base_moves = {m.id: _move(target, m) for m in source.moves}


def _update_health(target: Pokemon, source: UniversalPokemon) -> None:
    if source.hp is not None and source.max_hp is not None:
        target._current_hp, target._max_hp = source.hp, source.max_hp
    else:
        target._current_hp = round(source.hp_fraction * _PERCENT)
        target._max_hp = _PERCENT
    target._status_counter = source.status_turns
    if source.fainted:
        target._status = Status.FNT
    else:
        target._status = None if source.status is None else Status[source.status.upper()]


def _move(owner: Pokemon, source: UniversalMove) -> Move:
    move = owner._moves._base_moves.get(source.id) or Move(source.id, owner._gen)
    move._current_pp = source.pp
    return move
