"""`nashmon profile`: where the time of a training run goes on this machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer
import yaml
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table


def profile(
    config: Annotated[Path | None, typer.Argument(help="Settings of the run (YAML).")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", "-s", help="Override a setting, key=value.")
    ] = None,
    sweep: Annotated[bool, typer.Option(help="Try battle counts, ranks and threads.")] = False,
    seconds: Annotated[float, typer.Option(help="Seconds per measurement.")] = 8.0,
    out: Annotated[
        Path | None, typer.Option(help="Write the settings with the fastest sizes here (YAML).")
    ] = None,
) -> None:
    """Measure playing, inference and learning of the actual pipeline and name the bottleneck."""
    from nashmon.core.settings import plain
    from nashmon.train.config import load_config
    from nashmon.train.profiler import profile as measure
    from nashmon.train.profiler import recommend
    from nashmon.train.profiler import sweep as measure_all

    console = Console()
    chosen = load_config(config, settings or [])
    cores = os.cpu_count() or 1
    counts = sorted({max(1, cores // 2), cores} - {1})
    ways = [(1, 1), *((1, count) for count in counts), *((count, 1) for count in counts)]
    runs = measure_all(chosen, processors=ways, seconds=seconds) if sweep else None
    profiles = []
    sizes = ("battles", "steps", "ranks", "threads")
    times = ("net", "engine", "learn", "cpu")
    table = Table(*sizes, "rate", *times, "MB", "limit", box=SIMPLE, padding=(0, 0), pad_edge=False)
    table.caption = "rate: learned decisions/s; net … cpu: µs per decision"
    with console.status("measuring …"):
        for result in runs if runs is not None else [measure(chosen, seconds)]:
            profiles.append(result)
            console.print(f"{result.setting}: {result.decisions_per_second:,.0f} decisions/s")
    for result in sorted(profiles, key=lambda p: -p.decisions_per_second):
        setting = result.setting
        table.add_row(
            *(str(setting[key]) for key in sizes),
            f"{result.decisions_per_second:,.0f}",
            f"{result.inference_us:.1f}",
            f"{result.engine_us:.1f}",
            f"{result.update_us:.1f}",
            f"{result.cpu_us:.1f}",
            f"{result.memory_mb:,.0f}",
            result.bottleneck,
        )
    console.print(table)
    if out is not None:
        best = recommend(chosen, profiles)
        out.write_text(yaml.safe_dump(plain(best), sort_keys=False), encoding="utf-8")
        console.print(f"wrote {out}; train with: nashmon train {out}")
