"""Which Gen 1 battles are played twice: teams, dice and the players' taste for switching."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from nashmon.sim.gen1 import tables as tb
from nashmon.sim.make import default_teams
from nashmon.teams.defaults import complete
from nashmon.teams.variety import generate

FORMAT = "gen1ou"
# Where legal teams come from: OU for half of the battles, beside it more and fewer species.
VARIETY_FORMATS = (FORMAT, FORMAT, "gen1ubers", "gen1uu")
VARIETY_TEAMS = 150  # per format, sensible ones and as many with any legal moves, DVs and EVs
_ALL_MOVES = [move for move in tb.MOVE_NUM if move != "struggle"]
# A kind's place is part of the seed of its battles.
KINDS = ("wild", "focus", "random", "teams", "variety")

Teams = tuple[str | None, str | None]


@dataclass(frozen=True)
class Job:
    """One battle to play; a team of None is drawn by Showdown as for a random battle."""

    seed: tuple[int, int, int, int]
    teams: Teams
    pick: int = 1
    switches: float = 0.15
    steps: int = 3000
    choices: tuple[tuple[str | None, str | None], ...] | None = None
    format: str = FORMAT

    def to_json(self) -> str:
        return json.dumps(self.__dict__)


def wild_team(rng: np.random.Generator, size: int, moves: list[str] | None = None) -> str:
    """Any species with any moves, at assorted levels and spreads."""
    pool = moves or _ALL_MOVES
    sets = []
    for index in range(size):
        species = tb.SPECIES_IDS[int(rng.integers(1, 152))]
        count = 4 if rng.random() < 0.9 else int(rng.integers(1, 5))
        count = min(count, len(pool))
        known = [pool[k] for k in rng.choice(len(pool), count, replace=False)]
        level = int(rng.choice([100, 100, 100, 74, 50, 5]))
        evs = ",".join(str(int(rng.choice([252, 252, 0]))) for _ in range(6))
        sets.append(f"Nick{index}|{species}||noability|{','.join(known)}||{evs}||||{level}|")
    return "]".join(sets)


@cache
def variety_pool(format_id: str) -> tuple[str, ...]:
    """Legal teams of a format, as they fight."""
    rng = np.random.default_rng(17)
    teams = [
        team
        for wild in (False, True)
        for team in generate(format_id, VARIETY_TEAMS, rng, wild=wild)
    ]
    return tuple(complete(team, format_id).packed for team in teams)


def make_jobs(kind: str, seed: int, count: int) -> Iterator[Job]:
    """Battles of one kind.

    `wild`: any species with any moves.  `focus`: the same with a dozen moves, which meet often.
    `random`: random-battle teams.  `teams`: the shipped ones.  `variety`: generated, legal ones.
    """
    rng = np.random.default_rng([KINDS.index(kind), seed])
    for _ in range(count):
        a, b, c, d = (int(word) for word in rng.integers(0, 1 << 16, 4))
        pick, size = int(rng.integers(1, 1 << 31)), int(rng.integers(1, 7))
        switches = float(rng.choice([0.05, 0.15, 0.3]))
        format_id = str(rng.choice(VARIETY_FORMATS)) if kind == "variety" else FORMAT
        teams = _draw_teams(kind, format_id, size, rng)
        yield Job((a, b, c, d), teams, pick, switches, format=format_id)


def _draw_teams(kind: str, format_id: str, size: int, rng: np.random.Generator) -> Teams:
    if kind == "random":
        return None, None
    if kind in ("teams", "variety"):
        pool = default_teams(format_id) if kind == "teams" else variety_pool(format_id)
        return str(rng.choice(pool)), str(rng.choice(pool))
    chosen = rng.choice(len(_ALL_MOVES), 12, replace=False)
    moves = [_ALL_MOVES[k] for k in chosen] if kind == "focus" else None
    return wild_team(rng, size, moves), wild_team(rng, size, moves)
