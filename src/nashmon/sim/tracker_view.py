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


def _nature(mon: TrackedPokemon, gen: int) -> tuple[Any, str | None, str | None]:
    """Its types, item and ability as they are known now; "" where a generation has none."""
    item = "" if gen == 1 else mon._item
    ability = mon._temporary_ability
    if ability is None and not mon.copied_ability:
        ability = mon._ability
    if mon._terastallized or mon.changed_types is not None or mon.added_type is not None:
        types = mon.types
    else:
        types = mon.dex_species.types
    known = None if item == UNKNOWN_ITEM else item or ""
    return types, known, "" if gen < 3 else ability


def pokemon_facts(mon: TrackedPokemon, turn: int, active: bool) -> UniversalPokemon:
    """What the state says of one Pokémon, as the twin of a `UniversalPokemon`."""
    status = mon._status
    fainted = status is FAINTED
    own = mon.own
    hp, max_hp = mon._current_hp, mon._max_hp
    gen = mon.battle.gen
    entry = mon.entry
    types, item, ability = _nature(mon, gen)
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
        item,
        ability,
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


def lasting(mon: TrackedPokemon) -> tuple[Any, ...]:
    """Of `pokemon_facts` what seldom changes, in the order of `observe.entity_rows.Lasting`."""
    gen, own, entry = mon.battle.gen, mon.own, mon.entry
    types, item, ability = _nature(mon, gen)
    return (
        mon.forme,
        mon.base_forme,
        types,
        item,
        ability,
        mon._terastallized_type,
        mon._terastallized,
        mon._level,
        mon._gender,
        mon._max_hp if own else None,
        None if entry is None else _stat_values(entry["stats"]),
        mon.selected,
        mon._revealed,
    )


def often(mon: TrackedPokemon, active: bool) -> Any:
    """Of `pokemon_facts` what often changes, as `observe.entity_rows.Often`."""
    status = mon._status
    return (
        _STATUS_NAMES[status],
        mon.last_move_id if active else None,
        mon.preparing_id if active else None,
        mon._current_hp / mon._max_hp,
        status is FAINTED,
        active,
        mon.status_turns,
    )


def presence(mon: TrackedPokemon, turn: int) -> tuple[Any, ...]:
    """Of `pokemon_facts` what only an active one has, as `observe.entity_rows.Presence`."""
    return (
        _boosts(mon._boosts),
        effects(mon.volatiles, turn, mon.counts) if mon.volatiles or mon.counts else (),
        not mon.acted and mon._status is not FAINTED,
        mon.protects,
        mon._must_recharge,
        mon.transformed_now,
        mon.commanding,
    )


@cache  # of a dex's moves there are few: every PP of each
def _move_facts(move: str, pp: int, max_pp: int, disabled: bool) -> UniversalMove:
    return _make_move_facts((move, pp, max_pp, disabled))


def move_slots(mon: TrackedPokemon) -> tuple[tuple[str, ...], list[list[int]]]:
    """Ids of its moves in the order of actions, and the PP of each."""
    slots = mon.slots
    ids = mon.legal
    if ids is None:
        ids = _sorted_ids(mon)
    try:
        return ids, [slots[move] for move in ids]
    except KeyError:
        # A battle may end after Transform, Mimic or fainting changed the moves, before a request.
        ids = _sorted_ids(mon)
        return ids, [slots[move] for move in ids]


def _moves(mon: TrackedPokemon) -> tuple[UniversalMove, ...]:
    ids, slots = move_slots(mon)
    disabled = mon.disabled
    return tuple(
        [_move_facts(move, *slot, move in disabled) for move, slot in zip(ids, slots, strict=True)]
    )


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
