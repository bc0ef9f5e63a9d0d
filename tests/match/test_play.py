from contextlib import closing
from typing import Any

import numpy as np
import pytest

from nashmon.agents import MaxBasePower, RandomAgent
from nashmon.core.actions import IllegalActionError, action_space
from nashmon.core.agent import Decisions
from nashmon.core.formats import get_format
from nashmon.match.metrics import action_kinds
from nashmon.match.play import play, play_in_order, play_sprt
from nashmon.match.series import best_of
from nashmon.match.sprt import SprtConfig
from nashmon.match.statistics import Record
from nashmon.sim.make import make_battles


class FirstLegal:
    """Always the first legal action, so that a game depends on teams, dice and seats alone."""

    name = "first"

    def start(self, num_slots: int) -> None:
        return None

    def act(self, decisions: Decisions, memory: Any, rng: np.random.Generator) -> Any:
        return decisions.masks.argmax(axis=1)


class Illegal(FirstLegal):
    name = "cheat"

    def act(self, decisions: Decisions, memory: Any, rng: np.random.Generator) -> Any:
        return decisions.masks.argmin(axis=1)


@pytest.mark.parametrize("engine", ["gen1", "showdown"])
def test_whatever_favours_a_seat_cancels(engine: Any) -> None:
    # Seats and teams are exchanged between the halves: equal agents score exactly half.
    with closing(make_battles("gen1ou", 4, engine=engine)) as battles:
        record = play((FirstLegal(), FirstLegal()), battles, games=8, seed=3)
    assert record.games == 8
    assert record.win_rate == 0.5
    assert sum(record.pairs) == 4 and record.pairs == record.pairs[::-1]
    assert record.turns > 0 and record.decisions > 0


def test_strong_moves_beat_random_ones_and_results_repeat() -> None:
    with closing(make_battles("gen1ou", 8)) as battles:
        agents = (MaxBasePower(), RandomAgent())
        record = play(agents, battles, games=40, seed=1)
        assert record.interval[0] > 0.5
        assert play(agents, battles, games=40, seed=1) == record
    first, second = record.metrics
    assert first.decisions + second.decisions == record.decisions
    assert first.mix["switch"] < second.mix["switch"]
    assert sum(first.mix.values()) == pytest.approx(1.0)
    assert first.decisions_per_second > 0 and first.mean_entropy is None


def test_games_come_in_pairs() -> None:
    with (
        closing(make_battles("gen1ou", 1)) as battles,
        pytest.raises(ValueError, match="even number"),
    ):
        play((RandomAgent(), RandomAgent()), battles, games=3, seed=1)


def test_an_illegal_action_ends_the_match_and_names_the_agent() -> None:
    with (
        closing(make_battles("gen1ou", 1)) as battles,
        pytest.raises(IllegalActionError, match="agent cheat chose"),
    ):
        play((RandomAgent(), Illegal()), battles, games=2, seed=1)


def test_turn_limits_are_counted_and_logs_are_kept() -> None:
    logs: dict[str, list[str]] = {}
    with closing(make_battles("gen1ou", 2, turn_limit=2, keep_logs=True)) as battles:
        agents = (RandomAgent(), RandomAgent())
        record = play(agents, battles, 4, 1, keep_log=logs.__setitem__)
    assert record == Record.from_dict(record.to_dict())
    assert record.truncated == record.draws == 4
    assert len(logs) == 4 and all("|turn|1" in lines for lines in logs.values())


@pytest.mark.parametrize("format_id", ["gen1ou", "gen9ou", "gen9vgc2025regi"])
def test_every_action_has_a_kind(format_id: str) -> None:
    rules = get_format(format_id)
    space = action_space(rules)
    kinds = action_kinds(rules.game_type, space.num_actions)
    slots = 1 if rules.game_type == "singles" else 2
    assert kinds.shape == (space.num_actions, 3)
    assert kinds.sum(axis=1).max() == slots
    if slots == 1:
        assert kinds.sum(axis=0).tolist() == [4, 5, 4]
    else:
        assert kinds[44 * 45 + 44].tolist() == [0, 0, 0]  # both pass
        assert kinds[45 * 2 + 40].tolist() == [1, 1, 0]


def test_the_sequential_test_decides_a_clear_match_early() -> None:
    config = SprtConfig.from_elo(0, 100)
    with closing(make_battles("gen1ou", 8)) as battles:
        record, verdict = play_sprt((MaxBasePower(), RandomAgent()), battles, config, 1, 400)
        assert verdict == "accept" and record.games < 400
        assert sum(record.pairs) == record.games // 2
        record, verdict = play_sprt((RandomAgent(), MaxBasePower()), battles, config, 1, 400)
        assert verdict == "reject"


def test_a_series_ends_with_a_majority() -> None:
    with closing(make_battles("gen1ou", 3)) as battles:
        agents = (MaxBasePower(), RandomAgent())
        results = play_in_order(agents, battles, 6, seed=1)
        assert len(results) == 6 and set(results) <= {1, 0, -1}
        wins = best_of(agents, battles, 5, seed=1)
    assert max(wins) == 3 and wins[0] > wins[1]
