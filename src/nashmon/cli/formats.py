"""`nashmon formats`: which formats there are."""

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from nashmon.core.dex import to_id
from nashmon.core.formats import all_formats


def formats(
    search: Annotated[str, typer.Argument(help="Only formats whose id contains this.")] = "",
) -> None:
    """List the formats that can be played."""
    table = Table("format", "name", "gen", "game", "preview", "picked", "gimmick", "teams")
    for item in all_formats():
        if to_id(search) in item.id:
            table.add_row(
                item.id,
                item.name,
                str(item.gen),
                item.game_type,
                "yes" if item.has_preview else "",
                str(item.picked),
                item.gimmick or "",
                "random" if item.random_teams else "bring",
            )
    Console().print(table if table.row_count else f"no format contains {search!r}")
