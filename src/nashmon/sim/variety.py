"""Teams that are legal nowhere and meet everything: any move, item and ability of the dex.

The simulator does not validate teams; these reach rare situations that real teams seldom do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from nashmon.core.dex import Dex, Item, Move
from nashmon.core.formats import Format

_T = TypeVar("_T")

# Moves that change what may be chosen next.
_DECISIVE = (
    "allyswitch attract batonpass beakblast bide binddown bounce chillyreception copycat "
    "curse destinybond dig disable dive dynamaxcannon encore explosion fairylock fakeout "
    "fling fly followme focuspunch frenzyplant futuresight grudge healblock healingwish "
    "hyperbeam iceball imprison ingrain instruct leechseed lunardance meanlook metronome "
    "mimic mirrormove noretreat octolock outrage partingshot perishsong petaldance pollenpuff "
    "protect pursuit rage razorwind revivalblessing roar rollout selfdestruct shedtail "
    "skullbash skydrop sleeptalk snore solarbeam spiderweb spite substitute taunt teleport "
    "terastarstorm thrash throatchop torment transform trick uproar uturn voltswitch "
    "whirlpool wrap bind clamp firespin sing sleeppowder thunderwave jawlock assist beatup "
)
_DECISIVE_ABILITIES = (
    "arenatrap shadowtag magnetpull commander imposter illusion truant zerotohero regenerator "
    "wimpout emergencyexit moody cursedbody dancer neutralizinggas costar "
)
_DECISIVE_ITEMS = (
    "choiceband choicescarf choicespecs assaultvest ejectbutton ejectpack redcard leppaberry "
    "whiteherb mentalherb powerherb shedshell focussash custapberry "
)


def variety_team(format: Format, rng: np.random.Generator) -> str:
    """A packed team of arbitrary sets."""
    low = max(format.min_team_size, 2 if format.game_type == "doubles" else 1)
    size = int(rng.integers(max(low, 3), min(format.team_size, 6) + 1))
    dex = format.dex
    sets = [_set(dex, format, rng, index) for index in range(size)]
    if format.gen == 9 and format.game_type == "doubles" and "tatsugiri" in dex.species:
        sets[0] = _packed(dex, "tatsugiri", "", "commander", _moves(dex, rng), 1, "Nick1")
        sets[1] = _packed(dex, "dondozo", "", "unaware", _moves(dex, rng), 1, "Nick2")
    return "]".join(sets[index] for index in rng.permutation(size))


def _set(dex: Dex, format: Format, rng: np.random.Generator, index: int) -> str:
    item = _item(dex, format, rng)
    species = _one([s.id for s in dex.species.values() if not s.battle_only], rng)
    if item and item.mega:
        species = _one([base for base, _ in item.mega], rng)
    moves = _moves(dex, rng)
    if item and item.z_type:
        of_type = [m.id for m in _usable(dex) if m.type == item.z_type]
        moves[0] = _one(of_type, rng)
    level = int(rng.choice([20, 60, 100]))
    ability = _ability(dex, species, rng)
    moves = list(dict.fromkeys(moves))
    return _packed(dex, species, item.id if item else "", ability, moves, level, f"Nick{index}")


def _packed(
    dex: Dex, species: str, item: str, ability: str, moves: Sequence[str], level: int, nick: str
) -> str:
    evs = "252,252,252,252,252,252" if dex.gen <= 2 else "84,84,84,84,84,84"
    return f"{nick}|{species}|{item}|{ability}|{','.join(moves)}|Hardy|{evs}||||{level}|"


def _item(dex: Dex, format: Format, rng: np.random.Generator) -> Item | None:
    if dex.gen == 1 or rng.random() < 0.2:
        return None
    items = list(dex.items.values())
    pick = rng.random()
    if "mega" in format.gimmicks and pick < 0.3:
        items = [item for item in items if item.mega]
    elif "zmove" in format.gimmicks and pick < 0.6:
        items = [item for item in items if item.z_move]
    elif pick < 0.8:
        items = [dex.items[name] for name in _DECISIVE_ITEMS.split() if name in dex.items]
    return _one(items, rng)


def _ability(dex: Dex, species: str, rng: np.random.Generator) -> str:
    own = dex.species[species].abilities
    if dex.gen < 3 or not own:
        return ""
    if rng.random() < 0.6:
        return _one(own, rng)
    decisive = [name for name in _DECISIVE_ABILITIES.split() if name in dex.abilities]
    return _one(decisive if rng.random() < 0.6 else list(dex.abilities), rng)


def _usable(dex: Dex) -> list[Move]:
    return [
        move
        for move in dex.moves.values()
        if not (move.is_z or move.is_max or move.real_move or move.id == "struggle")
    ]


def _moves(dex: Dex, rng: np.random.Generator) -> list[str]:
    decisive = [name for name in _DECISIVE.split() if name in dex.moves]
    names = [move.id for move in _usable(dex)]
    count = int(rng.choice([1, 4, 4, 4, 4, 4]))
    chosen = [_one(decisive if rng.random() < 0.5 else names, rng) for _ in range(count)]
    return list(dict.fromkeys(chosen))


def _one(values: Sequence[_T], rng: np.random.Generator) -> _T:
    return values[int(rng.integers(len(values)))]
