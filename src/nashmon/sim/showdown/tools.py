"""Teams and formats through one shared Showdown process, started at the first question."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from nashmon.sim.showdown.messages import seed_text, seed_words
from nashmon.sim.showdown.process import ShowdownProcess, WorkerError

_shared: tuple[int, ShowdownProcess] | None = None  # (process id of the owner, process)


def validate_team(format_id: str, team: str) -> list[str]:
    """Why a packed team is not legal in the format; an empty list when it is legal."""
    return validate_teams([(format_id, team)])[0]


def validate_teams(teams: Sequence[tuple[str, str]]) -> list[list[str]]:
    """`validate_team` for many (format, packed team) pairs at once."""
    reasons: list[list[str]] = _ask("validate", teams=teams)
    return reasons


def pack(sets: Sequence[dict[str, Any]]) -> str:
    """Showdown set objects → packed team."""
    return str(_ask("pack", sets=sets))


def unpack(team: str) -> list[dict[str, Any]]:
    """Packed team → Showdown set objects."""
    sets: list[dict[str, Any]] = _ask("unpack", team=team)
    return sets


def export_team(team: str) -> str:
    """Packed team → the text that people paste."""
    return str(_ask("export", team=team))


def import_team(text: str) -> str:
    """Pasted text → packed team."""
    return str(_ask("import", text=text))


def random_team(format_id: str, seed: int) -> str:
    """A packed team from the format's own generator; the same seed gives the same team."""
    return str(_ask("random_team", format=format_id, seed=seed_text(seed_words(seed))))


def list_formats() -> list[dict[str, Any]]:
    """Every format of the pinned Showdown with its properties (see `node/tools.js`)."""
    formats: list[dict[str, Any]] = _ask("formats")
    return formats


def _ask(command: str, **fields: Any) -> Any:
    global _shared
    if _shared is None or _shared[0] != os.getpid():  # a forked child needs its own
        _shared = os.getpid(), ShowdownProcess()
    try:
        return _shared[1].call(command, **fields)
    except WorkerError:
        _shared = None  # the next question starts a new process
        raise
