"""A population on disk: agents with stable ids, parents and provenance.

The file only grows.  Removal is a further entry, so an id once given never means another agent:

    {"schema": 1, "format": "gen1ou", "entries": [{"add": {…}}, …, {"remove": "ID", "reason": …}]}
"""

from __future__ import annotations

import fcntl
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from nashmon.agents.specs import absolute_spec, fingerprint, get_agent, split_spec
from nashmon.core.errors import NashmonError
from nashmon.core.formats import get_format
from nashmon.match.cells import write_atomically

SCHEMA = 1
Kind = Literal["scripted", "checkpoint", "response", "average", "mixture"]
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class PopulationError(NashmonError):
    """A population file or a member that cannot be used."""


@dataclass(frozen=True, slots=True)
class Member:
    """An agent of a population."""

    id: str
    spec: str
    kind: Kind
    format: str
    fingerprint: str  # of the agent when it was added
    parents: tuple[str, ...] = ()  # ids: what it was trained against, averages or starts from
    provenance: Mapping[str, Any] = field(default_factory=dict)  # budget, seed, round …

    def __post_init__(self) -> None:
        """Refuse ids that cannot be file names and unknown kinds."""
        if not _ID.fullmatch(self.id):
            raise PopulationError(f"id {self.id!r}: expected 1–64 letters, digits, '.', '_' or '-'")
        if self.kind not in get_args(Kind):
            raise PopulationError(f"{self.id}: unknown kind {self.kind!r}: {get_args(Kind)}")


def make_member(
    spec: str,
    format_id: str,
    name: str = "",
    kind: Kind | None = None,
    parents: tuple[str, ...] = (),
    provenance: Mapping[str, Any] | None = None,
) -> Member:
    """A member from an agent spec; an agent that cannot play the format is refused.

    Its spec is kept with an absolute path, so that mixtures in other directories can name it.
    """
    rules = get_format(format_id)
    spec = absolute_spec(spec)
    get_agent(spec, rules.id)
    mark = fingerprint(spec)
    if not name:
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", re.split("[:/]", spec)[-1]).strip("-.")[-40:]
        name = f"{name}-{mark[:6]}"
    guess: dict[str, Kind] = {"run": "checkpoint", "zoo": "checkpoint", "mixture": "mixture"}
    kind = kind or guess.get(split_spec(spec)[0], "scripted")
    return Member(name, spec, kind, rules.id, mark, parents, dict(provenance or {}))


class Population:
    """Members of one format, oldest first."""

    def __init__(self, path: Path, format_id: str) -> None:
        self.path = path
        self.format = format_id

    @classmethod
    def create(cls, path: Path, format_id: str) -> Population:
        """A new population; the file must not exist."""
        if path.exists():
            raise PopulationError(f"{path} already exists")
        path.parent.mkdir(parents=True, exist_ok=True)
        population = cls(path, format_id)
        population._write([])
        return population

    @classmethod
    def open(cls, path: Path) -> Population:
        """An existing population."""
        if not path.is_file():
            raise PopulationError(f"there is no population {path}")
        return cls(path, _read(path)["format"])

    def entries(self) -> list[dict[str, Any]]:
        """Everything that was ever added or removed, oldest first."""
        return list(_read(self.path)["entries"])

    def all_members(self) -> list[Member]:
        """Every member there ever was."""
        return [member_of(entry["add"]) for entry in self.entries() if "add" in entry]

    def members(self) -> list[Member]:
        """The members that were not removed."""
        gone = {entry["remove"] for entry in self.entries() if "remove" in entry}
        return [member for member in self.all_members() if member.id not in gone]

    def get(self, name: str) -> Member:
        """A member by its id."""
        for member in self.members():
            if member.id == name:
                return member
        known = ", ".join(member.id for member in self.members()) or "nobody"
        raise PopulationError(f"no member {name!r} in {self.path}; it has {known}")

    def add(self, member: Member) -> Member:
        """Append a member; adding the same one again changes nothing."""
        if member.format != self.format:
            raise PopulationError(
                f"{member.id} plays {member.format}, the population {self.path} {self.format}"
            )
        with self._locked():
            known = {old.id: old for old in self.all_members()}
            if member.id in known:
                if _facts(known[member.id]) == _facts(member):
                    return known[member.id]
                raise PopulationError(f"id {member.id} already names {known[member.id].spec}")
            unknown = [parent for parent in member.parents if parent not in known]
            if unknown:
                raise PopulationError(f"{member.id}: parent {unknown[0]!r} is not in {self.path}")
            self._write([*self.entries(), {"add": asdict(member)}])
        return member

    def remove(self, name: str, reason: str = "") -> None:
        """Append a tombstone; the id stays taken and the results stay valid."""
        with self._locked():
            self.get(name)
            self._write([*self.entries(), {"remove": name, "reason": reason}])

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with self.path.with_name(f".{self.path.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _write(self, entries: list[dict[str, Any]]) -> None:
        content = {"schema": SCHEMA, "format": self.format, "entries": entries}
        write_atomically(self.path, json.dumps(content, indent=1))


def _read(path: Path) -> dict[str, Any]:
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if data["schema"] != SCHEMA:
            raise PopulationError(
                f"{path} has schema {data['schema']}; this version reads {SCHEMA}"
            )
        return {"format": str(data["format"]), "entries": data["entries"]}
    except (ValueError, KeyError, TypeError) as error:
        raise PopulationError(f"{path} is not a population: {error!r}") from error


def member_of(data: Mapping[str, Any]) -> Member:
    """A member from its plain values."""
    try:
        return Member(**{**data, "parents": tuple(data["parents"])})
    except TypeError as error:
        raise PopulationError(f"not a member of a population: {error}") from error


def _facts(member: Member) -> tuple[Any, ...]:
    return member.spec, member.kind, member.format, member.fingerprint, member.parents
