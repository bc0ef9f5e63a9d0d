"""The damage formula of generation 1, for single numbers and for arrays alike."""

from __future__ import annotations

from typing import Any

import numpy as np

LOWEST_ROLL, HIGHEST_ROLL, ROLL_SCALE = 217, 255, 255
MEAN_ROLL = (LOWEST_ROLL + HIGHEST_ROLL) / 2 / ROLL_SCALE
_STAGES = np.array([25, 28, 33, 40, 50, 66, 100, 150, 200, 250, 300, 350, 400])
_STAT_CAP = 999


def staged(stat: Any, stage: Any) -> Any:
    """A stat after stages, as generation 1 counts them."""
    return np.clip(stat * _STAGES[stage + 6] // 100, 1, _STAT_CAP)


def critical_chance(base_speed: Any, high_ratio: Any, focused: Any) -> Any:
    """Probability of a critical hit; Focus Energy quarters it by mistake."""
    half = np.where(focused, base_speed // 4, np.clip(base_speed // 2 * 2, 1, 255))
    return np.where(high_ratio, np.clip(half * 4, 1, 255), half // 2) / 256


def top_damage(
    level: Any, power: Any, attack: Any, defence: Any, explodes: Any, stab: Any, factors: Any
) -> Any:
    """Damage at the highest roll; `factors` are the type factors against both types."""
    big = (attack >= 256) | (defence >= 256)
    attack = np.where(big, np.maximum(1, attack // 4 & 255), attack)
    defence = np.where(big, np.maximum(1, defence // 4 & 255), defence)
    defence = np.where(explodes, np.maximum(1, defence // 2), defence)
    damage = (level * 2 // 5 + 2) * power * attack // np.maximum(defence, 1)
    damage = np.minimum(997, damage // 50) + 2
    damage = np.where(stab, damage + damage // 2, damage)
    for factor in factors:
        damage = np.floor(damage * factor).astype(np.int64)
    return damage


def lowest(damage: Any) -> Any:
    """The same hit at the lowest roll."""
    return np.where(damage > 1, damage * LOWEST_ROLL // ROLL_SCALE, damage)
