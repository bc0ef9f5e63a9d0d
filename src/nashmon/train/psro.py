"""PSRO on battles: a league in a directory, with its measurements and its control.

DIR/league.yaml          what was asked for
DIR/population.json      everyone, with parents and provenance
DIR/cells/               results, one small file per batch of games
DIR/agents/ID/policy     trained responses; agents/ID.json: how they came about
DIR/rounds/NNN.json      mixture, gain of the response, who joined
DIR/measured/NAME.json   what responses trained for the purpose win against a mixture
DIR/control/policy       self-play with the budget of all responses together
DIR/mixture.json         the mixture at the end: an agent, `mixture:DIR/mixture.json`
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from nashmon.agents.specs import absolute_spec
from nashmon.core.errors import NashmonError
from nashmon.core.settings import override, plain, read_settings, read_yaml
from nashmon.league.cells import Cells, battles_of, play_table
from nashmon.league.journal import Journal
from nashmon.league.nash import Mixture
from nashmon.league.payoff import Rates
from nashmon.league.population import Member, Population, make_member
from nashmon.league.psro import PSRO
from nashmon.league.rounds import Gain, Measured, Oracles, PSROConfig, Round, gain_of
from nashmon.match.cells import CellStore, write_atomically
from nashmon.match.tournament import TournamentConfig, conditions_of
from nashmon.train.config import BudgetConfig, RunConfig
from nashmon.train.oracles import BattleOracle, OracleConfig, Watch, write_mixture
from nashmon.train.responses import ResponseConfig, exploit, network_of, train_response

CONFIG, POPULATION, MIXTURE = "league.yaml", "population.json", "mixture.json"


class LeagueError(NashmonError):
    """A league directory that cannot be used as asked."""


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
class MeasureConfig:
    """Responses trained only to measure: against each round's mixture, the last one, the control.

    All are measured alike, so their numbers can be compared.
    """

    updates: int = 0  # of each response; 0: nothing is measured
    inits: tuple[str, ...] = ("victim", "scratch")  # victim: of a mixture its heaviest network
    selection_games: int = 400  # choose between the responses
    games: int = 2000  # fresh ones, that judge the chosen response
    workers: int = 0  # processes of one thread that train them beside the rounds; 0: in turn

    def plan(self) -> ResponseConfig:
        """As `nashmon exploit` takes it."""
        return ResponseConfig(
            updates=self.updates,
            inits=self.inits,
            selection_games=self.selection_games,
            fresh_games=self.games,
            curve_every=max(1, self.updates // 5),
            workers=self.workers,
        )


@dataclass(frozen=True)
class LeagueConfig:
    """Everything a PSRO run depends on."""

    agents: tuple[str, ...] = ("scripted:random", "scripted:maxpower")  # the first population
    psro: PSROConfig = field(default_factory=PSROConfig)
    oracle: OracleConfig = field(default_factory=OracleConfig)
    payoff: PayoffConfig = field(default_factory=PayoffConfig)
    measure: MeasureConfig = field(default_factory=MeasureConfig)
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
        # Nothing is written for settings that cannot work.
        start = [make_member(spec, self.format) for spec in config.agents]
        if config.psro.variant == "descent" and not network_of(config.agents[-1], self.format):
            raise LeagueError(
                f"descent improves the last of agents, and {config.agents[-1]} is no network"
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / POPULATION
        self.population = (
            Population.open(path) if path.exists() else Population.create(path, self.format)
        )
        self.start = [self.population.add(member) for member in start]
        self.journal = Journal(self.folder)
        self.cells = _cells(config, self.folder, self.population)
        oracle = BattleOracle(config.run, config.oracle, self.folder)
        oracles = Oracles(
            partial(oracle.train, watch=self.watch),
            self.play,
            lambda name, parts: oracle.average(name, parts, self._ids()),
            self.population.add,
            partial(oracle.defend, watch=self.watch),
            partial(oracle.train_all, watch=self.watch),
        )
        self.psro = PSRO(config.psro, self.start, oracles, self.journal)

    @classmethod
    def create(cls, config: LeagueConfig, folder: Path, watch: Watch | None = None) -> League:
        """A new run; the directory must not hold one yet."""
        if (folder / CONFIG).exists():
            raise LeagueError(f"{folder} already holds a league; continue it with --resume")
        # It may be resumed from another directory.
        config = replace(config, agents=tuple(absolute_spec(spec) for spec in config.agents))
        league = cls(config, folder, watch)
        write_atomically(folder / CONFIG, yaml.safe_dump(plain(config), sort_keys=False))
        return league

    @classmethod
    def open(cls, folder: Path, watch: Watch | None = None) -> League:
        """An existing run, to continue."""
        if not (folder / CONFIG).is_file():
            raise LeagueError(f"{folder} is not a league: it has no {CONFIG}")
        return cls(read_settings(LeagueConfig, read_yaml(folder / CONFIG)), folder, watch)

    def run(self, control: bool = False) -> Iterator[Round | Measured]:
        """All rounds and, if asked for, measurements; what is done comes from disk.

        At the end the mixture is written; `control`: then the control is trained and measured too.
        """
        with _Measurements(self.config.measure) as measurements:
            for result in self.psro.run():
                yield result
                yield from measurements.add(partial(self.measure_round, result))
            members, mixture = self.psro.final()
            pairs = list(zip(members, mixture, strict=True))
            write_mixture(self.folder / MIXTURE, self.format, pairs)
            yield from measurements.add(self.measure_final)
            if control:
                self.control()
                yield from measurements.add(self.measure_control)
            yield from measurements.rest()

    def rates(self) -> tuple[list[Member], Mixture, Rates]:
        """The population at the end, its mixture and its table."""
        members, mixture = self.psro.final()
        return members, mixture, self.play(members)

    def play(self, members: Sequence[Member]) -> Rates:
        """Play what is missing, then where rates are least certain; who gets more is noted once."""
        payoff = self.config.payoff

        def tell(done: int, total: int) -> None:
            self.watch("games", done, total, -1.0)

        table = play_table(
            self.cells, members, payoff.games, payoff.deviation, payoff.budget, self.journal, tell
        )
        return Rates.of(table)

    def measure_round(self, result: Round) -> Measured:
        """What the mixture of a round loses to responses trained to measure it."""
        members = [self.population.get(name) for name in result.population]
        return self._measure_mixture(f"{result.number:03d}", members, result.mixture)

    def measure_final(self) -> Measured:
        """What the mixture at the end loses."""
        members, mixture = self.psro.final()
        return self._measure_mixture("final", members, mixture.tolist())

    def measure_control(self) -> Measured:
        """What the control loses."""
        return self._measure("control", self.control().spec)

    def control(self) -> Member:
        """An agent trained by self-play on as many decisions as all responses together.

        It starts from the first network of the population, or from scratch if there is none.
        """
        run = self.config.run
        members = self.population.all_members()
        spent = sum(int(member.provenance.get("decisions", 0)) for member in members)
        networks = (network_of(member.spec, self.format) for member in self.start)
        init = next((spec for spec in networks if spec), "")
        budget = BudgetConfig(minutes=0.0, decisions=spent)

        def tell(update: int, rate: float) -> None:
            self.watch("control", update, 0, -1.0)

        response = train_response(
            replace(run, init=init, budget=budget), self.folder / "control", every=50, watch=tell
        )
        last = response.curve[-1]
        facts = {"role": "control", "start": response.init, "trained_on": last.decisions}
        return self.population.add(
            make_member(response.agent, self.format, "control", provenance=facts)
        )

    def against_mixture(self, other: Member) -> Gain:
        """What another agent wins beyond ½ against the mixture at the end."""
        members, mixture = self.psro.final()
        rates = self.play([*members, other])
        return gain_of(rates, len(members), mixture, self.config.psro.seed)

    def _ids(self) -> list[str]:
        return [member.id for member in self.population.all_members()]

    def _measure_mixture(
        self, name: str, members: Sequence[Member], mixture: Sequence[float]
    ) -> Measured:
        path = self.folder / "measured" / f"{name}.mixture.json"
        write_mixture(path, self.format, list(zip(members, mixture, strict=True)))
        return self._measure(name, f"mixture:{path}")

    def _measure(self, name: str, spec: str) -> Measured:
        plan = self.config.measure.plan()

        def tell(response: str, done: int, total: int, rate: float) -> None:
            self.watch(f"measuring {name} from {response}", done, total, rate)

        def work() -> dict[str, Any]:
            begin = time.perf_counter()
            folder = self.folder / "measured" / name
            found = exploit(self.config.run, spec, plan, folder, tell).to_dict()
            return {**found, "seconds": time.perf_counter() - begin}

        found = self.journal.once(f"measured/{name}", work)
        best = next(row for row in found["responses"] if row["agent"] == found["best"])
        gain = Gain(found["exploitability"], *found["interval"])
        return Measured(name, gain, found["games"], best["init"], found["seconds"])


class _Measurements:
    """Measurements in turn: at once, or with workers in a thread that waits for them."""

    def __init__(self, config: MeasureConfig) -> None:
        self.config = config
        self._thread = ThreadPoolExecutor(1) if config.updates and config.workers else None
        self._waiting: list[Future[Measured]] = []

    def __enter__(self) -> _Measurements:
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread is not None:
            self._thread.shutdown(wait=True, cancel_futures=True)

    def add(self, work: Callable[[], Measured]) -> Iterator[Measured]:
        """Measure; gives what is finished."""
        if not self.config.updates:
            return
        if self._thread is None:
            yield work()
            return
        self._waiting.append(self._thread.submit(work))
        while self._waiting and self._waiting[0].done():
            yield self._waiting.pop(0).result()

    def rest(self) -> Iterator[Measured]:
        """Wait for what is not finished."""
        while self._waiting:
            yield self._waiting.pop(0).result()


def _cells(config: LeagueConfig, folder: Path, population: Population) -> Cells:
    payoff = config.payoff
    event = TournamentConfig(
        ("first", "second"),  # conditions do not depend on who plays
        config.run.format,
        payoff.games,
        seed=payoff.seed,
        teams=payoff.teams,
        turn_limit=payoff.turn_limit,
    )
    conditions = conditions_of(event)
    jobs = battles_of(population.all_members, conditions, payoff.workers)
    return Cells(CellStore(folder, conditions), jobs)
