"""`make_battles`: the right engine and teams for a format, from plain values."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from nashmon.core.errors import UnsupportedError
from nashmon.core.formats import Format, get_format
from nashmon.sim.base import Battles
from nashmon.sim.seeds import PoolTeams, RandomTeams, TeamSampler
from nashmon.sim.showdown.battles import ShowdownBattles
from nashmon.sim.showdown.lane import LaneConfig
from nashmon.sim.showdown.tools import validate_team
from nashmon.teams.pool import TeamPool

Engine = Literal["auto", "showdown"]
Teams = str | Path | TeamPool | None
ENGINES: tuple[Engine, ...] = ("auto", "showdown")


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
    directory or `TeamPool`, a pair of these for the two seats, or any sampler.  `options` are the
    fields of the engine's config: observation, actions, reward, turn_limit …
    """
    battle_format = get_format(format_id)
    if battle_format.game_type not in ("singles", "doubles"):
        raise UnsupportedError(
            f"{battle_format.id} is a {battle_format.game_type} format; singles and doubles can "
            "be played"
        )
    if engine not in ENGINES:
        raise UnsupportedError(f"unknown engine {engine!r}; known: {', '.join(ENGINES)}")
    sampler = team_sampler(battle_format, teams)
    config = LaneConfig(battle_format.id, sampler, **options)
    return ShowdownBattles(config, num_battles, workers)


def team_sampler(
    battle_format: Format, teams: Teams | tuple[Teams, Teams] | TeamSampler
) -> TeamSampler:
    """How the teams of each battle are drawn."""
    if callable(teams):
        return teams
    pair = teams if isinstance(teams, tuple) else (teams, teams)
    if battle_format.random_teams:
        if pair != (None, None):
            raise UnsupportedError(f"{battle_format.id} makes its own teams; give none")
        return RandomTeams()
    first = _packed(battle_format, pair[0])
    return PoolTeams(first, first if pair[0] is pair[1] else _packed(battle_format, pair[1]))


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
