"""Best responses: unregularised training against frozen opponents, sampled battle by battle."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nashmon.agents.specs import get_agent
from nashmon.league.exploiter import CurvePoint, Exploitability, Play, Response, exploitability
from nashmon.league.pool import PoolConfig
from nashmon.learn.schedules import Power
from nashmon.match.statistics import Record
from nashmon.sim.seeds import TeamSampler
from nashmon.train.config import BudgetConfig, RunConfig
from nashmon.train.evaluation import match_on
from nashmon.train.teams import RunTeams, run_teams
from nashmon.train.trainer import Trainer

Watch = Callable[[str, int, int, float], None]  # (response, update, updates, win rate)


@dataclass(frozen=True)
class ResponseConfig:
    """The budget of one response, and where it starts from."""

    updates: int = 100
    inits: tuple[str, ...] = ("victim", "scratch")  # or agent specs with a network
    seeds: int = 1  # per initialisation
    selection_games: int = 400
    fresh_games: int = 1000
    curve_every: int = 10  # updates between two points of the learning curve


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
    """Train against the pool of the config; the policy is saved in the folder."""
    trainer = Trainer(config, folder, teams)
    curve: list[CurvePoint] = []
    recent = Record(0, 0, 0)
    try:
        for update in range(1, config.budget.updates + 1):
            progress = trainer.step()
            for record in progress.report.records.values():
                recent += record
            if update % every == 0 or update == config.budget.updates:
                point = CurvePoint(
                    update, progress.decisions, progress.seconds, recent.win_rate, recent.games
                )
                curve.append(point)
                recent = Record(0, 0, 0)
            if watch is not None:
                watch(update, curve[-1].win_rate if curve else recent.win_rate)
        trainer.save_policy(folder / "policy")
    finally:
        trainer.close()
    return Response(f"run:{folder / 'policy'}", config.init or "scratch", config.seed, tuple(curve))


def responses(
    base: RunConfig, victim: str, config: ResponseConfig, folder: Path, watch: Watch | None = None
) -> Iterator[Response]:
    """One response per initialisation and seed."""
    teams = run_teams(base.format, base.teams)
    for init in config.inits:
        for seed in range(config.seeds):
            name = f"{init.replace('/', '_').replace(':', '_')}_{seed}"
            start = victim if init == "victim" else init
            run = response_run(base, [(victim, 1.0)], start, config.updates, 1000 + seed)

            def tell(update: int, rate: float, name: str = name) -> None:
                if watch is not None:
                    watch(name, update, config.updates, rate)

            yield train_response(run, folder / name, teams, config.curve_every, tell)


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
