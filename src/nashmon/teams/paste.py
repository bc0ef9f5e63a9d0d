"""Showdown's readable team format, and files that hold teams in it or packed one per line.

Every line must be understood: an unknown line is an error, since a fact silently dropped is a
different team.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nashmon.core.dex import to_id
from nashmon.core.errors import TeamError
from nashmon.core.state import STATS
from nashmon.teams.names import display_name
from nashmon.teams.team import PokemonSet, Spread, Team, parse_number

STAT_NAMES = ("HP", "Atk", "Def", "SpA", "SpD", "Spe")
STAT_IDS = dict(zip(("hp", "atk", "def", "spa", "spd", "spe"), STATS, strict=True)) | {
    "spc": "spa",
    "special": "spa",
    "attack": "atk",
    "defense": "def",
    "spatk": "spa",
    "spdef": "spd",
    "speed": "spe",
}
HEADER = re.compile(r"^===\s*(?:\[(?P<format>[^\]]*)\])?\s*(?P<title>.*?)\s*===$")


@dataclass
class _Section:
    """The lines of one team with their numbers in the file."""

    title: str = ""
    format: str = ""
    lines: list[tuple[int, str]] = field(default_factory=list)


def parse_teams(text: str, source: str = "team") -> list[Team]:
    """All teams of a text: pastes, split by `=== [format] Name: idea ===`, or packed lines."""
    teams: list[Team] = []
    for section in _sections(text):
        if not any(line for _, line in section.lines):
            if section.title:
                raise TeamError(f"{source}: team {section.title!r} has no Pokémon")
            continue
        teams.extend(_parse_section(section, source))
    if not teams:
        raise TeamError(f"{source}: holds no team")
    return teams


def read_teams(path: str | Path) -> list[Team]:
    """All teams of a file; errors name the file and the line."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise TeamError(f"{file}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise TeamError(f"{file}: is not UTF-8 text") from None
    return parse_teams(text, str(file))


def write_paste(team: Team, header: bool = False) -> str:
    """The team as Showdown exports it, optionally under its `===` header."""
    blocks = "\n".join(_write_pokemon(pokemon) for pokemon in team.pokemon)
    if not header:
        return blocks
    title = f"{team.name}: {team.idea}" if team.idea else team.name
    prefix = f"[{team.format}] " if team.format else ""
    return f"=== {prefix}{title} ===\n\n{blocks}"


def _sections(text: str) -> list[_Section]:
    sections = [_Section()]
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip().lstrip("\ufeff")
        match = HEADER.match(line)
        if match:
            sections.append(_Section(match["title"], to_id(match["format"] or "")))
        else:
            sections[-1].lines.append((number, "" if line == "---" else line))
    return sections


def _parse_section(section: _Section, source: str) -> Iterator[Team]:
    name, _, idea = section.title.partition(": ")
    filled = [(number, line) for number, line in section.lines if line]
    if all(line.count("|") >= 11 for _, line in filled):
        for number, line in filled:
            yield _parse_packed(line, f"{source}, line {number}", name, section.format)
        return
    members = []
    for block in _blocks(section.lines):
        members.append(_parse_pokemon(block, source))
    yield Team(tuple(members), name, idea, section.format)


def _parse_packed(line: str, where: str, name: str, format_id: str) -> Team:
    # Showdown's own storage writes "format]name|packed"; a "]" before any "|" can only be that.
    head, _, rest = line.partition("]")
    if "|" not in head and rest:
        format_id = to_id(head)
        name, _, line = rest.partition("|")
    try:
        return Team.from_packed(line, name=name, format=format_id)
    except TeamError as error:
        raise TeamError(f"{where}: {error}") from None


def _blocks(lines: list[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    block: list[tuple[int, str]] = []
    for number, line in lines:
        if line:
            block.append((number, line))
        elif block:
            yield block
            block = []
    if block:
        yield block


def _parse_pokemon(block: list[tuple[int, str]], source: str) -> PokemonSet:
    values: dict[str, Any] = {"moves": []}
    number = block[0][0]
    try:
        _parse_head(block[0][1], values)
        for entry in block[1:]:
            number = entry[0]
            _parse_line(entry[1], values)
        # As Showdown reads it: an unstated happiness makes Frustration strongest.
        if "Frustration" in values["moves"]:
            values.setdefault("happiness", 0)
        return PokemonSet(**values | {"moves": tuple(values["moves"])})
    except TeamError as error:
        raise TeamError(f"{source}, line {number}: {error}") from None


def _parse_head(line: str, values: dict[str, Any]) -> None:
    """Nickname (Species) (M) @ Item."""
    head, at, item = line.rpartition(" @ ")
    if not at:
        head = line
    else:
        values["item"] = display_name("items", item)
    head = head.strip()
    for gender in ("M", "F"):
        if head.endswith(f" ({gender})"):
            values["gender"] = gender
            head = head[: -len(" (M)")]
    match = re.fullmatch(r"(.*\S)\s*\(([^()]+)\)", head)
    nickname, species = (match[1], match[2]) if match else ("", head)
    try:
        values["species"] = display_name("species", species)
    except TeamError:
        if ":" in species or species.startswith(("-", "~")):
            raise TeamError(f"expected 'Species @ Item' as first line, found {line!r}") from None
        raise
    if to_id(nickname) != to_id(values["species"]) or not to_id(nickname):
        values["nickname"] = nickname


def _parse_line(line: str, values: dict[str, Any]) -> None:
    if line.startswith(("-", "~")):
        values["moves"].append(_parse_move(line[1:].strip()))
        return
    nature = re.fullmatch(r"(\w+) nature", line, re.IGNORECASE)
    if nature:
        _set(values, "nature", display_name("natures", nature[1]))
        return
    key, colon, value = line.partition(":")
    if not colon or to_id(key) not in _FIELDS:
        known = "Ability, Level, EVs, IVs, '… Nature', '- Move' …"
        raise TeamError(f"line not understood: {line!r} (expected {known})")
    name, parse = _FIELDS[to_id(key)]
    _set(values, name, parse(value.strip()))


def _set(values: dict[str, Any], name: str, value: Any) -> None:
    if name in values:
        raise TeamError(f"{name.replace('_', ' ')} is given twice")
    values[name] = value


def _parse_move(text: str) -> str:
    if not text:
        raise TeamError("expected a move after '-'")
    return display_name("moves", text)


def _parse_yes(text: str) -> bool:
    if to_id(text) not in ("yes", "no"):
        raise TeamError(f"{text!r}: expected Yes or No")
    return to_id(text) == "yes"


def _parse_spread(text: str, default: int, what: str) -> Spread:
    spread = dict.fromkeys(STATS, default)
    for part in text.split("/"):
        value, _, stat = part.strip().partition(" ")
        if to_id(stat) not in STAT_IDS:
            expected = ", ".join(STAT_NAMES)
            raise TeamError(
                f"{what} {part.strip()!r}: expected 'number stat', stat one of {expected}"
            )
        spread[STAT_IDS[to_id(stat)]] = parse_number(what, value)
        if to_id(stat) in ("spc", "special"):
            spread["spd"] = spread["spa"]
    return tuple(spread.values())


def _parse_ivs(text: str) -> Spread | None:
    ivs = _parse_spread(text, 31, "IV")
    return None if all(iv == 31 for iv in ivs) else ivs


def _number(what: str) -> Callable[[str], int]:
    return lambda text: parse_number(what, text)


_FIELDS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "ability": ("ability", lambda text: display_name("abilities", text)),
    "trait": ("ability", lambda text: display_name("abilities", text)),
    "level": ("level", _number("level")),
    "shiny": ("shiny", _parse_yes),
    "happiness": ("happiness", _number("happiness")),
    "pokeball": ("pokeball", lambda text: display_name("items", text)),
    "hiddenpower": ("hidden_power", lambda text: display_name("types", text)),
    "dynamaxlevel": ("dynamax_level", _number("Dynamax level")),
    "gigantamax": ("gigantamax", _parse_yes),
    "teratype": ("tera_type", lambda text: display_name("types", text)),
    "evs": ("evs", lambda text: _parse_spread(text, 0, "EV")),
    "ivs": ("ivs", _parse_ivs),
}


def _write_pokemon(pokemon: PokemonSet) -> str:
    lines = [_write_head(pokemon)]
    facts = [
        ("Ability", pokemon.ability),
        ("Level", "" if pokemon.level == 100 else pokemon.level),
        ("Shiny", "Yes" if pokemon.shiny else ""),
        ("Happiness", _write_happiness(pokemon)),
        ("Pokeball", pokemon.pokeball),
        ("Hidden Power", pokemon.hidden_power),
        ("Dynamax Level", "" if pokemon.dynamax_level == 10 else pokemon.dynamax_level),
        ("Gigantamax", "Yes" if pokemon.gigantamax else ""),
        ("Tera Type", pokemon.tera_type),
        ("EVs", _write_evs(pokemon.evs)),
    ]
    lines += [f"{key}: {value}" for key, value in facts if value != ""]
    if pokemon.nature:
        lines.append(f"{pokemon.nature} Nature")
    if pokemon.ivs is not None and any(iv != 31 for iv in pokemon.ivs):
        lines.append(f"IVs: {_write_spread(pokemon.ivs, 31)}")
    lines += [f"- {_write_move(move)}" for move in pokemon.moves]
    # Showdown ends each line with two blanks, which Markdown shows as a line break.
    return "".join(f"{line}  \n" for line in lines)


def _write_head(pokemon: PokemonSet) -> str:
    head = pokemon.species
    if pokemon.nickname:
        head = f"{pokemon.nickname} ({pokemon.species})"
    if pokemon.gender:
        head += f" ({pokemon.gender})"
    return f"{head} @ {pokemon.item}" if pokemon.item else head


def _write_happiness(pokemon: PokemonSet) -> str:
    neutral = 255
    if "Frustration" in pokemon.moves:
        # Read back as 0 when not stated, so 255 must be written; Showdown writes 0 as well.
        return str(pokemon.happiness)
    return "" if pokemon.happiness == neutral else str(pokemon.happiness)


def _write_evs(evs: Spread | None) -> str:
    if evs is None:
        return ""
    return _write_spread(evs, 0) if any(evs) else "0 HP"


def _write_spread(spread: Spread, default: int) -> str:
    pairs = zip(spread, STAT_NAMES, strict=True)
    return " / ".join(f"{value} {name}" for value, name in pairs if value != default)


def _write_move(move: str) -> str:
    prefix = "Hidden Power "
    return f"Hidden Power [{move.removeprefix(prefix)}]" if move.startswith(prefix) else move
