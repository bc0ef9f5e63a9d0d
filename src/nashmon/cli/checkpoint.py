"""`nashmon checkpoint`: look at, compare, export and exchange checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

app = typer.Typer(no_args_is_help=True, help="Look at, compare, export and exchange checkpoints.")
Folder = Annotated[Path, typer.Argument(help="A checkpoint directory.")]
Endpoint = Annotated[str, typer.Option(help="Address of the hub.", envvar="HF_ENDPOINT")]
HUB = "https://huggingface.co"


@app.command()
def info(path: Folder, full: Annotated[bool, typer.Option(help="All of meta.")] = False) -> None:
    """Show what a checkpoint holds, after checking every byte of it."""
    from nashmon.nets.inspect import flat_values, summarise

    meta, parts = summarise(path)
    console = Console()
    table = Table("part", "tensors", "numbers", "MB", "finite", title=str(path))
    for part in parts:
        sizes = (str(part.tensors), f"{part.numbers:,}", f"{part.megabytes:.1f}")
        table.add_row(part.name, *sizes, "yes" if part.finite else "[red]no[/]")
    console.print(table)
    facts = Table("fact", "value")
    for place, value in flat_values(meta).items():
        if full or not place.startswith("spec.observation.arrays"):
            facts.add_row(place, value)
    console.print(facts)


@app.command()
def diff(left: Folder, right: Folder) -> None:
    """Show where two checkpoints differ; exit code 1 if they do."""
    from nashmon.nets.inspect import differences

    found = differences(left, right)
    table = Table("place", str(left), str(right))
    for item in found:
        table.add_row(item.place, item.left, item.right)
    Console().print(table if found else "no difference")
    raise typer.Exit(1 if found else 0)


@app.command()
def export(
    source: Folder,
    target: Annotated[Path, typer.Argument(help="A new directory.")],
    part: Annotated[str, typer.Option(help="Which part's weights: policy, average …")] = "policy",
) -> None:
    """Copy the weights without optimiser, references and counters of training."""
    from nashmon.nets.inspect import export as export_part

    export_part(source, target, part)
    Console().print(f"wrote {target}")


@app.command()
def push(path: Folder, repo: str, endpoint: Endpoint = HUB, public: bool = False) -> None:
    """Upload a checkpoint to a hub; the token is read from HF_TOKEN."""
    from nashmon.nets.hub import push as push_checkpoint

    Console().print(push_checkpoint(path, repo, endpoint, private=not public))


@app.command()
def pull(
    repo: str,
    path: Annotated[Path, typer.Argument(help="A new directory.")],
    endpoint: Endpoint = HUB,
    revision: str | None = None,
) -> None:
    """Download a checkpoint from a hub."""
    from nashmon.nets.hub import pull as pull_checkpoint

    pull_checkpoint(repo, path, endpoint, revision)
    Console().print(f"wrote {path}")
