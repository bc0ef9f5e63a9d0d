"""From a role and four moves to a whole set: item, EVs and nature that fit together.

The simulator's set data names a role, a pool of moves, abilities and Tera types; the rest is
decided here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nashmon.core.dex import Dex, Move, Species
from nashmon.core.state import STATS
from nashmon.teams.team import Spread

Rng = np.random.Generator

BULKY_WORDS = ("Bulky", "Support", "Staller", "AV Pivot")
CHAMPIONS_POINTS = (32, 2)  # of one stat, and what is left of the 66 after two full stats
EFFORT_VALUES = (252, 4)

# Items by what the set does, best known first; those a generation does not have are skipped.
CHOICE = ("choiceband", "choicespecs", "choicescarf")
FRAIL = ("lifeorb", "focussash", "expertbelt", "lumberry", "leftovers", "sitrusberry")
SETUP = (
    "lifeorb",
    "leftovers",
    "lumberry",
    "weaknesspolicy",
    "sitrusberry",
    "focussash",
    "salacberry",
)
STURDY = ("leftovers", "heavydutyboots", "rockyhelmet", "sitrusberry", "lumberry", "covertcloak")
SPARE = (
    "sitrusberry", "lumberry", "focussash", "leftovers", "lifeorb", "expertbelt", "clearamulet",
    "safetygoggles", "mentalherb", "widelens", "scopelens", "shellbell", "muscleband",
    "wiseglasses", "brightpowder", "quickclaw", "chestoberry", "persimberry", "kingsrock",
)  # fmt: skip
TYPE_ITEMS = {
    "normal": "silkscarf", "fire": "charcoal", "water": "mysticwater", "electric": "magnet",
    "grass": "miracleseed", "ice": "nevermeltice", "fighting": "blackbelt", "poison": "poisonbarb",
    "ground": "softsand", "flying": "sharpbeak", "psychic": "twistedspoon", "bug": "silverpowder",
    "rock": "hardstone", "ghost": "spelltag", "dragon": "dragonfang", "dark": "blackglasses",
    "steel": "metalcoat", "fairy": "fairyfeather",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Build:
    """The parts of a set that follow from its role and moves."""

    item: str  # item id, "" for none
    evs: Spread | None
    nature: str  # nature id, "" before generation 3


def build(
    dex: Dex, species: Species, role: str, moves: list[Move], banned_items: frozenset[str], rng: Rng
) -> Build:
    """Item, EVs and nature for a species that plays these moves in this role."""
    item = _pick_item(dex, species, role, moves, banned_items, rng)
    if dex.gen <= 2:
        return Build(item, None, "")
    physical = sum(move.category == "physical" for move in moves)
    special = sum(move.category == "special" for move in moves)
    leans_special = special > physical or (
        special == physical and species.base_stats[3] > species.base_stats[1]
    )
    bulky = any(word in role for word in BULKY_WORDS) and item not in CHOICE
    main = 3 if leans_special else 1
    if bulky:
        guard = 2 if rng.random() < 0.5 else 4
        nature = _guard_nature(guard, physical, special)
        return Build(item, _evs(dex, 0, guard, main), nature)
    return Build(item, _evs(dex, main, 5, 0), _attack_nature(main, physical, special, rng))


def _evs(dex: Dex, first: int, second: int, rest: int) -> Spread:
    full, left = CHAMPIONS_POINTS if dex.mod.startswith("champions") else EFFORT_VALUES
    spread = [0] * len(STATS)
    spread[first] = spread[second] = full
    spread[rest if rest not in (first, second) else 0] = left
    return tuple(spread)


def _guard_nature(guard: int, physical: int, special: int) -> str:
    lowers_attack = physical == 0 or special > physical
    if guard == 2:
        return "bold" if lowers_attack else "impish"
    return "calm" if lowers_attack else "careful"


def _attack_nature(main: int, physical: int, special: int, rng: Rng) -> str:
    speedy = rng.random() < 0.6
    if physical and special:
        return "naive" if speedy else ("rash" if main == 3 else "naughty")
    if main == 3:
        return "timid" if speedy else "modest"
    return "jolly" if speedy else "adamant"


def _pick_item(
    dex: Dex, species: Species, role: str, moves: list[Move], banned: frozenset[str], rng: Rng
) -> str:
    if species.required_items:
        usable = [item for item in species.required_items if _usable(dex, item, banned)]
        return usable[int(rng.integers(len(usable)))] if usable else species.required_items[0]
    if dex.gen == 1 or any(move.id == "acrobatics" for move in moves):
        return ""
    wishes = _wishes(dex, species, role, moves)
    choices = [item for item in dict.fromkeys(wishes) if _usable(dex, item, banned)]
    # Earlier wishes fit better; the later ones are for teams that may not repeat an item.
    weights = 0.6 ** np.arange(len(choices))
    return choices[int(rng.choice(len(choices), p=weights / weights.sum()))] if choices else ""


def _wishes(dex: Dex, species: Species, role: str, moves: list[Move]) -> list[str]:
    attacks = [move for move in moves if move.category != "status"]
    wishes: list[str] = [
        item.id for item in dex.items.values() if species.id in item.users and not item.mega
    ]
    if dex.gen == 2:
        rest = ["mintberry"] if any(move.id == "rest" for move in moves) else []
        return [*wishes, "leftovers", *rest, "miracleberry", "goldberry"]
    if species.nfe:
        wishes.append("eviolite")
    if role == "Z-Move user" and attacks:
        strongest = max(attacks, key=lambda move: move.power)
        wishes += [item.id for item in dex.items.values() if item.z_type == strongest.type]
    if role == "Berry Sweeper":
        wishes += ["salacberry", "liechiberry", "petayaberry"]
    if len(attacks) == len(moves) and "Setup" not in role:
        wishes += (
            ["assaultvest"] if "AV" in role or "Bulky" in role else list(_choice_items(attacks))
        )
    if "Setup" in role:
        wishes += SETUP
    wishes += STURDY if any(word in role for word in BULKY_WORDS) else FRAIL
    wishes += [TYPE_ITEMS[move.type] for move in attacks if move.type in TYPE_ITEMS]
    return [*wishes, *SPARE]


def _choice_items(attacks: list[Move]) -> tuple[str, ...]:
    special = sum(move.category == "special" for move in attacks)
    strong = "choicespecs" if 2 * special > len(attacks) else "choiceband"
    return (strong, "choicescarf")


def _usable(dex: Dex, item_id: str, banned: frozenset[str]) -> bool:
    item = dex.items.get(item_id)
    return item is not None and item.nonstandard is None and item_id not in banned
