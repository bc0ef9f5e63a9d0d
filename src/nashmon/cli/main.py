"""Entry point of the `nashmon` command; each verb lives in its own module."""

import typer

from nashmon.cli.setup import setup

app = typer.Typer(no_args_is_help=True, help="Competitive Pokémon agents that are hard to exploit.")


@app.callback()
def main() -> None:
    """Train, evaluate and play competitive Pokémon agents that are hard to exploit."""


app.command()(setup)
