"""Ranks: processes that learn together, each from its own share of the battles.

Small networks gain nothing from threads inside an operator, but everything from a process per
core.  Rank 0 is the process that trains; it starts the others and sends them orders through pipes
(call this method of your `Rank`, send back what it returns).  Means over the ranks, of gradients
above all, are a matter of their `Group`.  A process that dies closes its pipe and its links, so
nobody waits for it.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from nashmon.core.children import end_with
from nashmon.core.errors import NashmonError
from nashmon.train.config import RunConfig
from nashmon.train.group import Group, LostRankError, RankError, Seat, seats
from nashmon.train.rank import SEED_STRIDE, Rank
from nashmon.train.teams import RunTeams

PARTING = 5.0  # seconds a rank has to end by itself
LOST = 75  # exit code of a rank that lost the connection to the others


@dataclass(frozen=True)
class Job:
    """What a rank needs to know to begin."""

    config: RunConfig
    folder: Path
    teams: RunTeams
    policy: bytes  # pickled: passed as tensors, the weights would be shared memory
    seat: Seat
    parent: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What an order led to."""

    value: Any = None
    failure: str = ""


def serve(job: Job, link: Connection) -> None:
    """The process of a rank: obey orders until rank 0 closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the business of rank 0
    end_with(job.parent)
    place = job.seat.place
    torch.set_num_threads(job.config.threads_of(place.count))
    torch.manual_seed(job.config.seed + SEED_STRIDE * place.rank)
    try:
        _send(link, Answer())
        _obey(job, link)
    except (EOFError, ConnectionError):
        return
    except LostRankError:
        sys.exit(LOST)
    except (NashmonError, RuntimeError, ValueError, ArithmeticError) as error:
        _send(link, Answer(failure=f"{type(error).__name__}: {error}"))
        sys.exit(1)


def _obey(job: Job, link: Connection) -> None:
    group, policy = Group(job.seat), pickle.loads(job.policy)
    rank = Rank(job.config, job.folder, job.teams, policy, job.seat.place, group.mean)
    try:
        while True:
            method, arguments = _receive(link)
            _send(link, Answer(getattr(rank, method)(*arguments)))
    finally:
        rank.close()


# Plain pickles: the pipes' own way of sending a tensor is to share its memory.
def _send(link: Connection, message: Any) -> None:
    link.send_bytes(pickle.dumps(message))


def _receive(link: Connection) -> Any:
    return pickle.loads(link.recv_bytes())


def _last_words(link: Connection) -> str:
    """The failure that a rank told before it ended."""
    try:
        while link.poll(0):
            answer: Answer = _receive(link)
            if answer.failure:
                return answer.failure
    except (EOFError, ConnectionError):
        pass
    return ""


class Ranks:
    """The ranks beside rank 0, in processes that start when first needed; with one rank, none."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.saved: Sequence[Mapping[str, Any]] = ()  # states to continue from, of rank 1 …
        self._links: list[Connection] = []
        self._processes: list[Any] = []
        self._seat: Seat | None = None
        self._group: Group | None = None

    def mean(self, numbers: Tensor) -> None:
        """Means over all ranks, see `Group.mean`; for rank 0."""
        if self.count == 1:
            return
        if self._group is None:
            raise RankError("the other ranks have not been started")
        try:
            self._group.mean(numbers)
        except LostRankError as error:
            raise self._loss() from error

    def start(self, leader: Rank) -> None:
        """Let the others begin where rank 0 is; nothing if they have begun."""
        if self.count == 1 or self._processes:
            return
        self._seat, *others = seats(self.count)
        for seat in others:
            self._launch(leader, seat)
        self.answers()  # all have come
        self._group = Group(self._seat)
        shared, pool = leader.shared(), leader.pool.state_dict()
        own: list[Any] = list(self.saved) or [None] * len(self._links)
        for link, state in zip(self._links, own, strict=True):
            self._order(link, "begin", shared, pool, state)
        self.answers()
        self.saved = ()

    def _launch(self, leader: Rank, seat: Seat) -> None:
        job = Job(
            leader.config,
            leader.folder,
            leader.teams,
            pickle.dumps(leader.policy),
            seat,
            os.getpid(),
        )
        here, there = Pipe()
        context = multiprocessing.get_context("spawn")
        process = context.Process(target=serve, args=(job, there), daemon=True)
        process.start()
        there.close()  # or the end of the process would go unnoticed
        seat.leave()
        self._links.append(here)
        self._processes.append(process)

    def order(self, method: str, *arguments: Any) -> None:
        """Have every other rank call a method of its `Rank`; `answers` waits for the results."""
        for link in self._links:
            self._order(link, method, *arguments)

    def _order(self, link: Connection, method: str, *arguments: Any) -> None:
        try:
            _send(link, (method, arguments))
        except ConnectionError as error:
            raise self._loss() from error

    def answers(self) -> list[Any]:
        """What the last order led to, by rank; the first failure is an error."""
        found: dict[int, Any] = {}
        while len(found) < len(self._links):
            waiting = {link: i for i, link in enumerate(self._links) if i not in found}
            for link in wait(list(waiting)):
                assert isinstance(link, Connection)
                try:
                    answer: Answer = _receive(link)
                except (EOFError, ConnectionError) as error:
                    raise self._loss() from error
                if answer.failure:
                    raise self._end(f"rank {waiting[link] + 1} failed: {answer.failure}")
                found[waiting[link]] = answer.value
        return [found[i] for i in range(len(self._links))]

    def _loss(self) -> RankError:
        """Tells which rank is gone: the one that ended first; others end because of it."""
        gone = wait([process.sentinel for process in self._processes], PARTING)
        for i, (link, process) in enumerate(zip(self._links, self._processes, strict=True)):
            if process.sentinel in gone:
                process.join(PARTING)
            if process.exitcode not in (None, 0, LOST):
                why = _last_words(link)
                if why:
                    return self._end(f"rank {i + 1} failed: {why}")
                return self._end(f"rank {i + 1} died (exit code {process.exitcode})")
        return self._end("a rank is gone, or stuck")

    def _end(self, reason: str) -> RankError:
        self.close()
        return RankError(f"{reason}; the run can be resumed")

    def close(self) -> None:
        """End the other ranks; their pipes close, which ends them."""
        for link in self._links:
            link.close()
        if self._seat is not None:
            self._seat.leave()
        self._seat = self._group = None
        for process in self._processes:
            process.join(PARTING)
            if process.is_alive():
                process.kill()
                process.join()
        self._links, self._processes = [], []
