"""What a battle fills in for the facts a team leaves out.

A Showdown server does this while it validates a team; an engine that is handed the packed string
does not, and would fight Gen 1 with 0 EVs or VGC at level 100.
"""

from __future__ import annotations

from dataclasses import replace

from nashmon.core.dex import to_id
from nashmon.core.formats import Format, get_format
from nashmon.teams.names import hidden_power
from nashmon.teams.team import PokemonSet, Spread, Team

OLD_GENS = 2  # the last generation with stat experience, DVs and one Special
NO_LIMIT_EVS = (252,) * 6
BOTTLE_CAP_GEN = 7  # from here on Hidden Power no longer follows from the IVs at level 100


def complete(team: Team, format_id: str) -> Team:
    """The team as it fights in the format: EVs, IVs, nature, level and gender filled in."""
    rules = get_format(format_id)
    return replace(team, pokemon=tuple(_complete(pokemon, rules) for pokemon in team.pokemon))


def _complete(pokemon: PokemonSet, rules: Format) -> PokemonSet:
    filled = replace(pokemon, level=_level(pokemon.level, rules))
    filled = _fill_hidden_power(filled, rules)
    if rules.gen <= OLD_GENS:
        return _fill_old(filled, rules)
    return replace(filled, nature=filled.nature or "Serious", evs=filled.evs or (0,) * 6)


def _level(level: int, rules: Format) -> int:
    stated = rules.default_level if level == 100 else level
    if rules.adjust_level_down is not None and stated >= rules.adjust_level_down:
        return rules.adjust_level_down
    if rules.adjust_level is not None:
        return rules.adjust_level
    return rules.max_level if stated == 100 else stated


def _fill_hidden_power(pokemon: PokemonSet, rules: Format) -> PokemonSet:
    prefix = "Hidden Power "
    types = [move.removeprefix(prefix) for move in pokemon.moves if move.startswith(prefix)]
    power_type = pokemon.hidden_power or (types[0] if types else "")
    if not power_type or rules.gen == 1:
        return pokemon
    ivs = pokemon.ivs
    hyper_trained = rules.gen >= BOTTLE_CAP_GEN and pokemon.level == rules.max_level == 100
    if ivs is None and rules.gen <= OLD_GENS:
        ivs = tuple(2 * dv for dv in hidden_power(power_type).dvs)
    elif ivs is None and not hyper_trained:
        ivs = hidden_power(power_type).ivs
    return replace(pokemon, hidden_power=power_type, ivs=ivs)


def _fill_old(pokemon: PokemonSet, rules: Format) -> PokemonSet:
    filled = replace(pokemon, nature="", ability="", evs=pokemon.evs or NO_LIMIT_EVS)
    if rules.gen == 1:
        evs, ivs = filled.evs or NO_LIMIT_EVS, filled.ivs
        return replace(
            filled, item="", shiny=False, evs=_one_special(evs), ivs=ivs and _one_special(ivs)
        )
    return replace(filled, gender=_gender_of_dvs(filled, rules))


def _one_special(spread: Spread) -> Spread:
    hp, attack, defence, special, _, speed = spread
    return (hp, attack, defence, special, special, speed)


def _gender_of_dvs(pokemon: PokemonSet, rules: Format) -> str:
    species = rules.dex.species[to_id(pokemon.species)]
    if species.gender is not None:
        return pokemon.gender
    attack_dv = (pokemon.ivs[1] if pokemon.ivs else 31) // 2
    return "M" if attack_dv >= (1 - species.male_ratio) * 16 else "F"
