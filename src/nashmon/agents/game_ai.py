"""The trainers of the games: the scoring AIs of Red and Blue and of a hard Emerald."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nashmon.agents.baselines import danger, expected, knocks_out
from nashmon.agents.move_table import SLP, STATUS, Bools, Floats
from nashmon.agents.scripted import ScriptedAgent, ScriptedMemory, joined
from nashmon.agents.situation import Situation

Rng = np.random.Generator
Slots = NDArray[np.int64]

_STAY = -1000.0


class Gen1Boss(ScriptedAgent):
    """The AI of gym leaders in Red and Blue: three small rules, a random one of the best moves."""

    name = "gen1boss"
    line = "scoring AI of the first games: no second status, early set-up, types"

    def scores(self, s: Situation, memory: ScriptedMemory, slots: Slots, rng: Rng) -> Floats:
        """Higher is better here; the games count downwards from 10."""
        t, moves = s.table, s.active_moves
        gives_status = (t.category[moves] == STATUS) & (t.status[moves] > 0)
        scores = -5.0 * (gives_status & (s.foe_status[:, :1] > 0))
        attack = t.category[moves] != STATUS
        scores = scores + 1.0 * (attack & (s.effect[:, 0] > 1))
        scores = (
            scores - 1.0 * (attack & (s.effect[:, 0] < 1)) - 3.0 * (s.effect[:, 0] == 0) * attack
        )
        raises = t.raises[moves].clip(0).sum(axis=2) > 0
        scores = scores + 1.0 * (raises & s.first_turn[:, None])
        return joined(scores, _STAY + s.type_edge[:, 1:])


class Kaizo(ScriptedAgent):
    """Adds and takes points for each move as the AI of Emerald does, harder than the original."""

    name = "kaizo"
    line = "points for knock-outs, status, healing, set-up as in a hard Emerald; emergency switches"

    def scores(self, s: Situation, memory: ScriptedMemory, slots: Slots, rng: Rng) -> Floats:
        """Points of the moves; a switch only in an emergency."""
        points = self._attacks(s) + self._status(s, rng) + self._support(s, rng)
        outlook = expected(s).max(axis=2) - danger(s) + 0.2 * s.type_edge
        flee = self._emergency(s) & (rng.random(s.size) < 0.9)
        fit = (s.own_hp[:, 1:] > 0.3) & (outlook[:, 1:] > outlook[:, :1] + 0.2)
        switches = np.where(flee[:, None] & fit, 50.0, _STAY) + outlook[:, 1:]
        return joined(points, switches)

    @staticmethod
    def _attacks(s: Situation) -> Floats:
        """Knock-outs first, a quick one most of all; then the strongest move."""
        t, moves = s.table, s.active_moves
        damage = expected(s)[:, 0]
        attack = t.category[moves] != STATUS
        kills = knocks_out(s)[:, 0]
        first = (s.own_speed[:, 0] > s.foe_speed)[:, None] | (t.priority[moves] > 0)
        points = 4.0 * kills + 2.0 * (kills & first) + 1.0 * (kills & (s.accuracy[:, 0] > 0.95))
        strongest = damage >= damage.max(axis=1, keepdims=True) - 1e-9
        points = points - 1.0 * (attack & ~strongest) + 2.0 * np.minimum(damage, 1.0)
        points = points - 10.0 * (attack & (s.hit[:, 0] <= 0))
        hasty = t.explodes[moves] & ~kills & (s.own_hp[:, :1] > 0.4)
        points = points - 5.0 * hasty - 10.0 * (t.explodes[moves] & (s.own_left == 1)[:, None])
        total: Floats = points - 1.0 * (t.recharges[moves] & ~kills) - 1.0 * t.charges[moves]
        return total

    @staticmethod
    def _status(s: Situation, rng: Rng) -> Floats:
        """Status that takes hold, sleep above all, on foes that are still healthy."""
        t, moves = s.table, s.active_moves
        status = t.status[moves]
        aimed = (t.category[moves] == STATUS) & ((status > 0) | t.confuses[moves] | t.seeds[moves])
        eager = rng.random(moves.shape) < 0.75
        fresh = s.foe_hp[:, :1] > 0.4
        points = 3.0 * (aimed & s.works & eager & fresh)
        points = points + 1.5 * (aimed & (status == SLP) & s.works)
        total: Floats = points - 10.0 * (aimed & ~s.works)
        return total

    @staticmethod
    def _support(s: Situation, rng: Rng) -> Floats:
        """Healing when hurt, set-up when safe, screens that are not up yet."""
        t, moves, hp = s.table, s.active_moves, s.own_hp[:, :1]
        heals = t.heal[moves] > 0
        points = (
            3.5 * (heals & (hp < 0.5)) - 10.0 * (heals & (hp > 0.9)) - 2.0 * (heals & (hp > 0.7))
        )
        safe = (hp > 0.7) & (danger(s)[:, :1] < 0.4)
        raises = t.raises[moves].clip(0).sum(axis=2) > 0
        most = s.own_boosts[:, :5].max(axis=1)[:, None] >= 4
        willing = rng.random(moves.shape) < 0.7
        points = points + 3.0 * (raises & safe & ~most & willing) - 10.0 * (raises & most)
        screens = (t.reflect[moves] & (s.own_screen[:, None] % 2 == 0)) | (
            t.light_screen[moves] & (s.own_screen[:, None] < 2)
        )
        again = (t.reflect[moves] | t.light_screen[moves]) & ~screens
        points = points + 1.5 * (screens & safe) - 10.0 * again
        again = t.substitute[moves] & (s.own_sub[:, None] | (hp <= 0.3))
        hazards = t.hazard[moves] & (s.turn < 6)[:, None]
        total: Floats = points - 10.0 * again + 2.5 * hazards - 10.0 * t.useless[moves]
        return total

    @staticmethod
    def _emergency(s: Situation) -> Bools:
        """Nothing hurts the foe, or it is about to faint us first while we are healthy."""
        harmless = expected(s)[:, 0].max(axis=1) < 0.04
        slower = s.own_speed[:, 0] < s.foe_speed
        doomed = (danger(s)[:, 0] >= s.own_hp[:, 0]) & slower & (s.own_hp[:, 0] > 0.4)
        weakened = s.own_boosts[:, :5].min(axis=1) <= -3
        emergency: Bools = (harmless | doomed | weakened) & ~s.forced
        return emergency
