"""Exploitability descent: train an exploiter of the main agent, then the main agent against it.

    exploit ─▶ keep the exploiter if it measurably wins ─▶ defend ─▶ exploit …

The exploiters stay: the main agent defends against all of them, those it loses to most first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np

from nashmon.core.errors import NashmonError
from nashmon.league.journal import Journal
from nashmon.league.nash import prioritised
from nashmon.league.population import Member, member_of
from nashmon.league.psro import Gain, Oracles, Task, gain_of

# (id of the new agent, the main agent, exploiters with weights that sum to 1) → the defended agent
Defend = Callable[[str, Member, Sequence[tuple[Member, float]]], Member]


class DescentError(NashmonError):
    """Settings exploitability descent cannot work with."""


@dataclass(frozen=True)
class DescentConfig:
    """How long, and which exploiters are kept."""

    rounds: int = 10
    min_gain: float = 0.0  # an exploiter must measurably win more than this beyond ½
    power: float = 1.0  # of the losing rate in the weights of the exploiters
    seed: int = 0

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise DescentError("rounds must be at least 1")


@dataclass(frozen=True, slots=True)
class Descent:
    """One round: who was exploited by how much, and who came out of the defence."""

    number: int
    main: Member
    exploiter: Member
    gain: Gain
    kept: bool
    defended: Member  # the same as `main` if there was nothing to defend against


def descend(
    config: DescentConfig,
    main: Member,
    oracles: Oracles,
    defend: Defend,
    journal: Journal | None = None,
) -> Iterator[Descent]:
    """Alternate; ends early when an exploiter wins nothing measurable."""
    journal = journal or Journal()
    exploiters: list[Member] = []
    for number in range(1, config.rounds + 1):
        seed = int(np.random.default_rng([config.seed, number]).integers(1 << 31))
        task = Task(f"x{number:03d}", ((main, 1.0),), (main,), seed, {"victim": main.id})
        exploiter = _once(journal, task.name, partial(oracles.train, task))
        oracles.enlist(exploiter)
        gain = gain_of(oracles.play([main, exploiter]), 1, np.ones(1), config.seed)
        if gain.low <= config.min_gain:
            yield Descent(number, main, exploiter, gain, False, main)
            return
        exploiters.append(exploiter)
        rates = oracles.play([main, *exploiters]).win_rates[0, 1:]
        weights = prioritised(rates, config.power)
        against = list(zip(exploiters, weights.tolist(), strict=True))
        name = f"d{number:03d}"
        defended = _once(journal, name, partial(defend, name, main, against))
        oracles.enlist(defended)
        yield Descent(number, main, exploiter, gain, True, defended)
        main = defended


def _once(journal: Journal, name: str, make: Callable[[], Member]) -> Member:
    return member_of(journal.once(f"agents/{name}", lambda: asdict(make())))
