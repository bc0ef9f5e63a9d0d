"""`nashmon train`: self-play training with a live view of how it goes."""

from __future__ import annotations

import signal
import time
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

if TYPE_CHECKING:
    from nashmon.train.loop import Event, Loop

SHOWN = (
    "policy_loss",
    "value_loss",
    "entropy",
    "approx_kl",
    "magnet_kl",
    "KL Divergence",
    "portfolio_kl",
    "reg_kl",
    "grad_norm",
    "staleness",
)


def train(
    config: Annotated[
        Path | None, typer.Argument(help="YAML file of settings; without it, the defaults.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", help="Override a setting, for example -s budget.minutes=10."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Run directory; default: runs/FORMAT-DATE-TIME.")
    ] = None,
    resume: Annotated[Path | None, typer.Option(help="Continue the run in this directory.")] = None,
    checkpoint: Annotated[str, typer.Option(help="With --resume: where to continue.")] = "last",
) -> None:
    """Train an agent by self-play; without arguments: Gen 1 OU, one hour, this machine's cores.

    Ctrl-C saves and stops; `nashmon train --resume RUN` goes on.
    """
    from nashmon.core.errors import NashmonError
    from nashmon.train.config import load_config
    from nashmon.train.loop import Loop
    from nashmon.train.run import RunDirectory

    console = Console()
    if resume is not None:
        if config is not None or settings or out is not None:
            raise typer.BadParameter("--resume takes its settings from the run")
        run = RunDirectory.open(resume)
        loop = Loop(run, run.config())
        loop.resume(checkpoint)
    else:
        chosen = load_config(config, settings or [])
        stamp = time.strftime("%Y%m%d-%H%M%S")
        run = RunDirectory.create(out or Path("runs") / f"{chosen.format}-{stamp}", chosen)
        try:
            loop = Loop(run, chosen)
        except NashmonError:
            run.discard()
            raise
    console.print(f"run directory [bold]{run.path}[/]")
    watch(console, loop)
    finish(console, run.path)


def watch(console: Console, loop: Loop) -> None:
    """Run a loop with the dashboard; the first Ctrl-C asks it to stop."""

    def interrupt(*_: Any) -> None:
        console.print("[yellow]stopping after this update …[/]")
        loop.stop()

    before = signal.signal(signal.SIGINT, interrupt)
    dashboard = Dashboard(loop)
    try:
        with Live(dashboard.view(), console=console, refresh_per_second=2) as live:
            for event in loop.run():
                dashboard.take(event)
                live.update(dashboard.view())
                if event.message:
                    live.console.print(event.message)
    finally:
        signal.signal(signal.SIGINT, before)


class Dashboard:
    """Progress, speed, losses and win rates as they come."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(),
            TextColumn("left {task.fields[left]}"),
        )
        self._task = self._bar.add_task("training", total=1.0, left="…")
        self._history: deque[tuple[float, float]] = deque(maxlen=50)
        self._last: Event | None = None
        self._results: dict[str, Any] = {}

    def take(self, event: Event) -> None:
        """Note an event."""
        if event.progress is not None:
            self._last = event
            fraction = self.loop.fraction()
            self._history.append((time.monotonic(), fraction))
            self._bar.update(self._task, completed=fraction, left=self._left(fraction))
        for result in event.results:
            self._results[result.opponent] = result

    def _left(self, fraction: float) -> str:
        (start, then), (now, _) = self._history[0], self._history[-1]
        if fraction <= then:
            return "…"
        seconds = (1.0 - fraction) * (now - start) / (fraction - then)
        return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"

    def view(self) -> Group:
        """Everything as one renderable."""
        parts: list[Any] = [self._bar]
        if self._last is not None and self._last.progress is not None:
            parts.append(self._numbers(self._last.progress))
        if self._results:
            parts.append(results_table(self._results.values()))
        return Group(*parts)

    def _numbers(self, progress: Any) -> Table:
        metrics = progress.metrics
        table = Table.grid(padding=(0, 2))
        table.add_row(
            f"update {progress.update:,}",
            f"{progress.decisions:,} decisions",
            f"{progress.battles:,} battles",
            f"{metrics['decisions_per_second']:,.0f} decisions/s",
            f"{metrics['battle_turns']:.0f} turns",
        )
        shown = [f"{name} {metrics[name]:.4f}" for name in SHOWN if name in metrics]
        for start in range(0, len(shown), 5):
            table.add_row(*shown[start : start + 5])
        return table


def results_table(results: Any) -> Table:
    """Win rates with intervals."""
    table = Table("opponent", "games", "win rate", "95 %", "after", title="held-out teams")
    for result in results:
        low, high = result.record.interval
        table.add_row(
            result.opponent,
            f"{result.record.games:,}",
            f"{result.record.win_rate:.1%}",
            f"{low:.1%} – {high:.1%}",
            f"{result.seconds / 60:.1f} min",
        )
    return table


def finish(console: Console, path: Path) -> None:
    """Write the report, say where things are and what to do next."""
    from nashmon.review.page import write_page
    from nashmon.review.training import training_page

    write_page(path / "report.html", training_page(path))
    console.print(f"report:  {path / 'report.html'}")
    console.print(f"metrics: tensorboard --logdir {path}/tensorboard")
    console.print(f"play:    nashmon match run:{path}@last scripted:maxpower")
