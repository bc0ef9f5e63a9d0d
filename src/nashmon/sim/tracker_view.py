"""What a state says of one Pokémon."""

from __future__ import annotations

from functools import cache, lru_cache
from operator import itemgetter

from poke_env.battle import Status

from nashmon.core.actions_request import move_key
from nashmon.core.state import (
    BOOSTS,
    STATS,
    Effects,
    UniversalMove,
    UniversalPokemon,
    quick,
)
from nashmon.sim.tracker_pokemon import FAINTED, UNKNOWN_ITEM, TrackedPokemon

_boosts = itemgetter(*BOOSTS)
_stat_values = itemgetter(*STATS[1:])
_STATUS_NAMES = {
    None: None,
    **{status: None if status is FAINTED else status.name.lower() for status in Status},
}
# The fields that only an active Pokémon can have otherwise.
_IDLE = ((0,) * 7, (), None, 0, False, False, None, False, False)
_new_pokemon = quick(UniversalPokemon)

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


def pokemon_state(mon: TrackedPokemon, turn: int, active: bool) -> UniversalPokemon:
    """What the state says of one Pokémon."""
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
        return _new_pokemon(known + _IDLE)
    volatiles = effects(mon.volatiles, turn, mon.counts) if mon.volatiles or mon.counts else ()
    return _new_pokemon(
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


_new_move = cache(UniversalMove)  # of a dex's moves there are few: every PP of each


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
    return tuple([_new_move(move, *slots[move], move in disabled) for move in ids])


def _sorted_ids(mon: TrackedPokemon) -> tuple[str, ...]:
    """Ids of its slots in order; moves are added to slots, never taken from them."""
    slots, ids = mon.sorted_slots
    if slots is not mon.slots or len(ids) != len(slots):
        slots = mon.slots
        ids = tuple(sorted(slots, key=move_order))
        mon.sorted_slots = slots, ids
    return ids
