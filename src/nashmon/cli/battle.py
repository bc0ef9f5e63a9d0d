"""`nashmon battle`: play and show one battle."""

from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from nashmon.agents.specs import get_agent
from nashmon.match.watch import watch

FORMAT = Annotated[str, typer.Option("--format", "-f", help="See `nashmon formats`.")]
SEED = Annotated[int, typer.Option(help="Same seed, same battle.")]


def battle(
    first: Annotated[str, typer.Argument(help="Agent in seat p1.")] = "scripted:maxpower",
    second: Annotated[str, typer.Argument(help="Agent in seat p2.")] = "scripted:random",
    format_id: FORMAT = "gen1ou",
    seed: SEED = 1,
    turns: Annotated[int, typer.Option(help="Show at most this many turns (0: all).")] = 0,
) -> None:
    """Play one battle between two agents and print what happened, turn by turn."""
    console = Console()
    agents = get_agent(first, format_id), get_agent(second, format_id)
    story = watch(agents, format_id, seed)
    for turn, lines in story.turns[: turns or None]:
        console.print(f"[bold cyan]Turn {turn}[/]" if turn else "[bold cyan]Start[/]")
        for line in lines:
            console.print(f"  {escape(line)}", highlight=False)
    if turns and len(story.turns) > turns:
        console.print(f"  … {len(story.turns) - turns} more turns")
    console.print(f"[bold]{escape(story.result)}[/]")
