"""`nashmon teams`: look at, judge, convert and generate teams."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from nashmon.core.errors import TeamError
from nashmon.core.formats import get_format
from nashmon.sim.showdown.tools import validate_team
from nashmon.teams import legality
from nashmon.teams.paste import parse_teams, read_teams, write_paste
from nashmon.teams.pool import TeamPool, load_teams, named_sets
from nashmon.teams.team import Team
from nashmon.teams.variety import diversity
from nashmon.teams.variety import generate as generate_teams

app = typer.Typer(no_args_is_help=True, help="Look at, judge, convert and generate teams.")

FORMAT = Annotated[str, typer.Argument(help="A format, for example gen1ou.")]
SOURCE = Annotated[
    str, typer.Argument(help="Set name, file, directory or variety:COUNT; default: shipped set.")
]
FILE = Annotated[str, typer.Argument(help="A file with teams; - reads standard input.")]


@app.command("list")
def list_sets(
    format_id: Annotated[str, typer.Argument(help="Only this format, with every team.")] = "",
    source: SOURCE = "",
) -> None:
    """List the shipped sets, or the teams of one."""
    console = Console()
    if not format_id:
        table = Table("format", "set", "teams", "species")
        for folder, name in named_sets():
            teams = load_teams(folder, f"{folder}/{name}")
            table.add_row(folder, name, str(len(teams)), str(diversity(teams).num_species))
        console.print(table)
        return
    table = Table("", "team", "idea", "Pokémon")
    for index, team in enumerate(_load(format_id, source)):
        table.add_row(str(index), escape(team.name), escape(team.idea), ", ".join(team.species))
    console.print(table)


@app.command()
def show(
    format_id: FORMAT,
    team: Annotated[str, typer.Argument(help="Its number, or part of its name.")],
    source: Annotated[str, typer.Option(help="Set, file or directory; default: shipped.")] = "",
    packed: Annotated[bool, typer.Option("--packed", help="Print the packed form.")] = False,
) -> None:
    """Print one team."""
    teams = _load(format_id, source)
    found = [
        item
        for index, item in enumerate(teams)
        if team == str(index) or (not team.isdigit() and team.lower() in item.name.lower())
    ]
    if not found:
        raise TeamError(f"no team {team!r} among the {len(teams)}; see `nashmon teams list`")
    typer.echo(found[0].packed if packed else write_paste(found[0], header=True))


@app.command()
def check(format_id: FORMAT, source: SOURCE = "") -> None:
    """Judge teams with Showdown's validator; exit status 1 when one is illegal."""
    console = Console()
    teams = load_teams(get_format(format_id).id, source)
    with _progress("judging") as progress:
        verdicts = legality.check(format_id, teams, validate_team, progress=progress)
    table = Table("", "team", "reasons")
    for index, (team, reasons) in enumerate(zip(teams, verdicts, strict=True)):
        if reasons:
            title = team.name or ", ".join(team.species)
            table.add_row(str(index), escape(title), escape("\n".join(reasons)))
    num_legal = len(teams) - table.row_count
    if table.row_count:
        console.print(table)
    console.print(f"{num_legal} of {len(teams)} teams are legal in {get_format(format_id).id}")
    if table.row_count:
        raise typer.Exit(1)


@app.command()
def generate(
    format_id: FORMAT,
    count: Annotated[int, typer.Argument(min=1, help="How many teams.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same teams.")] = 0,
    wild: Annotated[bool, typer.Option("--wild", help="Gen 1: any learnable moves.")] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write a file.")] = None,
) -> None:
    """Make legal, diverse teams from the simulator's own set data."""
    rng = np.random.default_rng(seed)
    with _progress("generating") as progress:
        teams = generate_teams(format_id, count, rng, validate_team, wild, progress)
    text = "\n".join(write_paste(team, header=True) for team in teams)
    if output is None:
        typer.echo(text)
    else:
        output.write_text(text, encoding="utf-8")
    spread = diversity(teams)
    Console(stderr=True).print(
        f"{count} teams, {spread.num_species} species, entropy {spread.species_entropy:.2f} bits"
        f" (like {spread.effective_species:.0f} equally likely species),"
        f" {spread.mean_shared:.2f} species shared by two teams on average"
    )


@app.command()
def pack(file: FILE = "-") -> None:
    """Turn pastes into packed teams, one per line."""
    for team in _read(file):
        typer.echo(team.packed)


@app.command()
def unpack(file: FILE = "-") -> None:
    """Turn packed teams into pastes."""
    teams = _read(file)
    header = len(teams) > 1
    typer.echo("\n".join(write_paste(_named(team, n), header) for n, team in enumerate(teams)))


def _named(team: Team, index: int) -> Team:
    return Team(team.pokemon, team.name or f"Team {index + 1}", team.idea, team.format)


def _read(file: str) -> list[Team]:
    if file == "-":
        return parse_teams(sys.stdin.read(), "standard input")
    return read_teams(file)


def _load(format_id: str, source: str) -> list[Team]:
    if source.startswith(("variety:", "wild:")):
        return list(TeamPool.load(format_id, source, validate_team))
    return load_teams(get_format(format_id).id, source)


@contextmanager
def _progress(what: str) -> Iterator[legality.Progress]:
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
