"""Lines that reveal or change abilities, items and formes; see `tracker_lines`."""

from __future__ import annotations

from collections.abc import Callable

from nashmon.core.dex import to_id
from nashmon.core.errors import SimulatorError
from nashmon.sim.tracker_battle import Tracking
from nashmon.sim.tracker_pokemon import UNKNOWN_ITEM, TrackedPokemon, effect_id
from nashmon.teams.team import Team

Handler = Callable[[Tracking, list[str]], None]

_TAKERS = frozenset({"bestow", "covet", "magician", "pickpocket", "thief"})
_AS_ONE = {"calyrexice": "asoneglastrier", "calyrexshadow": "asonespectrier"}
_TRAPS = """bind clamp firespin gmaxcentiferno gmaxsandblast infestation magmastorm sandtomb
    snaptrap thundercage whirlpool wrap"""
PARTIAL_TRAPS = frozenset(_TRAPS.split())


def tag(parts: list[str], name: str) -> str:
    """The text after "[from] " or "[of] ", "" without such a tag."""
    for part in parts:
        if part.startswith(name):
            return part[len(name) :].lstrip()
    return ""


def reveal_cause(battle: Tracking, parts: list[str]) -> None:
    """An effect's ability or item becomes known; it belongs to "[of]", else to the subject."""
    cause = tag(parts, "[from]")
    kind, _, name = cause.partition(": ")
    if kind not in ("ability", "item"):
        return
    owner = tag(parts, "[of]")
    # Healing names the healed Pokémon first even where "[of]" is someone else.
    if not owner or (parts[1] in ("-heal", "-item") and name not in ("Hospitality", "Frisk")):
        owner = parts[2]
    if ": " not in owner:
        return
    mon = battle.get_pokemon(owner)
    if kind == "ability":
        mon.ability = name
    elif mon._item == UNKNOWN_ITEM:  # a consumed item is already known to be gone
        mon.item = name


def _activate_trapped(battle: Tracking, parts: list[str]) -> None:
    battle.get_pokemon(parts[2]).begin("trapped")
    if battle.mover is not None:
        battle.trappers[parts[2][:3]] = battle.mover


def _activate_commander(battle: Tracking, parts: list[str]) -> None:
    battle.get_pokemon(parts[2]).commanding = True


def _activate_mimic(battle: Tracking, parts: list[str]) -> None:
    battle.get_pokemon(parts[2]).mimic(to_id(parts[4]))


def _activate_spite(battle: Tracking, parts: list[str]) -> None:
    slot = battle.get_pokemon(parts[2]).reveal(to_id(parts[4]))
    if slot is not None:
        slot[0] = max(0, slot[0] - int(parts[5]))


def _activate_berry(battle: Tracking, parts: list[str]) -> None:
    slot = battle.get_pokemon(parts[2]).reveal(to_id(parts[4]))
    if slot is not None:
        slot[0] = min(slot[1], slot[0] + (5 if battle.gen == 2 else 10))


def _activate_poltergeist(battle: Tracking, parts: list[str]) -> None:
    battle.get_pokemon(parts[2]).item = parts[4]


def _activate_forewarn(battle: Tracking, parts: list[str]) -> None:
    owner = tag(parts, "[of]")
    if owner:
        battle.get_pokemon(owner).reveal(to_id(parts[4]))


def _activate_contagion(battle: Tracking, parts: list[str]) -> None:
    """Mummy and Lingering Aroma replace another's ability, which they name."""
    victim = battle.get_pokemon(tag(parts, "[of]") or parts[4])
    old = tag(parts, "[ability]") or (parts[4] if ": " not in parts[4] else "")
    _replace_ability(victim, old, effect_id(parts[3]))


def _activate_wandering_spirit(battle: Tracking, parts: list[str]) -> None:
    names = [part for part in parts[4:] if not part.startswith("[of]")]
    mon, other = battle.get_pokemon(parts[2]), battle.get_pokemon(tag(parts, "[of]"))
    gained = names[0].removeprefix("[ability] ") if names else other.ability
    mon.temporary_ability = gained
    _replace_ability(other, gained, "wanderingspirit")


def _activate_skill_swap(battle: Tracking, parts: list[str]) -> None:
    mon, other = battle.get_pokemon(parts[2]), battle.get_pokemon(tag(parts, "[of]"))
    names = [part.partition("] ")[2] or part for part in parts[4:] if part.startswith("[ability")]
    names = names or [part for part in parts[4:] if part and not part.startswith("[")]
    if len(names) == 2:
        gained, given = names
        _replace_ability(mon, given, gained)
        _replace_ability(other, gained, given)
    else:
        mon.temporary_ability, other.temporary_ability = other.ability, mon.ability


def _replace_ability(mon: TrackedPokemon, old: str | None, new: str | None) -> None:
    if mon._ability is None and old:
        mon.ability = old
    mon.temporary_ability = new


def _activate_symbiosis(battle: Tracking, parts: list[str]) -> None:
    battle.get_pokemon(tag(parts, "[of]")).item = parts[4].removeprefix("[item] ")
    battle.get_pokemon(parts[2])._item = None


def ability(battle: Tracking, parts: list[str]) -> None:
    """An ability is announced or replaced."""
    cause = tag(parts, "[from]")
    if cause.startswith("move: ") and len(parts) > 5:
        old = parts[4] if not parts[4].startswith("[") else None
        _replace_ability(battle.get_pokemon(parts[2]), old, to_id(parts[3]))
    elif parts[3] == "As One":  # the name of two abilities
        mon = battle.get_pokemon(parts[2])
        mon._ability = mon._ability or _AS_ONE.get(mon.forme)
    else:
        battle.parse_message(parts)


def end_ability(battle: Tracking, parts: list[str]) -> None:
    """An ability is suppressed."""
    mon = battle.get_pokemon(parts[2])
    if len(parts) > 3 and parts[3] and not parts[3].startswith("[") and mon._ability is None:
        mon.ability = parts[3]
    mon.temporary_ability = ""


def item(battle: Tracking, parts: list[str]) -> None:
    """An item is shown or changes hands."""
    if not parts[2]:
        _frisked(battle, parts)
        return
    battle.get_pokemon(parts[2]).item = parts[3]
    cause = effect_id(tag(parts, "[from]"))
    other = tag(parts, "[of]")
    if cause in _TAKERS and other:
        battle.get_pokemon(other)._item = None
    reveal_cause(battle, parts)


def _frisked(battle: Tracking, parts: list[str]) -> None:
    """Frisk before generation 6 shows an item without saying whose: alone on the field, the foe's.

    In doubles it may be either foe's, so nobody is said to hold it.
    """
    slot = tag(parts, "[of]")
    reveal_cause(battle, parts)
    places = battle.foe_slots(slot[:3])
    holder = battle.occupants.get(places[0])
    if len(places) == 1 and holder is not None:
        holder.item = parts[3]


def gimmick(name: str, item_index: int) -> Handler:
    """A handler for the use of a gimmick, whose line may name the item."""

    def handle(battle: Tracking, parts: list[str]) -> None:
        battle.spend(parts[2], name)
        if len(parts) > item_index > 0 and parts[item_index]:  # Rayquaza needs no stone
            battle.get_pokemon(parts[2]).item = parts[item_index]

    return handle


def primal(battle: Tracking, parts: list[str]) -> None:
    """Primal Reversion shows its orb."""
    if len(parts) > 3:
        battle.get_pokemon(parts[2]).item = parts[3]


def terastallize(battle: Tracking, parts: list[str]) -> None:
    """A Pokémon takes its Tera type."""
    battle.spend(parts[2], "tera")
    battle.get_pokemon(parts[2]).terastallize(parts[3])


def details_change(battle: Tracking, parts: list[str]) -> None:
    """A lasting change of forme."""
    mon = battle.get_pokemon(parts[2])
    mon._update_from_details(parts[3])
    if mon.dex_species.abilities and not mon.fainted:  # a lasting forme brings its first ability
        mon._ability = mon.dex_species.abilities[0]
        mon._temporary_ability = None
    reveal_cause(battle, parts)


def forme_change(battle: Tracking, parts: list[str]) -> None:
    """A change of forme until it leaves the field."""
    battle.get_pokemon(parts[2]).forme_change(parts[3])
    reveal_cause(battle, parts)


def transform(battle: Tracking, parts: list[str]) -> None:
    """Transform or Imposter."""
    mon = battle.get_pokemon(parts[2])
    if tag(parts, "[from]") == "ability: Imposter":
        mon._ability = "imposter"
    mon.transform(battle.get_pokemon(parts[3]))


def show_team(battle: Tracking, parts: list[str]) -> None:
    """Open team sheets: items, abilities, moves and Tera types of the foe's team."""
    if parts[2] == battle._player_role:
        return
    for shown in Team.from_packed("|".join(parts[3:])).pokemon:
        species = to_id(shown.species)
        mons = [mon for mon in battle.foes() if battle.same_species(mon, species)]
        if len(mons) != 1:
            raise SimulatorError(f"team sheet of {parts[2]}: {shown.species} was not previewed")
        mon = mons[0]
        mon.changed = True
        mon._item = to_id(shown.item) or None
        mon._ability = to_id(shown.ability) or None
        mon._terastallized_type = to_id(shown.tera_type) or mon._terastallized_type
        for move in shown.moves:
            mon.reveal(to_id(move))


_ACTIVATED: dict[str, Handler] = {
    "commander": _activate_commander,
    "eeriespell": _activate_spite,
    "forewarn": _activate_forewarn,
    "gmaxdepletion": _activate_spite,
    "leppaberry": _activate_berry,
    "lingeringaroma": _activate_contagion,
    "mimic": _activate_mimic,
    "mummy": _activate_contagion,
    "mysteryberry": _activate_berry,
    "poltergeist": _activate_poltergeist,
    "skillswap": _activate_skill_swap,
    "spite": _activate_spite,
    "symbiosis": _activate_symbiosis,
    "trapped": _activate_trapped,
    "wanderingspirit": _activate_wandering_spirit,
}


def activate(battle: Tracking, parts: list[str]) -> None:
    """An effect shows itself; a few of them change what is known."""
    if ": " not in parts[2]:
        return
    mon = battle.get_pokemon(parts[2])
    kind, _, _name = parts[3].rpartition(": ")
    effect = effect_id(parts[3])
    if effect in _ACTIVATED:
        _ACTIVATED[effect](battle, parts)
    elif effect in PARTIAL_TRAPS:
        mon.begin("partiallytrapped")
    if kind == "ability" and mon.ability != effect:
        mon.ability = effect
    elif kind == "item" and mon._item == UNKNOWN_ITEM and "[consumed]" not in parts:
        mon.item = effect
