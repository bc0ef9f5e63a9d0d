"""Frozen state objects made from tracked ones; positional arguments, because this runs often."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from nashmon.core.state import Effects, UniversalMove, UniversalPokemon
from nashmon.sim.tracker_pokemon import FAINTED, UNKNOWN_ITEM, TrackedPokemon

_NO_STAGES = (0,) * 7
_STAT_NAMES = ("atk", "def", "spa", "spd", "spe")
move_view = lru_cache(maxsize=65536)(UniversalMove)


@lru_cache(maxsize=4096)
def move_order(move: str) -> str:
    """What moves are sorted by: typed Hidden Powers and the like count as one."""
    for family in ("hiddenpower", "return", "frustration"):
        if move.startswith(family):
            return family
    return move


@lru_cache(maxsize=4096)
def request_move(move: str) -> str:
    """The id of a move as requests list it ("hiddenpowerfire70", "return102")."""
    family = move_order(move)
    return move.rstrip("0123456789") if family == "hiddenpower" else family


def effects(begun: dict[str, int], turn: int) -> Effects:
    """Names with their age in turns."""
    if not begun:
        return ()
    return tuple(sorted([(name, turn - start) for name, start in begun.items()]))


def pokemon_view(mon: TrackedPokemon, turn: int, active: bool) -> UniversalPokemon:
    """What the state says of one Pokémon."""
    status = mon._status
    fainted = status is FAINTED
    own = mon.own
    hp, max_hp = mon._current_hp, mon._max_hp
    bench = () if active else _BENCHED
    return UniversalPokemon(
        mon.forme,
        mon.base_forme,
        mon.name,
        mon._level,
        mon._gender,
        hp / max_hp,
        hp if own else None,
        max_hp if own else None,
        fainted,
        None if fainted or status is None else status.name.lower(),
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
        *(bench or _on_field(mon, turn, fainted)),
    )


def _on_field(mon: TrackedPokemon, turn: int, fainted: bool) -> tuple[Any, ...]:
    boosts = mon._boosts
    volatiles = effects(mon.volatiles, turn)
    if mon.counts:
        volatiles = tuple(sorted((*volatiles, *mon.counts.items())))
    return (
        (
            boosts["atk"],
            boosts["def"],
            boosts["spa"],
            boosts["spd"],
            boosts["spe"],
            boosts["accuracy"],
            boosts["evasion"],
        ),
        volatiles,
        mon.last_move_id,
        mon.protects,
        not mon.acted and not fainted,
        mon._must_recharge,
        mon.preparing_id,
        mon.transformed_now,
        mon.commanding,
    )


_BENCHED = (_NO_STAGES, (), None, 0, False, False, None, False, False)


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
    ids = mon.legal if mon.legal is not None else sorted(slots, key=move_order)
    if not disabled:
        return tuple([move_view(move, *slots[move]) for move in ids])
    return tuple([move_view(move, *slots[move], move in disabled) for move in ids])


def _stats(entry: dict[str, Any] | None) -> tuple[int, ...] | None:
    if entry is None:
        return None
    stats = entry["stats"]
    return tuple([stats[name] for name in _STAT_NAMES])
