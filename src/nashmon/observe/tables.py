"""Constant facts of moves, species and types as arrays aligned with the vocabulary.

Observations hold ids; a network looks these rows up instead of receiving them every decision.
Row 0 (empty) and row 1 (unknown) are zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from nashmon.core.dex import Dex, Effect, Move, Species, get_dex
from nashmon.core.state import BOOSTS, STATS, STATUSES
from nashmon.observe.effects import effect_words
from nashmon.observe.vocab import vocabularies

CATEGORIES = ("physical", "special", "status")
# Flags of moves that change how a battle goes; the dex has more.
_FLAGS = (
    *("bite", "bullet", "bypasssub", "charge", "contact", "dance", "defrost", "heal"),
    *("powder", "protect", "pulse", "punch", "recharge", "reflectable", "slicing", "snatch"),
    *("sound", "wind"),
)
_TARGETS = (
    *("normal", "self", "any", "adjacentAlly", "adjacentAllyOrSelf", "adjacentFoe"),
    *("allAdjacent", "allAdjacentFoes", "allies", "allySide", "allyTeam", "all", "foeSide"),
    *("randomNormal", "scripted"),
)


@dataclass(frozen=True)
class FeatureTable:
    """One row per word of a vocabulary; columns are named."""

    vocab: str
    columns: tuple[str, ...]
    values: NDArray[np.float32]  # (words, columns), read-only


# Attribute of a dex effect → the table its words come from.
_KINDS = {
    "volatile_status": "volatiles",
    "side_condition": "conditions",
    "slot_condition": "slot_conditions",
    "weather": "weathers",
    "terrain": "fields",
    "pseudo_weather": "fields",
}
_ON_USER = ("self", "allies", "allySide", "allyTeam", "adjacentAllyOrSelf")


def _scalars(m: Move) -> dict[str, float]:
    """What a move is, apart from the words it brings."""
    return {
        "power": min(m.power, 256) / 128,
        "accuracy": 1.0 if m.accuracy is None else m.accuracy / 100,
        "never_misses": m.accuracy is None,
        "priority": m.priority / 8,
        "max_pp": m.max_pp / 64,
        "mean_hits": (m.min_hits + m.max_hits) / 10,
        "crit_ratio": 1.0 if m.will_crit else (m.crit_ratio - 1) / 4,
        "drain": m.drain,
        "recoil": m.recoil,
        "heal": m.heal,
        "half_hp_recoil": m.half_hp_recoil,
        "crash_damage": m.crash_damage,
        "fixed_damage": m.damage / 256 if isinstance(m.damage, int) else 0.0,
        "level_damage": m.damage == "level",
        "ohko": m.ohko is not None,
        "self_destruct": m.self_destruct is not None,
        "self_switch": m.self_switch is not None,
        "force_switch": m.force_switch,
        "stalling": m.stalling,
        "breaks_protect": m.breaks_protect,
        "ignore_ability": m.ignore_ability,
        "ignore_defensive": m.ignore_defensive,
        "thaws_target": m.thaws_target,
        "sleep_usable": m.sleep_usable,
        "variable_power": m.variable_power,
        "variable_damage": m.variable_damage,
        "calls_move": m.calls_move,
    }


def _effects(move: Move) -> Iterator[tuple[float, bool, Effect]]:
    """Every effect of a move: its probability once the move hits, and whether the user has it."""
    itself = move.target in _ON_USER
    yield 1.0, True, move.self_effect
    for effect in (move.effect, *move.secondaries):
        chance = 1.0 if effect.chance is None else effect.chance / 100
        yield chance, itself, effect
        if effect.own is not None:
            yield chance, True, effect.own


def _move_row(move: Move, columns: Sequence[str]) -> list[float]:
    row = dict.fromkeys(columns, 0.0)
    row.update(_scalars(move))
    present = [f"type_{move.type}", f"category_{move.category}", f"target_{move.target}"]
    present += [f"flag_{flag}" for flag in move.flags]
    row.update({name: 1.0 for name in present if name in row})
    for chance, on_user, effect in _effects(move):
        for attribute in ("status", *_KINDS):
            name = f"{attribute}_{getattr(effect, attribute)}"
            if name in row:  # the dex knows effects that no state shows
                row[name] = max(row[name], chance)
        who = "user" if on_user else "target"
        for stat, stages in zip(BOOSTS, effect.boosts, strict=True):
            row[f"{who}_boost_{stat}"] += chance * stages / 4
    return list(row.values())


def _move_columns(dex: Dex) -> list[str]:
    return [
        *_scalars(next(iter(dex.moves.values()))),
        *(f"type_{name}" for name in sorted(dex.types)),
        *(f"category_{name}" for name in CATEGORIES),
        *(f"target_{name}" for name in _TARGETS),
        *(f"flag_{name}" for name in _FLAGS),
        *(f"status_{name}" for name in STATUSES),
        *(f"{who}_boost_{stat}" for who in ("user", "target") for stat in BOOSTS),
        *(f"{kind}_{w}" for kind, table in _KINDS.items() for w in effect_words(table, dex.gen)),
    ]


@lru_cache(maxsize=32)
def move_features(mod: str) -> FeatureTable:
    """Facts of every move of a mod; columns that are the same for all moves are left out."""
    dex = get_dex(mod)
    columns = _move_columns(dex)
    words = vocabularies(mod)["moves"].words
    values = np.zeros((len(words), len(columns)), np.float32)
    values[2:] = [_move_row(dex.moves[word], columns) for word in words[2:]]
    varies = (values[2:] != values[2]).any(axis=0)
    values = np.ascontiguousarray(values[:, varies])
    values.setflags(write=False)
    return FeatureTable("moves", tuple(compress(columns, varies)), values)


@lru_cache(maxsize=32)
def species_features(mod: str) -> FeatureTable:
    """Facts of every species of a mod: base stats, types, weight, whether it can evolve."""
    dex = get_dex(mod)
    types = sorted(dex.types)
    columns = (*(f"base_{name}" for name in STATS), *(f"type_{t}" for t in types), "weight", "nfe")
    table = vocabularies(mod)["species"]
    values = np.zeros((len(table), len(columns)), np.float32)
    for index, word in enumerate(table.words[2:], start=2):
        values[index] = _species_row(dex.species[word], types)
    values.setflags(write=False)
    return FeatureTable("species", columns, values)


def _species_row(species: Species, types: list[str]) -> list[float]:
    stats = [value / 256 for value in species.base_stats]
    flags = [float(name in species.types) for name in types]
    return [*stats, *flags, min(species.weight_kg / 512, 2.0), float(species.nfe)]


@lru_cache(maxsize=32)
def type_chart(mod: str) -> NDArray[np.float32]:
    """`chart[attacking id, defending id]`: the damage factor; 1 for empty and unknown types."""
    dex = get_dex(mod)
    words = vocabularies(mod)["types"].words
    chart = np.ones((len(words), len(words)), np.float32)
    for i, attack in enumerate(words[2:], start=2):
        for j, defend in enumerate(words[2:], start=2):
            chart[i, j] = dex.chart.get((attack, defend), 1.0)
    chart.setflags(write=False)
    return chart
