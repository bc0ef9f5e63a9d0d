"""Play many games between two agents, in pairs with seats and teams swapped."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nashmon.core.actions import IllegalActionError
from nashmon.core.agent import Agent, Decisions
from nashmon.match.metrics import Meter
from nashmon.match.sprt import SprtConfig, Verdict, sprt
from nashmon.match.statistics import PAIR_SCORES, Record
from nashmon.sim.base import NO_ACTION, Battles, Step

Progress = Callable[[int], None]  # called with the number of games that just ended
KeepLog = Callable[[str, list[str]], None]  # called with the name of a game and its protocol lines
Results = dict[tuple[int, int], int]  # (row, episode) → 1, 0 or −1 from the first agent's side


def play(
    agents: tuple[Agent, Agent],
    battles: Battles,
    games: int,
    seed: int,
    progress: Progress | None = None,
    keep_log: KeepLog | None = None,
) -> Record:
    """The first agent's record over `games` games (an even number).

    The second half repeats the first with the agents exchanged: same teams at the same seats, same
    dice, so that neither seat nor team favours an agent.  An illegal action ends the match with an
    error that names the agent.
    """
    if games < 2 or games % 2:
        raise ValueError(f"games are played in pairs: need an even number ≥ 2, got {games}")
    total = Record(0, 0, 0)
    halves: list[Results] = []
    for first_seat in (0, 1):
        half = _Half(agents, battles, games // 2, seed, first_seat)
        halves.append(half.run(progress, keep_log))
        total += half.record()
    return total + Record(0, 0, 0, pairs=_pair_counts(*halves))


def play_in_order(
    agents: tuple[Agent, Agent], battles: Battles, games: int, seed: int
) -> list[int]:
    """Results (1, 0 or −1 for the first agent) of `games` games, the seats alternating."""
    first, second = (
        _Half(agents, battles, games // 2, seed, seat).run(None, None) for seat in (0, 1)
    )
    return [result for key in sorted(first) for result in (first[key], second[key])]


def _pair_counts(first: Results, second: Results) -> tuple[int, ...]:
    counts = [0] * len(PAIR_SCORES)
    for key, result in first.items():
        counts[result + second[key] + 2] += 1
    return tuple(counts)


class _Half:
    """Half of the games, with agents[0] in `first_seat`.

    Every row plays a fixed number of games, so that quick games do not count more often.
    """

    def __init__(
        self,
        agents: tuple[Agent, Agent],
        battles: Battles,
        games: int,
        seed: int,
        first_seat: int,
    ) -> None:
        rows = battles.num_battles
        self._battles, self._seed, self._first_seat = battles, seed, first_seat
        self._seated = agents if first_seat == 0 else agents[::-1]
        self._quota = np.full(rows, games // rows) + (np.arange(rows) < games % rows)
        self._rngs = [np.random.default_rng([seed, first_seat, seat]) for seat in (0, 1)]
        self._memories = [agent.start(rows) for agent in self._seated]
        self._meters = [Meter(battles.format_id, battles.num_actions) for _ in self._seated]
        self._first = np.ones((rows, 2), dtype=bool)
        self._results: Results = {}
        self._truncated = self._turns = 0

    def run(self, progress: Progress | None, keep_log: KeepLog | None) -> Results:
        """Play until every row has its games."""
        battles = self._battles
        step = battles.reset(self._seed)
        last_turns = step.turns.copy()
        while (open_rows := battles.episodes < self._quota).any():
            step = battles.step(self._choose(step, open_rows))
            ended = np.flatnonzero(step.ended & open_rows)
            for row in ended.tolist():
                self._end(row, int(step.outcome[row]), keep_log)
            self._truncated += int(step.truncated[ended].sum())
            self._turns += int(last_turns[ended].sum())
            last_turns = step.turns.copy()
            self._first[ended] = True
            if progress is not None and len(ended):
                progress(len(ended))
        return self._results

    def _choose(self, step: Step, open_rows: NDArray[np.bool_]) -> NDArray[np.int64]:
        actions = np.full(step.acting.shape, NO_ACTION, dtype=np.int64)
        for seat, agent in enumerate(self._seated):
            asked = np.flatnonzero(step.acting[:, seat] & open_rows)
            if not len(asked):
                continue
            view = decisions_of(self._battles, step, asked, seat, self._first)
            start = perf_counter()
            chosen = agent.act(view, self._memories[seat], self._rngs[seat])
            seconds = perf_counter() - start
            _check_legal(agent, chosen, view)
            self._meters[seat].add(chosen, step.turns[asked], seconds, self._memories[seat])
            actions[asked, seat] = chosen
            self._first[asked, seat] = False
        return actions

    def _end(self, row: int, outcome: int, keep_log: KeepLog | None) -> None:
        episode = int(self._battles.episodes[row]) - 1
        self._results[row, episode] = outcome if self._first_seat == 0 else -outcome
        if keep_log is not None:
            name = f"seed{self._seed}-row{row}-game{episode}-{'ab'[self._first_seat]}"
            keep_log(name, self._battles.finished_log(row))

    def record(self) -> Record:
        """What was counted so far."""
        results = list(self._results.values())
        wins, draws, losses = (results.count(result) for result in (1, 0, -1))
        metrics = [meter.metrics() for meter in self._meters]
        first, second = metrics if self._first_seat == 0 else metrics[::-1]
        decisions = first.decisions + second.decisions
        return Record(
            wins,
            draws,
            losses,
            self._truncated,
            self._turns,
            decisions,
            metrics=(first, second),
        )


def _check_legal(agent: Agent, actions: NDArray[np.int64], decisions: Decisions) -> None:
    num_actions = decisions.masks.shape[1]
    inside = (actions >= 0) & (actions < num_actions)
    safe = np.where(inside, actions, 0)[:, None]
    illegal = ~inside | ~np.take_along_axis(decisions.masks, safe, axis=1)[:, 0]
    for row in np.flatnonzero(illegal)[:1]:
        legal = np.flatnonzero(decisions.masks[row]).tolist()
        raise IllegalActionError(
            f"agent {agent.name} chose the illegal action {actions[row]}; legal were {legal[:20]}"
        )


def play_sprt(
    agents: tuple[Agent, Agent],
    battles: Battles,
    config: SprtConfig,
    seed: int,
    max_games: int = 20_000,
    progress: Progress | None = None,
) -> tuple[Record, Verdict]:
    """Play batches of pairs until the sequential test decides or `max_games` are played."""
    total, verdict = Record(0, 0, 0), sprt((0,) * len(PAIR_SCORES), config)
    batch = 2 * battles.num_battles
    while verdict == "continue" and total.games + batch <= max_games:
        batch_seed = int(np.random.default_rng([seed, total.games]).integers(1 << 31))
        total += play(agents, battles, batch, batch_seed, progress)
        verdict = sprt(total.pairs, config)
    return total, verdict


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
        imagine=_imagination(battles, rows, seat),
    )


def _imagination(
    battles: Battles, rows: NDArray[np.int64], seat: int
) -> Callable[[int, np.random.Generator, Any], Any] | None:
    engine: Any = battles
    if not hasattr(engine, "imagine"):
        return None
    return lambda index, rng, sets: (engine.imagine(int(rows[index]), seat, rng, sets), seat)
