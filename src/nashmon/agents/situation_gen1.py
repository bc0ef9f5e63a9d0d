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
    BRN,
    HALF,
    LEVEL,
    OHKO,
    PAR,
    PHYSICAL,
    PSYWAVE,
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
        self._stats, self._max_hp = self._all_stats()

    def _whole(self, name: str, scale: int) -> Ints:
        column = self._numbers[..., self._at.numbers[name]]
        return np.rint(column * scale).astype(np.int64)

    def _all_stats(self) -> tuple[dict[str, Ints], Ints]:
        level, at = self._level, self._at
        transformed = np.zeros(level.shape, bool)
        transformed[:, [0, TEAM]] = self._active[..., at.active["transformed"]] > 0
        known = (self._numbers[..., at.numbers["known"]] > 0) & ~transformed
        stats = {}
        for name in ("atk", "def", "spa", "spe"):
            usual = (2 * self._whole(f"base_{name}", _BASE_SCALE) + 93) * level // 100 + 5
            stats[name] = np.where(known, self._whole(f"stat_{name}", _SCALE), usual)
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
        fainted = self._numbers[..., at.numbers["fainted"]] > 0
        hp = np.where(fainted, 0.0, self._numbers[..., at.numbers["hp_fraction"]])
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
        speed = self._stats["spe"].copy()
        for place, side in ((0, 0), (TEAM, 1)):
            speed[:, place] = gen1.staged(speed[:, place], self._boosts[:, side, 4])
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
        size = s.size
        shape = (size, TEAM, MOVES)
        own = np.broadcast_to(np.arange(TEAM)[:, None], shape)
        foe = np.broadcast_to(np.array(TEAM), shape)
        alive = np.broadcast_to((s.own_hp > 0)[:, :, None], shape)
        usable = alive & (s.own_moves > 0)
        kinds = self.table.type[s.active_moves]
        same = (self._types[:, 0, None, :] == kinds[:, :, None]).any(axis=2)
        s.stab = same & usable[:, 0]
        made = self._strikes(s.own_moves, own, foe)
        s.low, s.high, s.hit, s.accuracy, s.effect = (np.where(usable, x, 0.0) for x in made)
        theirs = np.broadcast_to(s.foe_moves[:, None, :], shape)
        made = self._strikes(theirs, foe, own)
        usable = alive & (theirs > 0)
        s.foe_high, s.foe_hit, s.foe_accuracy = (np.where(usable, made[k], 0.0) for k in (1, 2, 3))

    def _strikes(self, moves: Ints, users: Ints, targets: Ints) -> tuple[Floats, ...]:
        """Low, high and mean damage, accuracy and effectiveness; places are 0–11."""
        t, rows = self.table, np.arange(len(moves))[:, None, None]
        physical = t.category[moves] == PHYSICAL
        kind = t.type[moves]
        chart = self._at.chart
        defenders = self._types[rows, targets]
        factors = [chart[kind, defenders[..., 0]], chart[kind, defenders[..., 1]]]
        effect = factors[0] * factors[1]
        stab = (self._types[rows, users] == kind[..., None]).any(axis=-1)
        level, power = self._level[rows, users], t.power[moves].astype(np.int64)
        raw_attack, raw_defence, attack, defence = self._battle_stats(
            rows, physical, users, targets
        )
        explodes = t.explodes[moves]
        top = gen1.top_damage(level, power, attack, defence, explodes, stab, factors)
        critical = gen1.top_damage(
            2 * level & 255, power, raw_attack, raw_defence, explodes, stab, factors
        )
        on_field = (users == 0) | (users == TEAM)
        focus = self._active[..., self._at.active["volatile_focusenergy"]] > 0
        focused = on_field & focus[rows, (users >= TEAM).astype(np.int64)]
        chance = gen1.critical_chance(self._base_speed[rows, users], t.sharp[moves], focused)
        formula = (t.category[moves] != STATUS) & (power > 0) & (effect > 0)
        low, bottom = gen1.lowest(top), gen1.lowest(critical)
        mean = (1 - chance) * (low + top) / 2 + chance * (bottom + critical) / 2
        damage = [low * t.fewest[moves], top * t.most[moves], mean * t.hits[moves]]
        fixed = self._fixed(moves, rows, users, targets, effect)
        uses_fixed = t.fixed[moves] != 0
        max_hp = self._max_hp[rows, targets]
        out = [
            np.where(uses_fixed, done, np.where(formula, value, 0.0)) / max_hp
            for done, value in zip(fixed, damage, strict=True)
        ]
        return (*out, self._accuracy(moves, rows, users, targets), effect)

    def _battle_stats(
        self, rows: Ints, physical: Bools, users: Ints, targets: Ints
    ) -> tuple[Ints, Ints, Ints, Ints]:
        """Raw attack and defence, then both after stages, burn and screens."""
        stats = self._stats
        raw_attack = np.where(physical, stats["atk"][rows, users], stats["spa"][rows, users])
        raw_defence = np.where(physical, stats["def"][rows, targets], stats["spa"][rows, targets])
        up = np.where(physical, self._stage(rows, users, 0), self._stage(rows, users, 2))
        down = np.where(physical, self._stage(rows, targets, 1), self._stage(rows, targets, 3))
        attack, defence = gen1.staged(raw_attack, up), gen1.staged(raw_defence, down)
        burnt = physical & (self._status[rows, users] == BRN)
        attack = np.where(burnt, np.maximum(1, attack // 2), attack)
        screens = np.stack([self._screens(0), self._screens(1)], axis=1)
        side = (targets >= TEAM).astype(np.int64)
        on_field = (targets == 0) | (targets == TEAM)
        shielded = on_field & screens[rows, side, np.where(physical, 0, 1)]
        return raw_attack, raw_defence, attack, np.where(shielded, 2 * defence, defence)

    def _stage(self, rows: Ints, places: Ints, stat: int) -> Ints:
        on_field = (places == 0) | (places == TEAM)
        stage: Ints = self._boosts[rows, (places >= TEAM).astype(np.int64), stat]
        return np.where(on_field, stage, 0)

    def _fixed(
        self, moves: Ints, rows: Ints, users: Ints, targets: Ints, effect: Floats
    ) -> list[Floats]:
        t = self.table
        kind, level = t.fixed[moves], self._level[rows, users]
        max_hp = self._max_hp[rows, targets]
        hp = self._numbers[..., self._at.numbers["hp_fraction"]][rows, targets]
        half = np.maximum(1, np.maximum(1, np.rint(hp * max_hp)).astype(np.int64) // 2)
        speed = self._stats["spe"]
        ohko = np.where((speed[rows, users] >= speed[rows, targets]) & (effect > 0), max_hp, 0)
        amount = np.select(
            [kind == LEVEL, kind == HALF, kind == OHKO, kind > 0], [level, half, ohko, kind], 0
        )
        amount = np.where((effect == 0) & ~t.ignores_types[moves], 0, amount).astype(np.float64)
        top = level * 3 // 2
        waves = (kind == PSYWAVE) & (effect > 0)
        return [np.where(waves, value, amount) for value in (np.ones_like(top), top, (1 + top) / 2)]

    def _accuracy(self, moves: Ints, rows: Ints, users: Ints, targets: Ints) -> Floats:
        t = self.table
        base = t.accuracy[moves]
        aim, dodge = self._stage(rows, users, 5), self._stage(rows, targets, 6)
        stages = gen1.staged(100, aim) * gen1.staged(100, -dodge) / 10000
        scaled = base * np.where(t.fixed[moves] == OHKO, 1.0, stages)
        return np.where(_never_miss()[moves], 1.0, np.minimum(255, np.floor(scaled * 255)) / 256)

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
def _never_miss() -> Bools:
    dex, words = move_table("gen1").dex, vocabularies("gen1")["moves"].words
    return np.array([w not in dex.moves or dex.moves[w].accuracy is None for w in words])
