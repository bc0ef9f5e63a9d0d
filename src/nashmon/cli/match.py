"""`nashmon match`: many games between two agents."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column, Table

from nashmon.agents.specs import get_agent
from nashmon.cli.battle import FORMAT, SEED
from nashmon.core.agent import Agent
from nashmon.match.play import play, play_sprt
from nashmon.match.sprt import SprtConfig, log_likelihood_ratio
from nashmon.match.statistics import Record
from nashmon.sim.make import make_battles


@dataclass(frozen=True, slots=True)
class MatchConfig:
    """Who plays what, how often."""

    first: str
    second: str
    format_id: str = "gen1ou"
    games: int = 200
    seed: int = 1
    teams: str = ""
    workers: int = 2

    @property
    def title(self) -> str:
        """Both names."""
        return f"{self.first} – {self.second}"


_ROWS = 64  # battles side by side
_SPRT_ROWS = 16  # the test is asked after every 16 pairs


def match(
    first: Annotated[str, typer.Argument(help="An agent; see `nashmon agents`.")],
    second: Annotated[str, typer.Argument(help="The agent it plays against.")],
    format_id: FORMAT = "gen1ou",
    games: Annotated[int, typer.Option(min=2, help="Even; with --sprt the largest number.")] = 200,
    seed: SEED = 1,
    teams: Annotated[str, typer.Option(help="Team set or directory; default: shipped.")] = "",
    workers: Annotated[int, typer.Option(help="Simulator processes; 0: this one.")] = 2,
    sprt: Annotated[bool, typer.Option("--sprt", help="Stop when the test decides.")] = False,
    elo0: Annotated[float, typer.Option(help="--sprt: difference if it is not better.")] = 0.0,
    elo1: Annotated[float, typer.Option(help="--sprt: difference if it is better.")] = 20.0,
    alpha: Annotated[float, typer.Option(help="--sprt: chance to accept wrongly.")] = 0.05,
    beta: Annotated[float, typer.Option(help="--sprt: chance to reject wrongly.")] = 0.05,
    save_replays: Annotated[Path | None, typer.Option(help="Write protocol logs there.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Play a match in pairs of games with seats and teams swapped."""
    if games % 2:
        raise typer.BadParameter(f"games are played in pairs, {games} is odd")
    console = Console(stderr=as_json)
    config = MatchConfig(first, second, format_id, games, seed, teams, workers)
    note = ""
    if sprt:
        test = _sprt_config(elo0, elo1, alpha, beta)
        record, verdict = run_sprt(console, config, test)
        ratio = log_likelihood_ratio(record.pairs, test)
        low, high = test.bounds
        note = f"{verdict}: log-likelihood ratio {ratio:.2f}, bounds {low:.2f} and {high:.2f}"
    else:
        record = run_match(console, config, save_replays)
    if as_json:
        typer.echo(json.dumps(match_json(first, second, format_id, record, note), indent=1))
        return
    console.print(match_table(first, second, record))
    console.print(metrics_table(first, second, record))
    if note:
        console.print(f"SPRT, {elo0:g} against {elo1:g} rating points: {note}")


def _sprt_config(elo0: float, elo1: float, alpha: float, beta: float) -> SprtConfig:
    try:
        return SprtConfig.from_elo(elo0, elo1, alpha, beta)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def run_match(console: Console, config: MatchConfig, save_replays: Path | None = None) -> Record:
    """Play with a progress bar."""
    agents = _agents(config)
    rows = max(1, min(_ROWS, config.games // 2))
    teams = config.teams or None
    if save_replays is None:
        battles = make_battles(config.format_id, rows, teams, workers=config.workers)
        keep = None
    else:
        battles = make_battles(
            config.format_id, rows, teams, workers=config.workers, keep_logs=True
        )
        keep = _log_writer(save_replays)
    with closing(battles), progress_bar(console, config.title, config.games) as advance:
        return play(agents, battles, config.games, config.seed, advance, keep)


def run_sprt(console: Console, config: MatchConfig, test: SprtConfig) -> tuple[Record, str]:
    """Play until the sequential test decides, with a progress bar."""
    agents = _agents(config)
    rows = min(_SPRT_ROWS, config.games // 2)
    battles = make_battles(config.format_id, rows, config.teams or None, workers=config.workers)
    with closing(battles), progress_bar(console, config.title, config.games) as advance:
        return play_sprt(agents, battles, test, config.seed, config.games, advance)


def _agents(config: MatchConfig) -> tuple[Agent, Agent]:
    return (
        get_agent(config.first, config.format_id),
        get_agent(config.second, config.format_id),
    )


@contextmanager
def progress_bar(console: Console, title: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar with the time that is left; yields a function to advance it."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console) as progress:
        task = progress.add_task(escape(title), total=total)
        yield lambda games: progress.advance(task, games)


def _log_writer(folder: Path) -> Callable[[str, list[str]], None]:
    folder.mkdir(parents=True, exist_ok=True)

    def write(name: str, lines: list[str]) -> None:
        (folder / f"{name}.log").write_text("\n".join(lines) + "\n", encoding="utf-8")

    return write


def match_table(first: str, second: str, record: Record) -> Table:
    """The result as a table."""
    low, high = record.interval
    names = Column("agent", overflow="fold"), Column("against", overflow="fold")
    table = Table(*names, "games", "wins", "draws", "losses", "win rate", "95 %")
    table.add_row(
        escape(first.removeprefix("scripted:")),
        escape(second.removeprefix("scripted:")),
        *(str(n) for n in (record.games, record.wins, record.draws, record.losses)),
        f"{record.win_rate:.1%}",
        f"{low:.1%} – {high:.1%}",
    )
    table.caption = (
        f"mean length {record.turns / record.games:.1f} turns, {record.decisions:,} decisions, "
        f"{record.truncated} draws by the turn limit"
    )
    return table


def metrics_table(first: str, second: str, record: Record) -> Table:
    """How each agent behaved."""
    table = Table(
        Column("agent", overflow="fold"),
        "illegal",
        "decisions/s",
        "moves",
        "switches",
        "gimmicks",
        "entropy (nats)",
    )
    for name, metrics in zip((first, second), record.metrics, strict=True):
        entropy, mix = metrics.mean_entropy, metrics.mix
        table.add_row(
            escape(name.removeprefix("scripted:")),
            "0",  # an illegal choice stops the match with an error
            f"{metrics.decisions_per_second:,.0f}",
            *(f"{mix[kind]:.1%}" for kind in ("move", "switch", "gimmick")),
            "–" if entropy is None else f"{entropy:.2f}",
        )
    return table


def match_json(
    first: str, second: str, format_id: str, record: Record, note: str
) -> dict[str, object]:
    """The result as plain values."""
    return {
        "agents": [first, second],
        "format": format_id,
        "games": record.games,
        "win_rate": record.win_rate,
        "interval": list(record.interval),
        **record.to_dict(),
        **({"sprt": note} if note else {}),
    }
