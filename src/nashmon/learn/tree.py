"""A two-player zero-sum game as flat arrays: batched play and exact exploitability in numpy.

Nodes are in breadth-first order, so levels and the children of a node are contiguous.  A node
where both seats move at once is stored as seat 0's node followed by seat 1's, which do not see
each other's move.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

CHANCE, TERMINAL = -1, -2

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


@dataclass(frozen=True)
class GameTree:
    """All histories of a game and how they are grouped into information sets."""

    name: str
    num_actions: int
    player: NDArray[np.int8]  # (nodes,): seat to move, CHANCE or TERMINAL
    simultaneous: NDArray[np.bool_]  # (nodes,): seat 1 moves next without seeing this move
    infoset: Ints  # (nodes,): information set of the seat to move, −1 elsewhere
    parent: Ints  # (nodes,): −1 for the root
    action: Ints  # (nodes,): action that led here from a seat's node
    chance: Floats  # (nodes,): probability of the edge from the parent if chance moved, else 1
    first_child: Ints  # (nodes,)
    num_children: Ints  # (nodes,)
    levels: Ints  # (depth + 1,): level d is nodes levels[d]:levels[d + 1]
    returns: Floats  # (nodes,): seat 0's return at terminal nodes, 0 elsewhere
    infoset_player: NDArray[np.int8]  # (infosets,)
    masks: NDArray[np.bool_]  # (infosets, actions)
    features: NDArray[np.float32]  # (infosets, width): the game's own encoding of the infoset
    keys: tuple[str, ...]  # (infosets,): readable name

    @property
    def num_infosets(self) -> int:
        """Information sets of both seats."""
        return len(self.masks)

    @property
    def max_return(self) -> float:
        """Largest absolute return."""
        return float(np.abs(self.returns).max())

    def uniform(self) -> Floats:
        """The policy table (infosets, actions) that is uniform over legal actions."""
        legal = self.masks.astype(np.float64)
        return np.asarray(legal / legal.sum(1, keepdims=True))

    def _edges(self, policy: Floats) -> Floats:
        """Probability of the edge into each node under `policy` (1 for the root)."""
        owner = self.infoset[self.parent]
        edge = self.chance.copy()
        moved = (owner >= 0) & (self.parent >= 0)
        edge[moved] = policy[owner[moved], self.action[moved]]
        return edge

    def _reach(self, edge: Floats) -> Floats:
        reach = edge.copy()
        for low, high in zip(self.levels[1:-1], self.levels[2:], strict=True):
            reach[low:high] *= reach[self.parent[low:high]]
        return reach

    def value(self, policy: Floats) -> float:
        """Seat 0's exact expected return when both seats follow `policy`."""
        return float(self._reach(self._edges(policy)) @ self.returns)

    def best_response(self, policy: Floats, seat: int) -> tuple[float, Floats]:
        """Value and table of the best response of `seat` against `policy` for the other seat."""
        edge = self._edges(policy)
        mine = (self.player[self.parent] == seat) & (self.parent >= 0)
        sign = 1.0 if seat == 0 else -1.0
        values = self._reach(np.where(mine, 1.0, edge)) * self.returns * sign
        response = np.zeros_like(policy)
        for low, high in zip(self.levels[-2:0:-1], self.levels[:1:-1], strict=True):
            nodes = np.arange(low, high)
            inner = mine[nodes]
            own = nodes[inner]
            best = self._best_actions(own, values)
            response[best.nonzero()[0], best[best.nonzero()[0]] - 1] = 1.0
            picked = own[best[self.infoset[self.parent[own]]] - 1 == self.action[own]]
            np.add.at(values, self.parent[picked], values[picked])
            rest = nodes[~inner]
            np.add.at(values, self.parent[rest], values[rest])
        return float(values[0]), response

    def _best_actions(self, nodes: NDArray[np.int64], values: Floats) -> Ints:
        """1 + best action of each information set above `nodes`, 0 for the others."""
        best = np.zeros(self.num_infosets, dtype=np.int32)
        if len(nodes) == 0:
            return best
        sets = self.infoset[self.parent[nodes]]
        slot = sets.astype(np.int64) * self.num_actions + self.action[nodes]
        total = np.bincount(slot, values[nodes], minlength=self.masks.size)
        total = np.where(self.masks, total.reshape(self.masks.shape), -np.inf)
        touched = np.unique(sets)
        best[touched] = 1 + total[touched].argmax(1)
        return best

    def exploitability(self, policy: Floats) -> float:
        """NashConv / 2: what best responses gain on average over the two seats, in game units."""
        self.check_policy(policy)
        return (self.best_response(policy, 0)[0] + self.best_response(policy, 1)[0]) / 2

    def check_policy(self, policy: Floats) -> None:
        """Raise if the table is not a distribution over legal actions everywhere."""
        if policy.shape != self.masks.shape:
            raise ValueError(
                f"policy table is {policy.shape}, {self.name} needs {self.masks.shape}"
            )
        wrong = ~np.isclose(policy.sum(1), 1.0, atol=1e-4) | (policy * ~self.masks).any(1)
        if wrong.any():
            key = self.keys[int(wrong.argmax())]
            raise ValueError(
                f"policy of {self.name} is no distribution over legal actions at {key!r}"
            )


@dataclass(frozen=True)
class Episodes:
    """N games played to the end, both seats: arrays (T, N, 2)."""

    infosets: Ints  # −1 where the seat does not act
    actions: Ints  # −1 where the seat does not act
    log_probs: NDArray[np.float32]
    rewards: NDArray[np.float32]
    ends: NDArray[np.bool_]
    resets: NDArray[np.bool_]

    @property
    def acting(self) -> NDArray[np.bool_]:
        """Where a seat decides."""
        return self.infosets >= 0


class Enumeration:
    """Every way a game can go, each with its probability: a batch without sampling noise."""

    def __init__(self, tree: GameTree) -> None:
        self.tree = tree
        ends = (tree.player == TERMINAL).nonzero()[0]
        paths = [self._path(int(node)) for node in ends]
        steps = max(len(path) for path in paths)
        self.ends = ends
        self.infosets = np.full((steps, len(ends), 2), -1, dtype=np.int32)
        self.actions = np.full((steps, len(ends), 2), -1, dtype=np.int32)
        rewards = np.zeros((steps, len(ends), 2), dtype=np.float32)
        over = np.zeros((steps, len(ends), 2), dtype=bool)
        for z, path in enumerate(paths):
            for t, moves in enumerate(path):
                for seat, infoset, action in moves:
                    self.infosets[t, z, seat], self.actions[t, z, seat] = infoset, action
            gain = tree.returns[ends[z]]
            rewards[len(path) - 1, z] = gain, -gain
            over[len(path) - 1, z] = True
        resets = np.zeros_like(over)
        resets[0] = True
        self.rewards, self.over, self.resets = rewards, over, resets

    def _path(self, node: int) -> list[list[tuple[int, int, int]]]:
        """Moves (seat, infoset, action) of each step from the root to a terminal node."""
        tree = self.tree
        path: list[list[tuple[int, int, int]]] = []
        while node > 0:
            above = int(tree.parent[node])
            seat = int(tree.player[above])
            if seat >= 0:
                move = (seat, int(tree.infoset[above]), int(tree.action[node]))
                if tree.simultaneous[above]:
                    path[-1].append(move)  # seat 1's half of the step was met just before
                else:
                    path.append([move])
            node = above
        return path[::-1]

    def play(self, policy: Floats) -> tuple[Episodes, Floats]:
        """All games, and the probability (games,) of each when both seats follow `policy`."""
        acting = self.infosets >= 0
        probs = np.where(acting, policy[self.infosets, self.actions], 1.0)
        log_probs = np.log(probs).astype(np.float32)
        episodes = Episodes(
            self.infosets, self.actions, log_probs, self.rewards, self.over, self.resets
        )
        tree = self.tree
        return episodes, tree._reach(tree._edges(policy))[self.ends]


class Player:
    """Plays many games of one tree at once from policy tables."""

    def __init__(self, tree: GameTree) -> None:
        self.tree = tree
        legal = tree.masks
        self._rank = np.cumsum(legal, 1).astype(np.int32) - 1
        self._last_legal = legal.shape[1] - 1 - legal[:, ::-1].argmax(1)
        above = (tree.player[tree.parent] == CHANCE) & (tree.parent >= 0)
        self._chance_children = above.nonzero()[0]
        parents, place = np.unique(tree.parent[self._chance_children], return_inverse=True)
        self._chance_rank = np.zeros(len(tree.player), dtype=np.int64)
        self._chance_rank[parents] = np.arange(len(parents))
        weights = tree.chance[self._chance_children]
        cumulative = np.cumsum(weights)
        starts = np.concatenate([[0.0], cumulative[np.flatnonzero(np.diff(place))]])
        self._chance_cumulative = place + (cumulative - starts[place])
        last = np.append(np.flatnonzero(np.diff(place)), len(place) - 1)
        if len(place):
            self._chance_cumulative[last] = place[last] + 1.0

    def play(
        self,
        policies: Floats,
        num_games: int,
        rng: np.random.Generator,
        choice: NDArray[np.int64] | None = None,
    ) -> Episodes:
        """Play; `policies` is one table, or a stack that `choice` (games, 2) selects from."""
        stack = policies if policies.ndim == 3 else policies[None]
        if choice is None:
            choice = np.zeros((num_games, 2), dtype=np.int64)
        cumulative = np.cumsum(stack, 2)
        cumulative[:, np.arange(self.tree.num_infosets), self._last_legal] = np.inf
        node = self._skip_chance(np.zeros(num_games, dtype=np.int64), rng)
        steps: list[tuple[Ints, Ints, NDArray[np.float32], NDArray[np.float32], Ints]] = []
        while (self.tree.player[node] >= 0).any():
            infosets = np.full((num_games, 2), -1, dtype=np.int32)
            actions = np.full((num_games, 2), -1, dtype=np.int32)
            log_probs = np.zeros((num_games, 2), dtype=np.float32)
            games = (self.tree.player[node] >= 0).nonzero()[0]
            over = np.zeros(num_games, dtype=np.int32)
            over[games] = 1
            while len(games):
                at = node[games]
                seat = self.tree.player[at]
                sets = self.tree.infoset[at]
                which = choice[games, seat]
                draw = rng.random(len(games))[:, None]
                taken = (cumulative[which, sets] <= draw).sum(1)
                infosets[games, seat] = sets
                actions[games, seat] = taken
                log_probs[games, seat] = np.log(stack[which, sets, taken])
                node[games] = self.tree.first_child[at] + self._rank[sets, taken]
                games = games[self.tree.simultaneous[at]]
            node = self._skip_chance(node, rng)
            over &= self.tree.player[node] == TERMINAL
            gain = (self.tree.returns[node] * over).astype(np.float32)
            steps.append((infosets, actions, log_probs, np.stack([gain, -gain], 1), over))
        return _stack(steps)

    def _skip_chance(self, node: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        games = (self.tree.player[node] == CHANCE).nonzero()[0]
        while len(games):
            key = self._chance_rank[node[games]] + rng.random(len(games))
            spot = np.searchsorted(self._chance_cumulative, key, side="right")
            node[games] = self._chance_children[spot]
            games = games[self.tree.player[node[games]] == CHANCE]
        return node


def _stack(
    steps: list[tuple[Ints, Ints, NDArray[np.float32], NDArray[np.float32], Ints]],
) -> Episodes:
    infosets, actions, log_probs, rewards, over = (np.stack(x) for x in zip(*steps, strict=True))
    ends = np.repeat(over.astype(bool)[:, :, None], 2, axis=2)
    resets = np.zeros_like(ends)
    resets[0] = True
    return Episodes(infosets, actions, log_probs, rewards, ends, resets)
