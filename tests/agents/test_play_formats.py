"""Every scripted agent plays its formats without a rejected choice."""

from contextlib import closing

import numpy as np
import pytest

from nashmon.agents.registry import SCRIPTED, get_agent, scripted_lines
from nashmon.core.agent import RandomAgent
from nashmon.core.errors import UnsupportedError
from nashmon.core.formats import get_format
from nashmon.match.play import decisions_of
from nashmon.sim.base import NO_ACTION, Battles
from nashmon.sim.make import make_battles

SINGLES = ("gen1ou", "gen4ou", "gen9ou")
DOUBLES = ("gen9vgc2025regi", "gen9championsvgc2026regmb")


def plays(name: str, game_type: str) -> bool:
    return game_type in getattr(SCRIPTED[name], "game_types", ("singles", "doubles"))


def run(battles: Battles, names: list[str], steps: int, seed: int = 3) -> int:
    """Row k is played by agent k against agent k + 1; illegal choices raise.  Battles ended."""
    agents = [get_agent(name) for name in names]
    memories = [[agent.start(len(names)) for agent in agents] for _ in (0, 1)]
    rng, step, ended = np.random.default_rng(seed), battles.reset(seed), 0
    first = np.ones((len(names), 2), bool)
    for _ in range(steps):
        actions = np.full(step.acting.shape, NO_ACTION, np.int64)
        for row, seat in np.argwhere(step.acting):
            who = (row + seat) % len(names)
            view = decisions_of(battles, step, np.array([row]), int(seat), first)
            actions[row, seat] = agents[who].act(view, memories[seat][who], rng)[0]
            first[row, seat] = False
        step = battles.step(actions)
        first[step.ended] = True
        ended += int(step.ended.sum())
    return ended


@pytest.mark.parametrize("format_id", SINGLES + DOUBLES)
def test_every_agent_plays_without_a_rejected_choice(format_id: str) -> None:
    names = [name for name in SCRIPTED if plays(name, get_format(format_id).game_type)]
    with closing(make_battles(format_id, len(names), engine="showdown")) as battles:
        ended = run(battles, names, 30)
    if format_id in DOUBLES:
        assert ended > 0


@pytest.mark.slow
@pytest.mark.parametrize("gen", range(1, 10))
def test_every_agent_plays_random_teams_of_a_generation(gen: int) -> None:
    names = [name for name in SCRIPTED if plays(name, "singles")]
    battles = make_battles(f"gen{gen}randombattle", len(names), engine="showdown")
    with closing(battles):
        assert run(battles, names, 150) > 0


@pytest.mark.slow
@pytest.mark.parametrize("format_id", (*DOUBLES, "gen9randomdoublesbattle", "gen9doublesou"))
def test_doubles_agents_play_many_battles(format_id: str) -> None:
    names = [name for name in SCRIPTED if plays(name, "doubles")]
    with closing(make_battles(format_id, len(names), engine="showdown")) as battles:
        assert run(battles, names, 200) > 0


@pytest.mark.parametrize(
    ("name", "format_id"), [("tactician", "gen9vgc2025regi"), ("heuristics-doubles", "gen1ou")]
)
def test_an_agent_refuses_a_game_it_cannot_play(name: str, format_id: str) -> None:
    with (
        closing(make_battles(format_id, 1)) as battles,
        pytest.raises(UnsupportedError, match=f"{name}.*{format_id}"),
    ):
        run(battles, [name], 1)


def test_every_agent_has_a_line() -> None:
    lines = scripted_lines()
    assert set(lines) == set(SCRIPTED)
    assert all(10 < len(line) < 100 for line in lines.values())
    assert isinstance(get_agent("random"), RandomAgent)
    assert get_agent("scripted:kaizo").name == "kaizo"
