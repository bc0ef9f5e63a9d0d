"""Round-robin tournaments: only missing games are played, cells run in worker processes."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from nashmon.agents.specs import fingerprint, get_agent
from nashmon.core.children import end_with
from nashmon.core.errors import NashmonError
from nashmon.core.formats import get_format
from nashmon.match.allocate import allocate
from nashmon.match.cells import CellStore, Conditions, Entrant, Range, in_order, text_hash
from nashmon.match.play import play
from nashmon.match.ratings import Games, Scores
from nashmon.match.statistics import Record
from nashmon.sim.make import default_teams, make_battles
from nashmon.sim.showdown.tools import validate_team
from nashmon.teams.pool import TeamPool

Progress = Callable[[int, int], None]  # games done, games to play in this call

BATCH_PAIRS = 50  # pairs of games in one file: what a killed worker can lose
_ROWS = 32  # battles side by side


class TournamentError(NashmonError):
    """A tournament that cannot be played, or a worker that failed."""


@dataclass(frozen=True, slots=True)
class TournamentConfig:
    """Who plays what, how often."""

    agents: tuple[str, ...]
    format_id: str = "gen1ou"
    games: int = 1000  # per pair of agents
    budget: int = 0  # further games, where they tell most about the ratings
    seed: int = 1
    teams: str = ""
    turn_limit: int = 1000
    workers: int = 2  # processes; 0: this one

    def __post_init__(self) -> None:
        """Refuse what cannot be played."""
        if len(self.agents) < 2:
            raise TournamentError(f"a tournament needs two agents or more, got {len(self.agents)}")
        doubled = {spec for spec in self.agents if self.agents.count(spec) > 1}
        if doubled:
            raise TournamentError(f"agent {doubled.pop()} is named twice")
        for name, value in (("games", self.games), ("budget", self.budget)):
            if value < 0 or value % 2:
                raise TournamentError(f"{name} must be even and not negative, got {value}")
        if self.games < 2:
            raise TournamentError("each pair must play at least 2 games")


@dataclass(frozen=True, slots=True)
class Results:
    """All records of a tournament."""

    agents: tuple[str, ...]
    records: dict[tuple[int, int], Record]  # both directions

    @property
    def scores(self) -> Scores:
        """[i, j]: wins of i over j plus half the draws."""
        return self._matrix(lambda record: record.score)

    @property
    def games(self) -> Games:
        """[i, j]: games between i and j."""
        return self._matrix(lambda record: record.games).astype(np.int64)

    def _matrix(self, value: Callable[[Record], float]) -> Scores:
        matrix = np.zeros((len(self.agents),) * 2)
        for place, record in self.records.items():
            matrix[place] = value(record)
        return matrix


@dataclass(frozen=True, slots=True)
class Batch:
    """Some games of one cell: all a worker needs to know."""

    pair: tuple[str, str]
    conditions: Conditions
    part: Range


class Tournament:
    """A round robin whose results live in a directory."""

    def __init__(self, config: TournamentConfig, directory: Path) -> None:
        self.config = config
        for spec in config.agents:
            get_agent(spec, config.format_id)  # an agent that cannot play is an error at once
        self.entrants = tuple(Entrant(spec, fingerprint(spec)) for spec in config.agents)
        self.store = CellStore(directory, conditions_of(config))

    def run(self, progress: Progress | None = None) -> Results:
        """Play what is missing and return everything."""
        self._play(self._round_robin(), progress)
        if self.config.budget:
            self._play(self._extra(), progress)
        return self.results()

    def results(self) -> Results:
        """What is stored now."""
        records = {}
        for i, j in combinations(range(len(self.entrants)), 2):
            record = self.store.record((self.entrants[i], self.entrants[j]))
            records[i, j], records[j, i] = record, record.flipped()
        return Results(self.config.agents, records)

    def _round_robin(self) -> list[tuple[tuple[Entrant, Entrant], Range]]:
        return self._missing(dict.fromkeys(self._pairs(), self.config.games))

    def _extra(self) -> list[tuple[tuple[Entrant, Entrant], Range]]:
        """Batches beyond the round robin; games stored beyond it count against the budget."""
        results = self.results()
        played = int(np.triu(results.games - self.config.games, 1).sum())
        left = max(0, self.config.budget - played)
        size = max(2, min(2 * BATCH_PAIRS, left))
        extra = allocate(results.scores, results.games, left, size)
        wanted = {}
        for i, j in combinations(range(len(self.entrants)), 2):
            if extra[i, j]:
                pair = in_order((self.entrants[i], self.entrants[j]))
                wanted[pair] = int(results.games[i, j] + extra[i, j])
        return self._missing(wanted)

    def _pairs(self) -> Iterator[tuple[Entrant, Entrant]]:
        yield from map(in_order, combinations(self.entrants, 2))

    def _missing(
        self, wanted: dict[tuple[Entrant, Entrant], int]
    ) -> list[tuple[tuple[Entrant, Entrant], Range]]:
        """Batches to play; every cell's first batch comes before any cell's second."""
        found = [
            (order, pair, part)
            for pair, games in wanted.items()
            for order, part in enumerate(self.store.missing(pair, games // 2, BATCH_PAIRS))
        ]
        return [(pair, part) for _, pair, part in sorted(found, key=lambda item: item[0])]

    def _play(
        self, todo: list[tuple[tuple[Entrant, Entrant], Range]], progress: Progress | None
    ) -> None:
        total, done = sum(2 * (stop - start) for _, (start, stop) in todo), 0
        jobs = {
            (pair, part): Batch((pair[0].spec, pair[1].spec), self.store.conditions, part)
            for pair, part in todo
        }
        for pair, part, record in _run(jobs, self.config.workers):
            self.store.add(pair, part, record)
            done += record.games
            if progress is not None:
                progress(done, total)


Jobs = dict[tuple[tuple[Entrant, Entrant], Range], Batch]


def _run(jobs: Jobs, workers: int) -> Iterator[tuple[tuple[Entrant, Entrant], Range, Record]]:
    if workers == 0 or len(jobs) < 2:
        for (pair, part), batch in jobs.items():
            yield pair, part, play_batch(batch)
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(
        min(workers, len(jobs)), context, initializer=one_thread, initargs=(os.getpid(),)
    )
    try:
        futures: dict[Future[Record], tuple[tuple[Entrant, Entrant], Range]] = {
            pool.submit(play_batch, batch): key for key, batch in jobs.items()
        }
        for future in as_completed(futures):
            pair, part = futures[future]
            error = future.exception()
            if error is not None:
                raise TournamentError(
                    f"{pair[0].spec} – {pair[1].spec}, pairs {part[0]}–{part[1] - 1} failed: "
                    f"{error or type(error).__name__}; finished games are kept, "
                    "the same command goes on with the rest"
                ) from error
            yield pair, part, future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def one_thread(parent: int) -> None:
    """The processes share the cores; numerical libraries must not add threads of their own."""
    end_with(parent)
    os.environ["OMP_NUM_THREADS"] = "1"


def play_batch(batch: Batch) -> Record:
    """Play the games of a batch: the same record wherever and whenever it runs."""
    rules = batch.conditions
    first, second = (get_agent(spec, rules.format_id) for spec in batch.pair)
    start, stop = batch.part
    seed = int(np.random.default_rng([rules.seed, start]).integers(1 << 31))
    rows = min(_ROWS, stop - start)
    battles = make_battles(
        rules.format_id, rows, teams=rules.teams or None, turn_limit=rules.turn_limit
    )
    with closing(battles):
        return play((first, second), battles, 2 * (stop - start), seed)


def conditions_of(config: TournamentConfig) -> Conditions:
    """What the games have in common; names the teams by their content."""
    rules = get_format(config.format_id)
    if rules.random_teams:
        packed: tuple[str, ...] = ()
    elif config.teams:
        packed = TeamPool.load(rules.id, config.teams, validate_team).packed
    else:
        packed = default_teams(rules.id)
    return Conditions(
        rules.id, config.teams, text_hash("\n".join(packed)), config.seed, config.turn_limit
    )
