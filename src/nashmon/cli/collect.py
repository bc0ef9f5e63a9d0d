"""`nashmon collect`: trajectories of agents that play each other, as data for learning."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from nashmon.cli.battle import FORMAT, SEED


def collect(
    out: Annotated[Path, typer.Argument(help="Directory of the store; a started one goes on.")],
    first: Annotated[str, typer.Option(help="Agent of p1.")] = "scripted:tactician",
    second: Annotated[str, typer.Option(help="Agent of p2.")] = "scripted:tactician",
    format_id: FORMAT = "gen1ou",
    trajectories: Annotated[int, typer.Option(help="Trajectories to keep.")] = 10_000,
    winners: Annotated[bool, typer.Option("--winners", help="Keep winners only.")] = False,
    min_decisions: Annotated[int, typer.Option(help="Shortest trajectory.")] = 1,
    reward: Annotated[str, typer.Option(help="Reward of the decisions.")] = "outcome",
    teams: Annotated[str, typer.Option(help="Team set or directory; default: shipped.")] = "",
    battles: Annotated[int, typer.Option(help="Battles side by side.")] = 256,
    seed: SEED = 1,
) -> None:
    """Play two agents and store every decision from each player's view; resumable."""
    from nashmon.agents.specs import get_agent
    from nashmon.core.formats import get_format
    from nashmon.replays.store import TrajectoryStore
    from nashmon.sim.make import make_battles
    from nashmon.train.collect import CollectConfig
    from nashmon.train.collect import collect as run

    console = Console()
    rules = get_format(format_id)
    agents = get_agent(first, rules.id), get_agent(second, rules.id)
    block = make_battles(rules.id, battles, teams=teams or None, reward=reward)
    config = CollectConfig(trajectories, winners_only=winners, min_decisions=min_decisions)
    facts = {
        "format": rules.id,
        "agents": [first, second],
        "reward": reward,
        "seed": seed,
        "battles": battles,
        "filters": {"winners": winners, "min_decisions": min_decisions},
    }
    try:
        store = TrajectoryStore.create(out, facts, block.obs_spec)
        start = min(trajectories, store.next_shard * config.per_shard)
        with Progress(console=console) as progress:
            task = progress.add_task("collecting", total=trajectories, completed=start)
            run(store, block, agents, config, seed, lambda n: progress.advance(task, n))
    finally:
        block.close()
    console.print(f"{trajectories:,} trajectories in {store.next_shard} shards: {out}")
