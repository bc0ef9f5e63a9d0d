"""Gen 1 situations straight from the entity observation, without states.

Everything is an array over decisions; the numbers equal those of `situation_states`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nashmon.agents import damage_gen1 as gen1
from nashmon.agents.move_table import (
    PAR,
    PHYSICAL,
    STATUS,
    STATUS_CODE,
    Bools,
    Floats,
    Ints,
    MoveTable,
    likely_moves,
    move_table,
)
from nashmon.agents.situation import MOVES, TEAM, Situation, blank, fill_guesses, status_works
from nashmon.core.formats import get_format
from nashmon.core.state import STATUSES
from nashmon.observe.entity import EntitySpace
from nashmon.observe.vocab import vocabularies

Observations = Mapping[str, NDArray[Any]]
_FORMAT = "gen1ou"  # all standard Gen 1 formats share its columns
_SCALE = 1024  # of stats in the observation
_STAGES = np.array(gen1.STAGES)
_LEVEL_SCALE, _BASE_SCALE, _BOOST_SCALE, _TURN_SCALE = 128, 256, 8, 16


@dataclass(frozen=True, eq=False)
class _Layout:
    """Columns of the observation and tables by vocabulary ids."""

    ids: dict[str, int]
    numbers: dict[str, int]
    active: dict[str, int]
    field: dict[str, int]
    chart: Floats  # (attacking type, defending type); 1 for no type
    base_hp: Ints  # by species
    status: Ints  # code by id of the status vocabulary
    immune: Bools  # (status code, type)
    grass: int
    turns: float


@lru_cache(maxsize=1)
def _layout() -> _Layout:
    spec = EntitySpace(get_format(_FORMAT)).spec
    words, dex = vocabularies("gen1"), get_format(_FORMAT).dex

    def columns(name: str) -> dict[str, int]:
        return {column.name: k for k, column in enumerate(spec[name].columns)}

    types = words["types"].words
    chart = np.ones((len(types), len(types)))
    for (attack, defender), factor in dex.chart.items():
        if attack and defender:
            chart[types.index(attack), types.index(defender)] = factor
    immune = np.zeros((len(STATUSES) + 1, len(types)), bool)
    for kind in dex.types.values():
        for status in STATUSES:
            shut = status in kind.immune or (status == "tox" and "psn" in kind.immune)
            immune[STATUS_CODE[status], types.index(kind.id)] = shut
    species = words["species"].words
    base_hp = [dex.species[name].base_stats[0] if name in dex.species else 0 for name in species]
    codes = [STATUS_CODE.get(word, 0) for word in words["statuses"].words]
    return _Layout(
        ids=columns("pokemon_ids"),
        numbers=columns("pokemon_numbers"),
        active=columns("active_numbers"),
        field=columns("field"),
        chart=chart,
        base_hp=np.array(base_hp),
        status=np.array(codes),
        immune=immune,
        grass=types.index("grass"),
        turns=1024.0,
    )


def shows_gen1(observations: Observations) -> bool:
    """Whether these are entity observations of Gen 1 singles."""
    if "pokemon_ids" not in observations or "pokemon_numbers" not in observations:
        return False
    layout = _layout()
    widths = (observations["pokemon_ids"].shape[-1], observations["pokemon_numbers"].shape[-1])
    return widths == (len(layout.ids), len(layout.numbers))


def situation_from_gen1(observations: Observations, masks: Bools, format_id: str) -> Situation:
    """The situation of a batch of Gen 1 observations."""
    reader = _Reader(observations, move_table("gen1"))
    s = blank(reader.table, masks)
    reader.sides(s)
    reader.actives(s)
    known, species = reader.foe_moves()
    s.foe_moves, s.foe_chance = fill_guesses(known, species, likely_moves(format_id))
    s.foe_seen = (known > 1).sum(axis=1)
    reader.speeds(s)
    reader.attacks(s)
    s.works = status_works(s, reader.kept_away(s)) & (s.own_hp[:, :1] > 0)
    return s


class _Reader:
    """The observation taken apart: stats, types and stages of all twelve Pokémon."""

    def __init__(self, observations: Observations, table: MoveTable) -> None:
        self.table = table
        at = self._at = _layout()
        self._ids = observations["pokemon_ids"].astype(np.int64)
        self._numbers = observations["pokemon_numbers"].astype(np.float64)
        self._active = observations["active_numbers"].astype(np.float64)
        self._field = observations["field"].astype(np.float64)
        self._types = self._ids[..., [at.ids["type_0"], at.ids["type_1"]]]
        self._boosts = np.rint(
            self._active[..., at.active["boost_atk"] : at.active["boost_atk"] + 7] * _BOOST_SCALE
        ).astype(np.int64)
        self._status = at.status[self._ids[..., at.ids["status"]]]
        self._level = self._whole("level", _LEVEL_SCALE)
        self._base_speed = self._whole("base_spe", _BASE_SCALE)
        self._present = self._numbers[..., at.numbers["present"]] > 0
        fainted = self._numbers[..., at.numbers["fainted"]] > 0
        self._hp = np.where(fainted, 0.0, self._numbers[..., at.numbers["hp_fraction"]])
        self._stats, self._max_hp = self._all_stats()

    def _whole(self, name: str, scale: int) -> Ints:
        column = self._numbers[..., self._at.numbers[name]]
        return np.rint(column * scale).astype(np.int64)

    def _all_stats(self) -> tuple[Ints, Ints]:
        level, at = self._level, self._at
        transformed = np.zeros(level.shape, bool)
        transformed[:, [0, TEAM]] = self._active[..., at.active["transformed"]] > 0
        known = (self._numbers[..., at.numbers["known"]] > 0) & ~transformed
        first, base = at.numbers["stat_atk"], at.numbers["base_atk"]
        exact = np.rint(self._numbers[..., first : first + 4] * _SCALE).astype(np.int64)
        bases = np.rint(self._numbers[..., base : base + 4] * _BASE_SCALE).astype(np.int64)
        usual = (2 * bases + 93) * level[..., None] // 100 + 5
        stats = np.where(known[..., None], exact, usual)
        base_hp = at.base_hp[self._ids[..., at.ids["base_species"]]]
        usual_hp = (2 * base_hp + 93) * level // 100 + level + 10
        own = self._numbers[..., at.numbers["known"]] > 0
        max_hp = np.where(own, self._whole("max_hp", _SCALE), usual_hp)
        return stats, np.where(self._present, np.maximum(max_hp, 1), 1)

    def sides(self, s: Situation) -> None:
        """Turn, HP, status and own moves."""
        at = self._at
        field = self._field
        s.turn = np.rint(field[:, at.field["turn"]] * at.turns).astype(np.int64)
        s.forced = field[:, at.field["phase_switch"]] > 0
        for name in ("own", "foe"):
            size = (
                field[:, at.field[f"{name}_team_size"]] - field[:, at.field[f"{name}_num_fainted"]]
            )
            setattr(s, f"{name}_left", np.rint(size * 8).astype(np.int64))
        hp = self._hp
        most = np.where(self._present, self._max_hp, 0).astype(np.float64)
        turns = np.rint(self._numbers[..., at.numbers["status_turns"]] * _TURN_SCALE)
        s.own_hp, s.foe_hp = hp[:, :TEAM], hp[:, TEAM:]
        s.own_max, s.foe_max = most[:, :TEAM], most[:, TEAM:]
        s.own_status, s.foe_status = self._status[:, :TEAM], self._status[:, TEAM:]
        whole = turns.astype(np.int64)
        s.own_status_turns, s.foe_status_turns = whole[:, :TEAM], whole[:, TEAM:]
        first = at.ids["move_0"]
        s.own_moves = self._ids[:, :TEAM, first : first + MOVES]

    def actives(self, s: Situation) -> None:
        """Stages and effects of the two on the field."""
        at, active = self._at.active, self._active
        s.own_boosts, s.foe_boosts = self._boosts[:, 0], self._boosts[:, 1]
        for side, name in enumerate(("own", "foe")):
            for effect, field in (
                ("substitute", "sub"),
                ("confusion", "confused"),
                ("leechseed", "seeded"),
            ):
                setattr(s, f"{name}_{field}", active[:, side, at[f"volatile_{effect}"]] > 0)
        s.foe_recharging = active[:, 1, at["must_recharge"]] > 0
        s.foe_charging = self._ids[:, TEAM, self._at.ids["preparing"]] > 0
        s.first_turn = active[:, 0, at["first_turn"]] > 0
        s.own_last = self._ids[:, 0, self._at.ids["last_move"]]
        s.own_screen = (self._screens(0) * np.array([1, 2])).sum(axis=1)

    def _screens(self, side: int) -> Bools:
        """(B, 2): Reflect and Light Screen."""
        at = self._at.active
        columns = [at["volatile_reflect"], at["volatile_lightscreen"]]
        return self._active[:, side, columns] > 0

    def foe_moves(self) -> tuple[Ints, Ints]:
        """Moves seen of the active foe, and its species."""
        first = self._at.ids["move_0"]
        known = self._ids[:, TEAM, first : first + MOVES]
        return known, self._ids[:, TEAM, self._at.ids["species"]]

    def speeds(self, s: Situation) -> None:
        """Speeds, and how types stand against each other."""
        speed = self._stats[..., 3].copy()
        places, stages = [0, TEAM], _STAGES[self._boosts[..., 4] + 6]
        speed[:, places] = np.clip(speed[:, places] * stages // 100, 1, 999)
        slowed = np.maximum(1, speed // 4)
        speed = np.where(self._status == PAR, slowed, np.maximum(speed, 1))
        alive = s.own_hp > 0
        s.own_speed = np.where(alive, speed[:, :TEAM], 0).astype(np.float64)
        s.foe_speed = speed[:, TEAM].astype(np.float64)
        own, foe = self._types[:, :TEAM], self._types[:, TEAM, None]
        on_foe = self._product(own, foe)
        on_own = self._product(np.broadcast_to(foe, own.shape), own)
        edge = self._best(on_foe, own) - self._best(on_own, np.broadcast_to(foe, own.shape))
        s.type_edge = np.where(alive, edge, 0.0)

    def _product(self, attack: Ints, defence: Ints) -> Floats:
        """(B, 6, 2): factor of each attacking type against both defending types."""
        chart = self._at.chart
        first = chart[attack, defence[..., 0:1]]
        second: Floats = chart[attack, defence[..., 1:2]]
        return first * second

    @staticmethod
    def _best(factors: Floats, types: Ints) -> Floats:
        best: Floats = np.where(types > 0, factors, -1.0).max(axis=2)
        return np.where(best < 0, 1.0, best)

    def attacks(self, s: Situation) -> None:
        """Damage both ways between the active foe and every own Pokémon."""
        kinds, alive = self.table.type[s.active_moves], s.own_hp[:, :1] > 0
        same = (self._types[:, 0, None, :] == kinds[:, :, None]).any(axis=2)
        s.stab = same & alive & (kinds > 0)
        same = (self._types[:, TEAM, None, :] == kinds[:, :, None]).any(axis=2)
        s.shares_type = same & alive & (kinds > 0)
        ours, theirs = (
            self._strikes(s.own_moves, False),
            self._strikes(np.repeat(s.foe_moves[:, None, :], TEAM, axis=1), True),
        )
        s.low, s.high, s.hit, s.accuracy, s.effect = ours
        s.foe_high, s.foe_hit, s.foe_accuracy = theirs[1:4]

    def _strikes(self, moves: Ints, foe_attacks: bool) -> Floats:
        """(5, B, 6, 4): low, high and mean damage, accuracy, effectiveness."""
        at = self._at
        out = np.zeros((5, *moves.shape))
        screens = np.stack([self._screens(0), self._screens(1)], axis=1)
        focused = self._active[..., at.active["volatile_focusenergy"]] > 0
        gen1.strikes(
            np.ascontiguousarray(moves),
            foe_attacks,
            (_facts(), self.table.accuracy, at.chart),
            (self._stats, self._level, self._types, self._status),
            (self._hp, self._max_hp, self._base_speed),
            (self._boosts, screens, focused),
            out,
        )
        return out

    def kept_away(self, s: Situation) -> Bools:
        """(B, 4): types keep the effect of a status move from the foe."""
        t, at, moves = self.table, self._at, s.active_moves
        types = self._types[:, TEAM]
        status = t.status[moves]
        immune = at.immune[status[:, :, None], types[:, None, :]].any(axis=2)
        effect = at.chart[t.type[moves], types[:, 0:1]] * at.chart[t.type[moves], types[:, 1:2]]
        aimed = (t.category[moves] == STATUS) & (status > 0)
        away: Bools = aimed & (immune | ((effect == 0) & ~t.ignores_types[moves]))
        away |= t.seeds[moves] & (types == at.grass).any(axis=1)[:, None]
        return away


@lru_cache(maxsize=1)
def _facts() -> Ints:
    """The kernel's table of moves."""
    t, words = move_table("gen1"), vocabularies("gen1")["moves"].words
    moves = [t.dex.moves.get(word) for word in words]
    sure = [move is None or move.accuracy is None for move in moves]
    formula = (t.category != STATUS) & (t.power > 0)
    columns = {
        gen1.TYPE: t.type,
        gen1.POWER: t.power,
        gen1.PHYSICAL: t.category == PHYSICAL,
        gen1.FORMULA: formula,
        gen1.FIXED: t.fixed,
        gen1.FEWEST: t.fewest,
        gen1.MOST: t.most,
        gen1.SHARP: t.sharp,
        gen1.EXPLODES: t.explodes,
        gen1.IGNORES_TYPES: t.ignores_types,
        gen1.SURE: np.array(sure),
    }
    return np.stack([columns[k].astype(np.int64) for k in range(len(columns))], axis=1)
