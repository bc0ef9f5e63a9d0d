"""Is a team legal?  Asked once per (package version, format, team), then remembered on disk.

The judge is Showdown's own validator, passed in as a callable so that teams need no simulator.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources
from pathlib import Path

from nashmon.core.errors import TeamError
from nashmon.core.formats import get_format, showdown_version
from nashmon.core.home import home_directory
from nashmon.teams.defaults import complete
from nashmon.teams.team import Team

Reasons = tuple[str, ...]  # why a team is illegal; () when it is legal
Validator = Callable[[str, str], Sequence[str]]  # (format id, packed team) → reasons
Progress = Callable[[int, int], None]  # (teams judged, teams to judge)


class Verdicts:
    """The verdicts known for one format: those shipped with the package and those on disk."""

    def __init__(self, format_id: str, directory: Path | None = None) -> None:
        version = showdown_version()
        self._shipped = _shipped_legal(version).get(format_id, frozenset())
        self._file = (directory or home_directory()) / "legality" / version / f"{format_id}.json"
        self._known: dict[str, Reasons] | None = None
        self._changed = False

    def get(self, packed: str) -> Reasons | None:
        """The reasons of an earlier verdict, None when the team was never judged."""
        key = _key(packed)
        return () if key in self._shipped else self._stored().get(key)

    def put(self, packed: str, reasons: Reasons) -> None:
        """Remember a verdict until `save`."""
        self._stored()[_key(packed)] = reasons
        self._changed = True

    def save(self) -> None:
        """Write what is new; readers never see half a file."""
        if not self._changed:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        merged = self._read() | self._stored()
        with tempfile.NamedTemporaryFile("w", dir=self._file.parent, delete=False) as file:
            json.dump(merged, file)
        Path(file.name).replace(self._file)
        self._changed = False

    def _stored(self) -> dict[str, Reasons]:
        if self._known is None:
            self._known = self._read()
        return self._known

    def _read(self) -> dict[str, Reasons]:
        if not self._file.exists():
            return {}
        try:
            stored = json.loads(self._file.read_text())
            return {key: tuple(reasons) for key, reasons in stored.items()}
        except (ValueError, AttributeError, TypeError):
            raise TeamError(f"{self._file}: damaged verdict cache; delete it") from None


class Judge:
    """A validator that remembers: asks the real one only about teams it has not seen.

    Without a real one every verdict must already be known.
    """

    def __init__(self, validate: Validator | None = None, directory: Path | None = None) -> None:
        self._validate = validate
        self._directory = directory
        self._verdicts: dict[str, Verdicts] = {}

    def __call__(self, format_id: str, packed: str) -> Reasons:
        """Why the format refuses the completed team, () when it is legal."""
        if format_id not in self._verdicts:
            self._verdicts[format_id] = Verdicts(format_id, self._directory)
        verdicts = self._verdicts[format_id]
        reasons = verdicts.get(packed)
        if reasons is None:
            if self._validate is None:
                members = ", ".join(Team.from_packed(packed).species)
                raise TeamError(f"{format_id}: team {members} was never judged; pass a validator")
            reasons = tuple(self._validate(format_id, packed))
            verdicts.put(packed, reasons)
        return reasons

    def save(self) -> None:
        """Remember the new verdicts for the next process."""
        for verdicts in self._verdicts.values():
            verdicts.save()


def check(
    format_id: str,
    teams: Sequence[Team],
    validate: Validator | None = None,
    progress: Progress | None = None,
) -> list[Reasons]:
    """For each team why the format refuses it, () when legal."""
    format_id = get_format(format_id).id
    completed = [complete(team, format_id) for team in teams]
    return check_completed(format_id, completed, validate, progress)


def check_completed(
    format_id: str,
    teams: Sequence[Team],
    validate: Validator | None = None,
    progress: Progress | None = None,
) -> list[Reasons]:
    """`check` for teams that are already as they fight."""
    judge = Judge(validate)
    results = []
    for index, team in enumerate(teams):
        results.append(judge(format_id, team.packed))
        if progress is not None:
            progress(index + 1, len(teams))
    judge.save()
    return results


def verdict_key(team: Team, format_id: str) -> str:
    """What a verdict is filed under: the hash of the completed team."""
    return _key(complete(team, format_id).packed)


def _key(packed: str) -> str:
    return hashlib.sha256(packed.encode()).hexdigest()[:24]


@cache
def _shipped_legal(version: str) -> dict[str, frozenset[str]]:
    """Keys of the shipped teams this version accepts, written by `tools/judge_teams.py`."""
    file = resources.files("nashmon.teams").joinpath("data/legal.json.gz")
    if not file.is_file():
        return {}
    data = json.loads(gzip.decompress(file.read_bytes()))
    if data["version"] != version:
        return {}
    return {format_id: frozenset(keys) for format_id, keys in data["legal"].items()}
