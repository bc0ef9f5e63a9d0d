"""Exact oracles: best responses and payoffs without sampling, on matrix games and game trees."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nashmon.league.payoff import Rates
from nashmon.league.population import Kind, Member
from nashmon.league.rounds import Oracles, Task
from nashmon.learn.tree import GameTree
from nashmon.match.metagame import Matrix, PayoffError, check_win_rates

Floats = NDArray[np.float64]
EXACT = "exact"  # the format of members that play a solvable game


def exact_member(name: str, spec: str, kind: Kind = "response", **facts: Any) -> Member:
    """A member that exists in an exact game only."""
    return Member(name, spec, kind, EXACT, spec, (), facts)


def _taken_in(task: Task) -> list[tuple[Member, float]]:
    """The agent that is defended with its newest exploiter as one part in k + 1 of it."""
    if task.start is None:
        raise PayoffError(f"{task.name}: nobody to defend")
    share = 1.0 / (len(task.opponents) + 1)
    return [(task.start, 1.0 - share), (task.opponents[-1][0], share)]


class ExactMatrix:
    """A symmetric zero-sum matrix game; members are pure strategies `pure:I` or mixtures."""

    def __init__(self, win_rates: Matrix) -> None:
        check_win_rates(win_rates)
        self.win_rates = win_rates

    def pure(self, strategy: int, name: str = "") -> Member:
        """The member that always plays one strategy."""
        return exact_member(name or f"pure{strategy}", f"pure:{strategy}")

    def strategy(self, member: Member) -> Floats:
        """Probabilities over the strategies of the game."""
        kind, _, rest = member.spec.partition(":")
        size = len(self.win_rates)
        if kind == "pure" and rest.isdigit() and int(rest) < size:
            return np.asarray(np.eye(size)[int(rest)])
        if kind == "mixed":
            return np.array([float(x) for x in rest.split(",")])
        raise PayoffError(f"{member.id}: {member.spec!r} is no strategy of a game with {size}")

    def play(self, members: Sequence[Member]) -> Rates:
        """Exact win rates."""
        strategies = np.array([self.strategy(member) for member in members])
        rates = strategies @ self.win_rates @ strategies.T
        return Rates(tuple(member.id for member in members), rates)

    def mix(self, members: Sequence[tuple[Member, float]]) -> Floats:
        """The strategy of a mixture."""
        total: Floats = np.sum([w * self.strategy(member) for member, w in members], axis=0)
        return total

    def train(self, task: Task) -> Member:
        """The pure best response."""
        best = int((self.win_rates @ self.mix(task.opponents)).argmax())
        return exact_member(task.name, f"pure:{best}")

    def average(self, name: str, members: Sequence[tuple[Member, float]]) -> Member:
        """The mixture as one member."""
        mixed = ",".join(repr(float(x)) for x in self.mix(members))
        return exact_member(name, f"mixed:{mixed}", "average")

    def defend(self, task: Task) -> Member:
        """What beats the agent becomes part of it."""
        return self.average(task.name, _taken_in(task))

    def exploitability(self, members: Sequence[Member], mixture: Sequence[float]) -> float:
        """What the best strategy of the whole game wins beyond ½."""
        mixed = self.mix(list(zip(members, mixture, strict=True)))
        return float((self.win_rates @ mixed).max()) - 0.5

    def oracles(self) -> Oracles:
        """The callables PSRO needs."""
        return Oracles(self.train, self.play, self.average, defend=self.defend)


class ExactTree:
    """A game tree; a member is a policy table for both seats, kept in memory under its id.

    Payoffs are averaged over the two seatings and scaled from ±`max_return` to win rates.
    """

    def __init__(self, tree: GameTree) -> None:
        self.tree = tree
        self.tables: dict[str, Floats] = {}
        self._reach: dict[str, tuple[Floats, Floats]] = {}  # of the ends, by seat
        self._ends = np.flatnonzero(tree.num_children == 0)
        self._stakes = (self._along(tree.chance) * tree.returns)[self._ends]
        owned = np.flatnonzero(tree.infoset >= 0)[::-1]
        self._node = np.zeros(tree.num_infosets, dtype=np.int64)  # one history of each infoset
        self._node[tree.infoset[owned]] = owned

    def add(self, name: str, table: Floats, kind: Kind = "response") -> Member:
        """A member with a policy."""
        self.tree.check_policy(table)
        self.tables[name] = table
        reach = [self._own_reach(table, seat)[self._ends] for seat in (0, 1)]
        self._reach[name] = reach[0], reach[1]
        return exact_member(name, f"table:{name}", kind)

    def play(self, members: Sequence[Member]) -> Rates:
        """Exact win rates."""
        first = np.array([self._reach[member.id][0] for member in members])
        second = np.array([self._reach[member.id][1] for member in members])
        values = (first * self._stakes) @ second.T  # [i, j]: i in seat 0
        gains = (values - values.T) / (4 * self.tree.max_return)
        return Rates(tuple(member.id for member in members), 0.5 + gains)

    def mix(self, members: Sequence[tuple[Member, float]]) -> Floats:
        """The behaviour of a mixture that draws its member as a game begins."""
        total = np.zeros(self.tree.masks.shape)
        for member, weight in members:
            table = self.tables[member.id]
            total += weight * self._infoset_reach(table)[:, None] * table
        mass = total.sum(1, keepdims=True)
        mixed: Floats = np.where(mass > 0, total / np.where(mass > 0, mass, 1), self.tree.uniform())
        return mixed

    def train(self, task: Task) -> Member:
        """The exact best response of both seats."""
        return self.add(task.name, self.respond(self.mix(task.opponents)))

    def respond(self, table: Floats) -> Floats:
        """Best responses of both seats in one table."""
        both = [self.tree.best_response(table, seat)[1] for seat in (0, 1)]
        seat = self.tree.infoset_player[:, None]
        response: Floats = np.where(seat == 0, both[0], both[1])
        return response

    def average(self, name: str, members: Sequence[tuple[Member, float]]) -> Member:
        """A mixture as one policy."""
        return self.add(name, self.mix(members), "average")

    def defend(self, task: Task) -> Member:
        """What beats the agent becomes part of it."""
        return self.average(task.name, _taken_in(task))

    def exploitability(self, members: Sequence[Member], mixture: Sequence[float]) -> float:
        """NashConv / 2 of a mixture in the whole game, in the game's units."""
        return self.tree.exploitability(self.mix(list(zip(members, mixture, strict=True))))

    def oracles(self) -> Oracles:
        """The callables PSRO needs."""
        return Oracles(self.train, self.play, self.average, defend=self.defend)

    def _along(self, edge: Floats) -> Floats:
        """Product of the edges from the root to each node."""
        reach = edge.copy()
        levels = self.tree.levels
        for low, high in pairwise(levels[1:]):
            reach[low:high] *= reach[self.tree.parent[low:high]]
        return reach

    def _own_reach(self, table: Floats, seat: int) -> Floats:
        tree = self.tree
        mine = (tree.player[tree.parent] == seat) & (tree.parent >= 0)
        edge = np.ones(len(tree.parent))
        edge[mine] = table[tree.infoset[tree.parent[mine]], tree.action[mine]]
        return self._along(edge)

    def _infoset_reach(self, table: Floats) -> Floats:
        """How likely each information set's owner plays towards it."""
        both = [self._own_reach(table, seat)[self._node] for seat in (0, 1)]
        return np.where(self.tree.infoset_player == 0, both[0], both[1])
