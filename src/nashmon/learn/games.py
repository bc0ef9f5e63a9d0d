"""Exactly solvable games: compiled once from OpenSpiel into a `GameTree`.

Phantom tic-tac-toe is not offered: its tree has ~10¹⁰ histories, so nothing about it is exact here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pyspiel

from nashmon.learn.tree import CHANCE, TERMINAL, GameTree

# Biased rock-paper-scissors (OpenSpiel's matrix_brps over 50): equilibrium (1/16, 10/16, 5/16).
BIASED_RPS = [[0.0, -0.5, 1.0], [0.5, 0.0, -0.1], [-1.0, 0.1, 0.0]]
RPS = [[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]]
DOMINANCE = [[0.1, 0.6], [-0.4, 0.3]]  # row 0 and column 0 dominate: value 0.1


def _matrix(name: str, payoff: list[list[float]]) -> Any:
    rows = [f"r{i}" for i in range(len(payoff))]
    columns = [f"c{i}" for i in range(len(payoff[0]))]
    negated = [[-x for x in row] for row in payoff]
    return pyspiel.create_matrix_game(name, name, rows, columns, payoff, negated)


GAMES: dict[str, Callable[[], Any]] = {
    "rps": lambda: _matrix("rps", RPS),
    "biased_rps": lambda: _matrix("biased_rps", BIASED_RPS),
    "dominance": lambda: _matrix("dominance", DOMINANCE),
    "kuhn": lambda: pyspiel.load_game("kuhn_poker"),
    "leduc": lambda: pyspiel.load_game("leduc_poker"),
    # Suits decide nothing in Leduc poker: the same game with a fifth of the histories.
    "leduc_ranks": lambda: pyspiel.load_game("leduc_poker(suit_isomorphism=True)"),
    "goofspiel3": lambda: pyspiel.load_game(
        "goofspiel(num_cards=3,imp_info=True,points_order=descending,returns_type=win_loss)"
    ),
    "liars_dice": lambda: pyspiel.load_game("liars_dice"),
}


@cache
def load_game(name: str) -> GameTree:
    """The compiled game; an unknown name is an error that lists the known ones."""
    if name not in GAMES:
        raise ValueError(f"unknown game {name!r}; known: {', '.join(GAMES)}")
    return compile_game(GAMES[name](), name)


def spiel_game(name: str) -> Any:
    """The same game as an OpenSpiel object."""
    return GAMES[name]()


class _Builder:
    """Collects nodes breadth first."""

    def __init__(self, game: Any) -> None:
        self.game = game
        self.num_actions = game.num_distinct_actions()
        self.columns: dict[str, list[Any]] = {
            name: []
            for name in (
                "player",
                "simultaneous",
                "infoset",
                "parent",
                "action",
                "chance",
                "first_child",
                "num_children",
                "returns",
            )
        }
        self.infosets: dict[tuple[int, str], int] = {}
        self.masks: list[list[bool]] = []
        self.features: list[list[float]] = []
        self.depths: list[int] = []

    def add(self, state: Any, pending: int | None, edge: tuple[int, int, float]) -> list[Any]:
        """Append one node and return its children as (state, pending move of seat 0, edge)."""
        columns, index = self.columns, len(self.columns["player"])
        parent, action, chance = edge
        for name, value in (("parent", parent), ("action", action), ("chance", chance)):
            columns[name].append(value)
        together = state.is_simultaneous_node()
        player, infoset, returns = TERMINAL, -1, 0.0
        children: list[Any] = []
        if state.is_terminal():
            returns = state.returns()[0]
        elif state.is_chance_node():
            player = CHANCE
            children = [
                (state.child(move), None, (index, -1, p)) for move, p in state.chance_outcomes()
            ]
        else:
            player = (0 if pending is None else 1) if together else state.current_player()
            infoset = self.find_infoset(state, player)
            for move in state.legal_actions(player):
                follow = (state, move) if together and player == 0 else (None, None)
                if follow[0] is None:
                    follow = (_applied(state, pending, move, together), None)
                children.append((*follow, (index, move, 1.0)))
        columns["player"].append(player)
        columns["simultaneous"].append(together and player == 0)
        columns["infoset"].append(infoset)
        columns["returns"].append(returns)
        columns["num_children"].append(len(children))
        return children

    def find_infoset(self, state: Any, player: int) -> int:
        key = (player, state.information_state_string(player))
        if key not in self.infosets:
            self.infosets[key] = len(self.masks)
            legal = np.zeros(self.num_actions, dtype=bool)
            legal[state.legal_actions(player)] = True
            self.masks.append(legal.tolist())
            tensor = state.information_state_tensor(player)
            self.features.append([float(player), *tensor])
        return self.infosets[key]


def _applied(state: Any, pending: int | None, move: int, together: bool) -> Any:
    if not together:
        return state.child(move)
    following = state.clone()
    following.apply_actions([pending, move])
    return following


def compile_game(game: Any, name: str) -> GameTree:
    """Walk an OpenSpiel game once, breadth first, into arrays."""
    builder = _Builder(game)
    level: list[Any] = [(game.new_initial_state(), None, (-1, -1, 1.0))]
    levels, total = [0], 0
    while level:
        following: list[Any] = []
        start = total + len(level)
        for state, pending, edge in level:
            builder.columns["first_child"].append(start + len(following))
            following.extend(builder.add(state, pending, edge))
        total = start
        levels.append(total)
        level = following
    c = builder.columns
    infoset_player = [player for player, _ in builder.infosets]
    tree = GameTree(
        name=name,
        num_actions=builder.num_actions,
        player=np.array(c["player"], dtype=np.int8),
        simultaneous=np.array(c["simultaneous"], dtype=bool),
        infoset=np.array(c["infoset"], dtype=np.int32),
        parent=np.array(c["parent"], dtype=np.int32),
        action=np.array(c["action"], dtype=np.int32),
        chance=np.array(c["chance"], dtype=np.float64),
        first_child=np.array(c["first_child"], dtype=np.int32),
        num_children=np.array(c["num_children"], dtype=np.int32),
        levels=np.array(levels, dtype=np.int32),
        returns=np.array(c["returns"], dtype=np.float64),
        infoset_player=np.array(infoset_player, dtype=np.int8),
        masks=np.array(builder.masks, dtype=bool),
        features=np.array(builder.features, dtype=np.float32),
        keys=tuple(f"{player}: {text}" for player, text in builder.infosets),
    )
    _check_levels(tree)
    return tree


def _check_levels(tree: GameTree) -> None:
    """Best responses go level by level: an information set must not span two levels."""
    depth = np.repeat(np.arange(len(tree.levels) - 1), np.diff(tree.levels))
    decided = tree.infoset >= 0
    sets = tree.infoset[decided]
    low = np.full(tree.num_infosets, len(depth))
    high = np.zeros(tree.num_infosets, dtype=np.int64)
    np.minimum.at(low, sets, depth[decided])
    np.maximum.at(high, sets, depth[decided])
    if (low != high).any():
        key = tree.keys[int((low != high).argmax())]
        raise ValueError(f"{tree.name}: histories of {key!r} have different lengths")
