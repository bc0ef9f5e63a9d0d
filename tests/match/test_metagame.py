import numpy as np
import pytest

from nashmon.match.metagame import PayoffError, alpha_rank, cycles, max_entropy_nash, nash_average

RPS = np.array([[0.5, 0.0, 1.0], [1.0, 0.5, 0.0], [0.0, 1.0, 0.5]])


def test_rock_paper_scissors_is_played_evenly() -> None:
    mixture, skill = nash_average(RPS)
    np.testing.assert_allclose(mixture, 1 / 3, atol=1e-6)
    np.testing.assert_allclose(skill, 0.5, atol=1e-6)


def test_biased_rock_paper_scissors_has_the_analytic_answer() -> None:
    # Rock beats scissors by a only: σ ∝ (1, a, 1) for (rock, paper, scissors) in margins 1, 1, a.
    a = 0.5
    margins = np.array([[0.0, -1.0, a], [1.0, 0.0, -1.0], [-a, 1.0, 0.0]])
    mixture = max_entropy_nash(0.5 + margins / 2)
    np.testing.assert_allclose(mixture, np.array([1.0, a, 1.0]) / (2 + a), atol=1e-6)


def test_a_copied_agent_shares_the_weight_of_its_original() -> None:
    index = [0, 1, 2, 2]
    mixture, skill = nash_average(RPS[np.ix_(index, index)])
    np.testing.assert_allclose(mixture, [1 / 3, 1 / 3, 1 / 6, 1 / 6], atol=1e-3)
    np.testing.assert_allclose(skill, 0.5, atol=1e-6)


def test_a_dominant_agent_gets_all_the_weight() -> None:
    win_rates = np.array([[0.5, 0.6, 0.9], [0.4, 0.5, 0.8], [0.1, 0.2, 0.5]])
    mixture, _ = nash_average(win_rates)
    np.testing.assert_allclose(mixture, [1, 0, 0], atol=1e-6)
    np.testing.assert_allclose(alpha_rank(win_rates), [1, 0, 0], atol=1e-3)


def test_alpha_rank_of_a_cycle_is_uniform() -> None:
    np.testing.assert_allclose(alpha_rank(RPS), 1 / 3, atol=1e-6)


def test_cycles_are_found_once_and_only_when_certain() -> None:
    assert cycles(np.where(RPS == 1, 0.6, 0.2)) == [(0, 2, 1)]
    assert cycles(np.where(RPS == 1, 0.49, 0.2)) == []


@pytest.mark.parametrize(
    ("cell", "value", "message"),
    [((0, 1), 0.9, "do not sum to 1"), ((0, 1), np.nan, "expected a number"), ((2, 0), 1.5, "W")],
)
def test_bad_tables_are_refused_by_cell(cell: tuple[int, int], value: float, message: str) -> None:
    table = RPS.copy()
    table[cell] = value
    with pytest.raises(PayoffError, match=message):
        max_entropy_nash(table)
