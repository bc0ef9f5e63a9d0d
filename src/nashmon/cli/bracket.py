"""`nashmon bracket`: an elimination tournament of best-of-N series."""

from contextlib import closing
from typing import Annotated, cast

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from nashmon.agents.specs import get_agent
from nashmon.cli.battle import FORMAT, SEED
from nashmon.match.bracket import Bracket, Kind, play_bracket
from nashmon.match.series import best_of
from nashmon.sim.make import make_battles


def bracket(
    agents: Annotated[list[str], typer.Argument(help="Agents, strongest first (seeding).")],
    format_id: FORMAT = "gen1ou",
    kind: Annotated[str, typer.Option(help="single or double elimination.")] = "single",
    best: Annotated[int, typer.Option("--best-of", help="Games of a series, odd.")] = 3,
    seed: SEED = 1,
    teams: Annotated[str, typer.Option(help="Team set or directory; default: shipped.")] = "",
) -> None:
    """Play an elimination bracket and print every series."""
    players = {spec: get_agent(spec, format_id) for spec in agents}
    rows = max(1, (best + 1) // 2)
    with closing(make_battles(format_id, rows, teams=teams or None)) as battles:
        result = play_bracket(
            agents,
            lambda a, b, series: best_of(
                (players[a], players[b]), battles, best, seed * 1000 + series
            ),
            cast(Kind, kind),
        )
    console = Console()
    console.print(bracket_table(result))
    console.print(escape(f"champion: {result.places[0]}"))


def bracket_table(result: Bracket) -> Table:
    """Every series in the order it was played."""
    table = Table("stage", "agent", "games", "agent ", "winner")
    for series in result.series:
        first, second = series.agents
        table.add_row(
            series.stage,
            escape(first),
            f"{series.wins[0]} – {series.wins[1]}",
            escape(second),
            escape(series.winner),
        )
    return table
