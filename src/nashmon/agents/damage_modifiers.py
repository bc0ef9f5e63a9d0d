"""What abilities and items do to damage: one small rule each, grouped by where it applies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nashmon.agents.combatant import Arena, Combatant, is_grounded
from nashmon.core.dex import Dex, Move
from nashmon.teams.builds import TYPE_ITEMS

_MOLD_BREAKERS = frozenset({"moldbreaker", "teravolt", "turboblaze"})
_SUN, _RAIN = ("sunnyday", "desolateland"), ("raindance", "primordialsea")
_PINCH = {"blaze": "fire", "torrent": "water", "overgrow": "grass", "swarm": "bug"}
_SKINS = {
    "aerilate": "flying",
    "pixilate": "fairy",
    "refrigerate": "ice",
    "galvanize": "electric",
}
_IMMUNE_ABILITIES = {
    "levitate": "ground",
    "eartheater": "ground",
    "flashfire": "fire",
    "wellbakedbody": "fire",
    "waterabsorb": "water",
    "dryskin": "water",
    "voltabsorb": "electric",
    "motordrive": "electric",
    "sapsipper": "grass",
}
_RESIST_BERRIES = {
    "occaberry": "fire", "passhoberry": "water", "wacanberry": "electric", "rindoberry": "grass",
    "yacheberry": "ice", "chopleberry": "fighting", "kebiaberry": "poison", "shucaberry": "ground",
    "cobaberry": "flying", "payapaberry": "psychic", "tangaberry": "bug", "chartiberry": "rock",
    "kasibberry": "ghost", "habanberry": "dragon", "colburberry": "dark", "babiriberry": "steel",
    "roseliberry": "fairy",
}  # fmt: skip
ITEM_TYPES = {item: kind for kind, item in TYPE_ITEMS.items()}
ITEM_TYPES |= {"metalcoat": "steel", "dragonfang": "dragon", "spelltag": "ghost"}
ITEM_TYPES |= {"seaincense": "water", "waveincense": "water", "roseincense": "grass"}
ITEM_TYPES |= {"rockincense": "rock", "oddincense": "psychic", "fairyfeather": "fairy"}
_ORBS = {
    "adamantorb": ("dialga", ("steel", "dragon")),
    "lustrousorb": ("palkia", ("water", "dragon")),
    "griseousorb": ("giratinaorigin", ("ghost", "dragon")),
}


@dataclass(frozen=True, slots=True)
class Attack:
    """One move on its way from attacker to defender."""

    dex: Dex
    attacker: Combatant
    defender: Combatant  # its ability is "" when the attacker's breaks it
    move: Move
    type: str
    power: int
    arena: Arena
    effect: float  # type effectiveness

    @property
    def physical(self) -> bool:
        """Physical, by the generation's rule."""
        return self.move.category == "physical"


def broken(attacker: Combatant, defender: Combatant, move: Move) -> bool:
    """Whether the defender's ability does not count."""
    return attacker.ability in _MOLD_BREAKERS or move.ignore_ability


def skin(attacker: Combatant, move: Move, gen: int) -> tuple[str, float]:
    """The move's type and power factor after abilities that change types."""
    if move.category == "status" or move.id in ("struggle", "weatherball", "terablast"):
        return move.type, 1.0
    if attacker.ability in _SKINS and move.type == "normal":
        return _SKINS[attacker.ability], 1.3 if gen == 6 else 1.2
    if attacker.ability == "normalize":
        return "normal", 1.2 if gen >= 7 else 1.0
    if attacker.ability == "liquidvoice" and "sound" in move.flags:
        return "water", 1.0
    return move.type, 1.0


def is_immune(a: Attack) -> bool:
    """Whether an ability, item or weather takes the whole hit."""
    ability, gen = a.defender.ability, a.dex.gen
    if _IMMUNE_ABILITIES.get(ability) == a.type and a.move.id != "thousandarrows":
        return True
    if gen >= 5 and (ability, a.type) in (("stormdrain", "water"), ("lightningrod", "electric")):
        return True
    if ability == "wonderguard" and a.effect <= 1 and a.type:
        return True
    if (ability == "soundproof" and "sound" in a.move.flags) or (
        ability == "bulletproof" and "bullet" in a.move.flags
    ):
        return True
    if a.type == "ground" and not is_grounded(a.defender) and "flying" not in a.defender.types:
        return True
    weather = a.arena.weather
    return (weather == "desolateland" and a.type == "water") or (
        weather == "primordialsea" and a.type == "fire"
    )


def power_factors(a: Attack) -> list[float]:
    """Factors on the base power."""
    factors = [rule(a) for rule in _POWER_RULES]
    return [factor for factor in factors if factor != 1.0]


def _power_ability(a: Attack) -> float:
    flags, ability, move = a.move.flags, a.attacker.ability, a.move
    holds = {
        "technician": (a.power <= 60, 1.5),
        "toughclaws": ("contact" in flags, 1.3),
        "sheerforce": (bool(move.secondaries) or move.sheer_force, 1.3),
        "ironfist": ("punch" in flags, 1.2),
        "strongjaw": ("bite" in flags, 1.5),
        "megalauncher": ("pulse" in flags, 1.5),
        "sharpness": ("slicing" in flags, 1.5),
        "reckless": (move.recoil > 0 or move.crash_damage, 1.2),
        "punkrock": ("sound" in flags, 1.3),
        "steelyspirit": (a.type == "steel", 1.5),
        "flareboost": (a.attacker.status == "brn" and not a.physical, 1.5),
        "toxicboost": (a.attacker.status in ("psn", "tox") and a.physical, 1.5),
    }
    applies, factor = holds.get(ability, (False, 1.0))
    return factor if applies else 1.0


def _power_item(a: Attack) -> float:
    item, gen = a.attacker.item, a.dex.gen
    row = a.dex.items.get(item)
    if row is None:
        return 1.0
    if row.is_gem and item == f"{a.type}gem":
        return 1.5 if gen == 5 else 1.3
    if ITEM_TYPES.get(item) == a.type and gen >= 4:
        return 1.2
    if row.plate_type == a.type and gen >= 4:
        return 1.2
    if item == ("muscleband" if a.physical else "wiseglasses"):
        return 4505 / 4096
    owner, kinds = _ORBS.get(item, ("", ()))
    return 1.2 if a.attacker.species == owner and a.type in kinds else 1.0


def _power_rule_of_move(a: Attack) -> float:
    move, gen = a.move.id, a.dex.gen
    if move == "facade" and a.attacker.status in ("brn", "par", "psn", "tox"):
        return 2.0
    if move == "knockoff" and gen >= 6 and a.defender.item:
        return 1.5
    if move == "brine" and a.defender.hp_fraction <= 0.5:
        return 2.0
    if move == "venoshock" and a.defender.status in ("psn", "tox"):
        return 2.0
    weak_sun = a.arena.weather is not None and a.arena.weather not in _SUN
    return 0.5 if move in ("solarbeam", "solarblade") and weak_sun and gen >= 3 else 1.0


def _power_terrain(a: Attack) -> float:
    terrain, gen = a.arena.terrain, a.dex.gen
    boosted = {"electricterrain": "electric", "grassyterrain": "grass", "psychicterrain": "psychic"}
    if terrain is None:
        return 1.0
    if boosted.get(terrain) == a.type and is_grounded(a.attacker):
        return 1.3 if gen >= 8 else 1.5
    if is_grounded(a.defender):
        if terrain == "mistyterrain" and a.type == "dragon":
            return 0.5
        if terrain == "grassyterrain" and a.move.id in ("earthquake", "bulldoze", "magnitude"):
            return 0.5
    return 1.0


_POWER_RULES: tuple[Callable[[Attack], float], ...] = (
    _power_ability,
    _power_item,
    _power_rule_of_move,
    _power_terrain,
)


def attack_factors(a: Attack) -> list[float]:
    """Factors on the attacking stat."""
    factors = [_attack_ability(a), _attack_item(a), _attack_seen_by_defender(a)]
    return [factor for factor in factors if factor != 1.0]


def _attack_ability(a: Attack) -> float:
    ability, user, gen = a.attacker.ability, a.attacker, a.dex.gen
    if _PINCH.get(ability) == a.type and user.hp_fraction <= 1 / 3:
        return 1.5
    sunny = a.arena.weather in _SUN
    holds = {
        "hugepower": (a.physical, 2.0),
        "purepower": (a.physical, 2.0),
        "hustle": (a.physical, 1.5),
        "gorillatactics": (a.physical, 1.5),
        "guts": (a.physical and user.status is not None, 1.5),
        "solarpower": (sunny and not a.physical, 1.5),
        "orichalcumpulse": (sunny and a.physical, 5461 / 4096),
        "hadronengine": (a.arena.terrain == "electricterrain" and not a.physical, 5461 / 4096),
        "waterbubble": (a.type == "water", 2.0),
        "steelworker": (a.type == "steel", 1.5),
        "rockypayload": (a.type == "rock", 1.5),
        "dragonsmaw": (a.type == "dragon", 1.5),
        "transistor": (a.type == "electric", 1.5 if gen == 8 else 5325 / 4096),
        "defeatist": (user.hp_fraction <= 0.5, 0.5),
        "slowstart": (a.physical and user.has("slowstart"), 0.5),
        "flashfire": (a.type == "fire" and user.has("flashfire"), 1.5),
    }
    applies, factor = holds.get(ability, (False, 1.0))
    if ability in ("protosynthesis", "quarkdrive"):
        stat = "atk" if a.physical else "spa"
        return 5325 / 4096 if user.has(f"{ability}{stat}") else 1.0
    if ability == "flashfire" and gen <= 4:
        return 1.0  # a factor on the damage there
    return factor if applies else 1.0


def _attack_item(a: Attack) -> float:
    item, species = a.attacker.item, a.attacker.species
    row = a.dex.items.get(item)
    if item == ("choiceband" if a.physical else "choicespecs"):
        return 1.5
    if item == "thickclub" and species.startswith(("cubone", "marowak")) and a.physical:
        return 2.0
    if item == "lightball" and species.startswith("pikachu"):
        return 2.0 if a.dex.gen >= 4 or not a.physical else 1.0
    if item == "deepseatooth" and species == "clamperl" and not a.physical:
        return 2.0
    if a.dex.gen == 3 and ITEM_TYPES.get(item) == a.type and row is not None:
        return 1.05 if item == "seaincense" else 1.1
    return 1.0


def _attack_seen_by_defender(a: Attack) -> float:
    ability = a.defender.ability
    if ability == "thickfat" and a.type in ("fire", "ice"):
        return 0.5
    if ability == "heatproof" and a.type == "fire" and a.dex.gen >= 9:
        return 0.5
    if ability == "waterbubble" and a.type == "fire":
        return 0.5
    if ability == "purifyingsalt" and a.type == "ghost":
        return 0.5
    ruin = "tabletsofruin" if a.physical else "vesselofruin"
    return 0.75 if ability == ruin and a.attacker.ability != ruin else 1.0


def defence_factors(a: Attack, physical: bool) -> list[float]:
    """Factors on the defending stat (`physical`: it is Defence)."""
    factors = [_defence_ability(a, physical), _defence_item(a, physical), _defence_field(a)]
    ruin = "swordofruin" if physical else "beadsofruin"
    if a.attacker.ability == ruin and a.defender.ability != ruin:
        factors.append(0.75)
    return [factor for factor in factors if factor != 1.0]


def _defence_ability(a: Attack, physical: bool) -> float:
    ability, who = a.defender.ability, a.defender
    if ability in ("protosynthesis", "quarkdrive"):
        return 5325 / 4096 if who.has(f"{ability}{'def' if physical else 'spd'}") else 1.0
    holds = {
        "marvelscale": (physical and who.status is not None, 1.5),
        "furcoat": (physical, 2.0),
        "grasspelt": (physical and a.arena.terrain == "grassyterrain", 1.5),
        "flowergift": (not physical and a.arena.weather in _SUN, 1.5),
    }
    applies, factor = holds.get(ability, (False, 1.0))
    return factor if applies else 1.0


def _defence_item(a: Attack, physical: bool) -> float:
    item, species = a.defender.item, a.defender.species
    if item == "eviolite" and a.dex.species[species].nfe:
        return 1.5
    if item == "assaultvest" and not physical:
        return 1.5
    if item == "metalpowder" and species == "ditto":
        return 2.0 if physical or a.dex.gen == 2 else 1.0
    return 2.0 if item == "deepseascale" and species == "clamperl" and not physical else 1.0


def _defence_field(a: Attack) -> float:
    gen, weather = a.dex.gen, a.arena.weather
    stat = a.move.defensive_stat or ("def" if a.physical else "spd")
    if weather == "sandstorm" and gen >= 4 and stat == "spd" and "rock" in a.defender.types:
        return 1.5
    snowy = weather == "snowscape" and stat == "def" and "ice" in a.defender.types
    return 1.5 if snowy else 1.0


def final_factors(a: Attack) -> list[float]:
    """Factors on the damage after types, Life Orb and screens aside."""
    factors = [_final_defender(a), _final_attacker(a), _final_item(a)]
    return [factor for factor in factors if factor != 1.0]


def screen_factor(a: Attack, critical: bool) -> float:
    """What Reflect, Light Screen or Aurora Veil leave of the damage."""
    if (
        critical
        or a.attacker.ability == "infiltrator"
        or a.move.id in ("brickbreak", "psychicfangs")
    ):
        return 1.0
    up = a.arena.reflect if a.physical else a.arena.light_screen
    if not up:
        return 1.0
    if a.arena.doubles:
        return 2732 / 4096 if a.dex.gen >= 5 else 2 / 3
    return 0.5


def _final_defender(a: Attack) -> float:
    ability, whole = a.defender.ability, a.defender.hp_fraction >= 1
    strong = a.effect > 1
    contact = "contact" in a.move.flags and a.attacker.ability != "longreach"
    holds = {
        "filter": (strong, 0.75),
        "solidrock": (strong, 0.75),
        "prismarmor": (strong, 0.75),
        "multiscale": (whole, 0.5),
        "shadowshield": (whole, 0.5),
        "icescales": (not a.physical, 0.5),
        "punkrock": ("sound" in a.move.flags, 0.5),
        "heatproof": (a.type == "fire" and 4 <= a.dex.gen <= 8, 0.5),
        "dryskin": (a.type == "fire", 1.25),
    }
    if ability == "fluffy":
        return (0.5 if contact else 1.0) * (2.0 if a.type == "fire" else 1.0)
    applies, factor = holds.get(ability, (False, 1.0))
    return factor if applies else 1.0


def _final_attacker(a: Attack) -> float:
    if a.attacker.ability == "tintedlens" and a.effect < 1:
        return 2.0
    return 1.25 if a.attacker.ability == "neuroforce" and a.effect > 1 else 1.0


def _final_item(a: Attack) -> float:
    factor = 4915 / 4096 if a.attacker.item == "expertbelt" and a.effect > 1 else 1.0
    if _RESIST_BERRIES.get(a.defender.item) == a.type and a.effect > 1:
        factor *= 0.5
    if a.defender.item == "chilanberry" and a.type == "normal":
        factor *= 0.5
    return factor


def orb_factor(a: Attack) -> float:
    """Life Orb."""
    if a.attacker.item != "lifeorb":
        return 1.0
    return 5324 / 4096 if a.dex.gen >= 5 else 1.3


def weather_factor(a: Attack) -> float:
    """What sun and rain do to Fire and Water."""
    weather = a.arena.weather
    if weather in _SUN:
        if a.move.id == "hydrosteam":
            return 1.5
        return {"fire": 1.5, "water": 0.5}.get(a.type, 1.0)
    if weather in _RAIN:
        return {"water": 1.5, "fire": 0.5}.get(a.type, 1.0)
    return 1.0


def same_type_factor(a: Attack) -> float:
    """The bonus for a move of one's own type."""
    user = a.attacker
    if not a.type:
        return 1.0
    adaptable = user.ability == "adaptability"
    if user.tera_type == "stellar":
        return 2.0 if a.type in user.own_types else 4915 / 4096
    if user.tera_type is not None:
        if a.type == user.tera_type:
            if a.type in user.own_types:
                return 2.25 if adaptable else 2.0
            return 2.0 if adaptable else 1.5
        return 1.5 if a.type in user.own_types else 1.0
    if a.type in user.types:
        return 2.0 if adaptable else 1.5
    return 1.0
