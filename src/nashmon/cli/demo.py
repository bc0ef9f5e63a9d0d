"""`nashmon demo`: the main job, small: an agent that learns Gen 1 OU from nothing in minutes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

SETTINGS = (
    "teams.train=[competitive]",
    "evaluation={every: 0, games: 200, final_games: 200, background: false, "
    "opponents: [scripted:random, scripted:maxpower]}",
    "log.tensorboard=false",
)


def demo(
    minutes: Annotated[float, typer.Option(help="Minutes of training.")] = 2.5,
    out: Annotated[Path | None, typer.Option(help="Run directory; default: temporary.")] = None,
) -> None:
    """Train from random weights, and show what was learned: before, after, and a report."""
    from nashmon.cli.train import finish, results_table, watch
    from nashmon.train.config import load_config
    from nashmon.train.evaluation import evaluate_checkpoint
    from nashmon.train.loop import Loop
    from nashmon.train.run import RunDirectory

    console = Console()
    path = out or Path(tempfile.mkdtemp(prefix="nashmon-demo-")) / "run"
    config = load_config(None, [*SETTINGS, f"budget.minutes={minutes}"])
    run = RunDirectory.create(path, config)
    loop = Loop(run, config)
    console.rule("Gen 1 OU, random weights (the first start compiles the engine: a minute)")
    first = run.checkpoint("untrained")
    loop.trainer.save_policy(first)
    console.print(results_table(evaluate_checkpoint(config, first, config.evaluation.games)))
    console.rule(f"{minutes:g} minutes of self-play on this machine")
    watch(console, loop)
    console.rule("Done")
    finish(console, path)
