"""`nashmon payoff`: play the payoff table of a population."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


def payoff(
    file: Annotated[Path, typer.Argument(help="The population, for example population.json.")],
    games: Annotated[int, typer.Option(help="Games of every pair, even.")] = 400,
    budget: Annotated[int, typer.Option(help="Further games where rates are least certain.")] = 0,
    deviation: Annotated[
        float, typer.Option(help="Standard deviation from which a rate is certain enough.")
    ] = 0.01,
    teams: Annotated[str, typer.Option(help="Team set or directory; default: shipped.")] = "",
    seed: Annotated[int, typer.Option(help="Of teams and dice.")] = 1,
    turn_limit: Annotated[int, typer.Option(help="A longer battle is a draw.")] = 1000,
    workers: Annotated[int, typer.Option(help="Processes; 0: this one.")] = 2,
    out: Annotated[Path, typer.Option("--out", "-o", help="Results, tables, heat map.")] = Path(
        "payoff"
    ),
) -> None:
    """Play what is missing; write payoff.json, payoff.csv, payoff.npz and heatmap.html."""
    from nashmon.cli.nash import show_analysis
    from nashmon.league.analysis import analyse
    from nashmon.league.cells import Cells, battles_of, play_table
    from nashmon.league.journal import Journal
    from nashmon.league.payoff import Rates
    from nashmon.league.payoff_files import write_table
    from nashmon.league.population import Population
    from nashmon.match.cells import CellStore
    from nashmon.match.tournament import TournamentConfig, conditions_of
    from nashmon.review.page import page, write_page
    from nashmon.review.psro import payoff_section

    population = Population.open(file)
    members = population.members()
    event = TournamentConfig(
        tuple(member.id for member in members),
        population.format,
        games,
        budget,
        seed,
        teams,
        turn_limit,
        workers,
    )
    conditions = conditions_of(event)
    jobs = battles_of(population.members, conditions, workers)
    cells = Cells(CellStore(out, conditions), jobs)
    columns = (TextColumn("games"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console()) as bar:
        task = bar.add_task("games", total=None)

        def tell(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        table = play_table(cells, members, games, deviation, budget, Journal(out), tell)
    for ending in ("json", "csv", "npz"):
        write_table(out / f"payoff.{ending}", table)
    write_page(out / "heatmap.html", page("Payoff table", payoff_section(Rates.of(table))))
    show_analysis(Console(), analyse(table.agents, table.win_rates, table=table))
    Console().print(f"tables and heat map: {out}")
