"""Play many games between two agents, in pairs with seats and teams swapped."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from nashmon.core.agent import Agent, Decisions
from nashmon.match.statistics import Record
from nashmon.sim.base import NO_ACTION, Battles, Step

Progress = Callable[[int], None]  # called with the number of games that just ended


def play(
    agents: tuple[Agent, Agent],
    battles: Battles,
    games: int,
    seed: int,
    progress: Progress | None = None,
) -> Record:
    """The first agent's record over `games` games (an even number).

    The second half repeats the first with the agents exchanged: same teams at the same seats, same
    dice, so that neither seat nor team favours an agent.
    """
    if games < 2 or games % 2:
        raise ValueError(f"games are played in pairs: need an even number ≥ 2, got {games}")
    total = Record(0, 0, 0)
    for learner_seat in (0, 1):
        total += _half(agents, battles, games // 2, seed, learner_seat, progress)
    return total


def _half(
    agents: tuple[Agent, Agent],
    battles: Battles,
    games: int,
    seed: int,
    first_seat: int,
    progress: Progress | None,
) -> Record:
    """`games` games with agents[0] in `first_seat`.

    Every row plays a fixed number of games, so that quick games do not count more often.
    """
    seated = agents if first_seat == 0 else agents[::-1]
    rows = battles.num_battles
    quota = np.full(rows, games // rows) + (np.arange(rows) < games % rows)
    step = battles.reset(seed)
    rngs = [np.random.default_rng([seed, first_seat, seat]) for seat in (0, 1)]
    memories = [agent.start(rows) for agent in seated]
    first = np.ones((rows, 2), dtype=bool)
    wins = draws = losses = truncated = turns = decisions = 0
    last_turns = step.turns.copy()
    while (open_rows := battles.episodes < quota).any():
        actions = np.full((rows, 2), NO_ACTION, dtype=np.int64)
        for seat, agent in enumerate(seated):
            asked = np.flatnonzero(step.acting[:, seat] & open_rows)
            if len(asked):
                view = decisions_of(battles, step, asked, seat, first)
                actions[asked, seat] = agent.act(view, memories[seat], rngs[seat])
                first[asked, seat] = False
                decisions += len(asked)
        step = battles.step(actions)
        ended = np.flatnonzero(step.ended & open_rows)
        for row in ended:
            result = int(step.outcome[row]) * (1 if first_seat == 0 else -1)
            wins, draws, losses = wins + (result > 0), draws + (result == 0), losses + (result < 0)
        truncated += int(step.truncated[ended].sum())
        turns += int(last_turns[ended].sum())
        last_turns = step.turns.copy()
        first[ended] = True
        if progress is not None and len(ended):
            progress(len(ended))
    return Record(wins, draws, losses, truncated, turns, decisions)


def decisions_of(
    battles: Battles, step: Step, rows: NDArray[np.int64], seat: int, first: NDArray[np.bool_]
) -> Decisions:
    """The decisions of one seat in some battles, as an agent takes them."""
    return Decisions(
        observations={name: array[rows, seat] for name, array in step.observations.items()},
        masks=step.masks[rows, seat],
        slots=rows,
        first=first[rows, seat],
        states=lambda: battles.states([(int(row), seat) for row in rows]),
    )
