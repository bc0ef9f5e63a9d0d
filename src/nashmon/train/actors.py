"""Actors that play while the learner learns: threads that share one model, or processes.

Roll-out number k of every actor is consumed by update number k.  An actor may begin it as soon as
update k − 1 − max_staleness is done, so no batch is staler than `max_staleness` updates, and the
actors wait (instead of piling up batches) when the learner is slower.  Each roll-out is written
into one of max_staleness + 1 slots of shared arrays; only small messages travel through pipes,
which close when either side dies.
"""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any

import torch

from nashmon.core.errors import NashmonError
from nashmon.league.pool import OpponentPool
from nashmon.learn.batch import Batch
from nashmon.learn.optim import frozen
from nashmon.nets.policy import Policy
from nashmon.train.collectors import Extra, battle_seed, make_rollout, run_battles
from nashmon.train.config import RunConfig
from nashmon.train.opponents import opponent_pool
from nashmon.train.rollout import Rollout, RolloutReport, joined
from nashmon.train.store import Store
from nashmon.train.teams import RunTeams, run_teams

PATIENCE = 1.0  # seconds between two looks at whether an actor is alive


class ActorError(NashmonError):
    """An actor that died or failed."""


@dataclass(frozen=True, slots=True)
class Order:
    """The learner's message: play a roll-out into a slot."""

    slot: int
    version: int
    pool: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Done:
    """An actor's answer."""

    version: int  # of the weights it played with
    report: RolloutReport
    failure: str = ""


class Weights:
    """The weights that actors play with, in memory they can see, with their version."""

    def __init__(self, policy: Policy, shared: bool) -> None:
        self.policy: Policy = frozen(policy)
        if shared:
            self.policy.share_memory()
        self.lock: Any = multiprocessing.get_context("spawn").Lock() if shared else None

    @torch.no_grad()
    def put(self, policy: Policy) -> None:
        """Replace the weights; processes copy them under the lock, threads take the new object."""
        if self.lock is None:
            self.policy = frozen(policy)
            return
        with self.lock:
            self.policy.load_state_dict(policy.state_dict())


class ActorCollector:
    """Gathers one roll-out of every actor per update."""

    def __init__(
        self,
        config: RunConfig,
        policy: Policy,
        pool: OpponentPool,
        teams: RunTeams,
        folder: Path,
    ) -> None:
        self.config, self.policy, self.pool, self.teams = config, policy, pool, teams
        self.folder = folder
        rollout = config.rollout
        self._per_actor = rollout.battles // rollout.actors
        self._processes = rollout.mode == "processes"
        if self._processes:
            # Many slots of many arrays would exhaust file descriptors.
            torch.multiprocessing.set_sharing_strategy("file_system")  # type: ignore[no-untyped-call]
        self._weights = Weights(policy, self._processes)
        self._slots = [self._slot() for _ in range(rollout.max_staleness + 1)]
        self._links: list[Connection] = []
        self._workers: list[Any] = []
        self._started = 0  # roll-outs ordered
        self._consumed = 0
        self._version = 0

    def _slot(self) -> Store:
        rollout = self.config.rollout
        store = Store.allocate(
            rollout.steps,
            2 * rollout.battles,
            self.policy.observation,
            self.policy.actions.num_actions,
            self.policy.initial_memory(1),
        )
        if self._processes:
            store.share()
        return store

    def reset(self, update: int) -> None:
        """Start the actors; running ones go on with their battles."""
        if self._workers:
            return
        self._version = update
        self._weights.put(self.policy)
        context = multiprocessing.get_context("spawn")
        for actor in range(self.config.rollout.actors):
            here, there = Pipe()
            span = (2 * actor * self._per_actor, 2 * (actor + 1) * self._per_actor)
            stores = [store.part(*span) for store in self._slots]
            job = Job(self.config, self.folder, actor, update, self._per_actor, stores)
            worker: Any
            if self._processes:
                arguments = (job, there, self._weights.policy, self._weights.lock)
                worker = context.Process(target=process_main, args=arguments, daemon=True)
            else:
                threaded = (job, there, self._weights, self.pool, self.teams)
                worker = threading.Thread(target=thread_main, args=threaded, daemon=True)
            worker.start()
            if self._processes:
                there.close()  # or the end of the process would go unnoticed
            self._links.append(here)
            self._workers.append(worker)
        for _ in self._slots:
            self._order()

    def _order(self) -> None:
        order = Order(self._started % len(self._slots), self._version, self.pool.state_dict())
        for actor, link in enumerate(self._links):
            try:
                link.send(order)
            except ConnectionError as error:
                raise self._death(actor) from error
        self._started += 1

    def _death(self, actor: int) -> ActorError:
        code = getattr(self._workers[actor], "exitcode", None)
        return ActorError(f"actor {actor} died (exit code {code}); the run can be resumed")

    def collect(self) -> tuple[Batch, RolloutReport, Extra]:
        """Wait for the next roll-out of every actor."""
        answers = [self._receive(actor) for actor in range(len(self._links))]
        slot = self._slots[self._consumed % len(self._slots)]
        self._consumed += 1
        staleness = [self._version - answer.version for answer in answers]
        report = joined([answer.report for answer in answers])
        if self._processes:  # threads share the pool and have told it themselves
            for name, record in report.records.items():
                self.pool.record(name, record)
        extra = {"staleness": sum(staleness) / len(staleness), "max_staleness": max(staleness)}
        return slot.batch(), report, {k: float(v) for k, v in extra.items()}

    def _receive(self, actor: int) -> Done:
        link = self._links[actor]
        try:
            while not link.poll(PATIENCE):
                if not self._workers[actor].is_alive() and not link.poll(0):
                    raise EOFError
            answer: Done = link.recv()
        except (EOFError, ConnectionError) as error:
            raise self._death(actor) from error
        if answer.failure:
            raise ActorError(f"actor {actor} failed: {answer.failure}")
        return answer

    def publish(self, version: int) -> None:
        """New weights for the roll-outs that start from now on."""
        self._version = version
        self._weights.put(self.policy)
        self._order()

    def state_dict(self) -> dict[str, Any]:
        """Nothing: battles of actors start anew with the seed of the update."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Nothing to restore."""

    def close(self) -> None:
        """Stop the actors; their pipes close, which ends them."""
        for link in self._links:
            link.close()
        for worker in self._workers:
            if self._processes:
                worker.join(timeout=5)
                if worker.is_alive():
                    worker.kill()
            else:
                worker.join(timeout=60)
        self._links, self._workers = [], []


@dataclass(frozen=True)
class Job:
    """What one actor needs to know."""

    config: RunConfig
    folder: Path
    actor: int
    update: int
    battles: int
    stores: list[Store]

    def rollout(self, policy: Policy, pool: OpponentPool, teams: RunTeams) -> Rollout:
        """The actor's roll-out, its battles started."""
        # An actor process is its own worker: it may not start processes, which Showdown's are.
        workers = 0 if self.config.rollout.mode == "processes" else 1
        actors = self.config.rollout.actors
        battles = run_battles(self.config, teams, self.battles, workers, actors)
        rollout = make_rollout(self.config, policy, pool, battles, self.actor)
        rollout.reset(battle_seed(self.config, self.update, self.actor))
        return rollout


def thread_main(
    job: Job, link: Connection, weights: Weights, pool: OpponentPool, teams: RunTeams
) -> None:
    """An actor thread: the model object is shared by all threads."""
    rollout = job.rollout(weights.policy, pool, teams)
    try:
        while True:
            order = link.recv()
            rollout.policy = weights.policy
            _play(rollout, job, link, order)
    except (EOFError, OSError):  # the learner closed the pipe
        rollout.battles.close()


def process_main(job: Job, link: Connection, shared: Policy, lock: Any) -> None:
    """An actor process: copies the shared weights before each roll-out."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the learner's business
    torch.set_num_threads(1)
    policy = frozen(shared)
    pool = opponent_pool(job.config, job.folder)
    rollout = job.rollout(policy, pool, run_teams(job.config.format, job.config.teams))
    try:
        while True:
            order = link.recv()
            pool.load_state_dict(order.pool)
            with lock:
                policy.load_state_dict(shared.state_dict())
            _play(rollout, job, link, order)
    except (EOFError, OSError):
        rollout.battles.close()


def _play(rollout: Rollout, job: Job, link: Connection, order: Order) -> None:
    """One roll-out; what goes wrong is told to the learner before it ends the actor."""
    rollout.store = job.stores[order.slot]
    try:
        _, report = rollout.collect()
    except (NashmonError, RuntimeError, ValueError) as error:
        empty = RolloutReport(0, 0, 0)
        link.send(Done(order.version, empty, f"{type(error).__name__}: {error}"))
        raise EOFError from error
    link.send(Done(order.version, report))
