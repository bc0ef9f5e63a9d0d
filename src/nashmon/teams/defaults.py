"""What a battle fills in for the facts a team leaves out.

A Showdown server does this while it validates a team; an engine that is handed the packed string
does not, and would fight Gen 1 with 0 EVs or VGC at level 100.
"""

from __future__ import annotations

from dataclasses import replace

from nashmon.core.dex import Dex, Species, to_id
from nashmon.core.formats import Format, get_format
from nashmon.teams.names import display_name, hidden_power
from nashmon.teams.team import PokemonSet, Spread, Team

OLD_GENS = 2  # the last generation with stat experience, DVs and one Special
NO_LIMIT_EVS = (252,) * 6
BOTTLE_CAP_GEN = 7  # from here on Hidden Power no longer follows from the IVs at level 100
FORME_OF_ABILITY = {
    ("Greninja", "Battle Bond"): "Greninja-Bond",
    ("Rockruff", "Own Tempo"): "Rockruff-Dusk",
}
RESOLUTE_GEN = 8  # from here on Secret Sword shows in Keldeo's looks
ATTACK_OVERFLOW = 255  # Generation 2's Thick Club Marowak must not reach more before Swords Dance


def complete(team: Team, format_id: str) -> Team:
    """The team as it fights: starting formes, EVs, IVs, nature, level and gender filled in."""
    rules = get_format(format_id)
    return replace(team, pokemon=tuple(_complete(pokemon, rules) for pokemon in team.pokemon))


def _complete(pokemon: PokemonSet, rules: Format) -> PokemonSet:
    filled = replace(pokemon, level=_level(pokemon.level, rules))
    filled = _fill_hidden_power(filled, rules)
    if rules.gen == 1:
        return _fill_gen1(filled)
    if rules.gen == OLD_GENS:
        return _fill_gen2(filled, rules)
    filled = _starting_forme(filled, rules.dex)
    return replace(
        filled,
        nature=filled.nature or "Serious",
        evs=filled.evs or (0,) * 6,
        tera_type=_tera_type(filled, rules),
    )


def _level(level: int, rules: Format) -> int:
    stated = rules.default_level if level == 100 else level
    if rules.adjust_level_down is not None and stated >= rules.adjust_level_down:
        return rules.adjust_level_down
    if rules.adjust_level is not None:
        return rules.adjust_level
    return min(stated, rules.max_level) if stated == 100 else stated


def _fill_hidden_power(pokemon: PokemonSet, rules: Format) -> PokemonSet:
    prefix = "Hidden Power "
    types = [move.removeprefix(prefix) for move in pokemon.moves if move.startswith(prefix)]
    power_type = pokemon.hidden_power or (types[0] if types else "")
    if not power_type or rules.gen == 1:
        return pokemon
    ivs = pokemon.ivs
    hyper_trained = rules.gen >= BOTTLE_CAP_GEN and pokemon.level == rules.max_level == 100
    if ivs is None and rules.gen == OLD_GENS:
        ivs = tuple(2 * dv for dv in hidden_power(power_type).dvs)
    elif ivs is None and not hyper_trained:
        ivs = hidden_power(power_type).ivs
    return replace(pokemon, hidden_power=power_type, ivs=ivs)


def _fill_gen1(pokemon: PokemonSet) -> PokemonSet:
    filled = _fill_old(pokemon)
    evs, ivs = filled.evs or NO_LIMIT_EVS, filled.ivs
    return replace(
        filled,
        item="",
        gender="",
        shiny=False,
        evs=_one_special(evs),
        ivs=None if ivs is None else _one_special(ivs),
    )


def _fill_gen2(pokemon: PokemonSet, rules: Format) -> PokemonSet:
    filled = _fill_old(pokemon)
    filled = replace(filled, gender=_gender_of_dvs(filled, rules.dex))
    cubone_line = filled.species == "Marowak" and filled.item == "Thick Club"
    if cubone_line and "Swords Dance" in filled.moves and filled.level == 100:
        return _limit_attack(filled, rules.dex.species["marowak"])
    return filled


def _fill_old(pokemon: PokemonSet) -> PokemonSet:
    # Left out, the ability would be read as the one the species has today.
    return replace(pokemon, nature="Serious", ability="No Ability", evs=pokemon.evs or NO_LIMIT_EVS)


def _one_special(spread: Spread) -> Spread:
    hp, attack, defence, special, _, speed = spread
    return (hp, attack, defence, special, special, speed)


def _gender_of_dvs(pokemon: PokemonSet, dex: Dex) -> str:
    species = dex.species[to_id(pokemon.species)]
    if species.gender is not None:
        return pokemon.gender
    attack_dv = (pokemon.ivs[1] if pokemon.ivs else 31) // 2
    return "M" if attack_dv >= (1 - species.male_ratio) * 16 else "F"


def _limit_attack(pokemon: PokemonSet, species: Species) -> PokemonSet:
    """Fewer attack EVs where a doubled and boosted stat would wrap round to almost nothing."""
    ivs = list(pokemon.ivs or (31,) * 6)
    evs = list(pokemon.evs or NO_LIMIT_EVS)
    ivs[1] -= ivs[1] % 2
    while evs[1] > 0 and 2 * species.base_stats[1] + ivs[1] + evs[1] // 4 + 5 > ATTACK_OVERFLOW:
        evs[1] -= 4
    return replace(pokemon, ivs=tuple(ivs), evs=tuple(evs))


def _starting_forme(pokemon: PokemonSet, dex: Dex) -> PokemonSet:
    """The forme it enters with: not Mega or Gmax, but the one its item gives it.

    A set that lacks what the change needs is left as it is, for the validator to refuse.
    """
    species = dex.species.get(to_id(pokemon.species))
    if species is None:
        return pokemon
    if species.forme.endswith("Gmax") and species.changes_from is not None:
        source = dex.species[species.changes_from]
        return replace(pokemon, species=display_name("species", source.id), gigantamax=True)
    if species.battle_only:
        return _before_change(pokemon, species, dex)
    if species.id == "keldeo" and "Secret Sword" in pokemon.moves and dex.gen >= RESOLUTE_GEN:
        return replace(pokemon, species="Keldeo-Resolute")
    forme = FORME_OF_ABILITY.get((pokemon.species, pokemon.ability))
    if forme is not None:
        return replace(pokemon, species=forme)
    return _with_item(pokemon, species, dex)


def _before_change(pokemon: PokemonSet, species: Species, dex: Dex) -> PokemonSet:
    if len(species.battle_only) != 1 or not _can_change(pokemon, species):
        return pokemon
    source = dex.species[species.battle_only[0]]
    signature = {"Behemoth Blade": "Iron Head", "Behemoth Bash": "Iron Head"}
    return replace(
        pokemon,
        species=display_name("species", source.id),
        ability=_entry_ability(pokemon, source, species),
        moves=tuple(signature.get(move, move) for move in pokemon.moves),
    )


def _with_item(pokemon: PokemonSet, species: Species, dex: Dex) -> PokemonSet:
    item = dex.items.get(to_id(pokemon.item))
    if item is None:
        return pokemon
    mega = dict(item.mega).get(species.id)
    if mega is not None:
        return replace(pokemon, ability=_entry_ability(pokemon, species, dex.species[mega]))
    if item.forced_forme and species.id == dex.species[item.forced_forme].base_species:
        # Arceus with a plate, Giratina with its orb …
        return replace(pokemon, species=display_name("species", item.forced_forme))
    return pokemon


def _entry_ability(pokemon: PokemonSet, source: Species, changed: Species) -> str:
    """A set may name the ability of the forme it will change to."""
    ability = to_id(pokemon.ability)
    if ability not in source.abilities and ability == changed.abilities[0]:
        return display_name("abilities", source.abilities[0])
    return pokemon.ability


def _can_change(pokemon: PokemonSet, species: Species) -> bool:
    has_item = not species.required_items or to_id(pokemon.item) in species.required_items
    has_ability = species.required_ability in (None, to_id(pokemon.ability))
    has_move = species.required_move in (None, *(to_id(move) for move in pokemon.moves))
    return has_item and has_ability and has_move


def _tera_type(pokemon: PokemonSet, rules: Format) -> str:
    if "tera" not in rules.gimmicks:
        return ""
    species = rules.dex.species.get(to_id(pokemon.species))
    if pokemon.tera_type or species is None:
        return pokemon.tera_type
    return display_name("types", species.required_tera_type or species.types[0])
