"""The report of a PSRO run: exploitability by round, mixtures, payoffs, parents, ratings, cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from nashmon.league.analysis import Analysis
from nashmon.league.payoff import Rates
from nashmon.league.population import Member
from nashmon.league.rounds import Gain, Measured, Round
from nashmon.match.ratings import rate
from nashmon.review.charts import COLOURS, Series, heat_map, interval_chart, line_chart
from nashmon.review.page import Cell, facts, page, paragraph, section, table


@dataclass(frozen=True)
class PSROReport:
    """What the report shows."""

    title: str
    members: Sequence[Member]
    rounds: Sequence[Round]
    rates: Rates  # of the members
    analysis: Analysis  # of the same table
    measured: Sequence[Measured] = ()  # by responses trained for the purpose
    control: Gain | None = None  # of self-play with an equal budget, against the mixture


def psro_page(report: PSROReport) -> str:
    """The whole report."""
    return page(
        report.title,
        _measured(report.measured),
        _gains(report.rounds),
        _mixtures(report.rounds),
        payoff_section(report.rates),
        _ratings(report.rates),
        _equilibrium(report.analysis),
        _parents(report.members),
        _cost(report),
        _control(report),
    )


def _measured(measured: Sequence[Measured]) -> str:
    if not measured:
        return ""
    names = ["control" if m.name == "control" else f"mixture {m.name}" for m in measured]
    triples = [(m.gain.value, m.gain.low, m.gain.high) for m in measured]
    rows: list[list[Cell]] = [
        [name, triple, m.games, m.start, f"{m.seconds:.0f}"]
        for name, triple, m in zip(names, triples, measured, strict=True)
    ]
    return section(
        "Exploitability, measured",
        paragraph(
            "Responses were trained against each mixture only to measure it, all with the same "
            "budget and the same starts; the best of them on one set of games was judged on fresh "
            "games. What it wins beyond ½ is a lower bound for that budget, with a 95 % interval."
        ),
        interval_chart(names, triples, "win rate − ½"),
        table(("", "lower bound", "fresh games", "best response from", "seconds"), rows),
    )


def _gains(rounds: Sequence[Round]) -> str:
    numbers = [result.number for result in rounds]
    gains = [result.gain for result in rounds]
    line = Series(
        "lower bound",
        numbers,
        [gain.value for gain in gains],
        [gain.low for gain in gains],
        [gain.high for gain in gains],
    )
    return section(
        "Exploitability by round",
        paragraph(
            "What the response trained in a round wins beyond ½ against the mixture it was trained "
            "for, with a 95 % interval: a lower bound for the training budget. Exploitability "
            "inside the population is 0 by construction and no measure of progress."
        ),
        line_chart([line], "round", "win rate − ½"),
        table(
            ("round", "lower bound", "inside the population", "joined"),
            [
                [
                    str(r.number),
                    (r.gain.value, r.gain.low, r.gain.high),
                    r.inside,
                    ", ".join(r.added),
                ]
                for r in rounds
            ],
        ),
    )


def _mixtures(rounds: Sequence[Round]) -> str:
    names = list(dict.fromkeys(name for result in rounds for name in result.population))
    weights = np.full((len(rounds), len(names)), np.nan)
    for row, result in enumerate(rounds):
        for name, weight in zip(result.population, result.mixture, strict=True):
            weights[row, names.index(name)] = weight
    labels = [f"round {result.number}" for result in rounds]
    texts = [["" if np.isnan(w) else f"{100 * w:.0f}" for w in row] for row in weights]
    return section("Mixture by round (%)", heat_map(weights, labels, names, texts, (-1.0, 1.0)))


def payoff_section(rates: Rates) -> str:
    """The table of win rates as a heat map, with intervals where counts are known."""
    shown = rates.win_rates.copy()
    np.fill_diagonal(shown, np.nan)
    texts = [[f"{100 * w:.1f}" for w in row] for row in rates.win_rates]
    parts = [heat_map(shown, rates.agents, rates.agents, texts)]
    if rates.table is not None:
        low, high = rates.table.interval()
        rows: list[list[Cell]] = []
        for i, name in enumerate(rates.agents):
            cells: list[Cell] = [name]
            for j in range(len(rates.agents)):
                cell = float(rates.win_rates[i, j]), float(low[i, j]), float(high[i, j])
                cells.append(None if i == j else cell)
            rows.append(cells)
        parts.append(table(("agent", *rates.agents), rows))
    return section("Win rates (row against column, %)", *parts)


def _ratings(rates: Rates) -> str:
    if rates.table is None or len(rates.agents) < 2:
        return ""
    found = rate(rates.table.scores, rates.table.games, seed=1, samples=200)
    triples = [(r.rating, r.low, r.high) for r in found]
    return section("Ratings", interval_chart(rates.agents, triples, "Bradley–Terry rating"))


def _equilibrium(result: Analysis) -> str:
    rows: list[list[Cell]] = []
    for i, name in enumerate(result.agents):
        weight: Cell = float(result.mixture[i])
        if result.intervals is not None:
            low, high = result.intervals.low[i], result.intervals.high[i]
            weight = (float(result.mixture[i]), float(low), float(high))
        note = "dominated" if i in result.dominated else ""
        rows.append([name, weight, float(result.skill[i]), note])
    loops = [" → ".join(result.agents[k] for k in (*c, c[0])) for c in result.cycles]
    values: dict[str, Cell] = {
        "exploitability inside the table": result.exploitability,
        "agents that matter (exp of entropy)": result.effective_size,
        "diversity": result.diversity,
        "cycles": "; ".join(loops) or "none",
    }
    return section(
        "Equilibrium of the table",
        table(("agent", "weight", "win rate against it", ""), rows),
        facts(values),
    )


def _parents(members: Sequence[Member]) -> str:
    """Members in the order they came, a line from each to its parents."""
    place = {member.id: number for number, member in enumerate(members)}
    parts = []
    for member in members:
        y = 24 + 30 * place[member.id]
        for parent in member.parents:
            if parent in place:
                above = 24 + 30 * place[parent]
                bend = 30 + 12 * (place[member.id] - place[parent])
                parts.append(
                    f'<path d="M 160 {above} C {160 - bend} {above} {160 - bend} {y} 160 {y}" '
                    f'fill="none" stroke="{COLOURS[0]}" opacity=".5"/>'
                )
        parts.append(f'<circle cx="160" cy="{y}" r="5" fill="{COLOURS[1]}"/>')
        label = escape(f"{member.id} ({member.kind})")
        parts.append(f'<text x="174" y="{y + 4}">{label}</text>')
    high = 48 + 30 * len(members)
    return section(
        "Who was trained against whom",
        f'<div class="wide"><svg role="img" viewBox="0 0 760 {high}" width="760">'
        + "".join(parts)
        + "</svg></div>",
    )


def _cost(report: PSROReport) -> str:
    decisions = {m.id: int(m.provenance.get("decisions", 0)) for m in report.members}
    rows: list[list[Cell]] = [
        [
            f"round {result.number}",
            result.seconds,
            result.games,
            sum(decisions.get(name, 0) for name in result.added),
        ]
        for result in report.rounds
    ]
    return section(
        "Cost",
        paragraph("Wall time of a round in the session that ended it; games in the table so far."),
        table(("", "seconds", "games in the table", "decisions trained on"), rows, digits=1),
    )


def _control(report: PSROReport) -> str:
    title = "Control: self-play with an equal budget"
    gain = report.control
    if gain is None:
        return section(
            title, paragraph("No control was trained: nashmon psro --resume --control -o DIR.")
        )
    values: dict[str, Cell] = {
        "win rate against the mixture": (gain.value + 0.5, gain.low + 0.5, gain.high + 0.5)
    }
    by_name = {found.name: found.gain for found in report.measured}
    for name, what in (("final", "the last mixture"), ("control", "the control")):
        if name in by_name:
            found = by_name[name]
            values[f"exploitability of {what}, measured"] = found.value, found.low, found.high
    return section(
        title,
        paragraph(
            "Trained by self-play from the same start on as many decisions as all responses of the "
            "league together, and measured in the same way as the mixtures."
        ),
        facts(values),
    )
