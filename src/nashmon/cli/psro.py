"""`nashmon psro`: grow a population by best responses to its own mixture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from nashmon.league.rounds import Measured, Round


def psro(
    config: Annotated[Path | None, typer.Argument(help="Settings (YAML); default: none.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", "-s", help="Override a setting, key=value.")
    ] = None,
    resume: Annotated[bool, typer.Option(help="Continue the league in --out.")] = False,
    control: Annotated[
        bool, typer.Option("--control", help="Also train self-play with an equal budget.")
    ] = False,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the league lives.")] = Path(
        "league"
    ),
) -> None:
    """Train a response, add it, play its cells, solve again; then report."""
    from nashmon.league.analysis import analyse
    from nashmon.review.page import write_page
    from nashmon.review.psro import PSROReport, psro_page
    from nashmon.train.psro import League, LeagueError, load_league

    console = Console()
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        tasks: dict[str, Any] = {}

        def watch(what: str, done: int, total: int, rate: float) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total or None)
            won = f" {rate:.1%} won" if rate >= 0 else ""
            bar.update(tasks[what], description=what + won, completed=done, total=total or None)

        if resume and (config or settings):
            raise LeagueError("--resume goes on with the stored settings: give no others")
        if resume:
            league = League.open(out, watch)
        else:
            league = League.create(load_league(config, settings or []), out, watch)
        rounds, measured = [], []
        for result in league.run(control):
            console.print(_line(result))
            if isinstance(result, Round):
                rounds.append(result)
            else:
                measured.append(result)
        members, mixture, rates = league.rates()
        against = league.against_mixture(league.control()) if control else None
    for member, weight in zip(members, mixture, strict=True):
        console.print(f"{weight:7.1%}  {member.id}  {member.spec}", highlight=False)
    solved = analyse(rates.agents, rates.win_rates, table=rates.table)
    report = PSROReport(f"PSRO: {league.format}", members, rounds, rates, solved, measured, against)
    write_page(out / "report.html", psro_page(report))
    console.print(f"agent: mixture:{out / 'mixture.json'}\nreport: {out / 'report.html'}")


def _line(result: Round | Measured) -> str:
    gain = result.gain
    wins = f"[bold]½ {gain.value:+.3f}[/] (95 % {gain.low:+.3f} … {gain.high:+.3f})"
    if isinstance(result, Round):
        return (
            f"round {result.number}: the response wins {wins} against the mixture of "
            f"{len(result.population)}; joined: {', '.join(result.added)}"
        )
    return (
        f"measured {result.name}: the best response wins {wins} in {result.games:,} fresh games, "
        f"{result.seconds:.0f} s"
    )
