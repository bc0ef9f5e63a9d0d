from __future__ import annotations

import numpy as np
import pytest

from nashmon.league.analysis import analyse, is_dominated
from nashmon.league.nash import (
    SOLVERS,
    SolverError,
    check_mixture,
    exploitability,
    minimax,
    nash,
    nash_conv,
    prioritised,
    projected_replicator,
    regret_matching,
    solver,
)
from nashmon.league.payoff import PayoffTable
from nashmon.match.metagame import PayoffError, max_entropy_nash
from nashmon.match.statistics import Record

RPS = np.array([[0.5, 0.0, 1.0], [1.0, 0.5, 0.0], [0.0, 1.0, 0.5]])
# OpenSpiel's biased rock-paper-scissors: equilibrium (1, 10, 5) / 16.
BIASED = 0.5 + 0.5 * np.array([[0.0, -0.5, 1.0], [0.5, 0.0, -0.1], [-1.0, 0.1, 0.0]])
FIVE_NAMES = ("SyntheticRLV2", "SyntheticRLV1", "V1_SelfPlay", "Heuristic", "GymLeader")
FIVE = np.array(
    [
        [0.50, 0.62, 0.48, 0.96, 1.00],
        [0.38, 0.50, 0.38, 0.90, 0.88],
        [0.52, 0.62, 0.50, 0.86, 0.94],
        [0.04, 0.10, 0.14, 0.50, 0.50],
        [0.00, 0.12, 0.06, 0.50, 0.50],
    ]
)
EQUILIBRIA = [
    (RPS, [1 / 3, 1 / 3, 1 / 3]),
    (BIASED, [1 / 16, 10 / 16, 5 / 16]),
    (FIVE, [0, 0, 1, 0, 0]),
    (np.array([[0.5, 0.6, 0.94], [0.4, 0.5, 0.8], [0.06, 0.2, 0.5]]), [1, 0, 0]),
]
# Solvers that end in an equilibrium, with how close they come in e(σ) and in weights.
NASH = [
    ("lp", 1e-9, 1e-7),
    ("nash", 1e-7, 1e-5),
    ("regret", 1e-3, 1e-2),
    ("replicator", 1e-3, 1e-2),
]


def random_table(seed: int, size: int) -> np.ndarray:
    upper = np.triu(np.random.default_rng(seed).uniform(0.05, 0.95, (size, size)), 1)
    return upper + np.tril(1 - upper.T, -1) + 0.5 * np.eye(size)


@pytest.mark.parametrize(("name", "gap", "close"), NASH)
@pytest.mark.parametrize(("table", "answer"), EQUILIBRIA)
def test_solvers_find_the_known_equilibrium(
    name: str, gap: float, close: float, table: np.ndarray, answer: list[float]
) -> None:
    mixture = solver(name)(table)
    assert exploitability(table, mixture) <= gap
    np.testing.assert_allclose(mixture, answer, atol=close)


@pytest.mark.parametrize("seed", range(5))
def test_solvers_agree_on_random_games(seed: int) -> None:
    table = random_table(seed, 3 + seed)
    exact = nash(table)
    assert exploitability(table, exact) <= 1e-9
    np.testing.assert_allclose(max_entropy_nash(table), exact, atol=1e-4)
    np.testing.assert_allclose(regret_matching(table), exact, atol=0.02)
    np.testing.assert_allclose(projected_replicator(table), exact, atol=0.02)


def test_equal_agents_share_their_weight_in_the_maximum_entropy_equilibrium() -> None:
    doubled = RPS[np.ix_([0, 0, 1, 2], [0, 0, 1, 2])]
    np.testing.assert_allclose(max_entropy_nash(doubled), [1 / 6, 1 / 6, 1 / 3, 1 / 3], atol=1e-5)


def test_a_dominant_agent_is_not_exploitable_inside_the_table() -> None:
    result = analyse(FIVE_NAMES, FIVE)
    np.testing.assert_allclose(result.mixture, [0, 0, 1, 0, 0], atol=1e-7)
    assert result.exploitability == 0.0  # the wrong side of the matrix says 0.44
    assert result.support == (2,)
    assert result.dominated == (1, 3, 4)
    assert result.effective_size == pytest.approx(1.0)


def test_exploitability_is_what_the_best_row_wins() -> None:
    rock = np.array([1.0, 0.0, 0.0])
    assert exploitability(RPS, rock) == 0.5
    assert nash_conv(RPS, rock) == 1.0
    assert exploitability(FIVE, np.eye(5)[4]) == pytest.approx(0.5)


def test_minimax_of_a_table_that_is_not_square() -> None:
    solution = minimax(np.array([[1.0, 0.0, 0.9], [0.0, 1.0, 0.9], [0.1, 0.2, 0.3]]))
    np.testing.assert_allclose(solution.columns, [0.5, 0.5, 0.0], atol=1e-9)
    np.testing.assert_allclose(solution.rows, [0.5, 0.5, 0.0], atol=1e-9)
    assert solution.value == pytest.approx(0.5)


def test_cycles_diversity_and_size_of_rock_paper_scissors() -> None:
    result = analyse(("rock", "paper", "scissors"), RPS)
    assert result.cycles == ((0, 2, 1),)
    assert result.effective_size == pytest.approx(3.0)
    assert result.diversity == pytest.approx(1 / 6)
    assert result.dominated == ()


def test_dominated_by_a_mixture_only() -> None:
    # The third agent loses to each of the first two by less than their mean wins.
    table = np.array([[0.5, 0.9, 0.7], [0.1, 0.5, 0.7], [0.3, 0.3, 0.5]])
    assert is_dominated(table, 2)
    assert not is_dominated(table, 0)


def test_intervals_hold_the_point_and_shrink_with_games() -> None:
    widths = []
    for games in (50, 5000):
        records = {
            (i, j): Record(round(games * FIVE[i, j]), 0, games - round(games * FIVE[i, j]))
            for i in range(5)
            for j in range(i + 1, 5)
        }
        table = PayoffTable.of_records(FIVE_NAMES, records)
        result = analyse(FIVE_NAMES, table.win_rates, solve=nash, table=table, samples=40)
        bounds = result.intervals
        assert bounds is not None
        assert (bounds.low <= result.mixture).all() and (result.mixture <= bounds.high).all()
        widths.append(bounds.exploitability[1])
        if games == 50:  # 26 wins of 50 decide nothing: the other network may be the equilibrium
            assert bounds.low[2] < 0.1 and bounds.high[0] > 0.9
    assert widths[1] < widths[0] / 2


def test_prioritised_weights() -> None:
    np.testing.assert_allclose(prioritised([1.0, 0.5, 0.0], 1.0), [0, 1 / 3, 2 / 3])
    np.testing.assert_allclose(prioritised([1.0, 1.0]), [0.5, 0.5])
    with pytest.raises(SolverError, match="win rates in"):
        prioritised([1.5])


def test_every_solver_returns_a_mixture() -> None:
    for name, solve in SOLVERS.items():
        mixture = solve(BIASED)
        check_mixture(mixture, 3)
        assert len(mixture) == 3, name


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.array([[0.5, 0.7], [0.4, 0.5]]), "do not sum to 1"),
        (np.array([[0.5, np.nan], [np.nan, 0.5]]), "between 0 and 1"),
        (np.array([[0.5, 0.7, 0.2]]), "square"),
    ],
)
def test_wrong_tables_are_refused_by_every_solver(table: np.ndarray, message: str) -> None:
    for solve in SOLVERS.values():
        with pytest.raises(PayoffError, match=message):
            solve(table)


def test_wrong_mixtures_and_names_are_refused() -> None:
    with pytest.raises(SolverError, match=r"sum to 0\.9"):
        exploitability(RPS, np.array([0.3, 0.3, 0.3]))
    with pytest.raises(SolverError, match="3 numbers"):
        exploitability(RPS, np.array([0.5, 0.5]))
    with pytest.raises(SolverError, match="unknown solver 'best'"):
        solver("best")
