import numpy as np
import pytest

from nashmon.match.sprt import PAIR_SCORES, SprtConfig, log_likelihood_ratio, sprt


def run(win_rate: float, config: SprtConfig, rng: np.random.Generator) -> str:
    counts = [0] * len(PAIR_SCORES)
    for _ in range(20000):
        for _ in range(10):
            counts[2 * int((rng.random(2) < win_rate).sum())] += 1
        verdict = sprt(tuple(counts), config)
        if verdict != "continue":
            return verdict
    return "continue"


def test_error_rates_are_those_promised() -> None:
    config = SprtConfig(s0=0.5, s1=0.55, alpha=0.05, beta=0.05)
    rng = np.random.default_rng(1)
    runs = 300
    false_accepts = sum(run(0.5, config, rng) == "accept" for _ in range(runs)) / runs
    false_rejects = sum(run(0.55, config, rng) == "reject" for _ in range(runs)) / runs
    # Three standard errors above the promise; early stopping overshoots, so both are usually lower.
    limit = 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)
    assert 0 < false_accepts < limit
    assert 0 < false_rejects < limit


def test_ratio_is_zero_between_the_hypotheses_and_grows_with_the_score() -> None:
    config = SprtConfig(s0=0.4, s1=0.6)
    assert log_likelihood_ratio((10, 0, 20, 0, 10), config) == pytest.approx(0.0, abs=1e-6)
    worse = log_likelihood_ratio((20, 0, 20, 0, 10), config)
    better = log_likelihood_ratio((10, 0, 20, 0, 20), config)
    assert worse < 0 < better
    assert log_likelihood_ratio((0,) * 5, config) == 0.0


def test_impossible_hypotheses_are_refused() -> None:
    with pytest.raises(ValueError, match=r"s0=0\.6"):
        SprtConfig(s0=0.6, s1=0.5)
    with pytest.raises(ValueError, match="error rates"):
        SprtConfig(alpha=0.7)
