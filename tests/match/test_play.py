from contextlib import closing
from typing import Any

import numpy as np
import pytest

from nashmon.agents import MaxBasePower, RandomAgent
from nashmon.core.agent import Decisions
from nashmon.match.play import play
from nashmon.sim.make import make_battles


class SeatBiased:
    """Plays well in p1's seat only: it cannot win more than half of a fair match."""

    name = "biased"

    def start(self, num_slots: int) -> None:
        return None

    def act(self, decisions: Decisions, memory: Any, rng: np.random.Generator) -> Any:
        return decisions.masks.argmax(axis=1)


def test_an_agent_scores_exactly_half_against_its_deterministic_twin() -> None:
    # Seats and teams are exchanged between the halves, so whatever favours one seat cancels.
    with closing(make_battles("gen1ou", 4, engine="showdown")) as battles:
        record = play((SeatBiased(), SeatBiased()), battles, games=16, seed=3)
    assert record.games == 16
    assert record.win_rate == 0.5
    assert record.turns > 0 and record.decisions > 0


def test_strong_moves_beat_random_ones_and_results_repeat() -> None:
    with closing(make_battles("gen1ou", 8, engine="showdown")) as battles:
        agents = (MaxBasePower(), RandomAgent())
        record = play(agents, battles, games=40, seed=1)
        assert record.interval[0] > 0.5
        assert play(agents, battles, games=40, seed=1) == record


def test_games_come_in_pairs() -> None:
    with (
        closing(make_battles("gen1ou", 1, engine="showdown")) as battles,
        pytest.raises(ValueError, match="even number"),
    ):
        play((RandomAgent(), RandomAgent()), battles, games=3, seed=1)
