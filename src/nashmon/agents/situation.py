"""What singles agents reason about, for a batch of decisions: damage, speed, status, in arrays.

Row 0 of a side is its active Pokémon, row 1 + k is bench k (switch action 4 + k).  Damage is always
a fraction of the target's maximum HP, as `hp` is.  It is made from states (`situation_states`) or,
in Gen 1, straight from the entity observation (`situation_gen1`); both give the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from nashmon.agents.move_table import (
    PAR,
    PSN,
    SLP,
    TOX,
    Bools,
    Floats,
    Guesses,
    Ints,
    MoveTable,
)

TEAM, MOVES = 6, 4
SWITCH, GIMMICK = 4, 9  # first switch action, first action with the gimmick


@dataclass(slots=True, eq=False)
class Situation:
    """A batch of B singles decisions."""

    table: MoveTable
    masks: Bools  # (B, actions)
    turn: Ints  # (B,)
    preview: Bools  # (B,) the decision is a team preview
    forced: Bools  # (B,) the decision is a forced switch
    own_left: Ints  # (B,) Pokémon that have not fainted, the active one included
    foe_left: Ints
    own_hp: Floats  # (B, 6); 0 for fainted and missing ones
    foe_hp: Floats
    own_max: Floats  # (B, 6) hit points, estimated for the foe
    foe_max: Floats
    own_status: Ints  # (B, 6) codes of `move_table`
    foe_status: Ints
    own_status_turns: Ints  # (B, 6)
    foe_status_turns: Ints
    own_moves: Ints  # (B, 6, 4) ids; 0 where there is none
    foe_moves: Ints  # (B, 4) of the active foe, the unseen ones guessed
    foe_chance: Floats  # (B, 4) how likely it has each: 1 for seen ones
    foe_seen: Ints  # (B,) number of moves seen
    low: Floats  # (B, 6, 4) own Pokémon's moves on the active foe, without critical hit
    high: Floats
    hit: Floats  # mean over rolls and critical hits when it hits
    accuracy: Floats  # (B, 6, 4)
    effect: Floats  # (B, 6, 4) type effectiveness
    stab: Bools  # (B, 4) the active's move is of its own type
    shares_type: Bools  # (B, 4) … of a type of the active foe
    foe_high: Floats  # (B, 6, 4) the active foe's moves on each own Pokémon
    foe_hit: Floats
    foe_accuracy: Floats
    type_edge: Floats  # (B, 6) best own type on the foe minus best foe type on it
    own_speed: Floats  # (B, 6) as it is on the field now (bench: after coming in)
    foe_speed: Floats  # (B,)
    own_boosts: Ints  # (B, 7) order of state.BOOSTS
    foe_boosts: Ints
    works: Bools  # (B, 4) the effect of the active's status move can take hold
    own_sub: Bools  # (B,)
    foe_sub: Bools
    own_confused: Bools
    foe_confused: Bools
    own_seeded: Bools
    foe_seeded: Bools
    own_screen: Ints  # (B,) 1 Reflect, 2 Light Screen, 3 both
    foe_recharging: Bools
    foe_charging: Bools
    first_turn: Bools
    own_last: Ints  # (B,) move ids
    gimmick_gain: Floats  # (B, 4) damage with the gimmick over damage without it
    lead: Floats  # (B, 6) how well each own Pokémon leads, at team preview

    @property
    def size(self) -> int:
        """Number of decisions."""
        return len(self.turn)

    @property
    def active_moves(self) -> Ints:
        """(B, 4): ids of the active Pokémon's moves."""
        return self.own_moves[:, 0]


_SHAPES: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(
        (["own_hp", "foe_hp", "own_max", "foe_max", "own_status", "foe_status", "type_edge"]), (6,)
    ),
    **dict.fromkeys((["own_status_turns", "foe_status_turns", "own_speed", "lead"]), (6,)),
    **dict.fromkeys(["own_moves", "low", "high", "hit", "accuracy", "effect"], (6, 4)),
    **dict.fromkeys(["foe_high", "foe_hit", "foe_accuracy"], (6, 4)),
    **dict.fromkeys(
        ["foe_moves", "foe_chance", "works", "stab", "shares_type", "gimmick_gain"], (4,)
    ),
    **dict.fromkeys(["own_boosts", "foe_boosts"], (7,)),
}
_DTYPES: dict[str, Any] = {"Ints": np.int64, "Floats": np.float64, "Bools": np.bool_}


def blank(table: MoveTable, masks: Bools) -> Situation:
    """A situation of zeros to be filled in."""
    size = len(masks)
    arrays = {
        field.name: np.zeros((size, *_SHAPES.get(field.name, ())), _DTYPES[str(field.type)])
        for field in fields(Situation)
        if field.name not in ("table", "masks")
    }
    return Situation(table=table, masks=masks, **arrays)


def fill_guesses(known: Ints, species: Ints, guesses: Guesses) -> tuple[Ints, Floats]:
    """Moves and chances of active foes: the known ones (id > 1), then the likeliest others."""
    size = len(known)
    moves = np.where(known > 1, known, 0)
    count = (moves > 0).sum(axis=1)
    candidates, chances = guesses.moves[species], guesses.chance[species]
    seen = (candidates[:, :, None] == moves[:, None, :]).any(axis=2) | (candidates == 0)
    order = np.argsort(seen, axis=1, kind="stable")
    rows = np.arange(size)[:, None]
    ranked, ranked_chance = candidates[rows, order], chances[rows, order]
    fresh = ~seen[rows, order]
    place = np.arange(MOVES)[None, :] - count[:, None]
    guessed = place >= 0
    at = np.maximum(place, 0)
    use = guessed & fresh[rows, at]
    moves = np.where(guessed, np.where(use, ranked[rows, at], 0), moves)
    chance = np.where(guessed, np.where(use, ranked_chance[rows, at], 0.0), 1.0)
    return moves, chance


def status_works(s: Situation, immune: Bools) -> Bools:
    """Whether the effect of each status move of the active Pokémon can take hold.

    `immune` (B, 4): the foe's types or ability keep it away.
    """
    t, moves = s.table, s.active_moves
    status = t.status[moves]
    asleep = ((s.foe_status[:, 1:] == SLP) & (s.foe_hp[:, 1:] > 0)).any(axis=1)
    blocked = (s.foe_status[:, 0] > 0)[:, None] & (status > 0)
    blocked |= asleep[:, None] & (status == SLP)  # Sleep Clause
    if t.dex.gen >= 2:
        aimed = (status > 0) | t.confuses[moves] | t.seeds[moves]
        blocked |= s.foe_sub[:, None] & aimed
    else:
        blocked |= s.foe_sub[:, None] & np.isin(status, (PSN, TOX))
    blocked |= t.confuses[moves] & s.foe_confused[:, None]
    blocked |= t.seeds[moves] & s.foe_seeded[:, None]
    return ~(blocked | immune)


def speed_factor(status: Ints, gen: int) -> Floats:
    """What paralysis leaves of speed."""
    return np.where(status == PAR, 0.5 if gen >= 7 else 0.25, 1.0)
