"""Facts of moves as arrays, indexed by the ids of the move vocabulary, and likely foe moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nashmon.core.dex import Dex, Move, get_dex, to_id
from nashmon.core.formats import Format, get_format
from nashmon.core.state import HAZARDS, STATUSES
from nashmon.observe.vocab import vocabularies
from nashmon.teams.paste import parse_teams
from nashmon.teams.sets import get_material, variety_formats

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

PHYSICAL, SPECIAL, STATUS = 0, 1, 2
LEVEL, HALF, PSYWAVE, OHKO, UNKNOWABLE = -1, -2, -3, -4, -5  # kinds of fixed damage
NUM_GUESSES = 8
STATUS_CODE = {status: code for code, status in enumerate(STATUSES, start=1)}
BRN, PAR, SLP, FRZ, PSN, TOX = range(1, 7)

_HEALING = (
    "recover", "softboiled", "milkdrink", "slackoff", "roost", "healorder", "moonlight",
    "synthesis", "morningsun", "shoreup", "lunarblessing", "swallow", "strengthsap", "wish",
)  # fmt: skip
_NO_USE = ("splash", "teleport", "celebrate", "holdhands", "happyhour")
_CATEGORY = {"physical": PHYSICAL, "special": SPECIAL, "status": STATUS}


@dataclass(frozen=True, eq=False)
class MoveTable:
    """One array per fact; row 0 is "no move", row 1 "not known"."""

    dex: Dex
    ids: dict[str, int]
    power: Floats
    accuracy: Floats  # 1 for moves that cannot miss
    category: Ints
    type: Ints  # id of the type vocabulary
    priority: Ints
    fixed: Ints  # HP, or LEVEL, HALF …; 0 for moves that use the formula
    hits: Floats  # mean number of strikes
    fewest: Ints
    most: Ints
    sharp: Bools  # critical hits are likelier
    explodes: Bools
    ignores_types: Bools
    status: Ints  # what a status move inflicts on its target
    side_status: Ints  # what an attack may inflict
    side_chance: Floats
    heal: Floats  # fraction of the user's maximum
    drain: Floats
    recoil: Floats
    recharges: Bools
    charges: Bools
    traps: Bools
    rests: Bools
    raises: Ints  # (moves, 7): stages a status move gives its user
    lowers: Ints  # (moves, 7): stages it takes from its target, as negative numbers
    substitute: Bools
    reflect: Bools
    light_screen: Bools
    seeds: Bools
    confuses: Bools
    hazard: Bools
    clears: Bools  # Haze and its kin
    phazes: Bools
    stalls: Bools  # Protect and its kin
    pivots: Bools
    counters: Bools
    powder: Bools
    useless: Bools


@lru_cache(maxsize=16)
def move_table(mod: str) -> MoveTable:
    """The table of a generation or mod."""
    dex = get_dex(mod)
    words = vocabularies(mod)
    moves = [dex.moves.get(word) for word in words["moves"].words]
    types = words["types"].ids

    def column(fact: Any, empty: Any = 0) -> NDArray[Any]:
        return np.array([empty if move is None else fact(move) for move in moves])

    def holds(fact: Any) -> Bools:
        return column(lambda move: bool(fact(move)), False).astype(bool)

    return MoveTable(
        dex=dex,
        ids=words["moves"].ids,
        power=column(lambda m: m.power).astype(float),
        accuracy=column(lambda m: 1.0 if m.accuracy is None else m.accuracy / 100, 1.0),
        category=column(lambda m: _CATEGORY[m.category], STATUS),
        type=column(lambda m: types.get(m.type, 0)),
        priority=column(lambda m: m.priority),
        fixed=column(_fixed),
        hits=column(lambda m: (m.min_hits + m.max_hits) / 2 if m.max_hits != 5 else 3.0, 1.0),
        fewest=column(lambda m: m.min_hits, 1),
        most=column(lambda m: m.max_hits, 1),
        sharp=holds(lambda m: m.crit_ratio > 1),
        explodes=holds(lambda m: m.self_destruct),
        ignores_types=holds(lambda m: "all" in m.ignore_immunity),
        status=column(lambda m: STATUS_CODE.get(m.effect.status, 0) * (m.target != "self")),
        side_status=column(lambda m: _side_status(m)[0]),
        side_chance=column(lambda m: _side_status(m)[1], 0.0),
        heal=column(lambda m: 0.5 if m.id in _HEALING else float(m.id == "rest"), 0.0),
        drain=column(lambda m: m.drain, 0.0),
        recoil=column(lambda m: m.recoil, 0.0),
        recharges=holds(lambda m: m.self_effect.volatile_status == "mustrecharge"),
        charges=holds(lambda m: "charge" in m.flags),
        traps=holds(lambda m: m.effect.volatile_status == "partiallytrapped"),
        rests=holds(lambda m: m.id == "rest"),
        raises=_boosts(moves, own=True),
        lowers=_boosts(moves, own=False),
        substitute=holds(lambda m: m.id == "substitute"),
        reflect=holds(lambda m: m.id in ("reflect", "auroraveil")),
        light_screen=holds(lambda m: m.id == "lightscreen"),
        seeds=holds(lambda m: m.id == "leechseed"),
        confuses=holds(lambda m: m.category == "status" and _volatile(m) == "confusion"),
        hazard=holds(lambda m: m.effect.side_condition in HAZARDS),
        clears=holds(lambda m: m.id in ("haze", "clearsmog")),
        phazes=holds(lambda m: m.force_switch and m.category == "status"),
        stalls=holds(lambda m: m.stalling),
        pivots=holds(lambda m: m.self_switch),
        counters=holds(lambda m: m.id in ("counter", "mirrorcoat", "metalburst")),
        powder=holds(lambda m: "powder" in m.flags),
        useless=holds(lambda m: m.id in _NO_USE),
    )


def _volatile(move: Move) -> str | None:
    return move.effect.volatile_status


def _side_status(move: Move) -> tuple[int, float]:
    for effect in move.secondaries:
        if effect.status is not None:
            return STATUS_CODE[effect.status], (effect.chance or 100) / 100
    return 0, 0.0


def _fixed(move: Move) -> int:
    if move.ohko is not None:
        return OHKO
    if move.damage is not None:
        return LEVEL if move.damage == "level" else int(move.damage)
    if move.id in ("superfang", "naturesmadness", "ruination"):
        return HALF
    if move.id == "psywave":
        return PSYWAVE
    return UNKNOWABLE if move.variable_damage else 0


def _boosts(moves: Iterable[Move | None], own: bool) -> Ints:
    rows = []
    for move in moves:
        row: tuple[int, ...] = (0,) * 7
        if move is not None and move.category == "status":
            on_self = move.target in ("self", "adjacentAllyOrSelf", "allies")
            if on_self == own:
                row = move.effect.boosts
            elif own:
                row = move.self_effect.boosts
        rows.append(row)
    return np.array(rows)


@dataclass(frozen=True, eq=False)
class Guesses:
    """For each species the moves it is most often seen with."""

    moves: Ints  # (species, NUM_GUESSES) move ids, likeliest first; 0 when there are no more
    chance: Floats  # how often a set of the species has the move


@lru_cache(maxsize=32)
def likely_moves(format_id: str) -> Guesses:
    """What unseen moves are guessed from: shipped teams first, then the simulator's sets.

    A species without either is taken to have an attack of each of its types.
    """
    rules = get_format(format_id)
    table, species = move_table(rules.mod), vocabularies(rules.mod)["species"]
    seen, totals = _shipped_counts(rules), Counter[str]()
    for (name, _), count in seen.items():
        totals[name] += count
    sets = get_material(format_id).rows if format_id in variety_formats() else {}
    moves = np.zeros((len(species.words), NUM_GUESSES), np.int64)
    chance = np.zeros((len(species.words), NUM_GUESSES))
    by_species: dict[str, dict[str, float]] = {}
    for (name, move), count in seen.items():
        by_species.setdefault(name, {})[move] = 4 * count / totals[name]
    for index, name in enumerate(species.words):
        if index < 2:
            continue
        rows = [row.moves for row in sets.get(name, ())]
        likely = by_species.get(name) or _from_sets(rows) or _own_type_attacks(rules.dex, name)
        ranked = sorted(likely.items(), key=lambda pair: (-pair[1], pair[0]))
        for k, (move, value) in enumerate(ranked[:NUM_GUESSES]):
            moves[index, k], chance[index, k] = table.ids[move], min(value, 1.0)
    return Guesses(moves, chance)


def _shipped_counts(rules: Format) -> Counter[tuple[str, str]]:
    counts: Counter[tuple[str, str]] = Counter()
    file = resources.files("nashmon.teams").joinpath(f"data/{rules.id}/competitive.txt")
    if not file.is_file():
        return counts
    for team in parse_teams(file.read_text(encoding="utf-8")):
        for pokemon in team.pokemon:
            for move in pokemon.moves:
                if to_id(move) in rules.dex.moves:
                    counts[to_id(pokemon.species), to_id(move)] += 1
    return counts


def _from_sets(rows: list[tuple[str, ...]]) -> dict[str, float]:
    likely: dict[str, float] = {}
    for row in rows:
        for move in row:
            likely[move] = likely.get(move, 0.0) + min(1.0, 4 / len(row)) / len(rows)
    return likely


def _own_type_attacks(dex: Dex, name: str) -> dict[str, float]:
    species = dex.species.get(name)
    if species is None:
        return {}
    likely: dict[str, float] = {}
    for kind in species.types:
        physical = species.base_stats[1] >= species.base_stats[3]
        plain = [
            m
            for m in dex.moves.values()
            if m.type == kind
            and m.nonstandard is None
            and 70 <= m.power <= 90
            and m.accuracy == 100
            and not m.variable_power
            and "charge" not in m.flags
        ]
        wanted = "physical" if physical else "special"
        plain.sort(key=lambda m: (m.category != wanted, -m.power, m.id))
        if plain:
            likely[plain[0].id] = 0.9
    return likely
