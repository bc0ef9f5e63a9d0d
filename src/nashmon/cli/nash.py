"""`nashmon nash`: solve a table of win rates from a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from nashmon.league.analysis import Analysis


def nash(
    file: Annotated[Path, typer.Argument(help="Payoff table: .json, .csv or .npz.")],
    solver: Annotated[
        str, typer.Option(help="nash, lp, regret, replicator, alpharank, uniform or pfsp.")
    ] = "nash",
    samples: Annotated[int, typer.Option(help="Tables drawn for the intervals.")] = 100,
) -> None:
    """Print the mixture with intervals, what it loses, who is dominated, and cycles."""
    from nashmon.league.analysis import analyse
    from nashmon.league.nash import solver as find_solver
    from nashmon.league.payoff_files import read_rates

    rates = read_rates(file)
    result = analyse(rates.agents, rates.win_rates, find_solver(solver), rates.table, samples)
    show_analysis(Console(), result)


def show_analysis(console: Console, result: Analysis) -> None:
    """A solved table on the terminal."""
    table = Table("agent", "weight", "95 %", "win rate against it", "")
    for i, name in enumerate(result.agents):
        ends = "no counts"
        if result.intervals is not None:
            ends = f"{result.intervals.low[i]:.1%} – {result.intervals.high[i]:.1%}"
        note = "dominated" if i in result.dominated else ""
        weight = f"{result.mixture[i]:.1%}"
        table.add_row(escape(name), weight, ends, f"{result.skill[i]:.1%}", note)
    console.print(table)
    ends = ""
    if result.intervals is not None:
        low, high = result.intervals.exploitability
        ends = f" (95 % {low:.4f} – {high:.4f}, over the luck of the games)"
    console.print(f"exploitability inside the table: {result.exploitability:.4f}{ends}")
    console.print(f"NashConv: {result.nash_conv:.4f}")
    console.print("support: " + escape(", ".join(result.agents[i] for i in result.support)))
    console.print(
        f"agents that matter: {result.effective_size:.2f}, diversity: {result.diversity:.4f}"
    )
    for cycle in result.cycles:
        names = " → ".join(result.agents[i] for i in (*cycle, cycle[0]))
        console.print("cycle: " + escape(names))
