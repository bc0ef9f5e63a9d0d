"""`nashmon tournament`: everybody against everybody."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column, Table

from nashmon.cli.battle import FORMAT, SEED
from nashmon.match.standings import Standings, standings
from nashmon.match.tournament import Results, Tournament, TournamentConfig
from nashmon.review.page import write_page
from nashmon.review.tournament import tournament_page

REPORT = "report.html"


def tournament(
    agents: Annotated[list[str], typer.Argument(help="Two or more agents; see `nashmon agents`.")],
    format_id: FORMAT = "gen1ou",
    games: Annotated[int, typer.Option(help="Games of each pair of agents, even.")] = 1000,
    budget: Annotated[
        int, typer.Option(help="Further games, played where ratings are least certain.")
    ] = 0,
    out: Annotated[Path, typer.Option("--out", "-o", help="Results and report.")] = Path(
        "tournament"
    ),
    seed: SEED = 1,
    teams: Annotated[str, typer.Option(help="Team set or directory; default: shipped.")] = "",
    turn_limit: Annotated[int, typer.Option(help="A longer battle is a draw.")] = 1000,
    workers: Annotated[int, typer.Option(help="Processes; 0: this one.")] = 2,
) -> None:
    """Play a round robin; games that are already in the directory are not played again."""
    console = Console()
    config = TournamentConfig(
        tuple(agents), format_id, games, budget, seed, teams, turn_limit, workers
    )
    results = _run(console, Tournament(config, out))
    result = standings(results)
    console.print(standings_table(result))
    for cycle in result.cycles:
        console.print(escape("cycle: " + " → ".join((*cycle, cycle[0]))))
    write_page(out / REPORT, tournament_page(config, result))
    console.print(f"report: {out / REPORT}")


def _run(console: Console, event: Tournament) -> Results:
    columns = (TextColumn("games"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("games", total=None)
        return event.run(lambda done, total: bar.update(task, completed=done, total=total))


def standings_table(result: Standings) -> Table:
    """Best first."""
    names = ("rating [95 %]", "win rate [95 %]", "games", "GXE", "Nash", "α-rank")
    table = Table(
        Column("agent", overflow="fold"),
        *(Column(name, no_wrap=True, justify="right") for name in names),
        padding=(0, 0, 0, 1),
    )
    for row in result.rows:
        low, high = row.total.interval
        table.add_row(
            escape(row.agent.removeprefix("scripted:")),
            f"{row.rating.rating:+.0f} \\[{row.rating.low:+.0f}, {row.rating.high:+.0f}]",
            f"{row.total.win_rate:.1%} \\[{100 * low:.1f}, {100 * high:.1f}]",
            f"{row.total.games:,}",
            f"{row.glicko.gxe:.0f}",
            f"{row.nash_weight:.2f}",
            f"{row.alpha_mass:.2f}",
        )
    return table
