import pytest

from nashmon.match.statistics import Record, wilson


def test_wilson_interval_matches_published_values() -> None:
    # Newcombe (1998), table I: 81 of 263 and 15 of 148, Wilson score without correction.
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(15, 148) == pytest.approx((0.0624, 0.1605), abs=5e-5)


def test_interval_contains_the_win_rate_and_stays_in_the_unit_interval() -> None:
    for games in (1, 2, 10, 1000):
        for wins in range(0, games + 1, max(1, games // 10)):
            record = Record(wins, 0, games - wins)
            low, high = record.interval
            assert 0.0 <= low <= record.win_rate <= high <= 1.0


def test_a_draw_counts_half() -> None:
    assert Record(1, 2, 1).win_rate == 0.5
    assert Record(1, 2, 1) + Record(2, 0, 0, 0, 7, 9) == Record(3, 2, 1, 0, 7, 9)
