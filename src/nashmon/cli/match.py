"""`nashmon match`: many games between two agents."""

from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from nashmon.agents.registry import get_agent
from nashmon.cli.battle import FORMAT, SEED
from nashmon.match.play import play
from nashmon.match.statistics import Record
from nashmon.sim.make import make_battles


def match(
    first: Annotated[str, typer.Argument(help="An agent, for example scripted:maxpower.")],
    second: Annotated[str, typer.Argument(help="The agent it plays against.")],
    format_id: FORMAT = "gen1ou",
    games: Annotated[int, typer.Option(help="Number of games, even: pairs swap seats.")] = 200,
    seed: SEED = 1,
    teams: Annotated[str, typer.Option(help="Team set or directory; default: shipped.")] = "",
    workers: Annotated[int, typer.Option(help="Simulator processes; 0: this one.")] = 2,
) -> None:
    """Play a match in pairs of games with seats and teams swapped."""
    console = Console()
    record = run_match(console, first, second, format_id, games, seed, teams, workers)
    console.print(match_table(first, second, record))


def run_match(
    console: Console,
    first: str,
    second: str,
    format_id: str,
    games: int,
    seed: int,
    teams: str = "",
    workers: int = 2,
) -> Record:
    """Play with a progress bar."""
    agents = get_agent(first), get_agent(second)
    rows = max(1, min(64, games // 2))
    battles = make_battles(format_id, rows, teams=teams or None, workers=workers)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    try:
        with Progress(*columns, TimeRemainingColumn(), console=console) as progress:
            task = progress.add_task(f"{first} – {second}", total=games)
            return play(agents, battles, games, seed, lambda n: progress.advance(task, n))
    finally:
        battles.close()


def match_table(first: str, second: str, record: Record) -> Table:
    """The result as a table."""
    low, high = record.interval
    table = Table("agent", "against", "games", "wins", "draws", "losses", "win rate", "95 %")
    table.add_row(
        first.removeprefix("scripted:"),
        second.removeprefix("scripted:"),
        *(str(n) for n in (record.games, record.wins, record.draws, record.losses)),
        f"{record.win_rate:.1%}",
        f"{low:.1%} – {high:.1%}",
    )
    table.caption = (
        f"mean length {record.turns / record.games:.1f} turns, {record.decisions:,} decisions"
    )
    return table
