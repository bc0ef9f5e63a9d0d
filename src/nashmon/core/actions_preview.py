"""Team preview: numbering the ways to pick and order a team.

A pick is the leads and the set behind them; the order behind them is that of the team.  Picks are
enumerated lexicographically: leads first, then the rest.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from math import comb

from nashmon.core.actions_request import (
    MAX_TEAM,
    IllegalActionError,
    Request,
    level_of,
    species_of,
)
from nashmon.core.formats import Format

Pick = tuple[int, ...]  # positions in the team, leads first


@lru_cache(maxsize=256)
def picks(size: int, picked: int, leads: int) -> tuple[Pick, ...]:
    """Every pick of `picked` out of `size` with `leads` of them in front."""
    leads = min(leads, picked)
    out: list[Pick] = []
    for front in combinations(range(size), leads):
        others = [position for position in range(size) if position not in front]
        out.extend((*front, *back) for back in combinations(others, picked - leads))
    return tuple(out)


def num_picks(format: Format, leads: int) -> int:
    """Picks of a full team in a format, 0 without team preview."""
    size, picked = format.team_size, format.picked
    if not format.has_preview or size > MAX_TEAM:
        return 0
    leads = min(leads, picked)
    return comb(size, leads) * comb(size - leads, picked - leads)


def request_picks(request: Request, leads: int) -> tuple[Pick, ...]:
    """The picks of a preview request as positions in `side.pokemon`, in action order.

    They count the team in (species, ident) order, as states and observations show it; leads stand
    in that order, the others in team order.
    """
    team = request["side"]["pokemon"]
    size = len(team)
    picked = min(size, request.get("maxChosenTeamSize") or size)
    order = sorted(range(size), key=lambda k: (species_of(team[k]), team[k]["ident"]))
    return _ordered_picks(tuple(order), picked, leads)


@lru_cache(maxsize=4096)
def _ordered_picks(order: Pick, picked: int, leads: int) -> tuple[Pick, ...]:
    front = min(leads, picked)
    return tuple(
        (*(order[k] for k in pick[:front]), *sorted(order[k] for k in pick[front:]))
        for pick in picks(len(order), picked, leads)
    )


def allowed_picks(request: Request, leads: int, format: Format) -> list[bool]:
    """Which picks the format accepts (a few limit the sum of levels)."""
    ways = request_picks(request, leads)
    if format.max_total_level is None:
        return [True] * len(ways)
    levels = [level_of(entry) for entry in request["side"]["pokemon"]]
    return [sum(levels[position] for position in pick) <= format.max_total_level for pick in ways]


def preview_choice(pick: Pick) -> str:
    """The choice string of a pick."""
    separator = "," if max(pick) > 8 else ""
    return "team " + separator.join(str(position + 1) for position in pick)


def preview_action(request: Request, choice: str, leads: int) -> int:
    """The action of a "team …" choice; missing positions are filled as Showdown does."""
    size = len(request["side"]["pokemon"])
    picked = min(size, request.get("maxChosenTeamSize") or size)
    data = choice.removeprefix("team").strip()
    if choice in ("default", "auto"):
        data = ""
    parts = data.split(",") if "," in data else list(data)
    if not all(part.strip().isdigit() for part in parts):
        raise IllegalActionError(f"{choice!r} is not a team preview choice")
    chosen = [int(part) - 1 for part in parts][:picked]
    chosen += [position for position in range(size) if position not in chosen]
    chosen = chosen[:picked]
    front = min(leads, picked)
    wanted = (set(chosen[:front]), set(chosen[front:]))
    for action, pick in enumerate(request_picks(request, leads)):
        if (set(pick[:front]), set(pick[front:])) == wanted:
            return action
    raise IllegalActionError(f"{choice!r} does not pick {picked} of {size} Pokémon")
