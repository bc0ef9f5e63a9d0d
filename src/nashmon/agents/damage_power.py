"""Base power and type of moves that depend on the position."""

from __future__ import annotations

from collections.abc import Callable

from nashmon.agents.combatant import Arena, Combatant, is_grounded
from nashmon.core.dex import Dex, Move

Rule = Callable[[Dex, Combatant, Combatant, Arena], float]
_USUAL_POWER = 60  # of a move whose power is not modelled

_WEIGHT_STEPS = ((200, 120), (100, 100), (50, 80), (25, 60), (10, 40), (0, 20))
_RATIO_STEPS = ((5, 120), (4, 100), (3, 80), (2, 60), (0, 40))
_FLAIL_STEPS = ((33, 20), (17, 40), (10, 80), (5, 100), (2, 150), (0, 200))


def _by_weight(dex: Dex, attacker: Combatant, defender: Combatant, arena: Arena) -> float:
    weight = dex.species[defender.species].weight_kg
    return next(power for least, power in _WEIGHT_STEPS if weight >= least)


def _by_weight_ratio(dex: Dex, attacker: Combatant, defender: Combatant, arena: Arena) -> float:
    own, other = (dex.species[p.species].weight_kg for p in (attacker, defender))
    return next(power for ratio, power in _RATIO_STEPS if own >= ratio * other)


def _flail(dex: Dex, attacker: Combatant, defender: Combatant, arena: Arena) -> float:
    ratio = max(int(attacker.hp_fraction * 48), 1)
    return next(power for least, power in _FLAIL_STEPS if ratio >= least)


def _own_hp(dex: Dex, attacker: Combatant, defender: Combatant, arena: Arena) -> float:
    return max(1.0, 150 * attacker.hp_fraction)


def _speed(pokemon: Combatant) -> float:
    stage = pokemon.boosts[4]
    factor = (2 + stage) / 2 if stage >= 0 else 2 / (2 - stage)
    return max(1.0, pokemon.stats[4] * factor * (0.5 if pokemon.status == "par" else 1.0))


def _gyro_ball(dex: Dex, attacker: Combatant, defender: Combatant, arena: Arena) -> float:
    return min(150.0, 25 * _speed(defender) // _speed(attacker) + 1)


def _electro_ball(dex: Dex, attacker: Combatant, defender: Combatant, arena: Arena) -> float:
    ratio = int(_speed(attacker) // _speed(defender))
    return (40, 60, 80, 120, 150)[min(ratio, 4)]


def _stored(dex: Dex, attacker: Combatant, defender: Combatant, arena: Arena) -> float:
    return 20 + 20 * sum(max(0, stage) for stage in attacker.boosts)


def _hex(dex: Dex, attacker: Combatant, defender: Combatant, arena: Arena) -> float:
    return dex.moves["hex"].power * (2 if defender.status is not None else 1)


def _rising_voltage(dex: Dex, attacker: Combatant, defender: Combatant, arena: Arena) -> float:
    return 140 if arena.terrain == "electricterrain" and is_grounded(defender) else 70


def _hard_press(dex: Dex, attacker: Combatant, defender: Combatant, arena: Arena) -> float:
    return max(1.0, 100 * defender.hp_fraction)


def _wring_out(dex: Dex, attacker: Combatant, defender: Combatant, arena: Arena) -> float:
    return 1 + 120 * defender.hp_fraction


def _constant(power: float) -> Rule:
    return lambda dex, attacker, defender, arena: power


RULES: dict[str, Rule] = {
    "lowkick": _by_weight,
    "grassknot": _by_weight,
    "heavyslam": _by_weight_ratio,
    "heatcrash": _by_weight_ratio,
    "flail": _flail,
    "reversal": _flail,
    "eruption": _own_hp,
    "waterspout": _own_hp,
    "dragonenergy": _own_hp,
    "gyroball": _gyro_ball,
    "electroball": _electro_ball,
    "storedpower": _stored,
    "powertrip": _stored,
    "hex": _hex,
    "infernalparade": lambda d, a, f, w: 120 if f.status is not None else 60,
    "risingvoltage": _rising_voltage,
    "hardpress": _hard_press,
    "crushgrip": _wring_out,
    "wringout": _wring_out,
    "return": _constant(102),
    "frustration": _constant(102),
    "acrobatics": lambda d, a, f, w: 55 if a.item else 110,
    "hiddenpower": _constant(70),
    "tripleaxel": _constant(40),  # the mean of 20, 40 and 60
    "triplekick": _constant(20),
    "terablast": lambda d, a, f, w: 100 if a.tera_type == "stellar" else 80,
}


def base_power(dex: Dex, move: Move, attacker: Combatant, defender: Combatant, arena: Arena) -> int:
    """The power of a move in a position; moves without a rule have that of the table."""
    rule = RULES.get(move.id)
    if rule is not None:
        if move.id == "lowkick" and dex.gen <= 2:
            return move.power
        return int(rule(dex, attacker, defender, arena))
    if move.id == "weatherball" and arena.weather is not None:
        return 2 * move.power
    return move.power or (_USUAL_POWER if move.variable_power else 0)


_WEATHER_BALL = {
    "sunnyday": "fire", "desolateland": "fire", "raindance": "water", "primordialsea": "water",
    "sandstorm": "rock", "hail": "ice", "snowscape": "ice",
}  # fmt: skip
_FORM_TYPES = {
    ("ivycudgel", "ogerponwellspring"): "water",
    ("ivycudgel", "ogerponhearthflame"): "fire",
    ("ivycudgel", "ogerponcornerstone"): "rock",
    ("ragingbull", "taurospaldeacombat"): "fighting",
    ("ragingbull", "taurospaldeablaze"): "fire",
    ("ragingbull", "taurospaldeaaqua"): "water",
    ("aurawheel", "morpekohangry"): "dark",
}


def move_type(dex: Dex, move: Move, attacker: Combatant, arena: Arena) -> str:
    """The type a move has in the hands of a Pokémon."""
    if move.id == "struggle" and dex.gen >= 2:
        return ""
    if move.id == "weatherball" and arena.weather is not None:
        return _WEATHER_BALL.get(arena.weather, move.type)
    if move.id in ("terablast", "terastarstorm") and attacker.tera_type is not None:
        return attacker.tera_type
    if move.id == "revelationdance":
        return attacker.types[0] if attacker.types else ""
    if move.id in ("judgment", "multiattack", "technoblast"):
        item = dex.items.get(attacker.item)
        held = item and (item.plate_type or item.memory_type or item.drive_type)
        return held or move.type
    forme = attacker.species.removesuffix("tera")
    return _FORM_TYPES.get((move.id, forme), move.type)
