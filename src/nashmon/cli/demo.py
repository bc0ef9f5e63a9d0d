"""`nashmon demo`: the main job, small."""

from rich.console import Console

from nashmon.cli.battle import battle
from nashmon.cli.match import MatchConfig, match_table, run_match


def demo() -> None:
    """A seeded battle turn by turn, then a match with its interval (about half a minute)."""
    console = Console()
    console.rule("One Gen 1 OU battle, seed 1")
    battle("scripted:maxpower", "scripted:random", "gen1ou", seed=1, turns=5)
    console.rule("The same agents, 200 games in pairs with seats and teams swapped")
    first, second = "scripted:maxpower", "scripted:random"
    record = run_match(console, MatchConfig(first, second))
    console.print(match_table(first, second, record))
