"""The teams of a run: sources with equal shares, and teams that only evaluation sees."""

from __future__ import annotations

from dataclasses import dataclass

from nashmon.core.formats import get_format
from nashmon.sim.make import team_sampler
from nashmon.sim.seeds import PoolTeams, TeamSampler
from nashmon.sim.showdown.tools import validate_team
from nashmon.teams.pool import TeamPool
from nashmon.train.config import TeamsConfig


@dataclass(frozen=True, slots=True)
class RunTeams:
    """Samplers for training and for evaluation."""

    train: TeamSampler
    held_out: TeamSampler


def run_teams(format_id: str, config: TeamsConfig) -> RunTeams:
    """The samplers of a run; formats that make their own teams need no sources."""
    rules = get_format(format_id)
    if rules.random_teams:
        sampler = team_sampler(rules, None)
        return RunTeams(sampler, sampler)
    first = TeamPool.load(rules.id, config.train[0], validate_team)
    if config.held_out > 0:
        kept, held = first.split(config.held_out)
    else:
        kept = held = first
    rest = [TeamPool.load(rules.id, source, validate_team) for source in config.train[1:]]
    own = balanced([kept.packed, *(pool.packed for pool in rest)])
    foes = own
    if config.opponent:
        pools = [TeamPool.load(rules.id, source, validate_team) for source in config.opponent]
        foes = balanced([pool.packed for pool in pools])
    return RunTeams(PoolTeams(own, foes), PoolTeams(held.packed, held.packed))


def balanced(sources: list[tuple[str, ...]]) -> tuple[str, ...]:
    """All teams in one list in which every source has about the same share."""
    largest = max(len(source) for source in sources)
    return tuple(team for source in sources for team in source * round(largest / len(source)))
