"""Best responses: unregularised training against frozen opponents, sampled battle by battle."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path

from nashmon.agents.mixture import read_mixture
from nashmon.agents.neural import NeuralAgent
from nashmon.agents.specs import fingerprint, get_agent, split_spec
from nashmon.core.errors import NashmonError
from nashmon.core.settings import plain
from nashmon.league.exploiter import CurvePoint, Exploitability, Play, Response, exploitability
from nashmon.league.pool import PoolConfig
from nashmon.learn.schedules import Power
from nashmon.match.cells import write_atomically
from nashmon.match.statistics import Record
from nashmon.match.tournament import one_thread
from nashmon.sim.seeds import TeamSampler
from nashmon.train.config import BudgetConfig, RunConfig
from nashmon.train.evaluation import match_on
from nashmon.train.teams import RunTeams, run_teams
from nashmon.train.trainer import Trainer

Watch = Callable[[str, int, int, float], None]  # (response, update, updates, win rate)
DIARY = "response.json"


class ResponseError(NashmonError):
    """A response that could not be trained."""


@dataclass(frozen=True)
class ResponseConfig:
    """The budget of one response, and where it starts from."""

    updates: int = 100
    inits: tuple[str, ...] = ("victim", "scratch")  # or agent specs with a network
    seeds: int = 1  # per initialisation
    selection_games: int = 400
    fresh_games: int = 1000
    curve_every: int = 10  # updates between two points of the learning curve
    workers: int = 0  # processes that train responses side by side; 0: this one, in turn


def response_run(
    base: RunConfig, opponents: Sequence[tuple[str, float]], init: str, updates: int, seed: int
) -> RunConfig:
    """The run that trains a response: plain PPO against the opponents, nothing else."""
    pool = PoolConfig(self_play=0.0, others=tuple(opponents), on_duty=max(1, len(opponents)))
    return replace(
        base,
        algo="ppo",
        ppo=replace(base.ppo, entropy=Power(0.005)),
        init="" if init == "scratch" else init,
        seed=seed,
        opponents=pool,
        budget=BudgetConfig(minutes=0.0, updates=updates),
    )


def train_response(
    config: RunConfig,
    folder: Path,
    teams: RunTeams | None = None,
    every: int = 10,
    watch: Callable[[int, float], None] | None = None,
) -> Response:
    """Train against the pool of the config; the policy is saved in the folder.

    A point of the curve is also a checkpoint: one that was interrupted goes on from the last one,
    and ends as it would have without the interruption.
    """
    diary = _Diary(folder, config)
    if diary.done:
        return diary.response()
    trainer = Trainer(config, folder, teams)
    recent = Record(0, 0, 0)
    try:
        diary.restore(trainer)
        while not _spent(trainer, config.budget):
            progress = trainer.step()
            for record in progress.report.records.values():
                recent += record
            over = _spent(trainer, config.budget)
            if progress.update % every == 0 or over:
                counts = progress.update, progress.decisions, progress.seconds
                diary.note(trainer, CurvePoint(*counts, recent.win_rate, recent.games), over)
                recent = Record(0, 0, 0)
            if watch is not None:
                watch(progress.update, diary.curve[-1].win_rate if diary.curve else recent.win_rate)
    finally:
        trainer.close()
    return diary.response()


def _spent(trainer: Trainer, budget: BudgetConfig) -> bool:
    used = (trainer.updates, budget.updates), (trainer.decisions, budget.decisions)
    return any(0 < limit <= count for count, limit in used)


class _Diary:
    """Its file and the checkpoint `last` beside it: how far the training has come."""

    def __init__(self, folder: Path, config: RunConfig) -> None:
        self.folder, self.config = folder, config
        self.curve: list[CurvePoint] = []
        self.done = False
        # What lies behind a spec may change; the fingerprints tell.
        agents = [config.init, *(spec for spec, _ in config.opponents.others)]
        self._about = {
            "config": json.loads(json.dumps(plain(config))),
            "agents": {spec: fingerprint(spec) for spec in agents if spec},
        }
        folder.mkdir(parents=True, exist_ok=True)
        if self._file.is_file():
            data = json.loads(self._file.read_text(encoding="utf-8"))
            if {name: data[name] for name in self._about} == self._about:
                self.curve = [CurvePoint(**point) for point in data["curve"]]
                self.done = data["done"]
                return
        # Another training was here: nothing of it counts.
        shutil.rmtree(folder / "last", ignore_errors=True)

    @property
    def _file(self) -> Path:
        return self.folder / DIARY

    def restore(self, trainer: Trainer) -> None:
        if self.curve and (self.folder / "last").is_dir():
            trainer.load(self.folder / "last")
        # Noted before its checkpoint was complete: that point comes again.
        self.curve = [point for point in self.curve if point.updates <= trainer.updates]

    def note(self, trainer: Trainer, point: CurvePoint, over: bool) -> None:
        self.curve.append(point)
        if over:
            trainer.save_policy(self.folder / "policy")
        self._write(over)
        if over:
            shutil.rmtree(self.folder / "last", ignore_errors=True)
        else:
            trainer.save(self.folder / "last")

    def _write(self, done: bool) -> None:
        curve = [asdict(point) for point in self.curve]
        data = {**self._about, "curve": curve, "done": done}
        write_atomically(self._file, json.dumps(data, indent=1))

    def response(self) -> Response:
        init = self.config.init or "scratch"
        return Response(f"run:{self.folder / 'policy'}", init, self.config.seed, tuple(self.curve))


def network_of(spec: str, format_id: str) -> str:
    """The agent itself if it is a network, of a mixture its heaviest network; empty: none."""
    agent = get_agent(spec, format_id)
    if isinstance(agent, NeuralAgent):
        return spec
    kind, rest, _ = split_spec(spec)
    if kind != "mixture":
        return ""
    members = sorted(read_mixture(Path(rest)).members, key=lambda member: -member[1])
    networks = (network_of(member, format_id) for member, share in members if share > 0)
    return next((network for network in networks if network), "")


@dataclass(frozen=True)
class _Job:
    """One response to be trained."""

    name: str
    run: RunConfig
    folder: Path


def _jobs(base: RunConfig, victim: str, config: ResponseConfig, folder: Path) -> Iterator[_Job]:
    network = network_of(victim, base.format)
    for place, init in enumerate(config.inits):
        if init == "victim" and not network:
            continue
        for seed in range(config.seeds):
            # Two starts may be the same network: they still are two responses.
            number = 1000 + place * config.seeds + seed
            name = f"{init.replace('/', '_').replace(':', '_')}_{seed}"
            start = network if init == "victim" else init
            run = response_run(base, [(victim, 1.0)], start, config.updates, number)
            yield _Job(name, run, folder / name)


def responses(
    base: RunConfig, victim: str, config: ResponseConfig, folder: Path, watch: Watch | None = None
) -> Iterator[Response]:
    """One response per initialisation and seed; without a network, none starts from the victim."""
    jobs = list(_jobs(base, victim, config, folder))
    if config.workers:
        yield from _side_by_side(jobs, config, watch)
        return
    teams = run_teams(base.format, base.teams)
    for job in jobs:

        def tell(update: int, rate: float, name: str = job.name) -> None:
            if watch is not None:
                watch(name, update, config.updates, rate)

        yield train_response(job.run, job.folder, teams, config.curve_every, tell)


def _side_by_side(
    jobs: Sequence[_Job], config: ResponseConfig, watch: Watch | None
) -> Iterator[Response]:
    """The responses in their order, each trained in a process of its own with one thread."""
    pool = ProcessPoolExecutor(
        config.workers, get_context("spawn"), initializer=one_thread, initargs=(os.getpid(),)
    )
    every = config.curve_every
    try:
        futures = [
            pool.submit(
                train_response, replace(job.run, threads=1, ranks=1), job.folder, None, every
            )
            for job in jobs
        ]
        for future in futures:
            while not wait([future], timeout=1.0).done:
                _tell_all(jobs, config.updates, watch)
            yield future.result()
    except BrokenProcessPool as error:
        raise ResponseError(
            "a process that trained a response died; run the same command again to go on"
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _tell_all(jobs: Sequence[_Job], updates: int, watch: Watch | None) -> None:
    """Pass on what the diaries of the responses say."""
    for job in jobs:
        file = job.folder / DIARY
        if watch is not None and file.is_file():
            curve = json.loads(file.read_text(encoding="utf-8"))["curve"]
            if curve:
                watch(job.name, curve[-1]["updates"], updates, curve[-1]["win_rate"])


def player(base: RunConfig, victim: str, teams: TeamSampler) -> Play:
    """Plays a response against the victim on given teams."""

    def play_games(response: str, games: int, seed: int) -> Record:
        agents = get_agent(response, base.format), get_agent(victim, base.format)
        return match_on(base.format, teams, agents, games, seed, base.rollout.engine)

    return play_games


def exploit(
    base: RunConfig, victim: str, config: ResponseConfig, folder: Path, watch: Watch | None = None
) -> Exploitability:
    """The exploitability lower bound of an agent for a training budget.

    Responses train, are chosen and are judged on the training teams: a victim is exploited where
    it plays.
    """
    teams = run_teams(base.format, base.teams)
    return exploitability(
        victim,
        responses(base, victim, config, folder, watch),
        player(base, victim, teams.train),
        config.selection_games,
        config.fresh_games,
    )
