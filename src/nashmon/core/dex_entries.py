"""One row of each dex table.  `core.dex` reads them; names are Showdown ids."""

from __future__ import annotations

from dataclasses import dataclass

from nashmon.core.state import BOOSTS

NO_BOOSTS = (0,) * len(BOOSTS)


@dataclass(frozen=True, slots=True)
class Species:
    """One forme of one species."""

    id: str
    name: str
    types: tuple[str, ...]
    base_stats: tuple[int, ...]  # order of state.STATS
    base_species: str
    num: int = 0  # number in the National Pokédex
    gen: int = 0  # generation it first appeared in
    abilities: tuple[str, ...] = ()  # first, second, hidden, special; () before generation 3
    hidden_ability: str | None = None
    weight_kg: float = 0.0
    gender: str | None = None  # "M", "F" or "N" when it has only one
    male_ratio: float = 0.0
    forme: str = ""
    other_formes: tuple[str, ...] = ()
    cosmetic_formes: tuple[str, ...] = ()
    battle_only: tuple[str, ...] = ()  # formes it can come from, when it exists only in battle
    changes_from: str | None = None
    required_items: tuple[str, ...] = ()  # any one of them
    required_ability: str | None = None
    required_move: str | None = None
    required_tera_type: str | None = None
    is_mega: bool = False
    is_primal: bool = False
    can_gigantamax: str | None = None  # its G-Max move
    cannot_dynamax: bool = False
    prevo: str | None = None
    evos: tuple[str, ...] = ()
    nfe: bool = False  # not fully evolved
    max_hp: int | None = None  # Shedinja's fixed hit points
    tier: str = ""
    doubles_tier: str = ""
    natdex_tier: str = ""
    tags: tuple[str, ...] = ()
    nonstandard: str | None = None  # "Past", "CAP", "Unobtainable" …: why it is not in the game


@dataclass(frozen=True, slots=True)
class Effect:
    """What a move does to its target or user beyond damage; ids of Showdown conditions."""

    chance: int | None = None  # percent; None when it always happens
    boosts: tuple[int, ...] = NO_BOOSTS  # order of state.BOOSTS
    status: str | None = None
    volatile_status: str | None = None
    side_condition: str | None = None
    slot_condition: str | None = None
    pseudo_weather: str | None = None
    terrain: str | None = None
    weather: str | None = None
    own: Effect | None = None  # the part that befalls the user


@dataclass(frozen=True, slots=True)
class Move:
    """One move."""

    id: str
    name: str
    category: str  # "physical", "special" or "status"
    target: str  # Showdown's target type: "normal", "allAdjacentFoes" …
    type: str = ""  # "" is typeless
    num: int = 0
    gen: int = 0
    power: int = 0
    accuracy: int | None = None  # percent; None never misses
    pp: int = 1
    max_pp: int = 1  # with three PP Ups, as this mod counts them
    priority: int = 0
    non_ghost_target: str | None = None
    flags: frozenset[str] = frozenset()
    min_hits: int = 1
    max_hits: int = 1
    crit_ratio: int = 1
    will_crit: bool = False
    never_crits: bool = False
    drain: float = 0.0  # fraction of the damage
    recoil: float = 0.0  # fraction of the damage
    heal: float = 0.0  # fraction of the user's (or target's) maximum
    crash_damage: bool = False
    half_hp_recoil: bool = False
    struggle_recoil: bool = False
    damage: int | str | None = None  # fixed; "level" is the user's level
    ohko: str | None = None
    self_destruct: str | None = None  # "always" or "ifHit"
    self_switch: str | None = None  # "any", "copyvolatile" or "shedtail"
    force_switch: bool = False
    stalling: bool = False  # Protect and its kin
    breaks_protect: bool = False
    ignore_defensive: bool = False
    ignore_evasion: bool = False
    ignore_ability: bool = False
    ignore_immunity: frozenset[str] = frozenset()  # types, or "all"
    steals_boosts: bool = False
    thaws_target: bool = False
    sleep_usable: bool = False
    multi_accuracy: bool = False
    offensive_stat: str | None = None
    offensive_pokemon: str | None = None
    defensive_stat: str | None = None
    variable_power: bool = False  # power depends on the position
    variable_damage: bool = False  # damage follows a rule of its own
    calls_move: bool = False
    smart_target: bool = False
    sheer_force: bool = False
    effect: Effect = Effect()
    self_effect: Effect = Effect()
    secondaries: tuple[Effect, ...] = ()
    is_z: str | None = None  # crystal of a signature Z-move, else "any"
    is_max: str | None = None  # species of a G-Max move, else "any"
    z_power: int = 0
    z_boosts: tuple[int, ...] = NO_BOOSTS
    z_effect: str | None = None
    max_power: int = 0
    real_move: str | None = None  # what a placeholder stands for (Hidden Power Fire)
    nonstandard: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One held item."""

    id: str
    name: str
    num: int = 0
    gen: int = 0
    fling_power: int = 0
    fling_status: str | None = None
    is_berry: bool = False
    is_choice: bool = False
    is_gem: bool = False
    is_pokeball: bool = False
    is_primal_orb: bool = False
    ignore_klutz: bool = False
    users: tuple[str, ...] = ()  # species it is made for
    mega: tuple[tuple[str, str], ...] = ()  # (species, its Mega Evolution)
    z_move: str | None = None  # signature Z-move, else "any"
    z_type: str | None = None
    z_from: str | None = None
    plate_type: str | None = None
    memory_type: str | None = None
    drive_type: str | None = None
    forced_forme: str | None = None
    boosts: tuple[int, ...] = NO_BOOSTS
    natural_gift_power: int = 0
    natural_gift_type: str | None = None
    nonstandard: str | None = None


@dataclass(frozen=True, slots=True)
class Ability:
    """One ability."""

    id: str
    name: str
    num: int = 0
    gen: int = 0
    rating: float = 0.0
    flags: frozenset[str] = frozenset()
    nonstandard: str | None = None


@dataclass(frozen=True, slots=True)
class PokemonType:
    """One type, seen from the defending side."""

    id: str
    name: str
    damage_taken: tuple[tuple[str, float], ...]  # attacking types that are not neutral
    immune: frozenset[str]  # statuses, weather and the like it does not suffer


@dataclass(frozen=True, slots=True)
class Nature:
    """One nature; plus and minus are stat names."""

    id: str
    name: str
    plus: str | None = None
    minus: str | None = None
