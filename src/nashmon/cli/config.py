"""`nashmon config`: write and check the settings of a training run."""

from pathlib import Path
from typing import Annotated

import typer
import yaml
from rich.console import Console

app = typer.Typer(no_args_is_help=True, help="Settings of training runs.")


@app.command()
def init(
    path: Annotated[Path, typer.Argument(help="YAML file to write.")],
    settings: Annotated[
        list[str] | None, typer.Option("--set", "-s", help="Change a default, key=value.")
    ] = None,
) -> None:
    """Write all settings with their defaults."""
    from nashmon.core.settings import SettingsError, plain
    from nashmon.train.config import load_config

    if path.exists():
        raise SettingsError(f"{path} exists already")
    config = load_config(None, settings or [])
    path.write_text(yaml.safe_dump(plain(config), sort_keys=False), encoding="utf-8")
    Console().print(f"wrote {path}; train with: nashmon train {path}")


@app.command()
def check(
    path: Annotated[Path, typer.Argument(help="YAML file to check.")],
    settings: Annotated[
        list[str] | None, typer.Option("--set", "-s", help="Override, key=value.")
    ] = None,
) -> None:
    """Read settings as `nashmon train` would, and say what is wrong."""
    from nashmon.train.config import load_config

    config = load_config(path, settings or [])
    Console().print(f"{path}: fine ({config.format}, {config.algo})")
