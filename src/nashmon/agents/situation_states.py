"""Situations from states: the reference, in every generation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from nashmon.agents.combatant import Arena, Combatant, arena, combatant
from nashmon.agents.damage import hit_chance, strike
from nashmon.agents.damage_gen1 import staged
from nashmon.agents.damage_modifiers import Attack, broken, is_immune
from nashmon.agents.move_table import STATUS_CODE, Bools, Guesses, likely_moves, move_table
from nashmon.agents.situation import MOVES, TEAM, Situation, blank, fill_guesses, status_works
from nashmon.core.dex import Dex, Move
from nashmon.core.formats import get_format
from nashmon.core.state import UniversalPokemon, UniversalSide, UniversalState
from nashmon.observe.vocab import vocabularies

_ALWAYS_BETTER = 2.0  # gain of a Mega Evolution: it costs nothing
_SPEED_WEATHER = {
    "swiftswim": ("raindance", "primordialsea"),
    "chlorophyll": ("sunnyday", "desolateland"),
    "sandrush": ("sandstorm",),
    "slushrush": ("hail", "snowscape"),
}


def situation_from_states(states: Sequence[UniversalState], masks: Bools) -> Situation:
    """The situation of a batch of singles states of one format."""
    rules = get_format(states[0].format)
    table = move_table(rules.mod)
    s = blank(table, masks)
    for row, state in enumerate(states):
        _Filler(s, row, state, rules.dex).fill(likely_moves(rules.id))
    return s


@lru_cache(maxsize=16)
def _species_ids(mod: str) -> dict[str, int]:
    return vocabularies(mod)["species"].ids


class _Filler:
    """Writes one state into its row."""

    def __init__(self, s: Situation, row: int, state: UniversalState, dex: Dex) -> None:
        self._s, self._row, self._state, self._dex = s, row, state, dex
        self._own = _party(state.own)
        self._foe = _party(state.foe)

    def fill(self, guesses: Guesses) -> None:
        s, row, state = self._s, self._row, self._state
        s.turn[row] = state.turn
        s.preview[row] = state.phase == "preview"
        s.forced[row] = state.phase == "switch"
        s.own_left[row] = state.own.team_size - state.own.num_fainted
        s.foe_left[row] = state.foe.team_size - state.foe.num_fainted
        self._side(self._own, "own")
        self._side(self._foe, "foe")
        if s.preview[row]:
            self._lead()
            return
        foe = self._foe[0]
        if foe is None:
            return
        self._active(foe)
        self._damage(foe, guesses)

    def _side(self, party: list[UniversalPokemon | None], name: str) -> None:
        s, row = self._s, self._row
        hp, most = getattr(s, f"{name}_hp"), getattr(s, f"{name}_max")
        status, turns = getattr(s, f"{name}_status"), getattr(s, f"{name}_status_turns")
        for k, pokemon in enumerate(party):
            if pokemon is None:
                continue
            hp[row, k] = 0.0 if pokemon.fainted else pokemon.hp_fraction
            most[row, k] = combatant(self._dex, pokemon).max_hp
            status[row, k] = STATUS_CODE.get(pokemon.status or "", 0)
            turns[row, k] = pokemon.status_turns
            if name == "own":
                for j, move in enumerate(pokemon.moves[:MOVES]):
                    s.own_moves[row, k, j] = s.table.ids[move.id]

    def _active(self, foe: UniversalPokemon) -> None:
        s, row, own = self._s, self._row, self._own[0]
        s.foe_boosts[row] = foe.boosts
        volatiles = {name for name, _ in foe.volatiles}
        s.foe_sub[row] = "substitute" in volatiles
        s.foe_confused[row] = "confusion" in volatiles
        s.foe_seeded[row] = "leechseed" in volatiles
        s.foe_recharging[row] = foe.must_recharge
        s.foe_charging[row] = foe.preparing is not None
        if own is None:
            return
        volatiles = {name for name, _ in own.volatiles}
        s.own_boosts[row] = own.boosts
        s.own_sub[row] = "substitute" in volatiles
        s.own_confused[row] = "confusion" in volatiles
        s.own_seeded[row] = "leechseed" in volatiles
        s.first_turn[row] = own.first_turn
        s.own_last[row] = s.table.ids[own.last_move] if own.last_move else 0
        field = arena(self._state, own_attacks=False)
        s.own_screen[row] = field.reflect + 2 * field.light_screen

    def _damage(self, foe: UniversalPokemon, guesses: Guesses) -> None:
        s, row, dex, state = self._s, self._row, self._dex, self._state
        known = [s.table.ids[move.id] for move in foe.moves[:MOVES]]
        known += [1] * (MOVES - len(known))
        species = _species_ids(dex.mod)[foe.species]
        moves, chance = fill_guesses(np.array([known]), np.array([species]), guesses)
        s.foe_moves[row], s.foe_chance[row] = moves[0], chance[0]
        s.foe_seen[row] = min(len(foe.moves), MOVES)
        target = combatant(dex, foe)
        s.foe_speed[row] = _speed(target, state, state.foe)
        here, there = arena(state, own_attacks=True), arena(state, own_attacks=False)
        # Gen 1 screens leave with the Pokémon that raised them.
        bare = replace(there, reflect=False, light_screen=False)
        bench_field = bare if dex.gen == 1 else there
        for k, pokemon in enumerate(self._own):
            if pokemon is None or pokemon.fainted:
                continue
            fighter = combatant(dex, pokemon)
            s.own_speed[row, k] = _speed(fighter, state, state.own)
            s.type_edge[row, k] = type_edge(dex, fighter.types, target.types)
            self._own_attacks(k, fighter, target, here)
            self._foe_attacks(k, target, fighter, there if k == 0 else bench_field)
        own = self._own[0]
        if own is not None and not own.fainted:
            self._works(combatant(dex, own), target, here)
            self._gimmick(own, target, here)

    def _own_attacks(self, k: int, user: Combatant, target: Combatant, field: Arena) -> None:
        s, row, dex = self._s, self._row, self._dex
        pokemon = self._own[k]
        assert pokemon is not None
        for j, known in enumerate(pokemon.moves[:MOVES]):
            move = dex.moves[known.id]
            blow = strike(dex, user, target, move, field)
            s.low[row, k, j] = blow.low / target.max_hp
            s.high[row, k, j] = blow.high / target.max_hp
            s.hit[row, k, j] = blow.mean / target.max_hp
            s.accuracy[row, k, j] = hit_chance(dex, user, target, move, field)
            s.effect[row, k, j] = dex.type_effectiveness(move.type, target.types)
            if k == 0:
                s.stab[row, j] = move.type in user.types
                s.shares_type[row, j] = move.type in target.types

    def _foe_attacks(self, k: int, user: Combatant, target: Combatant, field: Arena) -> None:
        s, row, dex = self._s, self._row, self._dex
        words = vocabularies(dex.mod)["moves"].words
        for j, number in enumerate(s.foe_moves[row].tolist()):
            if number == 0:
                continue
            move = dex.moves[words[number]]
            blow = strike(dex, user, target, move, field)
            s.foe_high[row, k, j] = blow.high / target.max_hp
            s.foe_hit[row, k, j] = blow.mean / target.max_hp
            s.foe_accuracy[row, k, j] = hit_chance(dex, user, target, move, field)

    def _works(self, user: Combatant, target: Combatant, field: Arena) -> None:
        s, row, dex = self._s, self._row, self._dex
        own = self._own[0]
        assert own is not None
        immune = np.zeros((1, MOVES), bool)
        for j, known in enumerate(own.moves[:MOVES]):
            immune[0, j] = _keeps_away(dex, user, target, dex.moves[known.id], field)
        s.works[row] = status_works(_rows(s, row), immune)[0]

    def _gimmick(self, own: UniversalPokemon, target: Combatant, field: Arena) -> None:
        s, row, dex = self._s, self._row, self._dex
        kind = self._state.can_gimmick[0]
        if kind in ("mega", "megax", "megay", "ultra"):
            s.gimmick_gain[row] = _ALWAYS_BETTER
        elif kind == "tera" and own.tera_type is not None:
            user = combatant(dex, own)
            changed = (own.tera_type,) if own.tera_type != "stellar" else user.types
            user = replace(user, types=changed, tera_type=own.tera_type)
            for j, known in enumerate(own.moves[:MOVES]):
                after = strike(dex, user, target, dex.moves[known.id], field).mean
                s.gimmick_gain[row, j] = after / target.max_hp / max(s.hit[row, 0, j], 1e-9)
        elif kind == "zmove":
            s.gimmick_gain[row] = 1.8
        elif kind == "dynamax":
            s.gimmick_gain[row] = 1.3

    def _lead(self) -> None:
        foes = [p.types for p in self._state.foe.bench]
        for k, pokemon in enumerate(self._state.own.bench[:TEAM]):
            edges = [type_edge(self._dex, pokemon.types, types) for types in foes]
            self._s.lead[self._row, k] = sum(edges) / max(len(edges), 1)


def _party(side: UniversalSide) -> list[UniversalPokemon | None]:
    party: list[UniversalPokemon | None] = [side.active[0], *side.bench]
    return (party + [None] * TEAM)[:TEAM]


def _rows(s: Situation, row: int) -> Situation:
    """The same situation restricted to one row."""
    one = slice(row, row + 1)
    kept = {name: getattr(s, name) for name in Situation.__slots__}
    return Situation(**{n: v if n == "table" else v[one] for n, v in kept.items()})


def type_edge(dex: Dex, own: tuple[str, ...], foe: tuple[str, ...]) -> float:
    """Best of one's own types on the other minus the best of its types on oneself."""
    attack = max((dex.type_effectiveness(kind, foe) for kind in own), default=1.0)
    danger = max((dex.type_effectiveness(kind, own) for kind in foe), default=1.0)
    return attack - danger


def _keeps_away(dex: Dex, user: Combatant, target: Combatant, move: Move, field: Arena) -> bool:
    """Whether types or the ability keep a status move's effect from the target."""
    if move.category != "status":
        return False
    if move.id == "leechseed" and "grass" in target.types:
        return True
    status = move.effect.status
    ability = "" if broken(user, target, move) else target.ability
    if status is None:
        return False
    immunities = {word for kind in target.types for word in dex.types[kind].immune}
    if status in immunities or (status == "tox" and "psn" in immunities):
        return True
    if "powder" in move.flags and "powder" in immunities:
        return True
    if "all" not in move.ignore_immunity:
        effect = dex.type_effectiveness(move.type, target.types)
        attack = Attack(dex, user, target, move, move.type, 0, field, effect)
        if effect == 0 or (dex.gen >= 3 and is_immune(attack)):
            return True
    shields = {
        "slp": ("insomnia", "vitalspirit", "sweetveil", "comatose", "purifyingsalt"),
        "par": ("limber", "comatose", "purifyingsalt"),
        "brn": ("waterveil", "waterbubble", "comatose", "purifyingsalt"),
        "psn": ("immunity", "comatose", "purifyingsalt"),
        "tox": ("immunity", "comatose", "purifyingsalt"),
    }
    return ability in shields.get(status, ()) or ability == "goodasgold"


def _speed(pokemon: Combatant, state: UniversalState, side: UniversalSide) -> float:
    speed, stage = pokemon.stats[4], pokemon.boosts[4]
    if state.gen <= 2:
        speed = staged(speed, stage)
    else:
        speed = speed * (2 + stage) // 2 if stage >= 0 else speed * 2 // (2 - stage)
    if pokemon.status == "par" and pokemon.ability != "quickfeet":
        speed = max(1, speed // (2 if state.gen >= 7 else 4))
    if pokemon.item == "choicescarf":
        speed = speed * 3 // 2
    if state.weather in _SPEED_WEATHER.get(pokemon.ability, ()):
        speed *= 2
    if any(name == "tailwind" for name, _ in side.conditions):
        speed *= 2
    if any(name == "trickroom" for name, _ in state.fields):
        return -float(speed)
    return float(speed)
