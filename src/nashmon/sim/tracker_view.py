"""What a state says of one Pokémon, as a tuple of its fields, and states made from such tuples."""

from __future__ import annotations

from dataclasses import fields
from functools import cache, lru_cache
from operator import itemgetter
from typing import Any, cast

from poke_env.battle import Status

from nashmon.core.actions_request import move_key
from nashmon.core.state import (
    BOOSTS,
    STATS,
    Effects,
    UniversalMove,
    UniversalPokemon,
    UniversalSide,
    UniversalState,
    facts_constructor,
    quick_constructor,
)
from nashmon.sim.tracker_pokemon import FAINTED, UNKNOWN_ITEM, TrackedPokemon

_boosts = itemgetter(*BOOSTS)
_stat_values = itemgetter(*STATS[1:])
_STATUS_NAMES = {
    None: None,
    **{status: None if status is FAINTED else status.name.lower() for status in Status},
}
_new_move = lru_cache(maxsize=65536)(UniversalMove)
# The fields that only an active Pokémon can have otherwise.
_IDLE = ((0,) * 7, (), None, 0, False, False, None, False, False)
_facts = facts_constructor(UniversalPokemon)
_make_move_facts = facts_constructor(UniversalMove)
_new_pokemon = quick_constructor(UniversalPokemon)
_new_side = quick_constructor(UniversalSide)
_new_state = quick_constructor(UniversalState)
_MOVES = [field.name for field in fields(UniversalPokemon)].index("moves")
_OWN = [field.name for field in fields(UniversalState)].index("own")  # the foe's side follows

move_order = lru_cache(maxsize=4096)(move_key)


@lru_cache(maxsize=4096)
def request_move(move: str) -> str:
    """The id of a move as requests list it ("hiddenpowerfire70", "return102")."""
    family = move_order(move)
    return move.rstrip("0123456789") if family == "hiddenpower" else family


def effects(begun: dict[str, int], turn: int, counted: dict[str, int]) -> Effects:
    """Names with their age in turns, or with their count."""
    if not begun and not counted:
        return ()
    ages = [(name, turn - start) for name, start in begun.items()]
    return tuple(sorted([*ages, *counted.items()]))


def pokemon_facts(mon: TrackedPokemon, turn: int, active: bool) -> UniversalPokemon:
    """What the state says of one Pokémon, as the twin of a `UniversalPokemon`."""
    status = mon._status
    fainted = status is FAINTED
    own = mon.own
    hp, max_hp = mon._current_hp, mon._max_hp
    gen = mon.battle.gen
    entry = mon.entry
    item = "" if gen == 1 else mon._item
    ability = mon._temporary_ability
    if ability is None and not mon.copied_ability:
        ability = mon._ability
    if mon._terastallized or mon.changed_types is not None or mon.added_type is not None:
        types = mon.types
    else:
        types = mon.dex_species.types
    known = (
        mon.forme,
        mon.base_forme,
        mon.nickname,
        mon._level,
        mon._gender,
        hp / max_hp,
        hp if own else None,
        max_hp if own else None,
        fainted,
        _STATUS_NAMES[status],
        mon.status_turns,
        types,
        mon._terastallized_type,
        mon._terastallized,
        None if item == UNKNOWN_ITEM else item or "",
        "" if gen < 3 else ability,
        _moves(mon),
        None if entry is None else _stat_values(entry["stats"]),
        active,
        mon._revealed,
        mon.selected,
    )
    if not active:
        return _facts(known + _IDLE)
    volatiles = effects(mon.volatiles, turn, mon.counts) if mon.volatiles or mon.counts else ()
    return _facts(
        (
            *known,
            _boosts(mon._boosts),
            volatiles,
            mon.last_move_id,
            mon.protects,
            not mon.acted and not fainted,
            mon._must_recharge,
            mon.preparing_id,
            mon.transformed_now,
            mon.commanding,
        )
    )


@cache  # of a dex's moves there are few: every PP of each
def _move_facts(move: str, pp: int, max_pp: int, disabled: bool) -> UniversalMove:
    return _make_move_facts((move, pp, max_pp, disabled))


def _moves(mon: TrackedPokemon) -> tuple[UniversalMove, ...]:
    """Its moves in the order of actions."""
    ids = mon.legal
    if ids is not None:
        try:
            return _move_list(mon, ids)
        except KeyError:
            # A battle may end after Transform, Mimic or fainting changed the moves, before a
            # request.
            pass
    return _move_list(mon, _sorted_ids(mon))


def _move_list(mon: TrackedPokemon, ids: tuple[str, ...]) -> tuple[UniversalMove, ...]:
    slots, disabled = mon.slots, mon.disabled
    return tuple([_move_facts(move, *slots[move], move in disabled) for move in ids])


def _sorted_ids(mon: TrackedPokemon) -> tuple[str, ...]:
    """Ids of its slots in order; moves are added to slots, never taken from them."""
    slots, ids = mon.sorted_slots
    if slots is not mon.slots or len(ids) != len(slots):
        slots = mon.slots
        ids = tuple(sorted(slots, key=move_order))
        mon.sorted_slots = slots, ids
    return ids


class StateMaker:
    """Makes states from their twins; what did not change is the same object as before."""

    def __init__(self) -> None:
        # By identity of the twin, which is kept here so that no other can take its place.
        self._pokemon: dict[int, tuple[UniversalPokemon, UniversalPokemon]] = {}
        self._sides: list[tuple[UniversalSide, UniversalSide] | None] = [None, None]

    def state(self, facts: UniversalState) -> UniversalState:
        """The state of which this is the twin."""
        before, self._pokemon = self._pokemon, {}
        own, foe = (self._side(k, side, before) for k, side in enumerate((facts.own, facts.foe)))
        values = list(cast(tuple[Any, ...], facts))
        values[_OWN : _OWN + 2] = own, foe
        return _new_state(*values)

    def _side(self, k: int, facts: UniversalSide, before: Any) -> UniversalSide:
        active = tuple([None if p is None else self._view(p, before) for p in facts.active])
        bench = tuple([self._view(p, before) for p in facts.bench])
        known = self._sides[k]
        if known is not None and known[0] == facts:
            return known[1]
        made = _new_side(active, bench, *cast(tuple[Any, ...], facts)[2:])
        self._sides[k] = facts, made
        return made

    def _view(self, facts: UniversalPokemon, before: Any) -> UniversalPokemon:
        known = before.get(id(facts))
        if known is None:
            values = list(cast(tuple[Any, ...], facts))
            values[_MOVES] = tuple([_new_move(*move) for move in values[_MOVES]])
            known = facts, _new_pokemon(*values)
        self._pokemon[id(facts)] = known
        return cast(UniversalPokemon, known[1])
