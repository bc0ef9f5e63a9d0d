import pytest
from hypothesis import given
from hypothesis import strategies as st

from nashmon.match.statistics import Record, wilson


def test_wilson_interval_matches_published_values() -> None:
    # Newcombe (1998), table I: 81 of 263 and 15 of 148, Wilson score without correction.
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(15, 148) == pytest.approx((0.0624, 0.1605), abs=5e-5)


COUNT = st.integers(0, 10**6)


@given(COUNT, COUNT, COUNT)
def test_a_win_rate_lies_inside_its_interval(wins: int, draws: int, losses: int) -> None:
    record = Record(wins, draws, losses)
    low, high = record.interval
    assert 0.0 <= low <= record.win_rate <= high <= 1.0
    flipped = record.flipped()
    assert flipped.win_rate == pytest.approx(1.0 - record.win_rate)
    assert flipped.flipped() == record


def test_a_draw_counts_half() -> None:
    assert Record(1, 2, 1).win_rate == 0.5
    assert Record(1, 2, 1) + Record(2, 0, 0, 0, 7, 9) == Record(3, 2, 1, 0, 7, 9)
