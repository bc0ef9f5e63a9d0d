import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nashmon.match.ratings import (
    ELO,
    Glicko,
    ResultError,
    bradley_terry,
    glicko_update,
    gxe,
    rate,
)


def simulate(strengths: np.ndarray, per_pair: int, rng: np.random.Generator):
    size = len(strengths)
    scores, games = np.zeros((size, size)), np.zeros((size, size), dtype=np.int64)
    for i in range(size):
        for j in range(i + 1, size):
            p = 1 / (1 + np.exp((strengths[j] - strengths[i]) / ELO))
            won = rng.binomial(per_pair, p)
            scores[i, j], scores[j, i] = won, per_pair - won
            games[i, j] = games[j, i] = per_pair
    return scores, games


def test_two_agents_get_the_closed_form_rating() -> None:
    scores = np.array([[0.0, 7500.0], [2500.0, 0.0]])
    ratings = bradley_terry(scores, np.array([[0, 10000], [10000, 0]]))
    assert ratings[0] - ratings[1] == pytest.approx(400 * np.log10(3), abs=0.1)
    assert ratings.sum() == pytest.approx(0)


def test_intervals_cover_the_true_strength_as_often_as_they_say() -> None:
    rng = np.random.default_rng(0)
    truth = np.array([150.0, 40.0, 0.0, -60.0, -130.0])
    truth -= truth.mean()
    covered = 0
    for number in range(200):
        scores, games = simulate(truth, 100, rng)
        ratings = rate(scores, games, seed=number, samples=100)
        covered += sum(r.low <= t <= r.high for r, t in zip(ratings, truth, strict=True))
    assert 0.92 <= covered / 1000 <= 0.98


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 5), st.integers(1, 40), st.integers(0, 10**6))
def test_a_rating_lies_inside_its_interval(size: int, per_pair: int, seed: int) -> None:
    scores, games = simulate(np.zeros(size), per_pair, np.random.default_rng(seed))
    for rating in rate(scores, games, seed=1, samples=20):
        assert np.isfinite([rating.low, rating.high]).all()
        assert rating.low <= rating.rating <= rating.high


def test_contradictory_tables_are_refused_by_cell() -> None:
    games = np.array([[0, 10], [9, 0]])
    with pytest.raises(ResultError, match=r"games\[0,1\] = 10"):
        bradley_terry(np.zeros((2, 2)), games)
    with pytest.raises(ResultError, match="sum to 11"):
        bradley_terry(np.array([[0, 6.0], [5.0, 0]]), np.array([[0, 10], [10, 0]]))


@pytest.mark.parametrize(
    ("rating", "published"),
    [(1866, 80.4), (1844, 79.0), (1836, 78.5), (1768, 73.8), (1662, 65.1), (1551, 54.9)],
)
def test_gxe_agrees_with_ladder_entries(rating: float, published: float) -> None:
    # Rating and GXE pairs of a public Gen 1 OU ladder; deviations there were near the floor.
    assert gxe(rating, 25.0) == pytest.approx(published, abs=0.15)


def test_glicko_update_reproduces_glickmans_example() -> None:
    # Glickman, "The Glicko system": 1500 ± 200 against 1400 ± 30 (won), 1550 ± 100 and 1700 ± 300.
    player = Glicko(1500, 200)
    results = [(Glicko(1400, 30), 1.0), (Glicko(1550, 100), 0.0), (Glicko(1700, 300), 0.0)]
    updated = glicko_update(player, results)
    assert updated.rating == pytest.approx(1464, abs=0.5)


def test_deviation_shrinks_with_games_and_has_showdowns_floor() -> None:
    player = Glicko()
    first = glicko_update(player, [(Glicko(), 0.5)])
    assert first.deviation < player.deviation
    assert glicko_update(player, [(Glicko(), 0.5)] * 2000).deviation == 25.0
