"""`Tactician`: looks one turn ahead and judges what follows as a duel, or a switch out of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nashmon.agents.duel import (
    INFLICTED,
    LIFE,
    Fighter,
    acts,
    acts_now,
    duel_value,
    faint_chance,
    worth,
)
from nashmon.agents.move_table import PAR, PHYSICAL, SLP, STATUS, Floats, Ints
from nashmon.agents.scripted import ScriptedAgent, ScriptedMemory, joined
from nashmon.agents.situation import SWITCH, Situation
from nashmon.core.agent import Decisions

Rng = np.random.Generator


@dataclass(frozen=True, slots=True)
class TacticianConfig:
    """What rules cannot derive; tuned by matches in Gen 1 OU."""

    switch_cost: float = 0.10  # tempo lost by a switch
    loop_cost: float = 0.12  # more for each switch made in the last turns
    surprise: float = 0.35  # chance that the foe's move is the best one against the newcomer
    held_back: float = 0.6  # share of a won duel that the foe lets us have before it switches
    escape_cost: float = 0.30  # cost of leaving a duel a turn later
    status_scale: float = 1.0
    explosion_cost: float = 0.05
    raise_bonus: float = 0.10
    status_fear: float = 0.15  # what meeting a foe that spreads status costs a healthy newcomer


@dataclass(slots=True)
class TacticianMemory(ScriptedMemory):
    """How often each slot switched of late."""

    switches: NDArray[np.float64] | None = None


class Tactician(ScriptedAgent):
    """Scores each action by material after this turn and the duel that follows."""

    name = "tactician"
    line = "one turn ahead: damage both ways, knock-outs, status, healing, matchups and switches"

    def __init__(self, config: TacticianConfig | None = None) -> None:
        self.config = config or TacticianConfig()

    def start(self, num_slots: int) -> TacticianMemory:
        """Memory of recent switches."""
        return TacticianMemory(num_slots, switches=np.zeros(num_slots))

    def scores(
        self, s: Situation, memory: ScriptedMemory, slots: NDArray[np.int64], rng: Rng
    ) -> Floats:
        """Value of every move and switch."""
        assert isinstance(memory, TacticianMemory) and memory.switches is not None
        view = _View(s, self.config)
        switches = view.switch_values() - self.config.loop_cost * memory.switches[slots][:, None]
        return joined(view.move_values(switches), switches)

    def remember(
        self, s: Situation, actions: Ints, memory: ScriptedMemory, decisions: Decisions
    ) -> None:
        """Switches fade; forced ones do not count."""
        assert isinstance(memory, TacticianMemory) and memory.switches is not None
        switched = (actions >= SWITCH) & (actions < 9) & ~s.forced & ~s.preview
        before = np.where(decisions.first, 0.0, memory.switches[decisions.slots])
        after = np.where(s.forced, before, 0.6 * before + switched)
        memory.switches[decisions.slots] = after

    def lead_scores(self, s: Situation, rng: Rng) -> Floats:
        """Type matchups against the foe's team."""
        return s.lead + 0.05 * rng.random(s.lead.shape)


class _View:
    """A situation with everything that moves and switches are judged by."""

    def __init__(self, s: Situation, config: TacticianConfig) -> None:
        self.s, self.config, self.gen = s, config, s.table.dex.gen
        t = s.table
        expected = s.hit * s.accuracy
        tempo = np.where(t.recharges[s.own_moves], 0.6, 1.0)
        tempo = np.where(t.charges[s.own_moves], 0.55, tempo)
        self.tempo = np.where(t.explodes[s.own_moves], 0.0, tempo)
        self.expected = expected
        self.damage = (expected * self.tempo).max(axis=2)  # (B, 6)
        theirs = s.foe_moves[:, None, :]
        foe_tempo = np.where(t.recharges[theirs], 0.7, np.where(t.explodes[theirs], 0.5, 1.0))
        self.foe_expected = s.foe_hit * s.foe_accuracy * s.foe_chance[:, None, :] * foe_tempo
        self.danger = self.foe_expected.max(axis=2)  # (B, 6)
        self.foe_hp = s.foe_hp[:, 0]
        status = s.foe_status[:, 0]
        self.foe_acts = acts(status, s.foe_confused)
        now = acts_now(status, self.gen) * np.where(s.foe_confused, 0.75, 1.0)
        self.foe_now = np.where(s.foe_recharging, 0.0, now)
        self.foe_worth = worth(status)
        self.own_acts = acts(s.own_status)
        self.own_acts[:, 0] *= np.where(s.own_confused, 0.8, 1.0)
        self.own_worth = worth(s.own_status)
        self.faster = self._order(s.own_speed, s.foe_speed[:, None])
        spreads = np.isin(t.status[s.foe_moves], (PAR, SLP)) * s.foe_accuracy.max(axis=1)
        self.status_threat = (spreads * s.foe_chance).max(axis=1)

    @staticmethod
    def _order(own: Floats, foe: Floats) -> Floats:
        return np.where(own > foe, 1.0, np.where(own == foe, 0.5, 0.0))

    def _duel(
        self,
        own_hp: Floats,
        foe_hp: Floats,
        damage: Floats,
        danger: Floats,
        own_acts: Floats,
        foe_acts: Floats,
        faster: Floats,
    ) -> Floats:
        """Duels of the active Pokémon, (B, 4) arrays; what the foe would not fight out is cut."""
        own = Fighter(own_hp, damage, own_acts, self.own_worth[:, :1])
        foe = Fighter(foe_hp, danger, foe_acts, self.foe_worth[:, None])
        return self._realistic(duel_value(own, foe, faster))

    def _realistic(self, value: Floats) -> Floats:
        return np.where(value > 0, self.config.held_back * value, value)

    def switch_values(self) -> Floats:
        """(B, 5): coming in on the foe's move, then the duel of the newcomer."""
        s, config = self.s, self.config
        row = np.arange(s.size)
        aimed = self.foe_expected[:, 0].argmax(axis=1)  # at the one that leaves
        blind = self.foe_expected[row, 1:, aimed]
        entry = (1 - config.surprise) * blind + config.surprise * self.danger[:, 1:]
        entry = entry * np.where(s.forced, 0.0, self.foe_now)[:, None]
        hp = s.own_hp[:, 1:]
        left = np.maximum(hp - entry, 0.0)
        own = Fighter(left, self.damage[:, 1:], self.own_acts[:, 1:], self.own_worth[:, 1:])
        foe = Fighter(
            self.foe_hp[:, None],
            self.danger[:, 1:],
            self.foe_acts[:, None],
            self.foe_worth[:, None],
        )
        value = self._realistic(duel_value(own, foe, self.faster[:, 1:]))
        falls = np.clip((entry - hp) / 0.1 + 0.5, 0.0, 1.0) * (entry > 0)
        paid = self.own_worth[:, 1:] * (np.minimum(entry, hp) + LIFE * falls)
        cost = np.where(s.forced, 0.0, config.switch_cost)[:, None]
        healthy = s.own_status[:, 1:] == 0
        cost = cost + config.status_fear * healthy * (self.status_threat * self.foe_now)[:, None]
        # Those that cannot act are let fall first when someone must.
        total: Floats = (1 - falls) * value - paid - cost
        return total

    def move_values(self, switches: Floats) -> Floats:
        """(B, 4): this turn, then the best of fighting on and leaving."""
        s, t = self.s, self.s.table
        moves = s.active_moves
        legal = np.where(s.masks[:, SWITCH : SWITCH + 5], switches, -9.0)
        escape = legal.max(axis=1)[:, None] - self.config.escape_cost
        turn = self._turn(moves)
        future = np.maximum(self._future(moves, turn), escape)
        alive = (1 - turn.foe_faints) * (1 - turn.own_faints)
        value: Floats = turn.gain + alive * future
        value += np.where(t.explodes[moves], self._explosion(moves, turn) - value, 0.0)
        idle = (t.category[moves] == STATUS) & ~s.works
        fails: Floats = 0.5 * idle + 0.3 * t.useless[moves]
        return value - fails

    def _turn(self, moves: Ints) -> _Turn:
        """What happens before the next decision, for each of the four moves."""
        s, t = self.s, self.s.table
        own_hp, foe_hp = s.own_hp[:, :1], self.foe_hp[:, None]
        now = acts_now(s.own_status[:, 0], self.gen) * np.where(s.own_confused, 0.7, 1.0)
        first = self._goes_first(moves)
        best = self.foe_expected[:, 0].argmax(axis=1)
        row = np.arange(s.size)
        blow = s.foe_hit[row, 0, best][:, None]
        chance = (s.foe_accuracy[row, 0, best] * s.foe_chance[row, best] * self.foe_now)[:, None]
        fatal = chance * faint_chance(0.86 * blow, 1.02 * blow, 1.1 * blow, own_hp)
        does = now[:, None] * (1 - (1 - first) * fatal)
        faints = faint_chance(s.low[:, 0], s.high[:, 0], s.hit[:, 0], foe_hp)
        faints = faints * s.accuracy[:, 0] * does * ~s.foe_sub[:, None]
        held = t.traps[moves] & (self.gen == 1)
        exposure = (1 - first * faints) * np.where(held, 1 - s.accuracy[:, 0] * first, 1.0)
        taken = np.minimum(blow * chance * exposure, own_hp)
        dealt = np.minimum(self.expected[:, 0], foe_hp) * does
        dealt = np.where(s.foe_sub[:, None], np.minimum(dealt, 0.08), dealt)
        own_faints = fatal * exposure
        healed = self._healed(moves, own_hp, taken, does)
        drained = t.drain[moves] * dealt * s.foe_max[:, :1] / np.maximum(s.own_max[:, :1], 1)
        recoil = t.recoil[moves] * dealt * s.foe_max[:, :1] / np.maximum(s.own_max[:, :1], 1)
        gain = self.foe_worth[:, None] * (dealt + LIFE * faints)
        gain = gain - self.own_worth[:, :1] * (taken + LIFE * own_faints + recoil)
        gain = gain + np.minimum(drained, 1 - own_hp) + self._side_effects(moves, does)
        left = np.clip(own_hp - taken + healed - recoil + drained, 0.01, 1.0)
        return _Turn(gain, does, faints, own_faints, left, np.maximum(foe_hp - dealt, 0.01), taken)

    def _goes_first(self, moves: Ints) -> Floats:
        priority = self.s.table.priority[moves]
        quick = np.where(priority > 0, 1.0, np.where(priority < 0, 0.0, self.faster[:, :1]))
        return np.where(self.foe_now[:, None] == 0, 1.0, quick)

    def _healed(self, moves: Ints, own_hp: Floats, taken: Floats, does: Floats) -> Floats:
        heal = self.s.table.heal[moves] * does
        return np.where(heal > 0, np.minimum(heal, 1 - own_hp + taken * 0.5), 0.0)

    def _side_effects(self, moves: Ints, does: Floats) -> Floats:
        """Worth of the status an attack may inflict by the way."""
        s, t = self.s, self.s.table
        fresh = (s.foe_status[:, 0] == 0) & ~s.foe_sub
        status = t.side_status[moves]
        chance = t.side_chance[moves] * s.accuracy[:, 0] * does * (s.effect[:, 0] > 0)
        if self.gen == 1:  # Body Slam does not paralyse Normal types, and so on
            same = s.shares_type
            chance = np.where(same, 0.0, chance)
        amount = INFLICTED[status] * (0.35 + 0.65 * self.foe_hp[:, None])
        total: Floats = self.config.status_scale * amount * chance * fresh[:, None]
        return total

    def _future(self, moves: Ints, turn: _Turn) -> Floats:
        """The duel after this turn, changed by what the move did to both."""
        s, t = self.s, self.s.table
        status = np.where(s.works, t.status[moves], 0)
        lands = s.accuracy[:, 0] * turn.does * (status > 0)
        own_acts, foe_acts = self.own_acts[:, :1], self.foe_acts[:, None]
        damage, danger = self._raised(moves)
        base = self._duel(
            turn.own_hp, turn.foe_hp, damage, danger, own_acts, foe_acts, self._later(moves)
        )
        base = base - np.where(t.recharges[moves], self.danger[:, :1] * foe_acts * 0.9, 0.0)
        slowed = self._order(s.own_speed[:, :1], s.foe_speed[:, None] / 4)
        faster = np.where(status == PAR, slowed, self.faster[:, :1])
        changed = self._duel(
            turn.own_hp, turn.foe_hp, damage, danger, own_acts, acts(status), faster
        )
        lasting = INFLICTED[status] * (0.35 + 0.65 * self.foe_hp[:, None])
        value = base + lands * (changed - base + self.config.status_scale * lasting)
        value = np.where(t.rests[moves], self._rest(turn), value)
        return value + self._extras(moves, turn)

    def _later(self, moves: Ints) -> Floats:
        """Who is faster from the next turn on."""
        quick = self.s.table.raises[moves][..., 4] >= 2
        return np.where(quick, 1.0, self.faster[:, :1])

    def _raised(self, moves: Ints) -> tuple[Floats, Floats]:
        """(B, 4): own damage and the foe's, after the stages or the screen a move brings."""
        s, t = self.s, self.s.table
        raises = t.raises[moves]  # (B, 4, 7)
        now = s.own_boosts[:, None, :]
        room = np.clip(6 - now, 0, raises.clip(0))
        before = 1 + np.maximum(now, 0) / 2
        gains = (before + room / 2) / before
        own_physical = t.category[moves] == PHYSICAL
        best = (self.expected[:, 0] * self.tempo[:, 0])[:, None, :]
        scale = np.where(own_physical[:, None, :], gains[..., 0:1], gains[..., 2:3])
        damage = (best * scale).max(axis=2)
        reflect = t.reflect[moves] & (s.own_screen[:, None] % 2 == 0)
        screen = t.light_screen[moves] & (s.own_screen[:, None] < 2)
        foe_physical = (t.category[s.foe_moves] == PHYSICAL)[:, None, :]
        guard = np.where(foe_physical, gains[..., 1:2], gains[..., 3:4])
        guard = guard * np.where(reflect[..., None] & foe_physical, 2.0, 1.0)
        guard = guard * np.where(screen[..., None] & ~foe_physical, 2.0, 1.0)
        danger = (self.foe_expected[:, :1] / guard).max(axis=2)
        return damage, danger

    def _rest(self, turn: _Turn) -> Floats:
        """Full HP and two turns asleep."""
        hp = np.clip(1 - 2.2 * self.danger[:, :1] * self.foe_acts[:, None], 0.02, 1.0)
        gained = hp - turn.own_hp
        awake = np.broadcast_to(np.array(1.0), hp.shape)
        value = self._duel(
            np.broadcast_to(hp, turn.own_hp.shape),
            turn.foe_hp,
            self.damage[:, :1],
            self.danger[:, :1],
            awake,
            self.foe_acts[:, None],
            self.faster[:, :1],
        )
        cured = np.where(self.s.own_status[:, :1] > 0, 0.12, 0.0)
        total: Floats = value + 0.5 * gained + cured - 0.12
        return total

    def _extras(self, moves: Ints, turn: _Turn) -> Floats:
        """What the duel does not see."""
        s, t = self.s, self.s.table
        healthy = turn.own_hp > 0.5
        raises = t.raises[moves][..., :5].clip(0).sum(axis=2) > 0
        most = s.own_boosts[:, None, :5].max(axis=2) >= 4
        value = np.where(raises & healthy & ~most, self.config.raise_bonus, 0.0)
        value = value + np.where(t.heal[moves] > 0, 0.35 * (turn.own_hp - s.own_hp[:, :1]), 0.0)
        value = value + np.where(t.confuses[moves] & s.works, 0.12, 0.0)
        value = value + np.where(t.seeds[moves] & s.works, 0.15, 0.0)
        sub = t.substitute[moves]
        value = value + np.where(sub & s.own_sub[:, None], -1.0, 0.0)
        value = value + np.where(sub, -0.15 + 0.2 * (s.foe_status[:, :1] == SLP), 0.0)
        hazard = t.hazard[moves] & (s.turn < 6)[:, None]
        total: Floats = value + np.where(hazard, 0.25, 0.0)
        return total

    def _explosion(self, moves: Ints, turn: _Turn) -> Floats:
        """A trade: all that the user is worth for the damage done."""
        own_hp = self.s.own_hp[:, :1]
        cost = self.own_worth[:, :1] * (own_hp + LIFE) + self.config.explosion_cost
        won = np.minimum(self.expected[:, 0], self.foe_hp[:, None])
        won = turn.does * self.foe_worth[:, None] * won + LIFE * turn.foe_faints
        won = won * ~self.s.foe_sub[:, None]  # a Substitute takes it all
        # With nothing left behind, a trade loses the battle.
        last = (self.s.own_left <= 1) & (self.s.foe_left >= 1)
        total: Floats = won - cost - np.where(last, 5.0, 0.0)[:, None]
        return total


@dataclass(frozen=True, slots=True)
class _Turn:
    """One turn for each of the four moves, (B, 4) each."""

    gain: Floats  # worth of what happened
    does: Floats  # chance that the move is made
    foe_faints: Floats
    own_faints: Floats
    own_hp: Floats
    foe_hp: Floats
    taken: Floats
