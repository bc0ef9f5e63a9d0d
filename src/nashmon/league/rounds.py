"""What a round of PSRO is made of: tasks, the callables that do them, and what is noted.

A `Workshop` does each piece of work once: it goes through the journal, so a round that was killed
goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from nashmon.core.errors import NashmonError
from nashmon.league.journal import Journal
from nashmon.league.nash import Mixture, Solver, check_mixture, exploitability, solver
from nashmon.league.payoff import Rates
from nashmon.league.population import Member, member_of

Variant = Literal["psro", "anytime", "selfplay", "pipeline", "nfsp", "descent"]
_SAMPLES = 400  # draws from the posterior behind an interval


class PSROError(NashmonError):
    """Settings or callables PSRO cannot work with."""


@dataclass(frozen=True)
class PSROConfig:
    """How long, which variant, when to stop."""

    rounds: int = 5
    variant: Variant = "psro"
    solver: str = "nash"  # of psro and pipeline; anytime and selfplay hold the worst response down
    stages: int = 3  # anytime, selfplay: responses per round at most; pipeline: trained at once
    min_gain: float = 0.0  # a response must measurably win more than this beyond ½
    patience: int = 2  # rounds without such a response before it ends
    power: float = 1.0  # descent: of the losing rate in the weights of the exploiters
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.rounds, self.stages, self.patience) < 1:
            raise PSROError("rounds, stages and patience must be at least 1")
        if self.variant not in get_args(Variant):
            known = ", ".join(get_args(Variant))
            raise PSROError(f"unknown variant {self.variant!r}; known: {known}")
        solver(self.solver)


@dataclass(frozen=True, slots=True)
class Task:
    """A response to be trained."""

    name: str  # the id of the new member
    opponents: tuple[tuple[Member, float], ...]  # weights sum to 1
    nearest: tuple[Member, ...]  # the population, best against the opponents first
    seed: int
    facts: Mapping[str, Any]  # for the provenance
    start: Member | None = None  # goes on from this one, whatever the oracle starts from otherwise


def one_by_one(
    train: Callable[[Task], Member],
) -> Callable[[Sequence[Task]], Iterator[tuple[Task, Member]]]:
    """Tasks in turn, where there is nothing to run them side by side."""

    def train_all(tasks: Sequence[Task]) -> Iterator[tuple[Task, Member]]:
        for task in tasks:
            yield task, train(task)

    return train_all


def _nobody(member: Member) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True)
class Oracles:
    """What PSRO is a function of."""

    train: Callable[[Task], Member]
    play: Callable[[Sequence[Member]], Rates]  # of all pairs; fills what is missing
    average: Callable[[str, Sequence[tuple[Member, float]]], Member] | None = None
    enlist: Callable[[Member], object] = _nobody  # told of each new member, again on resume
    defend: Callable[[Task], Member] | None = None  # descent: `start`, better against the opponents
    # Several tasks at once, as they are finished; None: one by one.
    train_all: Callable[[Sequence[Task]], Iterable[tuple[Task, Member]]] | None = None


@dataclass(frozen=True, slots=True)
class Gain:
    """What a response wins beyond ½ against a mixture: a lower bound of its exploitability."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Round:
    """One round: the mixture, how much it was exploited, and who joined."""

    number: int
    population: tuple[str, ...]  # ids the mixture is over
    mixture: tuple[float, ...]
    gain: Gain  # of the best response found, against the mixture
    inside: float  # e(σ) inside the population
    added: tuple[str, ...]
    games: int  # in the table so far
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Round:
        """Rebuild from `to_dict` or its JSON."""
        lists = {name: tuple(data[name]) for name in ("population", "mixture", "added")}
        return cls(**{**data, **lists, "gain": Gain(**data["gain"])})


@dataclass(frozen=True, slots=True)
class Measured:
    """The trained-best-response exploitability of something, a lower bound for the budget."""

    name: str  # 001 …, final, control
    gain: Gain
    games: int  # fresh
    start: str  # of the best response
    seconds: float


@dataclass
class Workshop:
    """Trains, averages, solves and describes for the variants; nothing is done twice."""

    config: PSROConfig
    oracles: Oracles
    journal: Journal = field(default_factory=Journal)
    solve: Solver | None = None  # instead of the config's

    def task(
        self,
        name: str,
        members: Sequence[Member],
        mixture: Mixture,
        rates: Rates | None = None,
        start: Member | None = None,
    ) -> Task:
        """A response to a mixture over the members; `rates` order who is nearest to it."""
        check_mixture(mixture, len(members))
        opponents = [(m, float(w)) for m, w in zip(members, mixture, strict=True) if w > 0]
        order = list(range(len(members)))
        if rates is not None:
            skill = rates.win_rates @ mixture
            order.sort(key=lambda i: -skill[i])
        seed = int(np.random.default_rng([self.config.seed, *name.encode()]).integers(1 << 31))
        facts = {"opponents": {m.id: w for m, w in opponents}, "seed": seed}
        nearest = tuple(members[i] for i in order)
        return Task(name, tuple(opponents), nearest, seed, facts, start)

    def train(self, task: Task) -> Member:
        """The trained response."""
        return self.once(task.name, lambda: self.oracles.train(task))

    def train_all(self, tasks: Sequence[Task]) -> list[Member]:
        """The trained responses, in the order of the tasks."""
        missing = [task for task in tasks if not self.journal.has(f"agents/{task.name}")]
        train_all = self.oracles.train_all or one_by_one(self.oracles.train)
        for task, member in train_all(missing):
            self.once(task.name, lambda member=member: member)  # type: ignore[misc]
        return [self.train(task) for task in tasks]

    def average(self, name: str, parts: Sequence[tuple[Member, float]]) -> Member:
        """Several members as one."""
        average = self.oracles.average
        if average is None:
            raise PSROError(f"{self.config.variant} needs a callable that averages agents")
        return self.once(name, lambda: average(name, parts))

    def once(self, name: str, make: Callable[[], Member]) -> Member:
        """A member that is made once."""
        member = member_of(self.journal.once(f"agents/{name}", lambda: asdict(make())))
        self.oracles.enlist(member)
        return member

    def mixture(self, rates: Rates) -> Mixture:
        """The solver's answer."""
        solve = self.solve or solver(self.config.solver)
        mixture = solve(rates.win_rates)
        check_mixture(mixture, len(rates.agents))
        return mixture

    def describe(
        self, number: int, population: Sequence[Member], mixture: Mixture, rates: Rates, best: int
    ) -> Round:
        """A round; `best` is the place in the table of the best response to the mixture."""
        size = len(population)
        return Round(
            number,
            tuple(member.id for member in population),
            tuple(mixture.tolist()),
            gain_of(rates, best, mixture, self.config.seed),
            exploitability(rates.win_rates[:size, :size], mixture),
            (),
            0 if rates.table is None else int(np.triu(rates.table.games).sum()),
            0.0,
        )


def gain_of(rates: Rates, row: int, mixture: Mixture, seed: int) -> Gain:
    """What an agent of the table wins beyond ½ against a mixture over the first agents."""
    size = len(mixture)
    value = float(rates.win_rates[row, :size] @ mixture) - 0.5
    if rates.table is None:
        return Gain(value, value, value)
    rng = np.random.default_rng(seed)
    drawn = [rates.table.draw(rng)[row, :size] @ mixture - 0.5 for _ in range(_SAMPLES)]
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Gain(value, float(min(low, value)), float(max(high, value)))
