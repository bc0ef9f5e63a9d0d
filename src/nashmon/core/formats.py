"""The formats of the pinned Showdown package: what a battle in each of them looks like."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Literal

from nashmon.core.dex import Dex, get_dex, read_data, to_id
from nashmon.core.errors import UnknownFormatError

Gimmick = Literal["tera", "dynamax", "mega", "zmove", "ultra"]


@dataclass(frozen=True, slots=True)
class Format:
    """One format."""

    id: str
    name: str  # "[Gen 1] OU"
    gen: int
    mod: str  # name of its dex: "gen1", "champions" …
    game_type: str  # "singles", "doubles", "triples", "multi" or "freeforall"
    min_team_size: int
    team_size: int  # largest team
    picked: int  # Pokémon brought to the battle; team_size when all of them are
    has_preview: bool = False
    gimmicks: tuple[Gimmick, ...] = ()  # what a move can be combined with, likeliest first
    random_teams: bool = False
    rated: bool = False
    ladder: bool = False  # players can search for rated battles
    default_level: int = 100
    max_level: int = 100
    adjust_level: int | None = None  # every Pokémon fights at this level
    adjust_level_down: int | None = None  # … when it was higher
    max_total_level: int | None = None  # of the Pokémon picked at preview
    restricts_pick: bool = False  # not every pick at preview is allowed
    max_moves: int = 4
    open_sheets: bool = False  # sets are shown at preview
    foe_hp: Literal["percent", "pixels", "exact"] = "percent"  # how the foe's HP is shown
    best_of: bool = False
    inverse: bool = False  # type chart is inverted
    player_count: int = 2
    section: str = ""

    @property
    def gimmick(self) -> Gimmick | None:
        """The format's main gimmick."""
        return self.gimmicks[0] if self.gimmicks else None

    @property
    def dex(self) -> Dex:
        """The tables this format is played with."""
        return get_dex(self.mod)


def get_format(name: str) -> Format:
    """The format of an id or a name ("gen1ou", "[Gen 1] OU")."""
    formats = _formats()
    format_id = to_id(name)
    if format_id not in formats:
        near = get_close_matches(format_id, formats, n=5, cutoff=0.6)
        hint = f"; near matches: {', '.join(near)}" if near else ""
        raise UnknownFormatError(f"unknown format {name!r}{hint}")
    return formats[format_id]


def all_formats() -> tuple[Format, ...]:
    """Every format, in the package's order of ids."""
    return tuple(_formats().values())


@lru_cache(maxsize=1)
def showdown_version() -> str:
    """Version of the package the tables were made from."""
    return str(read_data("formats.json.gz")["version"])


@lru_cache(maxsize=1)
def _formats() -> dict[str, Format]:
    rows = read_data("formats.json.gz")["formats"]
    return {format_id: _format(format_id, row) for format_id, row in rows.items()}


def _format(format_id: str, row: dict[str, Any]) -> Format:
    values = dict(row)
    team_size = values.pop("max_team_size")
    picked = values.pop("picked", team_size)
    gimmicks = tuple(values.pop("gimmicks", ()))
    return Format(id=format_id, team_size=team_size, picked=picked, gimmicks=gimmicks, **values)
