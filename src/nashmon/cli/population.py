"""`nashmon population`: agents of a league, in a file that only grows."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from nashmon.league.population import Population, make_member

app = typer.Typer(no_args_is_help=True, help="Agents of a league.")
FILE = Annotated[Path, typer.Argument(help="The population, for example population.json.")]


@app.command()
def add(
    file: FILE,
    agent: Annotated[str, typer.Argument(help="An agent; see `nashmon agents`.")],
    name: Annotated[str, typer.Option("--id", help="Its id; default: from the agent.")] = "",
    parents: Annotated[str, typer.Option(help="Ids it descends from, with commas.")] = "",
    note: Annotated[str, typer.Option(help="Where it comes from.")] = "",
    format_id: Annotated[
        str, typer.Option("--format", "-f", help="Of a new file; default: gen1ou.")
    ] = "",
) -> None:
    """Add an agent; a new file is made where there is none."""
    known = Population.open(file) if file.exists() else None
    format_id = format_id or (known.format if known else "gen1ou")
    ids = tuple(filter(None, parents.split(",")))
    facts = {"note": note} if note else {}
    member = make_member(agent, format_id, name, parents=ids, provenance=facts)
    population = known or Population.create(file, member.format)
    typer.echo(population.add(member).id)


@app.command("list")
def list_members(file: FILE) -> None:
    """Everyone who was not removed."""
    table = Table("id", "kind", "agent", "parents")
    for member in Population.open(file).members():
        row = (member.id, member.kind, member.spec, ", ".join(member.parents))
        table.add_row(*map(escape, row))
    Console().print(table)


@app.command()
def show(file: FILE, name: Annotated[str, typer.Argument(help="An id.")]) -> None:
    """Everything about one member."""
    typer.echo(json.dumps(asdict(Population.open(file).get(name)), indent=1))


@app.command()
def remove(
    file: FILE,
    name: Annotated[str, typer.Argument(help="An id.")],
    reason: Annotated[str, typer.Option(help="Why.")] = "",
) -> None:
    """Remove a member; its id stays taken and its results stay valid."""
    Population.open(file).remove(name, reason)
