"""Metamon's state schema: export of our states, import of its files.

Its actions need no conversion: indices 0–12 mean the same (−1 in its files is "not known").
Metamon shows one volatile and one side condition; which one of several is told in docs/state.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from nashmon.core.dex import Dex, Move, Species, get_dex
from nashmon.core.errors import NashmonError, UnsupportedError
from nashmon.core.formats import get_format
from nashmon.core.state import (
    BOOSTS,
    HAZARDS,
    STATS,
    Effects,
    UniversalMove,
    UniversalPokemon,
    UniversalSide,
    UniversalState,
)

TEAM_SIZE = 6  # metamon knows teams of six only
NO_MOVE: dict[str, Any] = {
    "name": "nomove",
    "move_type": "nomove",
    "category": "nomove",
    "base_power": 0,
    "accuracy": 1.0,
    "priority": 0,
    "current_pp": 0,
    "max_pp": 0,
}
_MOVE_KEYS = frozenset(NO_MOVE)
_BOOST_KEYS = {name: f"{name}_boost" for name in BOOSTS}
_STAT_KEYS = {name: f"base_{name}" for name in STATS}
_POKEMON_KEYS = frozenset(
    {
        *("name", "base_species", "hp_pct", "types", "tera_type", "item", "ability", "lvl"),
        *("status", "effect", "moves", *_BOOST_KEYS.values(), *_STAT_KEYS.values()),
    }
)
_STATE_KEYS = frozenset(
    {
        *("format", "player_active_pokemon", "opponent_active_pokemon", "available_switches"),
        *("player_prev_move", "opponent_prev_move", "opponents_remaining", "player_conditions"),
        *("opponent_conditions", "weather", "battle_field", "forced_switch", "battle_won"),
        *("battle_lost", "can_tera", "opponent_teampreview"),
    }
)
# Keys that files of older versions lack.
_OPTIONAL: dict[str, Callable[[], Any]] = {
    "base_species": str,
    "can_tera": bool,
    "opponent_teampreview": list,
}


class MetamonError(NashmonError):
    """A metamon state that cannot be read; the message names the key and what was expected."""


def to_metamon(state: UniversalState) -> dict[str, Any]:
    """The state as metamon's nested dict."""
    own, foe = state.own.active[0], state.foe.active[0]
    if state.game_type != "singles" or own is None or foe is None:
        raise UnsupportedError(f"metamon has no {state.game_type} state of phase {state.phase!r}")
    dex = get_format(state.format).dex
    return {
        "format": state.format,
        "player_active_pokemon": _export_pokemon(own, dex),
        "opponent_active_pokemon": _export_pokemon(foe, dex),
        "available_switches": [
            _export_pokemon(p, dex) for p in state.own.bench if p.fainted == state.reviving
        ],
        "player_prev_move": _export_last_move(own, dex),
        "opponent_prev_move": _export_last_move(foe, dex),
        "opponents_remaining": TEAM_SIZE - state.foe.num_fainted,
        "player_conditions": _export_condition(state.own, state.turn),
        "opponent_conditions": _export_condition(state.foe, state.turn),
        "weather": _letters(state.weather or "noweather"),
        "battle_field": _one(state.fields, "nofield"),
        "forced_switch": any(state.force_switch),
        "battle_won": state.result == "win",
        "battle_lost": state.result in ("loss", "draw"),
        "can_tera": state.can_gimmick[0] == "tera",
        "opponent_teampreview": [_species(dex, name).base_species for name in state.foe.preview],
    }


def from_metamon(data: Mapping[str, Any]) -> UniversalState:
    """A state from metamon's nested dict; what metamon does not say is unknown."""
    values = _check("state", data, _STATE_KEYS)
    format = get_format(values["format"])
    names = _names(format.mod)
    switches = [_import_pokemon(p, names, active=False) for p in values["available_switches"]]
    own = _import_active(values, "player", names)
    foe = _import_active(values, "opponent", names)
    forced = bool(values["forced_switch"])
    alive = len(switches) + (not own.fainted)
    foe_fainted = TEAM_SIZE - values["opponents_remaining"]
    return UniversalState(
        format=format.id,
        gen=format.gen,
        game_type="singles",
        turn=0,
        phase="switch" if forced else "move",
        own=_import_side(own, switches, values["player_conditions"], TEAM_SIZE - alive, ()),
        foe=_import_side(
            *(foe, [], values["opponent_conditions"], foe_fainted),
            tuple(values["opponent_teampreview"]),
        ),
        weather=None if values["weather"] == "noweather" else values["weather"],
        weather_turns=0,
        fields=() if values["battle_field"] == "nofield" else ((values["battle_field"], 0),),
        force_switch=(forced,),
        trapped=(False,),
        maybe_trapped=(False,),
        can_gimmick=("tera" if values["can_tera"] else None,),
        reviving=forced and bool(switches) and all(p.fainted for p in switches),
        result="win" if values["battle_won"] else "loss" if values["battle_lost"] else None,
    )


def _letters(word: str) -> str:
    return "".join(filter(str.isalpha, word))


def _move_name(move: str) -> str:
    for family in ("hiddenpower", "return", "frustration"):
        if move.startswith(family):
            return family
    return _letters(move)


def _species(dex: Dex, name: str) -> Species:
    if name not in dex.species:
        raise MetamonError(f"species {name!r} is not in the tables of {dex.mod}")
    return dex.species[name]


def _export_pokemon(p: UniversalPokemon, dex: Dex) -> dict[str, Any]:
    species = _species(dex, p.species)
    types = [*p.types[:2], "notype", "notype"][:2]
    return {
        "name": p.species,
        "base_species": _species(dex, p.base_species).base_species,
        "hp_pct": p.hp_fraction,
        "types": " ".join(sorted(types)),
        "tera_type": p.tera_type or "notype",
        "item": _export_held(p.item, "item"),
        "ability": _export_held(p.ability, "ability"),
        "lvl": p.level,
        "status": "fnt" if p.fainted else p.status or "nostatus",
        "effect": _one(p.volatiles, "noeffect"),
        "moves": [_export_move(dex.moves[move.id], move.pp, move.max_pp) for move in p.moves[:4]],
        **{key: p.boosts[BOOSTS.index(name)] for name, key in _BOOST_KEYS.items()},
        **{key: species.base_stats[STATS.index(name)] for name, key in _STAT_KEYS.items()},
    }


def _export_held(name: str | None, kind: str) -> str:
    if name is None:
        return f"unknown{kind}"
    return _letters(name) or f"no{kind}"


def _export_move(move: Move, pp: int, max_pp: int) -> dict[str, Any]:
    return {
        "name": _move_name(move.id),
        "move_type": move.type or "threequestionmarks",
        "category": move.category,
        "base_power": move.power,
        "accuracy": 1.0 if move.accuracy is None else move.accuracy / 100,
        "priority": move.priority,
        "current_pp": pp,
        "max_pp": max_pp,
    }


def _export_last_move(p: UniversalPokemon, dex: Dex) -> dict[str, Any]:
    if p.last_move is None or p.last_move not in dex.moves:
        return dict(NO_MOVE)
    for move in p.moves:
        if move.id == p.last_move:
            return _export_move(dex.moves[move.id], move.pp, move.max_pp)
    called = dex.moves[p.last_move]  # by Metronome and the like: nothing of it was spent
    return _export_move(called, called.max_pp, called.max_pp)


def _one(effects: Effects, empty: str) -> str:
    """The youngest effect, ties by name."""
    if not effects:
        return empty
    return _letters(min(effects, key=lambda effect: (effect[1], effect[0]))[0])


def _export_condition(side: UniversalSide, turn: int) -> str:
    """Metamon compares layers of hazards with the turn the others began; the largest is shown."""
    if not side.conditions:
        return "noconditions"
    values = [(-(n if name in HAZARDS else turn - n), name) for name, n in side.conditions]
    return _letters(min(values)[1])


class _Names:
    """Ids by metamon's words, which lack digits."""

    def __init__(self, dex: Dex) -> None:
        self.dex = dex
        self.items = {_letters(name): name for name in dex.items}
        self.abilities = {_letters(name): name for name in dex.abilities}
        self.moves = {_letters(name): name for name in dex.moves}

    def find(self, kind: str, word: str) -> str:
        """The id of a word."""
        table: dict[str, str] = getattr(self, kind)
        if word not in table:
            raise MetamonError(f"{word!r} is not among the {kind} of {self.dex.mod}")
        return table[word]


@cache
def _names(mod: str) -> _Names:
    return _Names(get_dex(mod))


def _check(what: str, data: Mapping[str, Any], keys: frozenset[str]) -> dict[str, Any]:
    unknown = sorted(set(data) - keys)
    if unknown:
        raise MetamonError(f"{what}: unknown keys {', '.join(unknown)}")
    values = {key: make() for key, make in _OPTIONAL.items() if key in keys} | dict(data)
    missing = sorted(keys - set(values))
    if missing:
        raise MetamonError(f"{what}: missing keys {', '.join(missing)}")
    return values


def _import_active(values: Mapping[str, Any], who: str, names: _Names) -> UniversalPokemon:
    last = _check("move", values[f"{who}_prev_move"], _MOVE_KEYS)["name"]
    last_move = None if last == "nomove" else names.find("moves", last)
    return _import_pokemon(values[f"{who}_active_pokemon"], names, active=True, last_move=last_move)


def _import_pokemon(
    data: Mapping[str, Any], names: _Names, active: bool, last_move: str | None = None
) -> UniversalPokemon:
    values = _check("Pokémon", data, _POKEMON_KEYS)
    species = _species(names.dex, values["name"])
    fainted = values["status"] == "fnt"
    base = values["base_species"] or species.base_species
    effect = values["effect"]
    return UniversalPokemon(
        species=species.id,
        base_species=species.id if base == species.base_species else base,
        ident=species.name,
        level=values["lvl"],
        gender=None,
        hp_fraction=values["hp_pct"],
        hp=None,
        max_hp=None,
        fainted=fainted,
        status=None if values["status"] in ("nostatus", "fnt") else values["status"],
        status_turns=0,
        types=tuple(word for word in values["types"].split() if word != "notype"),
        tera_type=None if values["tera_type"] == "notype" else values["tera_type"],
        terastallized=False,
        item=_import_held(values["item"], "item", names),
        ability=_import_held(values["ability"], "ability", names),
        moves=tuple(_import_move(move, names) for move in values["moves"]),
        stats=None,
        active=active,
        revealed=active,
        selected=None,
        boosts=tuple(values[key] for key in _BOOST_KEYS.values()),
        volatiles=() if effect == "noeffect" else ((effect, 0),),
        last_move=last_move,
    )


def _import_held(word: str, kind: str, names: _Names) -> str | None:
    if word == f"unknown{kind}":
        return None
    if word == f"no{kind}":
        return ""
    return names.find("abilities" if kind == "ability" else "items", word)


def _import_move(data: Mapping[str, Any], names: _Names) -> UniversalMove:
    values = _check("move", data, _MOVE_KEYS)
    move = names.find("moves", values["name"])
    if move == "hiddenpower" and f"hiddenpower{values['move_type']}" in names.dex.moves:
        move = f"hiddenpower{values['move_type']}"
    return UniversalMove(move, values["current_pp"], values["max_pp"])


def _import_side(
    active: UniversalPokemon,
    bench: list[UniversalPokemon],
    condition: str,
    num_fainted: int,
    preview: tuple[str, ...],
) -> UniversalSide:
    count = 1 if condition in HAZARDS else 0
    return UniversalSide(
        active=(active,),
        bench=tuple(bench),
        conditions=() if condition == "noconditions" else ((condition, count),),
        slot_conditions=((),),
        team_size=TEAM_SIZE,
        num_fainted=num_fainted,
        gimmicks_used=(),
        dynamax_turns=None,
        preview=preview,
    )
