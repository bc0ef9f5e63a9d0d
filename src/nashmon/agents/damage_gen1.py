"""The damage formula of generation 1: plain functions of numbers, and a kernel over batches."""

from __future__ import annotations

from typing import Any

from numba import njit

LOWEST_ROLL, ROLL_SCALE = 217, 255
STAGES = (25, 28, 33, 40, 50, 66, 100, 150, 200, 250, 300, 350, 400)
_STAT_CAP = 999
_TEAM = 6

# Columns of the kernel's table of moves.
TYPE, POWER, PHYSICAL, FORMULA, FIXED, FEWEST, MOST, SHARP, EXPLODES, IGNORES_TYPES, SURE = range(
    11
)
# Kinds of fixed damage (as in `move_table`).
_LEVEL, _HALF, _PSYWAVE, _OHKO = -1, -2, -3, -4
_BRN = 1
LOW, HIGH, MEAN, ACCURACY, EFFECT = range(5)  # results of the kernel


def staged(stat: int, stage: int) -> int:
    """A stat after stages."""
    return min(max(stat * STAGES[stage + 6] // 100, 1), _STAT_CAP)


def critical_chance(base_speed: int, sharp: bool, focused: bool) -> float:
    """Probability of a critical hit; Focus Energy quarters it by mistake."""
    ratio = base_speed // 2
    ratio = ratio // 2 if focused else min(max(ratio * 2, 1), 255)
    ratio = min(max(ratio * 4, 1), 255) if sharp else ratio // 2
    return ratio / 256


def top_damage(
    level: int,
    power: int,
    attack: int,
    defence: int,
    explodes: bool,
    stab: bool,
    first: float,
    second: float,
) -> int:
    """Damage at the highest roll; `first` and `second` are the factors of the target's types."""
    if attack >= 256 or defence >= 256:
        attack, defence = max(1, (attack // 4) & 255), max(1, (defence // 4) & 255)
    if explodes:
        defence = max(1, defence // 2)
    damage = (level * 2 // 5 + 2) * power * attack // max(defence, 1)
    damage = min(997, damage // 50) + 2
    if stab:
        damage += damage // 2
    return int(int(damage * first) * second)


def lowest(damage: int) -> int:
    """The same hit at the lowest roll."""
    return damage * LOWEST_ROLL // ROLL_SCALE if damage > 1 else damage


def hit_chance(accuracy: float, aim: int, dodge: int) -> float:
    """Probability of hitting; even a certain hit misses once in 256."""
    return min(255, int(accuracy * aim * dodge / 10000 * 255)) / 256


# The kernel's own versions; they live in this file so that a change here compiles all of them anew.
_staged = njit(cache=True)(staged)
_critical_chance = njit(cache=True)(critical_chance)
_top_damage = njit(cache=True)(top_damage)
_lowest = njit(cache=True)(lowest)
_hit_chance = njit(cache=True)(hit_chance)


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _stage(boosts: Any, row: int, place: int, boost: int) -> Any:
    return boosts[row, place // _TEAM, boost] if place % _TEAM == 0 else 0


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _tops(
    fact: Any, row: int, user: int, target: int, mons: Any, actives: Any, factors: Any
) -> Any:
    """Highest damage of one strike without and with a critical hit."""
    stats, level, types, status = mons
    boosts, screens, _ = actives
    physical = fact[PHYSICAL] == 1
    attack_at, defence_at, up, down = (0, 1, 0, 1) if physical else (2, 2, 2, 3)
    kind, power, explodes = fact[TYPE], fact[POWER], fact[EXPLODES] == 1
    stab = types[row, user, 0] == kind or types[row, user, 1] == kind
    raw_attack, raw_defence = stats[row, user, attack_at], stats[row, target, defence_at]
    attack = _staged(raw_attack, _stage(boosts, row, user, up))
    defence = _staged(raw_defence, _stage(boosts, row, target, down))
    if physical and status[row, user] == _BRN:
        attack = max(1, attack // 2)
    if target % _TEAM == 0 and screens[row, target // _TEAM, 0 if physical else 1]:
        defence *= 2
    first, second = factors
    own_level = level[row, user]
    plain = _top_damage(own_level, power, attack, defence, explodes, stab, first, second)
    own_level = (2 * own_level) & 255
    critical = _top_damage(own_level, power, raw_attack, raw_defence, explodes, stab, first, second)
    return plain, critical


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _formula_damage(
    fact: Any, row: int, user: int, target: int, mons: Any, bodies: Any, actives: Any, factors: Any
) -> Any:
    """Lowest, highest and mean damage of a move that uses the formula."""
    plain, critical = _tops(fact, row, user, target, mons, actives, factors)
    focus = user % _TEAM == 0 and actives[2][row, user // _TEAM]
    chance = _critical_chance(bodies[2][row, user], fact[SHARP] == 1, focus)
    mean = (1 - chance) * (_lowest(plain) + plain) / 2
    mean += chance * (_lowest(critical) + critical) / 2
    fewest, most = fact[FEWEST], fact[MOST]
    mean *= 3.0 if most == 5 else (fewest + most) / 2
    return float(_lowest(plain) * fewest), float(plain * most), mean


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _fixed_damage(
    fact: Any, row: int, user: int, target: int, mons: Any, bodies: Any, effect: float
) -> Any:
    """Lowest, highest and mean damage of a move that does not use the formula."""
    stats, level, _, _ = mons
    hp, max_hp, _ = bodies
    kind, damage = fact[FIXED], 0
    if effect == 0 and fact[IGNORES_TYPES] == 0:
        return 0.0, 0.0, 0.0
    if kind == _PSYWAVE:
        top = level[row, user] * 3 // 2
        return 1.0, float(top), (1 + top) / 2
    if kind == _LEVEL:
        damage = level[row, user]
    elif kind == _HALF:
        damage = max(1, max(1, round(hp[row, target] * max_hp[row, target])) // 2)
    elif kind == _OHKO and stats[row, user, 3] >= stats[row, target, 3] and effect > 0:
        damage = max_hp[row, target]
    elif kind > 0:
        damage = kind
    return float(damage), float(damage), float(damage)


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _accuracy(fact: Any, base: float, row: int, user: int, target: int, boosts: Any) -> Any:
    if fact[SURE] == 1:
        return 1.0
    if fact[FIXED] == _OHKO:
        return _hit_chance(base, 100, 100)
    aim = _staged(100, _stage(boosts, row, user, 5))
    dodge = _staged(100, -_stage(boosts, row, target, 6))
    return _hit_chance(base, aim, dodge)


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _strike(
    move: int, row: int, user: int, target: int, tables: Any, mons: Any, bodies: Any, actives: Any
) -> Any:
    facts, accuracy, chart = tables
    fact, types = facts[move], mons[2]
    first = chart[fact[TYPE], types[row, target, 0]]
    second = chart[fact[TYPE], types[row, target, 1]]
    effect = first * second
    low, high, mean = 0.0, 0.0, 0.0
    if fact[FIXED] != 0:
        low, high, mean = _fixed_damage(fact, row, user, target, mons, bodies, effect)
    elif fact[FORMULA] == 1 and effect > 0:
        low, high, mean = _formula_damage(
            fact, row, user, target, mons, bodies, actives, (first, second)
        )
    whole = bodies[1][row, target]
    chance = _accuracy(fact, accuracy[move], row, user, target, actives[0])
    return low / whole, high / whole, mean / whole, chance, effect


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def strikes(
    moves: Any, foe_attacks: bool, tables: Any, mons: Any, bodies: Any, actives: Any, out: Any
) -> None:
    """Damage between the active foe and each own Pokémon, written to out (5, B, 6, 4).

    `moves` (B, 6, 4) are those of each own Pokémon, or of the foe against each of them.  Places are
    0–5 for the own party, 6–11 for the foe's.

    Args:
        tables: facts of moves, their accuracy, the type chart.
        mons: stats (B, 12, 4: atk, def, special, speed), level, types and status.
        bodies: HP fractions, maximum HP and base speed (B, 12).
        actives: stages (B, 2, 7), screens (B, 2, 2), Focus Energy (B, 2).
    """
    for row in range(moves.shape[0]):
        for k in range(_TEAM):
            if bodies[0][row, k] <= 0:
                continue
            user, target = (_TEAM, k) if foe_attacks else (k, _TEAM)
            for j in range(moves.shape[2]):
                move = moves[row, k, j]
                if move > 0:
                    made = _strike(move, row, user, target, tables, mons, bodies, actives)
                    for c in range(5):
                        out[c, row, k, j] = made[c]
