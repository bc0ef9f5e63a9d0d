"""Teams: pastes and packed strings, pools of named sets, legality and generation."""

from nashmon.teams.paste import parse_teams, read_teams, write_paste
from nashmon.teams.pool import TeamPool
from nashmon.teams.team import PokemonSet, Team

__all__ = ["PokemonSet", "Team", "TeamPool", "parse_teams", "read_teams", "write_paste"]
