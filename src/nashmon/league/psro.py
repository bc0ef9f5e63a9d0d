"""Policy-space response oracles: train a response to a mixture, add it, play, solve again.

The loop knows three callables (train, play, solve) and, for the self-play variant, a fourth that
averages agents; it runs alike on rock-paper-scissors, on Leduc poker and on Gen 1 OU.

    psro       σ is the solver's answer for the table; one response per round
    anytime    within a round σ is re-solved against every response found, so that σ is the mixture
               of the population that loses least: its exploitability does not rise with rounds
    selfplay   as anytime, and the population also gets the average of responses to the responses

Every trained agent and every round is a step of a `Journal`: kill it anywhere and run it again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np

from nashmon.core.errors import NashmonError
from nashmon.league.journal import Journal
from nashmon.league.nash import Mixture, Solver, check_mixture, exploitability, minimax, solver
from nashmon.league.payoff import Rates
from nashmon.league.population import Member, member_of

Variant = Literal["psro", "anytime", "selfplay"]
_CONVERGED = 1e-9  # a response that gains less than this over the known ones is none
_PART = 1e-6  # weight from which a response belongs to the opponent's answer
_SAMPLES = 400  # draws from the posterior behind an interval


class PSROError(NashmonError):
    """Settings or callables PSRO cannot work with."""


@dataclass(frozen=True)
class PSROConfig:
    """How long, which variant, when to stop."""

    rounds: int = 5
    variant: Variant = "psro"
    solver: str = "nash"  # of the variant psro; the others hold the worst response down
    stages: int = 3  # anytime and selfplay: responses per round at most
    min_gain: float = 0.0  # a response must measurably win more than this beyond ½
    patience: int = 2  # rounds without such a response before it ends
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.rounds, self.stages, self.patience) < 1:
            raise PSROError("rounds, stages and patience must be at least 1")
        if self.variant not in ("psro", "anytime", "selfplay"):
            raise PSROError(f"unknown variant {self.variant!r}; psro, anytime, selfplay")
        solver(self.solver)


@dataclass(frozen=True, slots=True)
class Task:
    """A response to be trained."""

    name: str  # the id of the new member
    opponents: tuple[tuple[Member, float], ...]  # weights sum to 1
    nearest: tuple[Member, ...]  # the population, best against the opponents first
    seed: int
    facts: Mapping[str, Any]  # for the provenance


@dataclass(frozen=True)
class Oracles:
    """What PSRO is a function of."""

    train: Callable[[Task], Member]
    play: Callable[[Sequence[Member]], Rates]  # of all pairs; fills what is missing
    average: Callable[[str, Sequence[tuple[Member, float]]], Member] | None = None
    enlist: Callable[[Member], object] = lambda member: (
        None
    )  # told of each new member, again on resume


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


@dataclass
class PSRO:
    """The loop; iterate over `run()`."""

    config: PSROConfig
    start: Sequence[Member]
    oracles: Oracles
    journal: Journal = field(default_factory=Journal)
    solve: Solver | None = None  # instead of the config's

    def __post_init__(self) -> None:
        if not self.start:
            raise PSROError("PSRO starts from at least one agent")
        formats = {member.format for member in self.start}
        if len(formats) > 1:
            raise PSROError(f"members play different formats: {', '.join(sorted(formats))}")
        if self.config.variant == "selfplay" and self.oracles.average is None:
            raise PSROError("selfplay PSRO needs a callable that averages agents")

    def run(self) -> Iterator[Round]:
        """Rounds until the budget ends or responses no longer win."""
        population, idle = list(self.start), 0
        for number in range(1, self.config.rounds + 1):
            result, new = self._round(number, population)
            yield result
            population += new
            idle = idle + 1 if result.gain.low <= self.config.min_gain else 0
            if idle >= self.config.patience:
                return

    def population(self) -> list[Member]:
        """Everyone after the rounds that were finished."""
        new = [member_of(row) for stored in self._stored() for row in stored["members"]]
        return [*self.start, *new]

    def final(self) -> tuple[list[Member], Mixture]:
        """Who is in the mixture after the finished rounds, and the mixture.

        `psro` solves the table with the last response in it.  The other variants answer with the
        mixture of their last round: it is the one whose exploitability was held down.
        """
        members = self.population()
        rounds = self.rounds()
        if self.config.variant == "psro" or not rounds:
            return members, self._mixture(self.oracles.play(members))
        by_id = {member.id: member for member in members}
        last = rounds[-1]
        return [by_id[name] for name in last.population], np.array(last.mixture)

    def rounds(self) -> list[Round]:
        """The finished rounds."""
        return [Round.from_dict(stored["round"]) for stored in self._stored()]

    def _stored(self) -> Iterator[dict[str, Any]]:
        for number in range(1, self.config.rounds + 1):
            if not self.journal.has(_round_name(number)):
                return
            yield self.journal.once(_round_name(number), dict)

    def _round(self, number: int, population: list[Member]) -> tuple[Round, list[Member]]:
        name = _round_name(number)

        def work() -> dict[str, Any]:
            begin = time.perf_counter()
            result, new = self._respond(number, population)
            result = replace(result, seconds=time.perf_counter() - begin)
            return {"round": result.to_dict(), "members": [asdict(member) for member in new]}

        stored = self.journal.once(name, work)
        new = [member_of(row) for row in stored["members"]]
        for member in new:
            self.oracles.enlist(member)
        return Round.from_dict(stored["round"]), new

    def _respond(self, number: int, population: list[Member]) -> tuple[Round, list[Member]]:
        rates = self.oracles.play(population)
        if self.config.variant != "psro":
            return self._anytime(number, population, rates)
        mixture = self._mixture(rates)
        response = self._train(f"r{number:03d}", population, mixture, rates)
        rates = self.oracles.play([*population, response])
        return self._describe(number, population, mixture, rates, [response], len(population))

    def _anytime(
        self, number: int, population: list[Member], rates: Rates
    ) -> tuple[Round, list[Member]]:
        """Alternate between a response and the mixture that does best against all of them.

        Each mixture tried was met by a response of its own, so what it loses is known; the best of
        them and of the last round's is kept.  With exact responses that never rises.
        """
        responses: list[Member] = []
        answers: list[Member] = []  # selfplay: responses to the responses, open to the mixture
        tried = [np.array(stored.mixture) for stored in self.rounds()[-1:]]
        columns, everyone = population, population
        for stage in range(1, self.config.stages + 1):
            name = f"r{number:03d}s{stage:02d}"
            solution = minimax(rates.win_rates[:, : len(columns)])
            tried.append(solution.columns)
            mixture = _padded(solution.columns, len(everyone))
            responses.append(self._train(name, everyone, mixture, rates))
            everyone = [*columns, *responses]
            rates = self.oracles.play(everyone)
            if _worst(rates, solution.columns) - solution.value <= _CONVERGED:
                break  # the mixture is the best there is, and this response has verified it
            if self.config.variant == "selfplay":
                answers.append(self._train(f"{name}n", responses[-1:], np.ones(1)))
                columns = [*population, *answers]
                everyone = [*columns, *responses]
                rates = self.oracles.play(everyone)
        mixture = _padded(min(tried, key=lambda mixture: _worst(rates, mixture)), len(columns))
        new = responses
        if answers:
            population, mixture = self._collapsed(number, population, answers, mixture)
            rates = self.oracles.play([*population, *responses])
            new = [*population[len(columns) - len(answers) :], *responses]
        best = int(np.argmax(rates.win_rates[:, : len(population)] @ mixture))
        return self._describe(number, population, mixture, rates, new, best)

    def _collapsed(
        self, number: int, population: list[Member], answers: list[Member], mixture: Mixture
    ) -> tuple[list[Member], Mixture]:
        """The answers as one member, their average with the weights they have in the mixture."""
        weights = mixture[len(population) :]
        share = float(weights.sum())
        if share <= _PART:
            kept = mixture[: len(population)]
            return population, kept / kept.sum()
        average, name = self.oracles.average, f"r{number:03d}a"
        assert average is not None
        parts = [(m, float(w) / share) for m, w in zip(answers, weights, strict=True) if w > 0]
        member = member_of(
            self.journal.once(f"agents/{name}", lambda: asdict(average(name, parts)))
        )
        self.oracles.enlist(member)
        return [*population, member], np.append(mixture[: len(population)], share)

    def _train(
        self, name: str, members: Sequence[Member], mixture: Mixture, rates: Rates | None = None
    ) -> Member:
        """A response to a mixture over the members; done once."""
        check_mixture(mixture, len(members))
        opponents = [(m, float(w)) for m, w in zip(members, mixture, strict=True) if w > 0]
        order = list(range(len(members)))
        if rates is not None:
            skill = rates.win_rates @ mixture
            order.sort(key=lambda i: -skill[i])
        seed = int(np.random.default_rng([self.config.seed, *name.encode()]).integers(1 << 31))
        facts = {"opponents": {m.id: w for m, w in opponents}, "seed": seed}
        task = Task(name, tuple(opponents), tuple(members[i] for i in order), seed, facts)
        member = member_of(
            self.journal.once(f"agents/{name}", lambda: asdict(self.oracles.train(task)))
        )
        self.oracles.enlist(member)
        return member

    def _mixture(self, rates: Rates) -> Mixture:
        solve = self.solve or solver(self.config.solver)
        mixture = solve(rates.win_rates)
        check_mixture(mixture, len(rates.agents))
        return mixture

    def _describe(
        self,
        number: int,
        population: Sequence[Member],
        mixture: Mixture,
        rates: Rates,
        new: list[Member],
        best: int,
    ) -> tuple[Round, list[Member]]:
        """The round as it is stored; `best` is the place of the best response."""
        size = len(population)
        result = Round(
            number,
            tuple(member.id for member in population),
            tuple(mixture.tolist()),
            gain_of(rates, best, mixture, self.config.seed),
            exploitability(rates.win_rates[:size, :size], mixture),
            tuple(member.id for member in new),
            0 if rates.table is None else int(np.triu(rates.table.games).sum()),
            0.0,
        )
        return result, new


def _padded(mixture: Mixture, size: int) -> Mixture:
    return np.append(mixture, np.zeros(size - len(mixture)))


def _worst(rates: Rates, mixture: Mixture) -> float:
    """The most anyone in the table wins against a mixture over the first agents."""
    return float((rates.win_rates[:, : len(mixture)] @ mixture).max())


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


def _round_name(number: int) -> str:
    return f"rounds/{number:03d}"
