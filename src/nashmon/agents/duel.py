"""What a duel between two Pokémon is worth, as arrays: the currency of the Tactician.

Values are in Pokémon: 1 is the whole HP of a healthy one, and fainting costs `LIFE` on top.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nashmon.agents.move_table import BRN, FRZ, PAR, PSN, SLP, TOX, Bools, Floats, Ints

LIFE = 0.35  # what a Pokémon is worth beyond its HP
_SHARPNESS = 1.6  # how surely the quicker knock-out wins a duel
_PATIENCE = 0.93  # per turn: a long duel is broken off by a switch
_LONG = 12.0
_TINY = 1e-3
# What part of a Pokémon's value a status leaves, and how often it lets it act in the long run.
_WORTH = np.array([1.0, 0.85, 0.82, 0.62, 0.2, 0.92, 0.85])
_ACTS = np.array([1.0, 1.0, 0.75, 0.3, 0.02, 1.0, 1.0])
# How often it acts in the coming turn.
_ACTS_NOW = np.array([1.0, 1.0, 0.75, 0.1, 0.0, 1.0, 1.0])
_ACTS_NOW_GEN1 = np.array([1.0, 1.0, 0.75, 0.0, 0.0, 1.0, 1.0])  # waking up takes the turn
# Lasting worth of giving a foe at full HP a status.
INFLICTED = np.zeros(7)
for _code, _value in ((BRN, 0.18), (PAR, 0.26), (SLP, 0.5), (FRZ, 0.75), (PSN, 0.08), (TOX, 0.18)):
    INFLICTED[_code] = _value


@dataclass(frozen=True, slots=True)
class Fighter:
    """One side of a duel; arrays of one shape."""

    hp: Floats
    damage: Floats  # expected damage of its best move per turn in which it acts
    acts: Floats  # how often it acts
    worth: Floats  # what its HP count for


def worth(status: Ints) -> Floats:
    """What part of its value a Pokémon with this status has."""
    return _WORTH[status]


def acts(status: Ints, confused: Bools | bool = False) -> Floats:
    """How often a Pokémon acts over a duel."""
    return _ACTS[status] * np.where(confused, 0.8, 1.0)


def acts_now(status: Ints, gen: int) -> Floats:
    """How often it acts in the coming turn."""
    return (_ACTS_NOW_GEN1 if gen == 1 else _ACTS_NOW)[status]


def duel_value(own: Fighter, foe: Fighter, faster: Floats) -> Floats:
    """What the foe loses minus what we lose when both fight on; `faster` is 1, 0.5 or 0."""
    own_rate = np.maximum(own.damage * own.acts, _TINY)
    foe_rate = np.maximum(foe.damage * foe.acts, _TINY)
    own_turns = np.minimum(_strikes(foe.hp, own.damage) / np.maximum(own.acts, 0.05), _LONG)
    foe_turns = np.minimum(_strikes(own.hp, foe.damage) / np.maximum(foe.acts, 0.05), _LONG)
    lead = foe_turns - own_turns + (faster - 0.5)
    wins = 1 / (1 + np.exp(-_SHARPNESS * lead))
    # A duel that nobody wins soon decides nothing.
    decided = _PATIENCE ** np.minimum(own_turns, foe_turns)
    foe_loss = wins * (foe.hp + LIFE) + (1 - wins) * np.minimum(foe.hp, own_rate * foe_turns)
    own_loss = (1 - wins) * (own.hp + LIFE) + wins * np.minimum(own.hp, foe_rate * own_turns)
    value: Floats = decided * (foe.worth * foe_loss - own.worth * own_loss)
    return value


def _strikes(hp: Floats, damage: Floats) -> Floats:
    """Turns to faint a target; between whole numbers, as damage varies."""
    exact = hp / np.maximum(damage, _TINY)
    count: Floats = np.maximum(0.5 * exact + 0.5 * np.ceil(exact - 0.05), 1.0)
    return count


def faint_chance(low: Floats, high: Floats, mean: Floats, hp: Floats) -> Floats:
    """Chance that a hit takes all HP: rolls are even between low and high, critical hits above."""
    spread = np.maximum(high - low, _TINY)
    plain = np.clip((high - hp) / spread, 0.0, 1.0)
    # The mean lies above the middle of the rolls by what critical hits add.
    middle = (low + high) / 2
    critical = np.clip((mean - middle) / np.maximum(middle, _TINY), 0.0, 0.5)
    lucky = np.where(hp <= 1.9 * high, critical, 0.0)
    chance: Floats = np.where(high > 0, plain + (1 - plain) * lucky, 0.0)
    return chance
