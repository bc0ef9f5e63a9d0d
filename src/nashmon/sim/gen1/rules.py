"""Which formats the engine plays, and what their rules forbid in a team.

Whether a Pokémon can learn its moves is for `teams.legality` to judge; here only bans are checked.
"""

from __future__ import annotations

from dataclasses import dataclass

from nashmon.core.errors import TeamError, UnsupportedError
from nashmon.core.formats import get_format
from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1 import tables as tb
from nashmon.sim.gen1.setup import Gen1Team

# What every supported format announces at the start of a battle.
RULE_LINES = (
    "Desync Clause Mod: Desyncs resolve to link battle behavior from the acting player's "
    "perspective.",
    "HP Percentage Mod: HP is shown in percentages",
    "Endless Battle Clause: Forcing endless battles is banned",
    "Sleep Clause Mod: Limit one foe put to sleep",
    "Freeze Clause Mod: Limit one foe frozen",
    "Species Clause: Limit one of each Pokémon",
    "OHKO Clause: OHKO moves are banned",
    "Evasion Moves Clause: Evasion moves are banned",
)
_STANDARD_MOVES = frozenset(
    ("dig", "fly", "doubleteam", "minimize", "fissure", "guillotine", "horndrill")
)
_UU_MOVES = _STANDARD_MOVES | {"bind", "clamp", "confuseray", "firespin", "supersonic", "wrap"}
_UBER, _UU = ("Uber",), ("Uber", "OU", "UUBL")
_NU = (*_UU, "UU", "NUBL")
_PU = (*_NU, "NU", "PUBL")


@dataclass(frozen=True, slots=True)
class Bans:
    """What a format forbids."""

    tiers: tuple[str, ...] = ()
    moves: frozenset[str] = _STANDARD_MOVES


FORMATS = {
    "gen1ou": Bans(_UBER),
    "gen1tradebacksou": Bans(_UBER),
    "gen1ubers": Bans(),
    "gen1uu": Bans(_UU, _UU_MOVES),
    "gen1nu": Bans(_NU, _UU_MOVES),
    "gen1pu": Bans(_PU, _UU_MOVES),
    "gen1zu": Bans((*_PU, "PU", "ZUBL"), _UU_MOVES),
    "gen1randombattle": Bans(moves=frozenset()),
}


def plays(format_id: str) -> bool:
    """Whether the engine plays a format."""
    return get_format(format_id).id in FORMATS


def check_format(format_id: str) -> None:
    """Refuse formats with other rules by name."""
    if not plays(format_id):
        raise UnsupportedError(
            f"the Gen 1 engine does not play {get_format(format_id).id}; it plays "
            f"{', '.join(FORMATS)}"
        )


def check_team(format_id: str, team: Gen1Team) -> None:
    """Refuse a team that the format's bans or clauses forbid."""
    bans = FORMATS[format_id]
    for species in team.species:
        if team.species.count(species) > 1:
            raise TeamError(f"{format_id}: Species Clause, {species} is there twice")
        tier = tb.DEX.species[species].tier
        if tier in bans.tiers:
            raise TeamError(f"{format_id}: {species} is banned ({tier})")
    for species, facts in zip(team.species, team.facts, strict=False):
        for slot in range(facts[at.M_SLOTS]):
            move = tb.MOVE_IDS[facts[at.M_MOVES + slot]]
            if move in bans.moves:
                raise TeamError(f"{format_id}: {move} (on {species}) is banned")
