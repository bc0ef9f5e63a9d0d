"""Frozen state objects made from tracked ones; positional arguments, because this runs often."""

from __future__ import annotations

from functools import lru_cache
from operator import itemgetter
from typing import Any

from poke_env.battle import Status

from nashmon.core.actions_request import move_key
from nashmon.core.state import (
    BOOSTS,
    STATS,
    Effects,
    UniversalMove,
    UniversalPokemon,
    quick_constructor,
)
from nashmon.sim.tracker_pokemon import FAINTED, UNKNOWN_ITEM, TrackedPokemon

_boosts = itemgetter(*BOOSTS)
_stat_values = itemgetter(*STATS[1:])
_STATUS_NAMES = {
    None: None,
    **{status: None if status is FAINTED else status.name.lower() for status in Status},
}
move_view = lru_cache(maxsize=65536)(UniversalMove)
_pokemon = quick_constructor(UniversalPokemon)


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


def pokemon_view(mon: TrackedPokemon, turn: int, active: bool) -> UniversalPokemon:
    """What the state says of one Pokémon."""
    status = mon._status
    fainted = status is FAINTED
    own = mon.own
    hp, max_hp = mon._current_hp, mon._max_hp
    facts = (
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
        mon.types,
        mon._terastallized_type,
        mon._terastallized,
        _item(mon),
        _ability(mon),
        _moves(mon),
        _stats(mon.entry),
        active,
        mon._revealed,
        mon.selected,
    )
    if not active:
        return _pokemon(*facts)
    return _pokemon(
        *facts,
        _boosts(mon._boosts),
        effects(mon.volatiles, turn, mon.counts),
        mon.last_move_id,
        mon.protects,
        not mon.acted and not fainted,
        mon._must_recharge,
        mon.preparing_id,
        mon.transformed_now,
        mon.commanding,
    )


def _item(mon: TrackedPokemon) -> str | None:
    if mon.battle.gen == 1:
        return ""
    item = mon._item
    return None if item == UNKNOWN_ITEM else item or ""


def _ability(mon: TrackedPokemon) -> str | None:
    return "" if mon.battle.gen < 3 else mon.ability


def _moves(mon: TrackedPokemon) -> tuple[UniversalMove, ...]:
    slots = mon.slots
    disabled = mon.disabled
    ids = mon.legal
    # A battle may end after Transform, Mimic or fainting changed the moves, before a new request.
    if ids is None or not all(move in slots for move in ids):
        ids = tuple(sorted(slots, key=move_order))
    if not disabled:
        return tuple([move_view(move, *slots[move]) for move in ids])
    return tuple([move_view(move, *slots[move], move in disabled) for move in ids])


def _stats(entry: dict[str, Any] | None) -> tuple[int, ...] | None:
    if entry is None:
        return None
    stats: tuple[int, ...] = _stat_values(entry["stats"])
    return stats
