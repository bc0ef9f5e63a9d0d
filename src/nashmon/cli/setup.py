"""`nashmon setup`: install what Showdown battles need."""

from rich.console import Console

from nashmon.sim.showdown.install import ensure_showdown, find_showdown, showdown_version
from nashmon.sim.showdown.node import find_node


def setup() -> None:
    """Install the pinned Pokémon Showdown into the cache (a second run does nothing)."""
    console = Console()
    node = find_node()
    console.print(f"Node.js {node.version} ({node.source})")
    with console.status(f"Installing Pokémon Showdown {showdown_version()} …"):
        ensure_showdown()
    console.print(f"Pokémon Showdown {showdown_version()} in {find_showdown()}")
