"""What the damage formula needs of one Pokémon; unknown stats are estimated here and only here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from nashmon.core.dex import Dex, Species, get_dex
from nashmon.core.state import Effects, UniversalPokemon, UniversalState

_NO_BOOSTS = (0,) * 7


@dataclass(frozen=True, slots=True)
class Combatant:
    """One side of an exchange of blows."""

    species: str
    types: tuple[str, ...]
    level: int
    max_hp: int
    stats: tuple[int, ...]  # atk, def, spa, spd, spe before stages
    hp_fraction: float = 1.0
    boosts: tuple[int, ...] = _NO_BOOSTS  # order of state.BOOSTS
    status: str | None = None
    item: str = ""
    ability: str = ""
    own_types: tuple[str, ...] = ()  # before Terastallization
    tera_type: str | None = None  # set when Terastallized
    volatiles: Effects = ()

    def has(self, volatile: str) -> bool:
        """Whether an effect is on it."""
        return any(name == volatile for name, _ in self.volatiles)


@dataclass(frozen=True, slots=True)
class Arena:
    """The field as one attack sees it."""

    weather: str | None = None
    terrain: str | None = None
    reflect: bool = False  # on the defender's side
    light_screen: bool = False
    spread: bool = False  # the move hits more than one
    doubles: bool = False


def combatant(dex: Dex, pokemon: UniversalPokemon) -> Combatant:
    """A Pokémon of a state; stats that are not known are those of a usual build."""
    species = dex.species[pokemon.species]
    usual = usual_stats(dex.mod, species.id, pokemon.level)
    # What Transform copies is not in the request; HP stay those of the one that transformed.
    exact = None if pokemon.transformed else pokemon.stats
    body = usual_stats(dex.mod, pokemon.base_species, pokemon.level)[0]
    return Combatant(
        species=pokemon.species,
        types=pokemon.types,
        level=pokemon.level,
        max_hp=pokemon.max_hp or body,
        stats=exact or usual[1:],
        hp_fraction=pokemon.hp_fraction,
        boosts=pokemon.boosts,
        status=pokemon.status,
        item=pokemon.item or "",
        ability=_ability(species, pokemon),
        own_types=species.types,
        tera_type=pokemon.tera_type if pokemon.terastallized else None,
        volatiles=pokemon.volatiles,
    )


def _ability(species: Species, pokemon: UniversalPokemon) -> str:
    if pokemon.ability is not None:
        return pokemon.ability
    # An unseen ability is certain only when the species has no choice.
    return species.abilities[0] if len(set(species.abilities)) == 1 else ""


@lru_cache(maxsize=8192)
def usual_stats(mod: str, species_id: str, level: int) -> tuple[int, ...]:
    """HP, atk, def, spa, spd, spe of a usual build.

    Generations 1–2 have no reason to hold back: everything is at its maximum.  Later builds are
    fast attackers or sturdy: what is slow puts its effort into HP.
    """
    dex = get_dex(mod)
    species = dex.species[species_id]
    effort: tuple[int, ...] = (63,) * 6
    if dex.mod.startswith("champions"):
        return _champions_stats(species)
    if dex.gen >= 3:
        effort = tuple(value // 4 for value in usual_effort(species.base_stats))
    individual = 30 if dex.gen <= 2 else 31
    stats = []
    for k, (base, points) in enumerate(zip(species.base_stats, effort, strict=True)):
        core = (2 * base + individual + points) * level // 100
        stats.append(core + level + 10 if k == 0 else core + 5)
    if species.max_hp is not None:
        stats[0] = species.max_hp
    return tuple(stats)


def usual_effort(base: tuple[int, ...]) -> tuple[int, ...]:
    """EVs of a usual build: the better attack, and speed or HP."""
    fast = base[5] >= 70
    effort = [4 if fast else 252, 0, 0, 0, 0, 252 if fast else 0]
    effort[1 if base[1] >= base[3] else 3] = 252 if fast else 128
    if not fast:
        effort[2] = effort[4] = 64
    return tuple(effort)


def _champions_stats(species: Species) -> tuple[int, ...]:
    points = tuple(value // 8 for value in usual_effort(species.base_stats))
    stats = [value + extra for value, extra in zip(species.base_stats, points, strict=True)]
    return (species.max_hp or stats[0] + 75, *(value + 20 for value in stats[1:]))


def arena(state: UniversalState, own_attacks: bool, spread: bool = False) -> Arena:
    """The field for an attack of one's own (or of the foe's)."""
    defender = state.foe if own_attacks else state.own
    sides = {name for name, _ in defender.conditions}
    for pokemon in defender.active:
        if pokemon is not None and state.gen == 1:
            sides |= {name for name, _ in pokemon.volatiles}
    veil = "auroraveil" in sides
    return Arena(
        weather=state.weather,
        terrain=next((name for name, _ in state.fields if name.endswith("terrain")), None),
        reflect=veil or "reflect" in sides,
        light_screen=veil or "lightscreen" in sides,
        spread=spread,
        doubles=state.game_type == "doubles",
    )


def is_grounded(pokemon: Combatant) -> bool:
    """Whether Ground moves and terrain reach it."""
    if pokemon.item == "ironball" or pokemon.has("smackdown") or pokemon.has("ingrain"):
        return True
    floats = "flying" in pokemon.types or pokemon.ability == "levitate"
    return not (floats or pokemon.item == "airballoon" or pokemon.has("magnetrise"))
