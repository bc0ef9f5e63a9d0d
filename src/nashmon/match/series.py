"""Best-of-N series: the contest of a bracket."""

from __future__ import annotations

import numpy as np

from nashmon.core.agent import Agent
from nashmon.match.bracket import BracketError
from nashmon.match.play import play_in_order
from nashmon.sim.base import Battles

_MAX_ROUNDS = 20  # batches of games without a decision before two agents are said to only draw


def best_of(
    agents: tuple[Agent, Agent], battles: Battles, length: int, seed: int
) -> tuple[int, int]:
    """Games won by each when one of them reaches a majority of `length`; draws are played again.

    Seats alternate and each pair of games has the same teams and dice.
    """
    if length < 1 or length % 2 == 0:
        raise BracketError(f"a series is the best of an odd number of games, got {length}")
    needed = length // 2 + 1
    wins = [0, 0]
    for number in range(_MAX_ROUNDS):
        round_seed = int(np.random.default_rng([seed, number]).integers(1 << 31))
        for result in play_in_order(agents, battles, length + 1, round_seed):
            if result:
                wins[0 if result > 0 else 1] += 1
            if max(wins) == needed:
                return wins[0], wins[1]
    raise BracketError(f"{agents[0].name} – {agents[1].name}: no decision in {_MAX_ROUNDS} rounds")
