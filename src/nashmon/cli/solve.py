"""`nashmon solve`: self-play on a game whose exploitability is known exactly."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

if TYPE_CHECKING:
    from nashmon.learn.solve import Point


def solve(
    game: Annotated[str, typer.Argument(help="rps, biased_rps, kuhn, leduc, goofspiel3 …")],
    algo: Annotated[
        str, typer.Option(help="ppo, magnet, damped, portfolio, rnad, nfsp; several with commas.")
    ] = "ppo,magnet,rnad",
    updates: Annotated[int, typer.Option(help="Updates; 0: enough for the game.")] = 0,
    games: Annotated[
        int, typer.Option(help="Games per update; 0: every possible game, weighted; −1: preset.")
    ] = -1,
    seeds: Annotated[int, typer.Option(help="Independent runs.")] = 3,
    network: Annotated[bool, typer.Option(help="Train a network, not a table.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Where to draw the curves (PNG).")] = None,
) -> None:
    """Train by self-play and print the exact exploitability (NashConv / 2, in the game's units)."""
    from nashmon.learn.curve import draw

    console = Console()
    names = algo.split(",")
    try:
        runs = {name: _runs(console, game, name, updates, games, seeds, network) for name in names}
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    table = Table(
        "algorithm", "start", "middle", "end (worst seed)", "games", "seconds", title=game
    )
    for name, points in runs.items():
        middle, end = (
            sorted(run[i].exploitability for run in points) for i in (len(points[0]) // 2, -1)
        )
        table.add_row(
            name,
            f"{points[0][0].exploitability:.4f}",
            f"{middle[len(middle) // 2]:.4f}",
            f"{end[len(end) // 2]:.4f} ({end[-1]:.4f})",
            f"{points[0][-1].games:,}" if points[0][-1].games else "all, weighted",
            f"{sum(run[-1].seconds for run in points):.0f}",
        )
    console.print(table)
    target = plot or Path(f"solve-{game}.png")
    draw(runs, f"{game}, {seeds} seeds", target)
    console.print(f"curves: {target}")


def _runs(
    console: Console, game: str, algo: str, updates: int, games: int, seeds: int, network: bool
) -> list[list[Point]]:
    from dataclasses import replace

    from nashmon.learn.presets import networked, preset
    from nashmon.learn.solve import solve as run

    config = preset(game, algo, updates, games)
    if network:
        config = networked(config)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[now]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    runs = []
    with Progress(*columns, console=console, transient=True) as progress:
        for seed in range(seeds):
            task = progress.add_task(f"{algo} seed {seed}", total=config.updates, now="")
            points = []
            for point in run(replace(config, seed=seed)):
                now = f"exploitability {point.exploitability:.4f}"
                progress.update(task, completed=point.update, now=now)
                points.append(point)
            runs.append(points)
    return runs
