"""Decision-time search: right on games with known answers, honest, and stronger than its parts."""

from __future__ import annotations

import numpy as np
import pytest

from nashmon.agents.search import SearchAgent, solve
from nashmon.agents.search_playout import try_pairs
from nashmon.agents.search_sets import guessed_teams
from nashmon.agents.specs import get_agent
from nashmon.core.dex import to_id
from nashmon.core.errors import NashmonError
from nashmon.match.play import decisions_of, play
from nashmon.sim.gen1.determinise import SeenPokemon
from nashmon.sim.make import make_battles


def table(rows: list[list[float]]) -> np.ndarray:
    out = np.zeros((1, 13, 13))
    out[0, : len(rows), : len(rows[0])] = rows
    return out


def allowed(*counts: int) -> np.ndarray:
    return np.array([[b < count for b in range(13)] for count in counts])


def test_simultaneous_moves_are_mixed() -> None:
    """Rock-paper-scissors in which rock against scissors pays double: (1/4, 1/2, 1/4)."""
    game = table([[0, -1, 2], [1, 0, -1], [-2, 1, 0]])
    strategy, answers = solve(game, np.arange(3), allowed(3), 5000)
    assert answers[0, :3] == pytest.approx([0.25, 0.5, 0.25], abs=0.01)
    assert strategy == pytest.approx([0.25, 0.5, 0.25], abs=0.01)


def test_the_player_does_not_know_the_sample() -> None:
    """Each action wins in one sample: a player that saw the sample would win, this one cannot."""
    first, second = table([[1.0], [-1.0]]), table([[-1.0], [1.0]])
    games = np.concatenate((first, second))
    strategy, _ = solve(games, np.arange(2), allowed(1, 1), 2000)
    assert strategy.sum() == pytest.approx(1.0)
    value = sum((strategy * game[:2, 0]).sum() for game in games)
    assert value == pytest.approx(0.0, abs=1e-9)
    safe = np.concatenate((table([[1.0], [0.2]]), table([[-1.0], [0.2]])))
    assert solve(safe, np.arange(2), allowed(1, 1), 2000)[0][1] > 0.95


def test_every_pair_is_tried_once_and_both_seats_see_the_same_values() -> None:
    battles = make_battles("gen1ou", 3)
    step = battles.reset(0)
    state = np.stack([battles.save(row).state for row in range(3)])
    dice = np.arange(3, dtype=np.uint64)
    totals = []
    for seat in (0, 1):
        total, count = np.zeros((3, 13, 13)), np.zeros((3, 13, 13))
        own = np.flatnonzero(step.masks[:, seat].all(axis=0))
        allowed = step.masks[:, 1 - seat] & step.masks[:, 1 - seat].all(axis=0)
        played = try_pairs(state, seat, own, allowed, np.ones(3, bool), dice, 2, total, count)
        expected = np.zeros((3, 13, 13))
        expected[:, own] = allowed[:, None]
        np.testing.assert_array_equal(count, expected)
        assert played == expected.sum() > 3 * 25
        totals.append(total)
    np.testing.assert_array_equal(totals[1], -totals[0].swapaxes(1, 2))
    assert len(np.unique(totals[0])) > 30


def test_guessed_teams_agree_with_what_was_seen() -> None:
    rng = np.random.default_rng(0)
    seen = (SeenPokemon("tauros", 100, ("bodyslam",)), SeenPokemon("ditto", 74, ("transform",)))
    for _ in range(20):
        team = guessed_teams("gen1ou")(seen, 6, rng)
        assert len({to_id(one.species) for one in team}) == 6
        assert to_id(team[0].species) == "tauros" and team[1].level == 74
        assert "bodyslam" in {to_id(move) for move in team[0].moves}


def test_decisions_do_not_depend_on_what_is_hidden() -> None:
    """The same view with another hidden team gives the same decision from the same dice."""
    battles = make_battles("gen1ou", 8)
    agent = SearchAgent("gen1ou", sims=100, samples=2)
    step = battles.reset(0)
    first = np.ones((8, 2), dtype=bool)
    view = decisions_of(battles, step, np.arange(8), 0, first)
    before = agent.act(view, None, np.random.default_rng(1))
    for row in range(8):  # replace the truth by something the player cannot tell from it
        fake = battles.imagine(row, 0, np.random.default_rng(row), guessed_teams("gen1ou"))
        step = battles.restore(row, fake)
    view = decisions_of(battles, step, np.arange(8), 0, first)
    assert agent.act(view, None, np.random.default_rng(1)).tolist() == before.tolist()
    battles.close()


def test_search_beats_random_play() -> None:
    battles = make_battles("gen1ou", 10)
    agents = get_agent("search:sims=200,samples=3", "gen1ou"), get_agent("random", "gen1ou")
    record = play(agents, battles, 20, 1)
    battles.close()
    assert record.interval[0] > 0.6


@pytest.mark.slow
def test_search_beats_the_tactician() -> None:
    battles = make_battles("gen1ou", 50)
    agents = get_agent("search:sims=3000", "gen1ou"), get_agent("tactician", "gen1ou")
    record = play(agents, battles, 400, 1)
    battles.close()
    assert record.interval[0] > 0.5


@pytest.mark.parametrize(
    ("spec", "format_id", "message"),
    [
        ("search:", "gen1ou", "needs a budget"),
        ("search:sims=5,time=1", "gen1ou", "needs a budget"),
        ("search:depth=3", "gen1ou", "no option 'depth'"),
        ("search:sims=many", "gen1ou", "many"),
        ("search:sims=5", "gen4ou", "not in gen4ou"),
    ],
)
def test_bad_specs(spec: str, format_id: str, message: str) -> None:
    with pytest.raises(NashmonError, match=message):
        get_agent(spec, format_id)
