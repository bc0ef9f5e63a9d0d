"""PSRO on battles: responses are trained by PPO, cells are matches, everything is in a directory.

DIR/league.yaml          what was asked for
DIR/population.json      everyone, with parents and provenance
DIR/cells/               results, one small file per batch of games
DIR/agents/ID/policy     trained responses; agents/ID.json: how they came about
DIR/rounds/NNN.json      mixture, gain of the response, who joined
DIR/mixture.json         the mixture at the end: an agent, `mixture:DIR/mixture.json`
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import yaml

from nashmon.agents.neural import NeuralAgent
from nashmon.agents.specs import get_agent
from nashmon.core.errors import NashmonError
from nashmon.core.settings import override, plain, read_settings, read_yaml
from nashmon.league.cells import Cells, battles_of
from nashmon.league.journal import Journal
from nashmon.league.nash import Mixture
from nashmon.league.payoff import Rates, allocate_games
from nashmon.league.population import Member, Population, make_member
from nashmon.league.psro import PSRO
from nashmon.league.rounds import Gain, Oracles, PSROConfig, Round, Task, gain_of
from nashmon.learn.schedules import Power
from nashmon.match.cells import CellStore, text_hash, write_atomically
from nashmon.match.tournament import TournamentConfig, conditions_of
from nashmon.train.config import RunConfig
from nashmon.train.distil import DistilConfig, distil
from nashmon.train.responses import response_run, train_response
from nashmon.train.teams import run_teams

CONFIG, POPULATION, MIXTURE = "league.yaml", "population.json", "mixture.json"
_MIN_SHARE = 0.005  # opponents below this share of the battles are left out of training

Watch = Callable[[str, int, int, float], None]  # (what is done, done, of, win rate or −1)


class LeagueError(NashmonError):
    """A league directory that cannot be used as asked."""


@dataclass(frozen=True)
class OracleConfig:
    """How a response is trained."""

    updates: int = 100
    init: str = "nearest"  # nearest, scratch, mixture (distilled) or an agent spec with a network
    damped: bool = False  # stay near the start: it is the damping reference
    distil: DistilConfig = field(default_factory=DistilConfig)


@dataclass(frozen=True)
class PayoffConfig:
    """How cells are played."""

    games: int = 400  # of every pair, even
    budget: int = 0  # further games per round, where rates are least certain
    deviation: float = 0.01  # standard deviation of a rate below which no further games are played
    teams: str = ""  # empty: the shipped set
    turn_limit: int = 1000
    workers: int = 2  # processes; 0: this one
    seed: int = 1


@dataclass(frozen=True)
class LeagueConfig:
    """Everything a PSRO run depends on."""

    agents: tuple[str, ...] = ("scripted:random", "scripted:maxpower")  # the first population
    psro: PSROConfig = field(default_factory=PSROConfig)
    oracle: OracleConfig = field(default_factory=OracleConfig)
    payoff: PayoffConfig = field(default_factory=PayoffConfig)
    run: RunConfig = field(default_factory=RunConfig)


def load_league(path: Path | None, assignments: Sequence[str] = ()) -> LeagueConfig:
    """The settings of a YAML file (or the defaults) with overrides from the command line."""
    data = {} if path is None else read_yaml(path)
    return read_settings(LeagueConfig, override(data, assignments))


class League:
    """A PSRO run in a directory."""

    def __init__(self, config: LeagueConfig, folder: Path, watch: Watch | None = None) -> None:
        self.config, self.folder = config, folder.resolve()
        self.watch = watch or (lambda what, done, total, rate: None)
        self.format = config.run.format
        path = self.folder / POPULATION
        self.population = (
            Population.open(path) if path.exists() else Population.create(path, self.format)
        )
        self.journal = Journal(self.folder)
        payoff = config.payoff
        event = TournamentConfig(
            ("first", "second"),  # conditions do not depend on who plays
            self.format,
            payoff.games,
            seed=payoff.seed,
            teams=payoff.teams,
            turn_limit=payoff.turn_limit,
        )
        conditions = conditions_of(event)
        store = CellStore(self.folder, conditions)
        jobs = battles_of(self.population.all_members, conditions, payoff.workers)
        self.cells = Cells(store, jobs)
        self.teams = run_teams(self.format, config.run.teams)
        self.start = [self.population.add(make_member(spec, self.format)) for spec in config.agents]
        oracles = Oracles(self.train, self.play, self.average, self.population.add)
        self.psro = PSRO(config.psro, self.start, oracles, self.journal)

    @classmethod
    def create(cls, config: LeagueConfig, folder: Path, watch: Watch | None = None) -> League:
        """A new run; the directory must not hold one yet."""
        if (folder / CONFIG).exists():
            raise LeagueError(f"{folder} already holds a league; continue it with --resume")
        folder.mkdir(parents=True, exist_ok=True)
        league = cls(config, folder, watch)
        write_atomically(folder / CONFIG, yaml.safe_dump(plain(config), sort_keys=False))
        return league

    @classmethod
    def open(cls, folder: Path, watch: Watch | None = None) -> League:
        """An existing run, to continue."""
        if not (folder / CONFIG).is_file():
            raise LeagueError(f"{folder} is not a league: it has no {CONFIG}")
        return cls(read_settings(LeagueConfig, read_yaml(folder / CONFIG)), folder, watch)

    def run(self) -> Iterator[Round]:
        """All rounds; those that are done come from disk.  At the end the mixture is written."""
        yield from self.psro.run()
        members, mixture = self.psro.final()
        self._write_mixture(self.folder / MIXTURE, list(zip(members, mixture, strict=True)))

    def rates(self) -> tuple[list[Member], Mixture, Rates]:
        """The population at the end, its mixture and its table."""
        members, mixture = self.psro.final()
        return members, mixture, self.play(members)

    def against_mixture(self, spec: str) -> Gain:
        """What another agent wins beyond ½ against the mixture at the end."""
        members, mixture = self.psro.final()
        other = self.population.add(make_member(spec, self.format, provenance={"role": "control"}))
        if other.id in {member.id for member in members}:
            raise LeagueError(f"{spec} is a member of the population itself")
        return gain_of(self.play([*members, other]), len(members), mixture, self.config.psro.seed)

    def play(self, members: Sequence[Member]) -> Rates:
        """Play what is missing, then where rates are least certain; who gets more is noted once."""
        payoff = self.config.payoff

        def tell(done: int, total: int) -> None:
            self.watch("games", done, total, -1.0)

        empty = self.cells.table(members)
        table = self.cells.fill(members, allocate_games(empty, payoff.games), tell)
        if payoff.budget >= 2:
            key = text_hash(str([(member.id, member.fingerprint) for member in members]))

            def decide() -> dict[str, int]:
                wanted = allocate_games(table, payoff.games, payoff.deviation, payoff.budget)
                return {f"{i},{j}": games for (i, j), games in wanted.items()}

            stored = self.journal.once(f"games/{key}", decide)
            further = {_pair(place): games for place, games in stored.items()}
            table = self.cells.fill(members, further, tell)
        return Rates.of(table)

    def train(self, task: Task) -> Member:
        """Train a response; one that was interrupted starts anew."""
        folder = self.folder / "agents" / task.name
        shutil.rmtree(folder, ignore_errors=True)
        opponents = _shares(task.opponents)
        oracle = self.config.oracle
        init, parent = self._init(task, folder)
        run = response_run(self.config.run, opponents, init, oracle.updates, task.seed)
        if oracle.damped:
            damping = replace(run.damping, reference_interval=0)
            ppo = replace(run.ppo, entropy=Power(0.0))
            run = replace(run, algo="damped_ppo", damping=damping, ppo=ppo)

        def tell(update: int, rate: float) -> None:
            self.watch(task.name, update, oracle.updates, rate)

        every = max(1, oracle.updates // 10)
        response = train_response(run, folder, self.teams, every, tell)
        last = response.curve[-1]
        facts = {
            **task.facts,
            "init": init,
            "updates": last.updates,
            "decisions": last.decisions,
            "seconds": last.seconds,
            "win_rate_in_training": last.win_rate,
        }
        ids = [member.id for member, _ in task.opponents]
        parents = tuple(dict.fromkeys([*parent, *ids]))
        return make_member(response.agent, self.format, task.name, "response", parents, facts)

    def _init(self, task: Task, folder: Path) -> tuple[str, list[str]]:
        """(spec to start from or scratch, ids of the members behind it)."""
        init = self.config.oracle.init
        if init == "nearest":
            for member in task.nearest:
                if isinstance(get_agent(member.spec, self.format), NeuralAgent):
                    return member.spec, [member.id]
            return "scratch", []
        if init == "mixture":
            target = folder / "opponents.json"
            folder.mkdir(parents=True, exist_ok=True)
            self._write_mixture(target, task.opponents)
            run = replace(self.config.run, seed=task.seed)
            plan = self.config.oracle.distil
            return distil(f"mixture:{target}", run, plan, folder / "distilled", self.teams), []
        return init, []

    def average(self, name: str, members: Sequence[tuple[Member, float]]) -> Member:
        """A mixture as one member: it draws who plays as a battle begins."""
        path = self.folder / "agents" / f"{name}.mixture.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        self._write_mixture(path, members)
        # Its parts may be no members of the population: parents are those that are.
        known = {member.id for member in self.population.all_members()}
        parents = tuple(member.id for member, _ in members if member.id in known)
        return make_member(f"mixture:{path}", self.format, name, "average", parents)

    def _write_mixture(self, path: Path, members: Sequence[tuple[Member, float]]) -> None:
        agents = [
            {"spec": member.spec, "probability": float(weight)}
            for member, weight in members
            if weight > 0
        ]
        write_atomically(path, json.dumps({"format": self.format, "agents": agents}, indent=1))


def _shares(opponents: Sequence[tuple[Member, float]]) -> list[tuple[str, float]]:
    kept = [(member.spec, weight) for member, weight in opponents if weight >= _MIN_SHARE]
    total = sum(weight for _, weight in kept)
    return [(spec, weight / total) for spec, weight in kept]


def _pair(text: str) -> tuple[int, int]:
    first, _, second = text.partition(",")
    return int(first), int(second)
