"""Policy-space response oracles: train a response to a mixture, add it, play, solve again.

The loop knows a few callables (`rounds.Oracles`); it runs alike on rock-paper-scissors, on Leduc
poker and on Gen 1 OU.  What a round does is in `variants`.  Every trained agent and every round is
a step of a `Journal`: kill it anywhere and run it again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from nashmon.league.journal import Journal
from nashmon.league.nash import Mixture, Solver
from nashmon.league.population import Member, member_of
from nashmon.league.rounds import Oracles, PSROConfig, PSROError, Round, Workshop
from nashmon.league.variants import VARIANTS, defended


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
        variant = self.config.variant
        if variant in ("selfplay", "nfsp") and self.oracles.average is None:
            raise PSROError(f"{variant} needs a callable that averages agents")
        if variant == "descent" and self.oracles.defend is None:
            raise PSROError("descent needs a callable that defends an agent")
        self.shop = Workshop(self.config, self.oracles, self.journal, self.solve)

    def run(self) -> Iterator[Round]:
        """Rounds until the budget ends or responses no longer win."""
        population, before, idle = list(self.start), list[Round](), 0
        for number in range(1, self.config.rounds + 1):
            result, new = self._round(number, population, before)
            yield result
            population += new
            before.append(result)
            idle = idle + 1 if result.gain.low <= self.config.min_gain else 0
            if idle >= self.config.patience:
                return

    def population(self) -> list[Member]:
        """Everyone after the rounds that were finished."""
        new = [member_of(row) for stored in self._stored() for row in stored["members"]]
        return [*self.start, *new]

    def final(self) -> tuple[list[Member], Mixture]:
        """Who is in the mixture after the finished rounds, and the mixture.

        `psro` and `pipeline` solve the table with the last response in it; `anytime` and `selfplay`
        answer with the mixture of their last round, whose exploitability was held down; `nfsp`
        and `descent` with their newest agent.
        """
        members, rounds = self.population(), self.rounds()
        variant = self.config.variant
        if variant in ("psro", "pipeline") or not rounds:
            return members, self.shop.mixture(self.oracles.play(members))
        if variant in ("nfsp", "descent"):
            newest = members[-1] if variant == "nfsp" else defended(members, rounds)
            return members, np.eye(len(members))[members.index(newest)]
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

    def _round(
        self, number: int, population: list[Member], before: list[Round]
    ) -> tuple[Round, list[Member]]:
        def work() -> dict[str, Any]:
            begin = time.perf_counter()
            respond = VARIANTS[self.config.variant]
            result, new = respond(self.shop, number, list(population), before)
            added = tuple(member.id for member in new)
            result = replace(result, added=added, seconds=time.perf_counter() - begin)
            return {"round": result.to_dict(), "members": [asdict(member) for member in new]}

        stored = self.journal.once(_round_name(number), work)
        new = [member_of(row) for row in stored["members"]]
        for member in new:
            self.oracles.enlist(member)
        return Round.from_dict(stored["round"]), new


def _round_name(number: int) -> str:
    return f"rounds/{number:03d}"
