"""`TeamPool`: the teams one side may be given, all legal, sampled with an explicit generator."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path

import numpy as np

from nashmon.core.errors import TeamError
from nashmon.core.formats import get_format
from nashmon.teams.defaults import complete
from nashmon.teams.legality import Judge, Progress, Reasons, Validator, check_completed
from nashmon.teams.paste import parse_teams, read_teams
from nashmon.teams.team import Team
from nashmon.teams.variety import generate

log = logging.getLogger(__name__)

DEFAULT_SET = "competitive"
GENERATED = re.compile(r"(?P<kind>variety|wild):(?P<count>[0-9]+)(?::(?P<seed>[0-9]+))?")


@dataclass(frozen=True)
class TeamPool:
    """Legal teams of one format, completed: `team.packed` is ready for any engine."""

    format_id: str
    teams: tuple[Team, ...]
    name: str = ""
    rejected: tuple[tuple[Team, Reasons], ...] = ()  # illegal teams that were kept out

    def __post_init__(self) -> None:
        """Refuse a pool nobody can play from."""
        if not self.teams:
            why = f": {'; '.join(self.rejected[0][1])}" if self.rejected else ""
            refused = f" ({len(self.rejected)} refused{why})" if self.rejected else ""
            raise TeamError(f"team pool {self.name!r} has no legal {self.format_id} team{refused}")

    def __len__(self) -> int:
        """The number of teams."""
        return len(self.teams)

    def __iter__(self) -> Iterator[Team]:
        """The teams in the order of their source."""
        return iter(self.teams)

    def __getitem__(self, index: int) -> Team:
        """One team."""
        return self.teams[index]

    @cached_property
    def packed(self) -> tuple[str, ...]:
        """The packed teams, in order."""
        return tuple(team.packed for team in self.teams)

    def sample(self, rng: np.random.Generator) -> Team:
        """One team, all equally likely."""
        return self.teams[int(rng.integers(len(self.teams)))]

    def split(self, held_out: float = 0.2) -> tuple[TeamPool, TeamPool]:
        """Train and held-out pools; a team's side depends on its own content alone.

        Adding teams never moves others across, and reordering a team does not either.
        """
        if not 0.0 < held_out < 1.0:
            raise TeamError(f"held-out share {held_out}: expected a number between 0 and 1")
        sides: tuple[list[Team], list[Team]] = ([], [])
        for team in self.teams:
            sides[_unit_interval(team) < held_out].append(team)
        train, held = (
            TeamPool(self.format_id, tuple(teams), f"{self.name} ({side})")
            for teams, side in zip(sides, ("train", "held out"), strict=True)
        )
        return train, held

    @classmethod
    def of(
        cls,
        format_id: str,
        teams: Sequence[Team],
        name: str = "teams",
        validate: Validator | None = None,
        progress: Progress | None = None,
    ) -> TeamPool:
        """A pool of the legal ones among the given teams."""
        format_id = get_format(format_id).id
        completed = [complete(team, format_id) for team in teams]
        reasons = check_completed(format_id, completed, validate, progress)
        legal, rejected = [], []
        for team, why in zip(completed, reasons, strict=True):
            if why:
                rejected.append((team, why))
                title = team.name or " / ".join(team.species)
                log.warning("%s: %r is not legal in %s: %s", name, title, format_id, "; ".join(why))
            else:
                legal.append(team)
        return cls(format_id, tuple(legal), name, tuple(rejected))

    @classmethod
    def load(
        cls,
        format_id: str,
        source: str | Path = "",
        validate: Validator | None = None,
        progress: Progress | None = None,
    ) -> TeamPool:
        """A pool from a shipped set, a file, a directory or the generator.

        Sources: "" or "competitive", "gen1ou/competitive", a path, "variety:COUNT[:SEED]",
        "wild:COUNT[:SEED]" (Gen 1).  Verdicts of shipped and Gen 1 generated teams are known;
        others need a validator the first time.
        """
        format_id = get_format(format_id).id
        name = str(source) or f"{format_id}/{DEFAULT_SET}"
        match = GENERATED.fullmatch(name)
        if match is None:
            return cls.of(format_id, load_teams(format_id, source), name, validate, progress)
        rng = np.random.default_rng(int(match["seed"] or 0))
        judge = Judge(validate) if validate is not None else None
        wild = match["kind"] == "wild"
        teams = generate(format_id, int(match["count"]), rng, judge, wild, progress)
        if judge is not None:
            judge.save()
        return cls(format_id, tuple(complete(team, format_id) for team in teams), name)


def load_teams(format_id: str, source: str | Path = "") -> list[Team]:
    """The teams of a shipped set, a file or a directory, not yet judged."""
    name = str(source)
    if not isinstance(source, Path):
        folder, slash, set_name = name.rpartition("/")
        wanted = (folder if slash else format_id, set_name or DEFAULT_SET)
        if wanted == (format_id, format_id):
            wanted = (format_id, DEFAULT_SET)
        if wanted in named_sets():
            text = _data().joinpath(wanted[0], f"{wanted[1]}.txt").read_text(encoding="utf-8")
            return parse_teams(text, "/".join(wanted))
    if name and Path(name).exists():
        return _read_path(Path(name), format_id)
    here = [set_name for folder, set_name in named_sets() if folder == format_id]
    raise TeamError(
        f"no team set, file or directory {name or DEFAULT_SET!r}"
        f" (sets shipped for {format_id}: {', '.join(here) or 'none'}; or variety:COUNT)"
    )


def named_sets() -> tuple[tuple[str, str], ...]:
    """(format id, set name) of every shipped set."""
    folders = sorted((entry for entry in _data().iterdir() if entry.is_dir()), key=lambda e: e.name)
    return tuple(
        (folder.name, file.name.removesuffix(".txt"))
        for folder in folders
        for file in sorted(folder.iterdir(), key=lambda e: e.name)
        if file.name.endswith(".txt")
    )


def _data() -> resources.abc.Traversable:
    return resources.files("nashmon.teams").joinpath("data")


def _read_path(path: Path, format_id: str) -> list[Team]:
    """Teams of a file, or of every team file below a directory, that are not of another format."""
    files = [path] if path.is_file() else sorted(f for f in path.rglob("*") if _holds_teams(f))
    if not files:
        raise TeamError(f"{path}: holds no team file (expected *.txt, *.packed or *_team)")
    teams: list[Team] = []
    others: set[str] = set()
    for file in files:
        if file.name.endswith("_team") and not file.name.endswith(f".{format_id}_team"):
            others.add(file.suffix.strip(".").removesuffix("_team"))
            continue
        for team in read_teams(file):
            if team.format in ("", format_id):
                teams.append(team)
            else:
                others.add(team.format)
    found = f" (found teams of {', '.join(sorted(others))})" if others else ""
    if not teams:
        raise TeamError(f"{path}: holds no {format_id} team{found}")
    if others:
        log.info("%s: %d teams of %s%s", path, len(teams), format_id, found)
    return teams


def _holds_teams(file: Path) -> bool:
    return file.is_file() and (file.suffix in (".txt", ".packed") or file.name.endswith("_team"))


def _unit_interval(team: Team) -> float:
    return int(team.digest[:13], 16) / 16**13
