"""Plays the cells of a payoff table: only games that are missing, each batch stored as it ends.

Storage is that of tournaments (`match.cells`): a batch of pairs of games is one small file whose
dice follow from its place, so a killed process loses no finished batch and repeats no game.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import combinations
from multiprocessing import get_context

from nashmon.league.journal import Journal
from nashmon.league.payoff import PayoffTable, allocate_games
from nashmon.league.population import Member
from nashmon.match.cells import CellStore, Conditions, Entrant, Range, in_order, text_hash
from nashmon.match.statistics import Record
from nashmon.match.tournament import BATCH_PAIRS, Batch, TournamentError, one_thread, play_batch

Pair = tuple[Entrant, Entrant]
Job = tuple[Pair, Range]
PlayJobs = Callable[[Sequence[Job]], Iterable[tuple[Job, Record]]]
Progress = Callable[[int, int], None]  # games done, games to play in this call


def entrant(member: Member) -> Entrant:
    """Results belong to the id and the fingerprint: they survive a move of the files."""
    return Entrant(member.id, member.fingerprint)


class Cells:
    """The stored results between members of a population."""

    def __init__(self, store: CellStore, play: PlayJobs, batch: int = BATCH_PAIRS) -> None:
        self.store, self._play, self._batch = store, play, batch

    def table(self, members: Sequence[Member]) -> PayoffTable:
        """What is stored now."""
        records = {
            (i, j): self.store.record((entrant(members[i]), entrant(members[j])))
            for i, j in combinations(range(len(members)), 2)
        }
        return PayoffTable.of_records([member.id for member in members], records)

    def fill(
        self,
        members: Sequence[Member],
        wanted: Mapping[tuple[int, int], int],
        progress: Progress | None = None,
    ) -> PayoffTable:
        """Play until each pair has its wanted number of games (even)."""
        todo: list[tuple[int, Job]] = []
        for (i, j), games in wanted.items():
            pair = in_order((entrant(members[i]), entrant(members[j])))
            missing = self.store.missing(pair, games // 2, self._batch)
            todo += [(order, (pair, part)) for order, part in enumerate(missing)]
        # Every cell's first batch comes before any cell's second.
        jobs = [job for _, job in sorted(todo, key=lambda item: item[0])]
        total, done = sum(2 * (stop - start) for _, (start, stop) in jobs), 0
        for (pair, part), record in self._play(jobs):
            self.store.add(pair, part, record)
            done += record.games
            if progress is not None:
                progress(done, total)
        return self.table(members)


def play_table(
    cells: Cells,
    members: Sequence[Member],
    games: int,
    deviation: float,
    budget: int,
    journal: Journal,
    progress: Progress | None = None,
) -> PayoffTable:
    """Play what is missing, then up to `budget` games where rates are least certain.

    Who gets further games is decided once and noted, so that playing again plays nothing.
    """
    table = cells.fill(members, allocate_games(cells.table(members), games), progress)
    if budget < 2:
        return table
    asked = [(member.id, member.fingerprint) for member in members], games, deviation, budget

    def decide() -> dict[str, int]:
        wanted = allocate_games(table, games, deviation, budget)
        return {f"{i},{j}": count for (i, j), count in wanted.items()}

    stored = journal.once(f"games/{text_hash(str(asked))}", decide)
    further = {_place(text): count for text, count in stored.items()}
    return cells.fill(members, further, progress)


def _place(text: str) -> tuple[int, int]:
    first, _, second = text.partition(",")
    return int(first), int(second)


def battles_of(
    members: Callable[[], Sequence[Member]], conditions: Conditions, workers: int
) -> PlayJobs:
    """Plays jobs as battles, in worker processes; `members` tells the agent behind an id."""

    def play(jobs: Sequence[Job]) -> Iterator[tuple[Job, Record]]:
        specs = {member.id: member.spec for member in members()}
        batches = {
            (pair, part): Batch((specs[pair[0].spec], specs[pair[1].spec]), conditions, part)
            for pair, part in jobs
        }
        if workers == 0 or len(jobs) < 2:
            for job, batch in batches.items():
                yield job, play_batch(batch)
            return
        yield from _in_processes(batches, min(workers, len(jobs)))

    return play


def _in_processes(batches: Mapping[Job, Batch], workers: int) -> Iterator[tuple[Job, Record]]:
    pool = ProcessPoolExecutor(
        workers, get_context("spawn"), initializer=one_thread, initargs=(os.getpid(),)
    )
    try:
        jobs = {pool.submit(play_batch, batch): job for job, batch in batches.items()}
        for future in as_completed(jobs):
            (first, second), part = jobs[future]
            error = future.exception()
            if error is not None:
                raise TournamentError(
                    f"{first.spec} – {second.spec}, pairs {part[0]}–{part[1] - 1} failed: "
                    f"{error or type(error).__name__}; finished games are kept"
                ) from error
            yield jobs[future], future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
