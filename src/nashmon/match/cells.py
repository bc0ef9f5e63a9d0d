"""Results of a tournament on disk: one small file per batch of games, written atomically.

    DIR/cells/<key>/<start>-<stop>.json      pairs of games start … stop − 1 of one cell

The key is a hash of everything a game depends on: both agents with their fingerprints, format,
teams, seed and turn limit.  The dice of a batch follow from its first pair, so a pair of games is
played once and counted once, whatever was killed, added or repeated.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nashmon.core.errors import NashmonError
from nashmon.match.statistics import Record

SCHEMA = 1
Range = tuple[int, int]  # pairs of games start … stop − 1


class CellError(NashmonError):
    """Stored results that cannot be used."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """An agent of a tournament."""

    spec: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Conditions:
    """What all games of a tournament have in common."""

    format_id: str
    teams: str  # where the teams come from: "" is the shipped set
    teams_hash: str  # of the packed teams
    seed: int
    turn_limit: int


class CellStore:
    """The results of all pairs of agents under one set of conditions."""

    def __init__(self, directory: Path, conditions: Conditions) -> None:
        self.directory = directory
        self.conditions = conditions

    def add(self, pair: tuple[Entrant, Entrant], part: Range, record: Record) -> None:
        """Store the record of a batch, seen from pair[0]."""
        if any(part[0] < stop and start < part[1] for start, stop in self.ranges(pair)):
            raise CellError(f"pairs {part} of {pair[0].spec} – {pair[1].spec} are already stored")
        first, second = in_order(pair)
        content = {
            "schema": SCHEMA,
            "agents": [first.spec, second.spec],
            "conditions": _facts(self.conditions),
            "range": list(part),
            "record": (record.flipped() if _is_flipped(pair) else record).to_dict(),
        }
        file = self._folder(pair) / f"{part[0]:07d}-{part[1]:07d}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, json.dumps(content, indent=1))

    def record(self, pair: tuple[Entrant, Entrant]) -> Record:
        """Everything stored about a pair, seen from pair[0]."""
        total = Record(0, 0, 0)
        for file in self._files(pair):
            total += _read(file)
        return total.flipped() if _is_flipped(pair) else total

    def ranges(self, pair: tuple[Entrant, Entrant]) -> list[Range]:
        """The stored ranges of a pair, in order."""
        found = []
        for file in self._files(pair):
            start, _, stop = file.stem.partition("-")
            found.append((int(start), int(stop)))
        return sorted(found)

    def missing(self, pair: tuple[Entrant, Entrant], num_pairs: int, batch: int) -> list[Range]:
        """Ranges of at most `batch` pairs that complete 0 … num_pairs − 1."""
        gaps, position = [], 0
        for start, stop in [*self.ranges(pair), (num_pairs, num_pairs)]:
            end = min(start, num_pairs)
            gaps += [(s, min(s + batch, end)) for s in range(position, end, batch)]
            position = max(position, stop)
        return gaps

    def _files(self, pair: tuple[Entrant, Entrant]) -> list[Path]:
        return sorted(self._folder(pair).glob("[0-9]*-[0-9]*.json"))

    def _folder(self, pair: tuple[Entrant, Entrant]) -> Path:
        agents = sorted((agent.spec, agent.fingerprint) for agent in pair)
        return self.directory / "cells" / text_hash(str([agents, _facts(self.conditions)]))


def in_order(pair: tuple[Entrant, Entrant]) -> tuple[Entrant, Entrant]:
    """The pair as it is stored, whoever was named first."""
    return (pair[1], pair[0]) if _is_flipped(pair) else pair


def _is_flipped(pair: tuple[Entrant, Entrant]) -> bool:
    return (pair[0].spec, pair[0].fingerprint) > (pair[1].spec, pair[1].fingerprint)


def _facts(conditions: Conditions) -> dict[str, Any]:
    return {
        "format": conditions.format_id,
        "teams": conditions.teams_hash,
        "seed": conditions.seed,
        "turn_limit": conditions.turn_limit,
    }


def _read(file: Path) -> Record:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        if data["schema"] != SCHEMA:
            raise CellError(f"{file} has schema {data['schema']}; this version reads {SCHEMA}")
        return Record.from_dict(data["record"])
    except (ValueError, KeyError, TypeError) as error:
        raise CellError(
            f"{file} is damaged: {error!r}; delete it to play its games again"
        ) from error


def text_hash(text: str) -> str:
    """A short hash for names of files."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def write_atomically(path: Path, text: str) -> None:
    """Replace a file so that a crash leaves the old one or the new one."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}.new")
    with fresh.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
