"""`Team` and `PokemonSet`, and Showdown's packed form of them.

Names are display names ("Body Slam"); a fact that was not stated holds its neutral value, so that
pack and unpack are inverses.  What a battle fills in for unstated facts is in `defaults`.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from nashmon.core.dex import get_dex, to_id
from nashmon.core.errors import TeamError
from nashmon.core.state import STATS
from nashmon.teams.names import display_name

MAX_POKEMON = 24  # what Showdown's unpacker reads
NUM_FIELDS = 12  # of one packed Pokémon, separated by "|"

Spread = tuple[int, ...]  # six numbers in the order of core.state.STATS


@dataclass(frozen=True, slots=True)
class PokemonSet:
    """One Pokémon of a team as its player wrote it."""

    species: str
    moves: tuple[str, ...] = ()
    nickname: str = ""  # "" when it goes by its species
    item: str = ""
    ability: str = ""
    nature: str = ""
    evs: Spread | None = None  # None: not stated (252 each in gens 1–2, else 0); Champions: points
    ivs: Spread | None = None  # None: all 31
    gender: str = ""  # "M", "F" or ""
    level: int = 100  # 100 also stands for "not stated"
    shiny: bool = False
    happiness: int = 255
    hidden_power: str = ""  # type, where it does not follow from the IVs
    pokeball: str = ""
    gigantamax: bool = False
    dynamax_level: int = 10
    tera_type: str = ""

    def __post_init__(self) -> None:
        """Refuse values that no generation has."""
        _check_range("level", self.level, 1, 100)
        _check_range("happiness", self.happiness, 0, 255)
        _check_range("Dynamax level", self.dynamax_level, 0, 10)
        _check_spread("EV", self.evs, 255)
        _check_spread("IV", self.ivs, 31)
        if self.gender not in ("", "M", "F"):
            raise TeamError(f"gender {self.gender!r}: expected M, F or nothing")
        if re.search(r"[|\]\n]| @ |^\s|\s$", self.nickname):
            raise TeamError(
                f"nickname {self.nickname!r}: '|', ']', ' @ ' and outer blanks are not allowed"
            )

    def pack(self) -> str:
        """The packed form of this Pokémon."""
        name = self.nickname or self.species
        species = "" if _squeeze(name) == _squeeze(self.species) else _squeeze(self.species)
        fields = [
            name,
            species,
            _squeeze(self.item),
            _squeeze(self.ability),
            ",".join(_squeeze(move) for move in self.moves),
            self.nature,
            _pack_evs(self.evs),
            self.gender,
            _pack_ivs(self.ivs),
            "S" if self.shiny else "",
            "" if self.level == 100 else str(self.level),
            self._pack_rest(),
        ]
        return "|".join(fields)

    def _pack_rest(self) -> str:
        happiness = "" if self.happiness == 255 else str(self.happiness)
        extras = [
            self.hidden_power,
            _squeeze(self.pokeball),
            "G" if self.gigantamax else "",
            "" if self.dynamax_level == 10 else str(self.dynamax_level),
            self.tera_type,
        ]
        return ",".join([happiness, *extras]) if any(extras) else happiness


@dataclass(frozen=True)
class Team:
    """A team with the name and the one-line idea its file gives it."""

    pokemon: tuple[PokemonSet, ...]
    name: str = ""
    idea: str = ""
    format: str = ""  # format id of the file's header, "" when not stated

    def __post_init__(self) -> None:
        """Refuse empty and oversized teams."""
        if not 1 <= len(self.pokemon) <= MAX_POKEMON:
            count = len(self.pokemon)
            raise TeamError(f"a team has 1 to {MAX_POKEMON} Pokémon, this one has {count}")

    @cached_property
    def packed(self) -> str:
        """Showdown's packed form, what engines take."""
        return "]".join(pokemon.pack() for pokemon in self.pokemon)

    @cached_property
    def digest(self) -> str:
        """Hash of what is fought with: independent of names, nicknames and order."""
        members = sorted(replace(pokemon, nickname="").pack() for pokemon in self.pokemon)
        return hashlib.sha256("]".join(members).encode()).hexdigest()

    @property
    def species(self) -> tuple[str, ...]:
        """The species in team order."""
        return tuple(pokemon.species for pokemon in self.pokemon)

    @classmethod
    def from_packed(cls, packed: str, name: str = "", idea: str = "", format: str = "") -> Team:
        """Read one packed team; TeamError names the Pokémon and what was expected."""
        text = packed.strip()
        if not text:
            raise TeamError("packed team is empty")
        members = []
        for index, part in enumerate(text.split("]"), start=1):
            try:
                members.append(_unpack(part))
            except TeamError as error:
                raise TeamError(f"packed team, Pokémon {index}: {error}") from None
        return cls(tuple(members), name, idea, format)


def _unpack(text: str) -> PokemonSet:
    fields = text.split("|")
    if len(fields) != NUM_FIELDS:
        found = len(fields)
        raise TeamError(f"expected {NUM_FIELDS} fields separated by '|', found {found}: {text!r}")
    name, species_text, item, ability, moves, nature, evs, gender, ivs, shiny, level, rest = fields
    species = display_name("species", species_text or name)
    happiness, hidden_power, pokeball, gmax, dynamax, tera = (rest.split(",") + [""] * 6)[:6]
    return PokemonSet(
        species=species,
        nickname="" if _squeeze(name).lower() == _squeeze(species).lower() else name,
        item=display_name("items", item),
        ability=_unpack_ability(ability, species),
        moves=tuple(display_name("moves", move) for move in moves.split(",") if move),
        nature=display_name("natures", nature),
        evs=_unpack_evs(evs),
        gender="" if gender == "N" else gender,
        ivs=_unpack_ivs(ivs),
        shiny=bool(shiny),
        level=parse_number("level", level) if level else 100,
        happiness=parse_number("happiness", happiness) if happiness else 255,
        hidden_power=display_name("types", hidden_power),
        pokeball=display_name("items", pokeball),
        gigantamax=bool(gmax),
        dynamax_level=parse_number("Dynamax level", dynamax) if dynamax else 10,
        tera_type=display_name("types", tera),
    )


def _unpack_ability(text: str, species: str) -> str:
    """An ability by name, or by its slot "0", "1", "H" or "S" as older packed teams have it."""
    if text not in ("0", "1", "H", "S"):
        return display_name("abilities", text)
    entry = get_dex(9).species[to_id(species)]
    ordinary = [ability for ability in entry.abilities if ability != entry.hidden_ability]
    hidden = [entry.hidden_ability] if entry.hidden_ability else []
    slots = {"0": ordinary[:1], "1": ordinary[1:2], "H": hidden, "S": ordinary[2:]}
    if not slots[text]:
        raise TeamError(f"{species} has no ability in slot {text!r}")
    return display_name("abilities", slots[text][0])


def parse_number(what: str, text: str) -> int:
    """A whole number without sign, or a TeamError that names it."""
    stripped = text.strip()
    if not re.fullmatch(r"[0-9]{1,4}", stripped):
        raise TeamError(f"{what} {text!r}: expected a whole number")
    return int(stripped)


@lru_cache(maxsize=8192)
def _squeeze(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "", name)


def _pack_evs(evs: Spread | None) -> str:
    if evs is None:
        return ""
    # Stated zeros must not be read back as "not stated", which means 252 in gens 1 and 2.
    return ",".join(str(ev) if ev else "" for ev in evs) if any(evs) else "0"


def _pack_ivs(ivs: Spread | None) -> str:
    if ivs is None or all(iv == 31 for iv in ivs):
        return ""
    return ",".join("" if iv == 31 else str(iv) for iv in ivs)


def _unpack_evs(text: str) -> Spread | None:
    return None if text == "" else _spread("EV", text, 0)


def _unpack_ivs(text: str) -> Spread | None:
    if text == "":
        return None
    ivs = _spread("IV", text, 31)
    return None if all(iv == 31 for iv in ivs) else ivs


def _spread(what: str, text: str, default: int) -> Spread:
    parts = text.split(",")
    if len(parts) > len(STATS):
        raise TeamError(f"{what}s {text!r}: expected at most {len(STATS)} numbers")
    parts += [""] * (len(STATS) - len(parts))
    return tuple(parse_number(what, part) if part else default for part in parts)


def _check_range(what: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise TeamError(f"{what} {value}: expected {low} to {high}")


def _check_spread(what: str, spread: Spread | None, high: int) -> None:
    if spread is None:
        return
    if len(spread) != len(STATS):
        raise TeamError(f"{len(spread)} {what}s given: expected {len(STATS)}")
    for stat, value in zip(STATS, spread, strict=True):
        _check_range(f"{stat} {what}", value, 0, high)
