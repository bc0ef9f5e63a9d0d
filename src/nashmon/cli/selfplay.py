"""`nashmon selfplay`: iterated self-play, with and without damping."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


def selfplay(
    presets: Annotated[
        str, typer.Option(help="baseline, damped or both with a comma.")
    ] = "baseline,damped",
    iterations: Annotated[int, typer.Option(help="Iterations of each run.")] = 6,
    updates: Annotated[int, typer.Option(help="Updates per iteration.")] = 50,
    seeds: Annotated[int, typer.Option(help="Runs per preset.")] = 1,
    games: Annotated[int, typer.Option(help="Evaluation games per opponent.")] = 400,
    config: Annotated[Path | None, typer.Option(help="Settings of the runs (YAML).")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", "-s", help="Override a setting, key=value.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where runs and report go.")] = Path("selfplay"),
) -> None:
    """Collect, train, evaluate, repeat; a run that was stopped goes on where it was."""
    from nashmon.review.page import write_page
    from nashmon.review.selfplay import selfplay_page
    from nashmon.train.config import load_config
    from nashmon.train.selfplay import (
        SelfPlay,
        SelfPlayConfig,
        compare_rows,
        diversity,
        preset_run,
    )

    console = Console()
    base = load_config(config, settings or [])
    plan = SelfPlayConfig(iterations=iterations, updates=updates, games=games)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("entropy {task.fields[entropy]:.3f}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    diversities = {}
    with Progress(*columns, console=console) as progress:
        for preset in presets.split(","):
            for seed in range(seeds):
                name = f"{preset}_{seed}"
                run = preset_run(base, preset, seed)  # type: ignore[arg-type]
                total = iterations * updates
                task = progress.add_task(name, total=total, entropy=0.0)
                loop = SelfPlay(run, plan, out / name)
                for number, update, metrics in loop.run():
                    done = (number - 1) * updates + update
                    progress.update(task, completed=done, entropy=metrics["entropy"])
                progress.update(task, completed=total)
                diversities[name] = diversity(out / name, run)
    write_page(out / "report.html", selfplay_page(compare_rows(out), diversities))
    console.print(f"report: {out / 'report.html'}")
