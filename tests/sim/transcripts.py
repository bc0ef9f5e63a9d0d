"""Short transcripts and recorded random battles for the tests of the tracker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from nashmon.core.actions import action_space
from nashmon.core.formats import get_format
from nashmon.core.state import UniversalPokemon, UniversalState
from nashmon.sim.showdown import tools
from nashmon.sim.showdown.messages import BattleStart
from nashmon.sim.showdown.process import ShowdownProcess
from nashmon.sim.tracker import Tracker

NAMES = ("Red", "Blue")
# Where teams for a format come from when it has no random teams of its own; battles take any team.
TEAM_SOURCES = {
    "gen6ou": "gen6randombattle",
    "gen8vgc2022": "gen8randombattle",
    "gen9ou": "gen9randombattle",
    "gen9vgc2025regi": "gen9randomdoublesbattle",
}


def watch(format_id: str, *lines: str) -> UniversalState:
    """What p1 knows after these lines."""
    tracker = Tracker(format_id, 0, *NAMES)
    tracker.feed(lines)
    return tracker.state()


def foe(format_id: str, *lines: str) -> UniversalPokemon:
    """The foe's Pokémon in the first slot as p1 sees it after these lines."""
    active = watch(format_id, *lines).foe.active[0]
    assert active is not None
    return active


@dataclass(frozen=True)
class Moment:
    """What one seat received between two of its requests."""

    lines: list[str]
    request: dict[str, Any]


@cache
def simulator() -> ShowdownProcess:
    """One process for all tests; it ends with Python."""
    return ShowdownProcess()


def record(
    format_id: str, teams: tuple[str | None, str | None], seed: int, limit: int = 500
) -> list[list[Moment]]:
    """The first `limit` steps of a battle of random legal actions: the moments of each seat."""
    rng = np.random.default_rng(seed)
    space = action_space(get_format(format_id))
    moments: list[list[Moment]] = [[], []]
    pending: list[list[str]] = [[], []]
    start = BattleStart(0, format_id, teams, NAMES, seed=(1, 2, 3, seed))
    process = simulator()
    update = process.start([start])[0]
    for _ in range(limit):
        choices: list[str | None] = [None, None]
        for seat in (0, 1):
            pending[seat] += update.lines[seat]
            request = update.requests[seat]
            if request is None:
                continue
            moments[seat].append(Moment(pending[seat], request))
            pending[seat] = []
            if not request.get("wait"):
                legal = np.flatnonzero(space.mask(request))
                choices[seat] = space.choice(request, int(rng.choice(legal)))
        if update.ended:
            break
        update = process.choose([(0, *choices)])[0]
    process.end([0])
    return moments


def record_format(format_id: str, count: int, limit: int = 500) -> Iterator[list[list[Moment]]]:
    """Battles of a format with random teams."""
    source = TEAM_SOURCES.get(format_id)
    for number in range(count):
        teams: tuple[str | None, str | None] = (None, None)
        if source is not None:
            teams = (
                tools.random_team(source, 2 * number),
                tools.random_team(source, 2 * number + 1),
            )
        yield record(format_id, teams, number, limit)


def states(format_id: str, seat: int, moments: list[Moment]) -> Iterator[UniversalState]:
    """The state at each request of a seat."""
    tracker = Tracker(format_id, seat, *(NAMES if seat == 0 else NAMES[::-1]))
    for moment in moments:
        tracker.feed(moment.lines)
        tracker.request(moment.request)
        yield tracker.state()
