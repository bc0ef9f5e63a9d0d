"""Matches of a checkpoint against fixed opponents on held-out teams."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from nashmon.agents.neural import NeuralAgent
from nashmon.agents.specs import get_agent
from nashmon.core.agent import Agent
from nashmon.core.children import end_with
from nashmon.core.errors import NashmonError
from nashmon.match.play import play
from nashmon.match.statistics import Record
from nashmon.nets.build import load_policy
from nashmon.sim.make import make_battles
from nashmon.sim.seeds import TeamSampler
from nashmon.train.config import RunConfig
from nashmon.train.teams import run_teams

SEED = 20_000_003  # evaluation battles share no seed with training
ROWS = 256  # battles side by side


class EvaluationError(NashmonError):
    """An evaluation that could not be finished."""


@dataclass(frozen=True, slots=True)
class Result:
    """One match of an evaluation."""

    update: int
    seconds: float  # of training when the checkpoint was written
    opponent: str
    record: Record

    def row(self) -> dict[str, Any]:
        """Plain values for JSONL."""
        low, high = self.record.interval
        return {
            "update": self.update,
            "seconds": self.seconds,
            "opponent": self.opponent,
            "games": self.record.games,
            "wins": self.record.wins,
            "draws": self.record.draws,
            "win_rate": self.record.win_rate,
            "low": low,
            "high": high,
        }


def match_on(
    format_id: str,
    teams: TeamSampler,
    agents: tuple[Agent, Agent],
    games: int,
    seed: int,
    engine: Any = "auto",
) -> Record:
    """A match on given teams."""
    rows = max(1, min(ROWS, games // 2))
    battles = make_battles(format_id, rows, teams, engine=engine)
    try:
        return play(agents, battles, games, seed)
    finally:
        battles.close()


def evaluate_checkpoint(
    config: RunConfig, path: Path, games: int, seed: int = SEED
) -> list[Result]:
    """A checkpoint of a run against every evaluation opponent."""
    policy, checkpoint = load_policy(path)
    agent = NeuralAgent(policy, path.name)
    meta = checkpoint.meta
    teams = run_teams(config.format, config.teams).held_out
    results = []
    for opponent in config.evaluation.opponents:
        foe = get_agent(opponent, config.format)
        record = match_on(config.format, teams, (agent, foe), games, seed, config.rollout.engine)
        results.append(Result(meta["updates"], meta["seconds"], opponent, record))
    return results


def _settle(parent: int) -> None:
    """A polite neighbour of the training process, that does not outlive it."""
    os.nice(10)
    torch.set_num_threads(1)
    end_with(parent)


class Evaluator:
    """Evaluates checkpoints one after the other, beside training or in its way."""

    def __init__(self, config: RunConfig) -> None:
        self.config = config
        self._pool: ProcessPoolExecutor | None = None
        self._waiting: list[Future[list[Result]]] = []

    def submit(self, path: Path, games: int) -> None:
        """Queue a checkpoint; it must stay on disk until its results are there."""
        if not self.config.evaluation.background:
            future: Future[list[Result]] = Future()
            future.set_result(evaluate_checkpoint(self.config, path, games))
            self._waiting.append(future)
            return
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(
                1, mp_context=context, initializer=_settle, initargs=(os.getpid(),)
            )
        self._waiting.append(self._pool.submit(evaluate_checkpoint, self.config, path, games))

    @property
    def busy(self) -> bool:
        """Whether results are still to come."""
        return bool(self._waiting)

    def results(self, wait: bool = False) -> Iterator[list[Result]]:
        """Results that have arrived, in order; `wait`: all of them."""
        while self._waiting and (wait or self._waiting[0].done()):
            try:
                yield self._waiting.pop(0).result()
            except BrokenProcessPool as error:
                raise EvaluationError("the evaluation process died; see its messages") from error

    def close(self) -> None:
        """Stop the process; unfinished evaluations are dropped."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None
        self._waiting.clear()
