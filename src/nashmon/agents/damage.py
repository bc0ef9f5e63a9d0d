"""How much damage a move does, in hit points, in every generation.

`strike` is the whole truth about one move between two Pokémon; fractions of HP are
`damage / defender.max_hp`.  The formula follows Showdown's order of roundings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from nashmon.agents import damage_gen1 as gen1
from nashmon.agents.combatant import Arena, Combatant
from nashmon.agents.damage_modifiers import (
    ITEM_TYPES,
    Attack,
    attack_factors,
    broken,
    defence_factors,
    final_factors,
    is_immune,
    orb_factor,
    power_factors,
    same_type_factor,
    screen_factor,
    skin,
    weather_factor,
)
from nashmon.agents.damage_power import base_power, move_type
from nashmon.core.dex import Dex, Move

_PLACES = {"atk": 0, "def": 1, "spa": 2, "spd": 3, "spe": 4}
_CRIT_CHANCE = {
    2: (17 / 256, 32 / 256, 64 / 256, 85 / 256, 128 / 256),
    3: (1 / 16, 1 / 8, 1 / 4, 1 / 3, 1 / 2),
    6: (1 / 16, 1 / 8, 1 / 2, 1.0, 1.0),
    7: (1 / 24, 1 / 8, 1 / 2, 1.0, 1.0),
}
# Mean number of strikes of a 2–5 strike move.
_MEAN_HITS_OLD, _MEAN_HITS_NEW = 3.0, 3.1
_ALWAYS_CRIT_BLOCKERS = ("battlearmor", "shellarmor")
_ROLLS = (85, 100)
_NO_WEATHER = ("airlock", "cloudnine")
_HALF_HP = ("superfang", "naturesmadness", "ruination")


@dataclass(frozen=True, slots=True)
class Strike:
    """What one use of a move does to its target when it hits, in HP."""

    low: int  # without critical hit, lowest rolls, fewest strikes
    high: int  # without critical hit, highest rolls, most strikes
    mean: float  # over rolls, strikes and critical hits
    crit_high: int  # the most a critical hit can do
    effect: float  # type effectiveness; 0 when the target is immune
    crit_chance: float = 0.0


NOTHING = Strike(0, 0, 0.0, 0, 0.0)


def strike(dex: Dex, attacker: Combatant, defender: Combatant, move: Move, arena: Arena) -> Strike:
    """The damage of a move; a status move does nothing."""
    if move.category == "status":
        return NOTHING
    if broken(attacker, defender, move):
        defender = replace(defender, ability="")
    if not {attacker.ability, defender.ability}.isdisjoint(_NO_WEATHER):
        arena = replace(arena, weather=None)
    kind = move_type(dex, move, attacker, arena)
    skin_kind, skin_factor = skin(attacker, move, dex.gen)
    if skin_factor != 1.0 or skin_kind != move.type:
        kind = skin_kind
    effect = _effectiveness(dex, move, kind, attacker, defender)
    power = base_power(dex, move, attacker, defender, arena)
    attack = Attack(dex, attacker, defender, move, kind, power, arena, effect)
    if dex.gen >= 3 and is_immune(attack):
        return NOTHING
    fixed = _fixed_damage(dex, attacker, defender, move, effect)
    if fixed is not None:
        return fixed
    if effect == 0 or power == 0:
        return NOTHING
    chance = critical_chance(dex, attacker, defender, move)
    plain, critical = _hit(attack, skin_factor, False), _hit(attack, skin_factor, True)
    return _over_strikes(dex, attack, plain, critical, chance)


def _over_strikes(
    dex: Dex, a: Attack, plain: tuple[int, int], critical: tuple[int, int], chance: float
) -> Strike:
    move = a.move
    fewest, most = move.min_hits, move.max_hits
    mean_hits = (fewest + most) / 2
    if (fewest, most) == (2, 5):
        mean_hits = _MEAN_HITS_OLD if dex.gen <= 4 else _MEAN_HITS_NEW
        if a.attacker.ability == "skilllink":
            fewest, mean_hits = 5, 5.0
        elif a.attacker.item == "loadeddice":
            fewest, mean_hits = 4, 4.5
    elif move.multi_accuracy:
        fewest = 1
    mean = (1 - chance) * sum(plain) / 2 + chance * sum(critical) / 2
    if move.will_crit and chance == 1.0:
        plain = critical
    return Strike(
        low=plain[0] * fewest,
        high=plain[1] * most,
        mean=mean * mean_hits,
        crit_high=critical[1] * most,
        effect=a.effect,
        crit_chance=chance,
    )


def _effectiveness(
    dex: Dex, move: Move, kind: str, attacker: Combatant, defender: Combatant
) -> float:
    if kind == "stellar":
        return 2.0 if defender.tera_type is not None else 1.0
    types = defender.types
    total = dex.type_effectiveness(kind, types)
    if move.id == "flyingpress":
        total *= dex.type_effectiveness("flying", types)
    if move.id == "freezedry" and "water" in types:
        total *= 4.0 if dex.chart["ice", "water"] == 0.5 else 2.0
    if total == 0 and _ignores_immunity(dex, move, kind, attacker, defender):
        total = dex.type_effectiveness(kind, [t for t in types if dex.chart[kind, t] != 0])
    return total


def _ignores_immunity(
    dex: Dex, move: Move, kind: str, attacker: Combatant, defender: Combatant
) -> bool:
    if kind in ("normal", "fighting") and (
        attacker.ability in ("scrappy", "mindseye") or defender.has("foresight")
    ):
        return True
    if kind == "ground" and (move.id == "thousandarrows" or defender.has("smackdown")):
        return True
    return kind in move.ignore_immunity or "all" in move.ignore_immunity


def _fixed_damage(
    dex: Dex, attacker: Combatant, defender: Combatant, move: Move, effect: float
) -> Strike | None:
    """Moves that do not use the formula; None for those that do."""
    current = max(1, round(defender.hp_fraction * defender.max_hp))
    if move.ohko is not None:
        fails = attacker.level < defender.level or defender.ability == "sturdy"
        if dex.gen == 1:
            fails = attacker.stats[4] < defender.stats[4]
        damage = 0 if fails or effect == 0 else defender.max_hp
    elif move.damage is not None:
        damage = attacker.level if move.damage == "level" else int(move.damage)
    elif move.id in _HALF_HP:
        damage = max(1, current // 2)
    elif move.id == "finalgambit":
        damage = round(attacker.hp_fraction * attacker.max_hp)
    elif move.id == "endeavor":
        damage = max(0, current - round(attacker.hp_fraction * attacker.max_hp))
    elif move.id == "psywave":
        top = attacker.level * 3 // 2
        low = 1 if dex.gen <= 2 else attacker.level // 2
        return Strike(low, top, (low + top) / 2, top, effect) if effect else NOTHING
    elif move.variable_damage:
        damage = 0  # Counter and its kin: known only after the foe's move
    else:
        return None
    immune = effect == 0 and not (dex.gen == 1 and "all" in move.ignore_immunity)
    return NOTHING if immune else Strike(damage, damage, damage, damage, effect or 1.0)


def critical_chance(dex: Dex, attacker: Combatant, defender: Combatant, move: Move) -> float:
    """Probability of a critical hit."""
    if move.never_crits:
        return 0.0
    if dex.gen == 1:
        speed = dex.species[attacker.species].base_stats[5]
        high = move.crit_ratio > 1
        return gen1.critical_chance(speed, high, attacker.has("focusenergy"))
    if defender.ability in _ALWAYS_CRIT_BLOCKERS:
        return 0.0
    if move.will_crit:
        return 1.0
    stage = move.crit_ratio - 1 + (2 if attacker.has("focusenergy") else 0)
    stage += (attacker.ability == "superluck") + (attacker.item in ("scopelens", "razorclaw"))
    chances = _CRIT_CHANCE[max(gen for gen in _CRIT_CHANCE if gen <= dex.gen)]
    return chances[min(stage, 4)]


def _hit(a: Attack, skin_factor: float, critical: bool) -> tuple[int, int]:
    """Damage of one strike at the lowest and the highest roll."""
    if a.dex.gen == 1:
        return _gen1_hit(a, critical)
    attack, defence = _stats(a, critical)
    if a.dex.gen == 2:
        return _gen2_hit(a, attack, defence, critical)
    factors = power_factors(a)
    if skin_factor != 1.0:
        factors.append(skin_factor)
    power = max(1, _apply(a.power, factors))
    if a.attacker.tera_type is not None and _lifted_to_60(a, power):
        power = 60
    base = (2 * a.attacker.level // 5 + 2) * power * attack // defence // 50
    if a.dex.gen <= 4:
        return _gen34_hit(a, base, critical)
    return _modern_hit(a, base, critical)


def _lifted_to_60(a: Attack, power: int) -> bool:
    fits = a.type in a.attacker.types and a.move.priority <= 0 and a.move.max_hits == 1
    return fits and power < 60 and not a.move.variable_power


def _gen1_hit(a: Attack, critical: bool) -> tuple[int, int]:
    attack_at, defence_at = (0, 1) if a.physical else (2, 3)
    attack, defence = a.attacker.stats[attack_at], a.defender.stats[defence_at]
    level = a.attacker.level
    if critical:
        level = 2 * level & 255
    else:
        attack = gen1.staged(attack, a.attacker.boosts[attack_at])
        if a.physical and a.attacker.status == "brn":
            attack = max(1, attack // 2)
        defence = gen1.staged(defence, a.defender.boosts[defence_at])
        if a.arena.reflect if a.physical else a.arena.light_screen:
            defence *= 2
    types = (*a.defender.types, "", "")[:2]
    first, second = (a.dex.chart[a.type, kind] for kind in types)
    stab = a.type in a.attacker.types
    explodes = a.move.self_destruct is not None
    top = gen1.top_damage(level, a.power, attack, defence, explodes, stab, first, second)
    return gen1.lowest(top), top


def _stage(stat: int, stage: int, gen: int) -> int:
    if gen == 2:
        return gen1.staged(stat, stage)
    return stat * (2 + stage) // 2 if stage >= 0 else stat * 2 // (2 - stage)


def _stats(a: Attack, critical: bool) -> tuple[int, int]:
    """The attacking and the defending stat after stages and everything that changes them."""
    gen, move = a.dex.gen, a.move
    source = a.defender if move.offensive_pokemon == "target" else a.attacker
    attack_at = _PLACES[move.offensive_stat or ("atk" if a.physical else "spa")]
    defence_at = _PLACES[move.defensive_stat or ("def" if a.physical else "spd")]
    up, down = source.boosts[attack_at], a.defender.boosts[defence_at]
    if a.defender.ability == "unaware":
        up = 0
    if a.attacker.ability == "unaware" or move.ignore_defensive:
        down = 0
    if critical:
        if gen == 2:
            up, down = (0, 0) if up <= down else (up, down)
        else:
            up, down = max(up, 0), min(down, 0)
    attack = _stage(source.stats[attack_at], up, gen)
    defence = _stage(a.defender.stats[defence_at], down, gen)
    attack = _apply(attack, attack_factors(a))
    defence = _apply(defence, defence_factors(a, defence_at == 1))
    if gen <= 4 and move.self_destruct is not None and defence_at == 1 and gen >= 3:
        defence = max(1, defence // 2)
    return max(1, attack), max(1, defence)


def _apply(value: int, factors: list[float]) -> int:
    """Showdown's chain of modifiers: multiplied in 4096ths, applied and rounded once."""
    if not factors:
        return value
    total = 4096
    for factor in factors:
        total = (total * int(factor * 4096 + 0.5) + 2048) >> 12
    return (value * total + 2047) // 4096


def _gen2_hit(a: Attack, attack: int, defence: int, critical: bool) -> tuple[int, int]:
    if a.physical and a.attacker.status == "brn" and not critical:
        attack = max(1, attack // 2)
    if not critical and (a.arena.reflect if a.physical else a.arena.light_screen):
        defence *= 2
    if attack >= 256 or defence >= 256:
        attack, defence = max(1, attack // 4 & 255), max(1, defence // 4 & 255)
    if a.move.self_destruct is not None and a.physical:
        defence = max(1, defence // 2)
    damage = (2 * a.attacker.level // 5 + 2) * a.power * attack // defence // 50
    damage *= 2 if critical else 1
    if ITEM_TYPES.get(a.attacker.item) == a.type:
        damage = damage * 11 // 10
    damage = min(max(damage, 1), 997) + 2
    damage = int(damage * weather_factor(a))
    damage += damage // 2 if a.type in a.attacker.types else 0
    damage = int(damage * a.effect)
    return (damage * 217 // 255, damage) if damage > 1 else (1, 1)


def _gen34_hit(a: Attack, base: int, critical: bool) -> tuple[int, int]:
    gen = a.dex.gen
    if a.attacker.status == "brn" and a.physical and a.attacker.ability != "guts":
        base = _apply(base, [0.5])
    base = _apply(base, [screen_factor(a, critical)])
    if a.attacker.ability == "flashfire" and a.attacker.has("flashfire") and a.type == "fire":
        base = _apply(base, [1.5])
    if a.arena.spread:
        base = _apply(base, [0.75 if gen == 4 else 0.5])
    base = _apply(base, [weather_factor(a)])
    if gen == 3 and a.physical:
        base = max(base, 1)
    base += 2
    if critical:
        base *= 3 if a.attacker.ability == "sniper" else 2
    base = _apply(base, [orb_factor(a)])
    if gen == 4:
        return _rolls(a, base, final_factors(a))
    base = int(_apply(base, [same_type_factor(a)]) * a.effect)
    return max(1, base * 85 // 100), max(1, base)


def _rolls(a: Attack, base: int, late: list[float]) -> tuple[int, int]:
    """Lowest and highest roll, then same-type bonus, types and the rest."""
    low, high = (
        max(1, _apply(int(_apply(base * roll // 100, [same_type_factor(a)]) * a.effect), late))
        for roll in _ROLLS
    )
    return low, high


def _modern_hit(a: Attack, base: int, critical: bool) -> tuple[int, int]:
    base += 2
    if a.arena.spread:
        base = _apply(base, [0.75])
    base = _apply(base, [weather_factor(a)])
    if critical:
        base = base * 3 // 2 if a.dex.gen >= 6 else base * 2
        if a.attacker.ability == "sniper":
            base = base * 3 // 2
    late = [screen_factor(a, critical), *final_factors(a), orb_factor(a)]
    burnt = a.attacker.status == "brn" and a.physical and a.attacker.ability != "guts"
    if burnt and not (a.dex.gen >= 6 and a.move.id == "facade"):
        late = [0.5, *late]
    return _rolls(a, base, late)


def hit_chance(
    dex: Dex, attacker: Combatant, defender: Combatant, move: Move, arena: Arena
) -> float:
    """Probability that the move hits a target that does not hide."""
    if move.accuracy is None or "noguard" in (attacker.ability, defender.ability):
        return 1.0
    accuracy = move.accuracy / 100
    rain = arena.weather in ("raindance", "primordialsea")
    if move.id in ("thunder", "hurricane", "bleakwindstorm", "wildboltstorm", "sandsearstorm"):
        if rain:
            return 1.0
        if arena.weather == "sunnyday" and move.id in ("thunder", "hurricane"):
            accuracy = 0.5
    if move.id == "blizzard" and arena.weather in ("hail", "snowscape") and dex.gen >= 4:
        return 1.0
    if move.ohko is None:
        accuracy *= _accuracy_stages(dex, attacker.boosts[5], defender.boosts[6])
    if attacker.ability == "compoundeyes":
        accuracy *= 1.3
    if attacker.ability == "hustle" and move.category == "physical":
        accuracy *= 0.8
    if dex.gen <= 2:
        threshold = min(255, int(accuracy * 255))
        accuracy = 1.0 if threshold == 255 and dex.gen == 2 else threshold / 256
    return min(1.0, accuracy)


def _accuracy_stages(dex: Dex, accuracy: int, evasion: int) -> float:
    if dex.gen == 1:
        return gen1.staged(100, accuracy) * gen1.staged(100, -evasion) / 10000
    stage = max(-6, min(6, accuracy - evasion))
    return (3 + stage) / 3 if stage >= 0 else 3 / (3 - stage)
