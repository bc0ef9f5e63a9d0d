from __future__ import annotations

import pytest

from nashmon.core.agent import RandomAgent
from nashmon.league.pool import OpponentPool, PoolConfig, PoolError
from nashmon.match.statistics import Record


def make_pool(**changes: object) -> OpponentPool:
    config = PoolConfig(self_play=0.0, past=1.0, **changes)  # type: ignore[arg-type]
    return OpponentPool(config, lambda name: RandomAgent())


def test_adaptive_weights_follow_the_losing_rate_and_keep_a_floor() -> None:
    pool = make_pool(weighting="adaptive", floor=0.25, decay=1.0)
    for name in ("easy", "even", "hard"):
        pool.add(name, "past")
    pool.record("easy", Record(98, 0, 0))
    pool.record("even", Record(49, 0, 49))
    pool.record("hard", Record(0, 0, 98))
    losing = {"easy": 1 / 100, "even": 0.5, "hard": 0.99}
    weights = pool.weights()
    total = 0.25 * losing["hard"] + losing["even"] + losing["hard"]
    assert weights["hard"] == pytest.approx(losing["hard"] / total)
    assert weights["even"] == pytest.approx(losing["even"] / total)
    assert weights["easy"] == pytest.approx(0.25 * losing["hard"] / total)
    assert sum(weights.values()) == pytest.approx(1.0)


def test_old_results_fade() -> None:
    pool = make_pool(weighting="adaptive", decay=0.9)
    pool.add("x", "past")
    pool.record("x", Record(0, 0, 100))
    assert pool.entries["x"].losing_rate > 0.9
    for _ in range(60):
        pool.record("x", Record(1, 0, 0))
    assert pool.entries["x"].losing_rate < 0.3


def test_past_keeps_oldest_and_newest() -> None:
    pool = make_pool(past_size=4)
    for update in range(40):
        gone = pool.add(f"{update:02d}", "past")
        assert len(gone) == (1 if update >= 4 else 0)
    names = list(pool.entries)
    assert len(names) == 4 and names[0] == "00" and names[-1] == "39"


def test_state_round_trip() -> None:
    pool = make_pool(weighting="adaptive")
    pool.add("a", "past")
    pool.add("b", "exploiters")
    pool.record("a", Record(3, 1, 2))
    other = make_pool(weighting="adaptive")
    other.load_state_dict(pool.state_dict())
    assert other.weights() == pool.weights()


def test_bad_shares_and_unknown_members() -> None:
    with pytest.raises(PoolError, match="not all 0"):
        PoolConfig(self_play=0.0)
    with pytest.raises(PoolError, match="decay"):
        PoolConfig(decay=0.0)
    with pytest.raises(PoolError, match="no opponent 'ghost'"):
        make_pool().agent("ghost")
