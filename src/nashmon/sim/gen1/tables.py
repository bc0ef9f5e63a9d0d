"""Facts of Gen 1 moves, species and types as arrays that kernels read.

Moves go by their Showdown number; NO_MOVE is what a thawed Pokémon uses when none was ever
selected, CANNOT_MOVE what a held or Hazed one is made to select.
"""

from __future__ import annotations

from math import ceil

import numpy as np

from nashmon.core.dex import Effect, Move, get_dex
from nashmon.sim.gen1 import layout as at

DEX = get_dex(1)

NO_MOVE, CANNOT_MOVE = 166, 167
NUM_MOVE_IDS = 168

MOVE_IDS: list[str] = [""] * NUM_MOVE_IDS
MOVE_NAMES: list[str] = [""] * NUM_MOVE_IDS
for _move in DEX.moves.values():
    if 0 < _move.num < NO_MOVE:
        MOVE_IDS[_move.num] = _move.id
        MOVE_NAMES[_move.num] = _move.name
MOVE_IDS[NO_MOVE], MOVE_NAMES[NO_MOVE] = "fissure", "Fissure"
MOVE_IDS[CANNOT_MOVE] = "cannotmove"
MOVE_NUM = {name: num for num, name in enumerate(MOVE_IDS) if name and num < NO_MOVE}

SPECIES = sorted((s for s in DEX.species.values() if 1 <= s.num <= 151), key=lambda s: s.num)
SPECIES_IDS = ["", *(species.id for species in SPECIES)]
SPECIES_NAMES = ["", *(species.name for species in SPECIES)]
SPECIES_NUM = {name: num for num, name in enumerate(SPECIES_IDS) if name}

TYPE_IDS = ["", *sorted(DEX.types)]
TYPE_NUM = {name: num for num, name in enumerate(TYPE_IDS)}
STATUS_NUM = {"brn": at.BRN, "par": at.PAR, "slp": at.SLP, "frz": at.FRZ, "psn": at.PSN}
STATUS_NUM["tox"] = at.TOX

# What a secondary effect does; statuses count from SECONDARY_STATUS.
NO_SECONDARY, SECONDARY_BOOST, SECONDARY_FLINCH, SECONDARY_CONFUSION = 0, 1, 2, 3
SECONDARY_STATUS = 10
# What a move leaves on its target.
NO_VOLATILE, V_CONFUSION, V_TRAP, V_DISABLE, V_SEED, V_BIDE = 0, 1, 2, 3, 4, 5
V_FOCUS, V_LIGHT_SCREEN, V_REFLECT, V_MIST, V_SUBSTITUTE = 6, 7, 8, 9, 10
_VOLATILES = {
    "confusion": V_CONFUSION,
    "partiallytrapped": V_TRAP,
    "disable": V_DISABLE,
    "leechseed": V_SEED,
    "bide": V_BIDE,
    "focusenergy": V_FOCUS,
    "lightscreen": V_LIGHT_SCREEN,
    "reflect": V_REFLECT,
    "mist": V_MIST,
    "substitute": V_SUBSTITUTE,
    # Without effect in this generation.
    "minimize": NO_VOLATILE,
    "defensecurl": NO_VOLATILE,
}
# What a move leaves on its user.
NO_SELF, SELF_HOLD, SELF_RAGE, SELF_RECHARGE, SELF_LOCK = 0, 1, 2, 3, 4
_SELF = {
    None: NO_SELF,
    "partialtrappinglock": SELF_HOLD,
    "rage": SELF_RAGE,
    "mustrecharge": SELF_RECHARGE,
    "lockedmove": SELF_LOCK,
}
PHYSICAL, SPECIAL, STATUS_MOVE = 0, 1, 2

# Columns of MOVE_TABLE.
TYPE, POWER, ACCURACY, HIGH_CRIT, PRIORITY, CATEGORY, ON_SELF, BASE_PP, MAX_PP = range(9)
IGNORE_IMMUNITY, CHANCE, SECONDARY, SEC_STAT, SEC_STAT2, SEC_AMOUNT = range(9, 15)
MIN_HITS, MAX_HITS, DRAINS, RECOIL, FIXED, STATUS, STAT, STAT2, AMOUNT = range(15, 24)
VOLATILE, SELF_EFFECT, TWO_TURN, KEEPS_DAMAGE, SELF_DESTRUCT, OHKO, ALPHA = range(24, 31)
COLUMNS = 31

LEVEL_DAMAGE = -1  # in FIXED
ALWAYS_HITS = 0  # in ACCURACY, otherwise out of 255

_TWO_TURN = ("dig", "fly", "razorwind", "skullbash", "skyattack", "solarbeam")
# Moves that leave the last damage of the battle standing.
_KEEPS_DAMAGE = [
    "confuseray",
    "conversion",
    "counter",
    "focusenergy",
    "glare",
    "haze",
    "leechseed",
    "lightscreen",
    "mimic",
    "mist",
    "poisongas",
    "poisonpowder",
    "recover",
    "reflect",
    "rest",
    "softboiled",
    "splash",
    "stunspore",
    "substitute",
    "supersonic",
    "teleport",
    "thunderwave",
    "toxic",
    "transform",
]


def _boosts(effect: Effect) -> tuple[int, int, int]:
    """(stat, second stat or −1, amount); (−1, −1, 0) when there are none."""
    stats = [k for k, amount in enumerate(effect.boosts) if amount]
    if not stats:
        return -1, -1, 0
    return stats[0], stats[1] if len(stats) > 1 else -1, effect.boosts[stats[0]]


def _secondary(move: Move, row: np.ndarray) -> None:
    if not move.secondaries:
        return
    (effect,) = move.secondaries
    assert effect.chance is not None
    row[CHANCE] = ceil(effect.chance * 256 / 100)
    if effect.status:
        row[SECONDARY] = SECONDARY_STATUS + STATUS_NUM[effect.status]
    elif effect.volatile_status == "flinch":
        row[SECONDARY] = SECONDARY_FLINCH
    elif effect.volatile_status == "confusion":
        row[SECONDARY] = SECONDARY_CONFUSION
        row[CHANCE] -= 1
    else:
        row[SECONDARY] = SECONDARY_BOOST
        row[SEC_STAT], row[SEC_STAT2], row[SEC_AMOUNT] = _boosts(effect)


def _fill(move: Move, row: np.ndarray) -> None:
    row[TYPE] = TYPE_NUM[move.type]
    row[POWER] = move.power
    row[ACCURACY] = ALWAYS_HITS if move.accuracy is None else move.accuracy * 255 // 100
    row[HIGH_CRIT] = move.crit_ratio > 1
    row[PRIORITY] = move.priority
    row[CATEGORY] = ("physical", "special", "status").index(move.category)
    row[ON_SELF] = move.target == "self"
    row[BASE_PP], row[MAX_PP] = move.pp, move.max_pp
    row[IGNORE_IMMUNITY] = bool(move.ignore_immunity)
    _secondary(move, row)
    row[MIN_HITS], row[MAX_HITS] = move.min_hits, move.max_hits
    row[DRAINS] = move.drain > 0
    row[RECOIL] = round(1 / move.recoil) if move.recoil else 0
    fixed = move.damage
    row[FIXED] = LEVEL_DAMAGE if fixed == "level" else fixed or 0
    row[STATUS] = STATUS_NUM[move.effect.status] if move.effect.status else 0
    row[STAT], row[STAT2], row[AMOUNT] = _boosts(move.effect)
    volatile = move.effect.volatile_status
    row[VOLATILE] = _VOLATILES[volatile] if volatile else NO_VOLATILE
    row[SELF_EFFECT] = _SELF[move.self_effect.volatile_status]
    row[TWO_TURN] = move.id in _TWO_TURN
    row[KEEPS_DAMAGE] = move.id in _KEEPS_DAMAGE
    row[SELF_DESTRUCT] = move.self_destruct is not None
    row[OHKO] = move.ohko is not None


def _move_table() -> np.ndarray:
    table = np.zeros((NUM_MOVE_IDS, COLUMNS), np.int16)
    for name, num in MOVE_NUM.items():
        _fill(DEX.moves[name], table[num])
    ordered = sorted(MOVE_NUM)
    for name, num in MOVE_NUM.items():
        table[num, ALPHA] = ordered.index(name)
    table[NO_MOVE, POWER] = 102
    table[NO_MOVE, CATEGORY] = SPECIAL
    table[NO_MOVE, ACCURACY] = 80  # floor(100 · 81/256 · 255/100)
    table[NO_MOVE, MIN_HITS] = table[NO_MOVE, MAX_HITS] = 1
    table[NO_MOVE, STAT] = table[NO_MOVE, STAT2] = -1
    return table


def _species_table() -> np.ndarray:
    """Columns: two types, base Speed."""
    table = np.zeros((len(SPECIES_IDS), 3), np.int16)
    for num, species in enumerate(SPECIES, start=1):
        for k, name in enumerate(species.types):
            table[num, k] = TYPE_NUM[name]
        table[num, 2] = species.base_stats[5]
    return table


def _type_charts() -> tuple[np.ndarray, np.ndarray]:
    effect = np.zeros((len(TYPE_IDS), len(TYPE_IDS)), np.int8)
    immune = np.zeros_like(effect)
    for (attack, defence), factor in DEX.chart.items():
        if attack not in TYPE_NUM or defence not in TYPE_NUM:
            continue
        pair = TYPE_NUM[attack], TYPE_NUM[defence]
        effect[pair] = 1 if factor > 1 else -1 if 0 < factor < 1 else 0
        immune[pair] = factor == 0
    return effect, immune


MOVE_TABLE = _move_table()
SPECIES_TABLE = _species_table()
EFFECTIVENESS, IMMUNITY = _type_charts()


def _num(name: str) -> int:
    return MOVE_NUM[name]


BIDE, CONVERSION, COUNTER, DIG, DISABLE = map(
    _num, ["bide", "conversion", "counter", "dig", "disable"]
)
DREAM_EATER, FLY, HAZE, JUMP_KICK = map(_num, ["dreameater", "fly", "haze", "jumpkick"])
HIGH_JUMP_KICK, LEECH_SEED, LIGHT_SCREEN = map(_num, ["highjumpkick", "leechseed", "lightscreen"])
METRONOME, MIMIC, MIRROR_MOVE, PAY_DAY = map(_num, ["metronome", "mimic", "mirrormove", "payday"])
PSYWAVE, RAGE, RECOVER, REFLECT, REST = map(_num, ["psywave", "rage", "recover", "reflect", "rest"])
SOFT_BOILED, SPLASH, STRUGGLE = map(_num, ["softboiled", "splash", "struggle"])
SUBSTITUTE, SUPER_FANG, SWIFT, TRANSFORM = map(
    _num, ["substitute", "superfang", "swift", "transform"]
)
NORMAL, FIGHTING, GHOST = TYPE_NUM["normal"], TYPE_NUM["fighting"], TYPE_NUM["ghost"]
GROUND, FLYING, GRASS = TYPE_NUM["ground"], TYPE_NUM["flying"], TYPE_NUM["grass"]
POISON = TYPE_NUM["poison"]
