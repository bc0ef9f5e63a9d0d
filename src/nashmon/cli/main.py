"""Entry point of the `nashmon` command; each verb lives in its own module."""

import logging
import os
import sys

import typer
from rich.console import Console

from nashmon import __version__
from nashmon.cli.agents import agents
from nashmon.cli.battle import battle
from nashmon.cli.bracket import bracket
from nashmon.cli.checkpoint import app as checkpoint
from nashmon.cli.collect import collect
from nashmon.cli.config import app as config
from nashmon.cli.demo import demo
from nashmon.cli.exploit import exploit
from nashmon.cli.formats import formats
from nashmon.cli.match import match
from nashmon.cli.nash import nash
from nashmon.cli.payoff import payoff
from nashmon.cli.population import app as population
from nashmon.cli.profile import profile
from nashmon.cli.psro import psro
from nashmon.cli.selfplay import selfplay
from nashmon.cli.setup import setup
from nashmon.cli.solve import solve
from nashmon.cli.teams import app as teams
from nashmon.cli.tournament import tournament
from nashmon.cli.train import train
from nashmon.core.errors import NashmonError

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_show_locals=False,
    help="Train, evaluate and play competitive Pokémon agents that are hard to exploit.",
)


def _version(show: bool) -> None:
    if show:
        typer.echo(f"nashmon {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and stop."
    ),
) -> None:
    """Train, evaluate and play competitive Pokémon agents that are hard to exploit.

    Start with `nashmon setup`, then `nashmon demo`.
    """


app.command(rich_help_panel="Start")(setup)
app.command(rich_help_panel="Start")(demo)
app.command(rich_help_panel="Battles")(battle)
app.command(rich_help_panel="Battles")(match)
app.command(rich_help_panel="Battles")(tournament)
app.command(rich_help_panel="Battles")(bracket)
app.command(rich_help_panel="Battles")(agents)
app.command(rich_help_panel="Battles")(formats)
app.add_typer(teams, name="teams", rich_help_panel="Battles")
app.command(rich_help_panel="Learning")(train)
app.add_typer(config, name="config", rich_help_panel="Learning")
app.command(rich_help_panel="Learning")(selfplay)
app.command(rich_help_panel="Learning")(collect)
app.command(rich_help_panel="Learning")(profile)
app.command(rich_help_panel="Learning")(exploit)
app.command(rich_help_panel="Learning")(solve)
app.command(rich_help_panel="League")(psro)
app.command(rich_help_panel="League")(payoff)
app.command(rich_help_panel="League")(nash)
app.add_typer(population, name="population", rich_help_panel="League")
app.add_typer(checkpoint, name="checkpoint", rich_help_panel="Checkpoints")


def main() -> None:
    """Run the command; errors that a user can mend are one message, not a traceback."""
    # Threads of torch that wait for each other must sleep: spinning, they take the core from the
    # thread they wait for as soon as anything else runs.  Read when torch is first imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    logging.getLogger("nashmon").setLevel(logging.INFO)  # "compiling the engine …"
    try:
        app()
    except NashmonError as error:
        Console(stderr=True).print(f"[bold red]error:[/] {error}", highlight=False, soft_wrap=True)
        sys.exit(1)
