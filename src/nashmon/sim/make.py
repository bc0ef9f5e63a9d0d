"""`make_battles`: the right engine and teams for a format, from plain values."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np

from nashmon.core.errors import UnsupportedError
from nashmon.core.formats import Format, get_format
from nashmon.sim.base import Battles
from nashmon.sim.gen1.battles import Gen1Battles, Gen1Config
from nashmon.sim.gen1.rules import plays
from nashmon.sim.seeds import PoolTeams, RandomTeams, TeamSampler
from nashmon.sim.showdown.battles import ShowdownBattles
from nashmon.sim.showdown.lane import LaneConfig
from nashmon.sim.showdown.tools import random_team, validate_team
from nashmon.teams.pool import TeamPool

Engine = Literal["auto", "gen1", "showdown"]
Teams = str | Path | TeamPool | None
CONFIGS: dict[str, type[Gen1Config] | type[LaneConfig]] = {
    "gen1": Gen1Config,
    "showdown": LaneConfig,
}


def make_battles(
    format_id: str,
    num_battles: int,
    teams: Teams | tuple[Teams, Teams] | TeamSampler = None,
    engine: Engine = "auto",
    workers: int = 0,
    **options: Any,
) -> Battles:
    """A block of battles.

    `teams`: None for the shipped set (or the format's own random teams), a set name, file,
    directory or `TeamPool`, a pair of these for the two seats, or any sampler.  `engine`: "auto" is
    the Gen 1 engine where it plays the format, else Showdown.  `workers`: processes of Showdown,
    threads of the Gen 1 engine.  `options` are the fields of the engine's config: observation,
    actions, reward, turn_limit …
    """
    battle_format = get_format(format_id)
    if battle_format.game_type not in ("singles", "doubles"):
        raise UnsupportedError(
            f"{battle_format.id} is a {battle_format.game_type} format; singles and doubles can "
            "be played"
        )
    chosen = choose_engine(battle_format, engine)
    known = {field.name for field in fields(CONFIGS[chosen])} - {"format_id", "teams", "threads"}
    for name in options:
        if name not in known:
            raise UnsupportedError(
                f"the {chosen} engine has no option {name!r}; it has {', '.join(sorted(known))}"
            )
    sampler = team_sampler(battle_format, teams, chosen)
    if chosen == "gen1":
        gen1 = Gen1Config(battle_format.id, sampler, threads=max(1, workers), **options)
        return Gen1Battles(gen1, num_battles)
    return ShowdownBattles(LaneConfig(battle_format.id, sampler, **options), num_battles, workers)


def choose_engine(battle_format: Format, engine: Engine) -> Literal["gen1", "showdown"]:
    """The engine that plays a format."""
    if engine == "auto":
        return "gen1" if plays(battle_format.id) else "showdown"
    if engine not in CONFIGS:
        raise UnsupportedError(f"unknown engine {engine!r}; known: auto, {', '.join(CONFIGS)}")
    return engine


def team_sampler(
    battle_format: Format,
    teams: Teams | tuple[Teams, Teams] | TeamSampler,
    engine: Literal["gen1", "showdown"] = "showdown",
) -> TeamSampler:
    """How the teams of each battle are drawn."""
    if callable(teams):
        return teams
    pair = teams if isinstance(teams, tuple) else (teams, teams)
    if battle_format.random_teams:
        if pair != (None, None):
            raise UnsupportedError(f"{battle_format.id} makes its own teams; give none")
        # Showdown makes random teams as it starts a battle; the Gen 1 engine must be given them.
        return ShowdownTeams(battle_format.id) if engine == "gen1" else RandomTeams()
    first = _packed(battle_format, pair[0])
    return PoolTeams(first, first if pair[0] is pair[1] else _packed(battle_format, pair[1]))


@dataclass(frozen=True, slots=True)
class ShowdownTeams:
    """Random teams of a format, asked of Showdown one by one."""

    format_id: str

    def __call__(self, rng: np.random.Generator) -> tuple[str | None, str | None]:
        """One team for each seat."""
        first, second = (int(seed) for seed in rng.integers(0, 1 << 63, size=2))
        return random_team(self.format_id, first), random_team(self.format_id, second)


def default_teams(format_id: str) -> tuple[str, ...]:
    """The packed teams of the shipped set; () where the format makes its own."""
    battle_format = get_format(format_id)
    return () if battle_format.random_teams else _packed(battle_format, None)


def _packed(battle_format: Format, teams: Teams) -> tuple[str, ...]:
    if isinstance(teams, TeamPool):
        if teams.format_id != battle_format.id:
            raise UnsupportedError(f"a {teams.format_id} team pool cannot play {battle_format.id}")
        return teams.packed
    return TeamPool.load(battle_format.id, teams or "", validate_team).packed
