"""Simple singles agents, from a random trainer to one that plans a turn.

They follow the baselines of Metamon in spirit; every comparison is in fractions of HP.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nashmon.agents.doubles_agents import DamageScorer, PowerScorer
from nashmon.agents.move_table import STATUS, Bools, Floats
from nashmon.agents.scripted import ScriptedAgent, ScriptedMemory, joined, switch_scores
from nashmon.agents.situation import MOVES, TEAM, Situation

Rng = np.random.Generator
Slots = NDArray[np.int64]

_STAY = -1000.0  # added to switches that are taken only when nothing else is legal


def expected(s: Situation) -> Floats:
    """(B, 6, 4): expected damage of own moves on the active foe, misses counted."""
    return s.hit * s.accuracy


def danger(s: Situation) -> Floats:
    """(B, 6): expected damage of the foe's best move, seen or likely, on each own Pokémon."""
    worst: Floats = (s.foe_hit * s.foe_accuracy * s.foe_chance[:, None, :]).max(axis=2)
    return worst


def usable(s: Situation) -> Bools:
    """(B, 4): moves that may be chosen."""
    return s.masks[:, :MOVES]


def knocks_out(s: Situation) -> Bools:
    """(B, 6, 4): moves whose lowest roll faints the active foe."""
    return (s.low >= s.foe_hp[:, 0, None, None]) & (s.hit > 0)


class MaxBasePower(ScriptedAgent):
    """Strongest move by power × accuracy × same-type bonus × effectiveness."""

    name = "maxpower"
    line = "strongest move by power, accuracy, own type and effectiveness; never switches by itself"

    game_types = ("singles", "doubles")
    doubles = PowerScorer()

    def scores(self, s: Situation, memory: ScriptedMemory, slots: Slots, rng: Rng) -> Floats:
        """Power stands for damage; switches are random."""
        t, moves = s.table, s.active_moves
        power = np.where(t.category[moves] == STATUS, 0.0, t.power[moves])
        bonus = np.where(s.stab, 1.5, 1.0)
        return joined(power * t.accuracy[moves] * bonus * s.effect[:, 0], _random_switch(s, rng))


class MaxDamage(ScriptedAgent):
    """The move with the highest expected damage."""

    name = "maxdamage"
    line = "move with the highest expected damage; after a faint the Pokémon that hits hardest"

    game_types = ("singles", "doubles")
    doubles = DamageScorer()

    def scores(self, s: Situation, memory: ScriptedMemory, slots: Slots, rng: Rng) -> Floats:
        """Expected damage; bench Pokémon by their best move."""
        damage = expected(s)
        return joined(damage[:, 0], _STAY + switch_scores(damage.max(axis=2)))


class Gen1Trainer(ScriptedAgent):
    """A trainer of the first games: any move, and the next Pokémon in line."""

    name = "gen1trainer"
    line = "random move; after a faint the first Pokémon of the bench"

    def scores(self, s: Situation, memory: ScriptedMemory, slots: Slots, rng: Rng) -> Floats:
        """Random moves."""
        order = _STAY - np.arange(TEAM - 1, dtype=float)
        return joined(rng.random((s.size, MOVES)), np.broadcast_to(order, (s.size, TEAM - 1)))


class Grunt(ScriptedAgent):
    """One random roll of each move, the highest wins."""

    name = "grunt"
    line = "highest of one random damage roll per move; after a faint the best type matchup"

    def scores(self, s: Situation, memory: ScriptedMemory, slots: Slots, rng: Rng) -> Floats:
        """Rolls between the lowest and the highest damage."""
        roll = rng.random((s.size, MOVES))
        damage = s.low[:, 0] + roll * (s.high[:, 0] - s.low[:, 0])
        return joined(damage, _STAY + switch_scores(s.type_edge + _quickness(s)))


class BasicSwitcher(ScriptedAgent):
    """Runs to a better type matchup whenever there is one."""

    name = "switcher"
    line = (
        "switches whenever a benched Pokémon has a clearly better type matchup, else strongest move"
    )

    def scores(self, s: Situation, memory: ScriptedMemory, slots: Slots, rng: Rng) -> Floats:
        """A switch counts as much as it betters the matchup."""
        gain = s.type_edge[:, 1:] - s.type_edge[:, :1]
        healthy = s.own_hp[:, 1:] > 0.33
        wanted = (gain >= 1.0) & healthy & ~s.forced[:, None]
        switches = np.where(wanted, 10 + gain, _STAY + s.type_edge[:, 1:])
        return joined(expected(s)[:, 0], switches)


class BugCatcher(ScriptedAgent):
    """Plays as badly as it can: least damage, worst matchup."""

    name = "bugcatcher"
    line = "least damage and worst matchup: a floor below random"

    def scores(self, s: Situation, memory: ScriptedMemory, slots: Slots, rng: Rng) -> Floats:
        """The reverse of sense."""
        worse = s.type_edge[:, :1] - s.type_edge[:, 1:]
        switches = np.where((worse > 0) & ~s.forced[:, None], 1 + worse, _STAY + worse)
        return joined(-expected(s)[:, 0], switches)


class GymLeader(ScriptedAgent):
    """Knocks out when it can, sets up when fresh, heals when hurt, flees when lost."""

    name = "gymleader"
    line = "knock-out, set-up on the first turn, healing below a third, flight from a lost duel"

    def scores(self, s: Situation, memory: ScriptedMemory, slots: Slots, rng: Rng) -> Floats:
        """Expected damage with bonuses for what the moment asks."""
        t, moves, hp = s.table, s.active_moves, s.own_hp[:, 0]
        damage = expected(s)
        scores = damage[:, 0] + 2.0 * knocks_out(s)[:, 0]
        raises = t.raises[moves].clip(0).sum(axis=2) > 0
        fresh = s.first_turn & (hp > 0.9) & (rng.random(s.size) < 0.5)
        scores = np.where(raises & fresh[:, None], 1.5, scores)
        hurt = (hp < 1 / 3) & (rng.random(s.size) < 0.75)
        scores = np.where((t.heal[moves] > 0) & hurt[:, None], 1.8, scores)
        helps = (t.category[moves] == STATUS) & (t.status[moves] > 0) & s.works
        scores = np.where(helps, np.maximum(scores, 0.25), scores)
        best = damage.max(axis=2)
        outlook = best - danger(s) + 0.5 * (s.own_hp > danger(s))
        switches = _STAY + switch_scores(outlook)
        flee = self._flees(s, damage)
        safe = s.own_hp[:, 1:] > 1.5 * danger(s)[:, 1:]
        switches = np.where(flee[:, None] & safe, 1.9 + switch_scores(outlook), switches)
        return joined(scores, switches)

    @staticmethod
    def _flees(s: Situation, damage: Floats) -> Bools:
        """About to be knocked out by a faster foe, or unable to hurt it."""
        doomed = danger(s)[:, 0] >= s.own_hp[:, 0]
        slower = s.own_speed[:, 0] < s.foe_speed
        harmless = damage[:, 0].max(axis=1) < 0.05
        flees: Bools = ((doomed & slower & (s.own_hp[:, 0] > 0.5)) | harmless) & ~s.forced
        return flees


def _random_switch(s: Situation, rng: Rng) -> Floats:
    return _STAY + rng.random((s.size, TEAM - 1))


def _quickness(s: Situation) -> Floats:
    """A tie-breaker: faster is better."""
    return s.own_speed * 1e-6
