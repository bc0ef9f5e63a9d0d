"""Gen 1 situations from arrays are those from states, and agents choose alike on both."""

from contextlib import closing
from dataclasses import fields, replace

import numpy as np
import pytest

from nashmon.agents.move_table import likely_moves, move_table
from nashmon.agents.registry import SCRIPTED, get_agent
from nashmon.agents.situation import Situation, fill_guesses
from nashmon.agents.situation_gen1 import situation_from_gen1
from nashmon.agents.situation_states import situation_from_states
from nashmon.core.agent import Decisions, RandomAgent
from nashmon.match.play import decisions_of
from nashmon.observe.vocab import vocabularies
from nashmon.sim.base import NO_ACTION
from nashmon.sim.make import make_battles

NUM_BATTLES = 6


def decisions(teams: str | None, steps: int, every: int) -> list[Decisions]:
    """Decisions of random battles with copies of their arrays and states."""
    rng, kept = np.random.default_rng(4), []
    with closing(make_battles("gen1ou", NUM_BATTLES, teams=teams, engine="gen1")) as battles:
        step = battles.reset(4)
        for number in range(steps):
            actions = np.full(step.acting.shape, NO_ACTION, np.int64)
            for seat in (0, 1):
                rows = np.flatnonzero(step.acting[:, seat])
                if not len(rows):
                    continue
                view = decisions_of(battles, step, rows, seat, step.acting)
                actions[rows, seat] = RandomAgent().act(view, None, rng)
                if number % every == 0:
                    states = view.states()
                    kept.append(replace(view, states=lambda states=states: states))
            step = battles.step(actions)
    return kept


@pytest.fixture(scope="module")
def real() -> list[Decisions]:
    return decisions(None, 60, 6)


@pytest.fixture(scope="module")
def wild() -> list[Decisions]:
    """Teams of arbitrary Gen 1 sets reach every move."""
    return decisions("wild:12:1", 60, 6)


def assert_equal(view: Decisions) -> None:
    states = view.states()
    fast = situation_from_gen1(view.observations, view.masks, "gen1ou")
    slow = situation_from_states(states, view.masks)
    for field in fields(Situation):
        if field.name not in ("table", "masks"):
            left, right = getattr(fast, field.name), getattr(slow, field.name)
            np.testing.assert_allclose(left, right, atol=1e-6, err_msg=field.name)


def test_arrays_and_states_give_one_situation(real: list[Decisions], wild: list[Decisions]) -> None:
    for view in real + wild:
        assert_equal(view)


@pytest.mark.slow
def test_arrays_and_states_give_one_situation_often() -> None:
    for view in decisions(None, 300, 1) + decisions("wild:40:2", 300, 1):
        assert_equal(view)


@pytest.mark.parametrize("name", ["maxpower", "maxdamage", "kaizo", "gymleader", "tactician"])
def test_agents_choose_alike_from_arrays_and_states(name: str, real: list[Decisions]) -> None:
    agent = get_agent(name)
    for view in real[:6]:
        bare = replace(view, observations={})
        choices = [
            agent.act(way, agent.start(NUM_BATTLES), np.random.default_rng(1))
            for way in (view, bare)
        ]
        np.testing.assert_array_equal(*choices)


def test_unseen_moves_are_guessed_behind_seen_ones() -> None:
    words, table = vocabularies("gen1"), move_table("gen1")
    seen = table.ids["blizzard"]
    tauros = np.array([words["species"].ids["tauros"]])
    moves, chance = fill_guesses(np.array([[seen, 1, 1, 1]]), tauros, likely_moves("gen1ou"))
    names = [words["moves"].words[m] for m in moves[0]]
    assert names[0] == "blizzard" and chance[0, 0] == 1
    assert set(names) == {"blizzard", "bodyslam", "hyperbeam", "earthquake"}
    assert (chance[0] > 0.5).all()


def test_all_scripted_singles_agents_need_no_states_in_generation_one(
    real: list[Decisions],
) -> None:
    """States cost ten times what an agent may spend on a decision."""

    def refuse() -> list[object]:
        raise AssertionError("asked for states")

    rng = np.random.default_rng(1)
    for name in SCRIPTED:
        agent = get_agent(name)
        if "singles" in getattr(agent, "game_types", ("singles",)):
            memory = agent.start(NUM_BATTLES)
            agent.act(real[0], memory, rng)
            agent.act(replace(real[1], states=refuse), memory, rng)  # type: ignore[arg-type]
