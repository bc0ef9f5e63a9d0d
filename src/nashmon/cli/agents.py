"""`nashmon agents`: every agent that can be named."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from nashmon.agents.pokeenv import PLAYERS
from nashmon.agents.registry import scripted_lines
from nashmon.agents.specs import zoo

_FORMS = (
    ("search:sims=600,samples=4", "Gen 1: looks one turn ahead with sampled foes; or time=0.1"),
    ("run:PATH@best", "a training run's best (or last, or a named) checkpoint"),
    ("mixture:FILE", "agents with probabilities, drawn anew for each battle"),
)


def agents() -> None:
    """List the agents and how to name your own."""
    table = Table("agent", "what it is")
    for name, line in scripted_lines().items():
        table.add_row(f"scripted:{name}", escape(line))
    for name in zoo():
        table.add_row(escape(f"zoo:{name}"), "a pretrained agent")
    for name in PLAYERS:
        table.add_row(f"pokeenv:{name}", "poke-env's player of that name")
    for form, meaning in _FORMS:
        table.add_row(form, meaning)
    console = Console()
    console.print(table)
    console.print("Networks take options: run:PATH@best,greedy or zoo:NAME,temperature=0.5")
