"""Doubles scorers: strongest move, most damage, and simple heuristics for VGC."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nashmon.agents.combatant import Combatant
from nashmon.agents.doubles import DoublesScorer, Field, choose_doubles, spread_targets
from nashmon.core.actions_doubles import PASS, SWITCH, decode
from nashmon.core.agent import Decisions
from nashmon.core.dex import Move
from nashmon.core.errors import UnsupportedError
from nashmon.core.state import UniversalPokemon

Rng = np.random.Generator
_STAY = -100.0  # voluntary switches of agents that never make them
_LIFE = 0.5  # a faint beyond the HP
_TEAM_TARGETS = ("self", "allySide", "allyTeam", "allies", "all")


class PowerScorer(DoublesScorer):
    """Power × accuracy × own type × effectiveness, summed over the foes hit."""

    def move(self, field: Field, slot: int, move: Move, target: int, gimmick: bool) -> float:
        """Power stands for damage; hitting the partner counts against it."""
        user = field.user(slot, gimmick)
        if user is None or move.category == "status":
            return 0.0
        foes, allies = field.targets(slot, move, target)
        each = move.power * (move.accuracy or 100) / 100
        each *= 1.5 if move.type in user.types else 1.0
        each *= 0.75 if spread_targets(move, foes, allies) else 1.0
        gain = sum(field.dex.type_effectiveness(move.type, foe.types) for foe in foes)
        loss = sum(field.dex.type_effectiveness(move.type, ally.types) for ally in allies)
        return each * (gain - loss)

    def switch(self, field: Field, slot: int, index: int) -> float:
        """Only when it must."""
        return _STAY


class DamageScorer(DoublesScorer):
    """Expected damage, in fractions of HP, summed over the foes hit."""

    def move(self, field: Field, slot: int, move: Move, target: int, gimmick: bool) -> float:
        """Damage beyond a target's HP counts for nothing."""
        user = field.user(slot, gimmick)
        return 0.0 if user is None else attack_value(field, slot, user, move, target, 0.0)

    def switch(self, field: Field, slot: int, index: int) -> float:
        """By the damage the newcomer would do."""
        return _STAY + best_damage(field, index)


def attack_value(
    field: Field, slot: int, user: Combatant, move: Move, target: int, life: float
) -> float:
    """Damage on foes minus damage on the partner; `life` is what a faint adds."""
    if move.category == "status":
        return 0.0
    foes, allies = field.targets(slot, move, target)
    spread = spread_targets(move, foes, allies)
    value = 0.0
    for foe in foes:
        value += _blow(field.damage(user, foe, move, spread), foe.hp_fraction, life)
    for ally in allies:
        value -= 1.2 * _blow(field.damage(user, ally, move, spread), ally.hp_fraction, life)
    if target == 0 and not spread and len(foes) > 1:
        value /= len(foes)  # a random one of them
    return value


def _blow(damage: float, hp: float, life: float) -> float:
    return min(damage, hp) + (life if damage >= hp else life * 0.2 * damage / hp)


def best_damage(field: Field, index: int) -> float:
    """Best expected damage of a benched Pokémon on either foe."""
    newcomer = field.bench[index]
    if newcomer is None:
        return 0.0
    moves = [field.dex.moves[move.id] for move in field.state.own.bench[index].moves]
    blows = [
        min(field.damage(newcomer, foe, move, False), foe.hp_fraction)
        for foe in field.foes
        if foe is not None
        for move in moves
        if move.category != "status"
    ]
    return max(blows, default=0.0)


class HeuristicScorer(DoublesScorer):
    """Damage and knock-outs, Protect, speed control, switches out of lost positions."""

    def move(self, field: Field, slot: int, move: Move, target: int, gimmick: bool) -> float:
        """Worth of a move; the gimmick has to earn its price."""
        user = field.user(slot, gimmick)
        if user is None:
            return 0.0
        price = 0.0
        if gimmick:
            price = 0.0 if (field.state.can_gimmick[slot] or "").startswith("mega") else 0.12
        if move.id == "fakeout":
            return self._fake_out(field, slot, user, move, target) - price
        if move.category == "status":
            return self._status(field, slot, move, target) - price
        value = attack_value(field, slot, user, move, target, _LIFE)
        if move.self_destruct is not None:
            value -= user.hp_fraction + _LIFE
        if move.priority > 0:
            value *= 1.1
        return value - price

    def _fake_out(self, field: Field, slot: int, user: Combatant, move: Move, target: int) -> float:
        pokemon = field.state.own.active[slot]
        if pokemon is None or not pokemon.first_turn or target < 0:
            return -1.0
        damage = attack_value(field, slot, user, move, target, _LIFE)
        return damage + 0.35 if damage > 0 else -0.5

    def _status(self, field: Field, slot: int, move: Move, target: int) -> float:
        state = field.state
        own = state.own.active[slot]
        assert own is not None
        if move.stalling:
            threat = min(field.danger(slot), 1.2)
            return -1.0 if own.protect_count > 0 else 0.38 * threat - 0.12
        effect = move.effect
        up = {name for name, _ in state.own.conditions}
        if effect.side_condition is not None and move.target == "allySide":
            return -0.5 if effect.side_condition in up else 0.4
        if effect.pseudo_weather == "trickroom":
            return self._trick_room(field)
        if move.heal > 0 and move.target == "self":
            return 0.8 * (0.6 - own.hp_fraction)
        if effect.status is not None and target >= 0:
            return self._inflict(field, slot, move, target)
        if target < 0 and move.target not in ("adjacentAlly", "adjacentAllyOrSelf"):
            return -0.5
        if sum(effect.boosts) > 0 and move.target in _TEAM_TARGETS:
            calm = field.danger(slot) < 0.6 and own.hp_fraction > 0.6 and max(own.boosts) < 3
            return 0.35 if calm else -0.2
        return 0.05

    @staticmethod
    def _trick_room(field: Field) -> float:
        reversed_now = any(name == "trickroom" for name, _ in field.state.fields)
        own = [p.stats[4] for p in field.own if p is not None]
        foes = [p.stats[4] for p in field.foes if p is not None]
        slower = sum(own) * max(len(foes), 1) < sum(foes) * max(len(own), 1)
        return 0.45 if slower and not reversed_now else -0.6

    @staticmethod
    def _inflict(field: Field, slot: int, move: Move, target: int) -> float:
        foes, _ = field.targets(slot, move, target)
        chance = (move.accuracy or 100) / 100
        gain = {"slp": 0.55, "par": 0.3, "brn": 0.3}.get(move.effect.status or "", 0.15)
        fresh = [foe for foe in foes if foe.status is None and not foe.has("substitute")]
        open_to = [
            foe
            for foe in fresh
            if not any(move.effect.status in field.dex.types[t].immune for t in foe.types)
            and ("powder" not in move.flags or "grass" not in foe.types)
            and (
                "all" in move.ignore_immunity or field.dex.type_effectiveness(move.type, foe.types)
            )
        ]
        return chance * gain * max(foe.hp_fraction for foe in open_to) if open_to else -0.4

    def switch(self, field: Field, slot: int, index: int) -> float:
        """What the newcomer can do and bear, less what the one that leaves could."""
        newcomer = field.bench[index]
        if newcomer is None:
            return NEVER_REVIVE
        coming = best_damage(field, index) - 0.5 * min(field.danger(index, True), 1.5)
        if field.state.phase == "switch" or field.own[slot] is None:
            return coming
        own = field.own[slot]
        assert own is not None
        leaving = field.state.own.active[slot]
        assert leaving is not None
        weak = min(leaving.boosts[:5]) <= -2
        doomed = field.danger(slot) >= own.hp_fraction
        escape = 0.25 * own.hp_fraction if doomed else 0.0
        return coming - 0.35 + escape + (0.25 if weak else 0.0)

    def pair(self, field: Field, codes: tuple[int, int]) -> float:
        """No double switch or double Protect, no overkill, but two blows that faint together."""
        switches = sum(SWITCH <= code < PASS for code in codes)
        value = -0.3 if switches == 2 and field.state.phase == "move" else 0.0
        if field.state.phase != "move" or max(codes) >= SWITCH:
            return value
        moves = [self._aimed(field, slot, code) for slot, code in enumerate(codes)]
        if all(move is not None and move[0].stalling for move in moves):
            return value - 0.3
        return value + self._together(field, moves)

    @staticmethod
    def _aimed(field: Field, slot: int, code: int) -> tuple[Move, int] | None:
        index, target, _ = decode(code)
        pokemon = field.state.own.active[slot]
        if pokemon is None or index >= len(pokemon.moves):
            return None
        return field.dex.moves[pokemon.moves[index].id], target

    @staticmethod
    def _together(field: Field, moves: list[tuple[Move, int] | None]) -> float:
        """Two attacks on one foe: waste above its HP, a bonus when only both faint it."""
        first, second = moves
        if first is None or second is None or first[1] != second[1] or first[1] <= 0:
            return 0.0
        foe, users = field.foes[first[1] - 1], field.own
        if foe is None or users[0] is None or users[1] is None:
            return 0.0
        one = field.damage(users[0], foe, first[0], False)
        two = field.damage(users[1], foe, second[0], False)
        if max(one, two) >= foe.hp_fraction:
            return -min(one, two, foe.hp_fraction) - _LIFE * (min(one, two) >= foe.hp_fraction)
        excess = max(0.0, one + two - foe.hp_fraction)
        return _LIFE * 0.8 - excess if one + two >= foe.hp_fraction else 0.0

    def preview(self, field: Field, pokemon: UniversalPokemon) -> float:
        """Types against the foe's team, and speed."""
        stats = pokemon.stats or (0,) * 5
        return super().preview(field, pokemon) + 0.002 * stats[4]


NEVER_REVIVE = -50.0


class DoublesHeuristics:
    """Plays doubles with targets, spread moves, Protect, focus fire and switches."""

    name = "heuristics-doubles"
    line = "doubles: damage and knock-outs, focus fire, Protect, speed control, spares its partner"
    game_types = ("doubles",)

    def __init__(self) -> None:
        self._scorer = HeuristicScorer()

    def start(self, num_slots: int) -> None:
        """No memory."""

    def act(self, decisions: Decisions, memory: None, rng: Rng) -> NDArray[np.int64]:
        """The best pair of codes."""
        states = decisions.states()
        if states[0].game_type != "doubles":
            raise UnsupportedError(
                f"{self.name} plays doubles; {states[0].format} is {states[0].game_type}"
            )
        return choose_doubles(states, decisions.masks, self._scorer, rng)
