"""Sequential probability ratio test on pairs of games.

The unit is a pair (same teams and dice, agents exchanged), whose score 0, ¼, … 1 has less noise
than two independent games.  The log-likelihood ratio is the normal approximation of the general
test: LLR = n · (s₁ − s₀) · (2·mean − s₀ − s₁) / (2·variance), all over pair scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Literal

from nashmon.match.statistics import PAIR_SCORES

Verdict = Literal["accept", "reject", "continue"]

_PRIOR = 1e-3  # pseudo-count that keeps the variance positive while all pairs are equal


@dataclass(frozen=True, slots=True)
class SprtConfig:
    """H0: the win rate is `s0`; H1: it is `s1`."""

    s0: float = 0.5
    s1: float = 0.55
    alpha: float = 0.05  # probability of accepting H1 when H0 is true
    beta: float = 0.05  # probability of accepting H0 when H1 is true

    def __post_init__(self) -> None:
        """Refuse hypotheses that cannot be told apart."""
        if not 0.0 < self.s0 < self.s1 < 1.0:
            raise ValueError(f"need 0 < s0 < s1 < 1, got s0={self.s0}, s1={self.s1}")
        if not (0.0 < self.alpha < 0.5 and 0.0 < self.beta < 0.5):
            raise ValueError(f"need error rates below ½, got {self.alpha}, {self.beta}")

    @classmethod
    def from_elo(
        cls, elo0: float, elo1: float, alpha: float = 0.05, beta: float = 0.05
    ) -> SprtConfig:
        """The hypotheses as rating differences."""
        return cls(_win_rate(elo0), _win_rate(elo1), alpha, beta)

    @property
    def bounds(self) -> tuple[float, float]:
        """Log-likelihood ratios at which H0 and H1 are accepted."""
        return log(self.beta / (1 - self.alpha)), log((1 - self.beta) / self.alpha)


def _win_rate(elo: float) -> float:
    return float(1.0 / (1.0 + 10.0 ** (-elo / 400.0)))


def log_likelihood_ratio(counts: tuple[int, ...], config: SprtConfig) -> float:
    """LLR of H1 against H0 from the number of pairs with each of PAIR_SCORES."""
    if len(counts) != len(PAIR_SCORES):
        raise ValueError(f"expected {len(PAIR_SCORES)} counts, got {len(counts)}")
    pairs = sum(counts)
    if pairs == 0:
        return 0.0
    weights = [count + _PRIOR for count in counts]
    total = sum(weights)
    mean = sum(w * s for w, s in zip(weights, PAIR_SCORES, strict=True)) / total
    variance = sum(w * (s - mean) ** 2 for w, s in zip(weights, PAIR_SCORES, strict=True)) / total
    s0, s1 = config.s0, config.s1
    return pairs * (s1 - s0) * (2 * mean - s0 - s1) / (2 * variance)


def sprt(counts: tuple[int, ...], config: SprtConfig) -> Verdict:
    """ "accept" H1, "reject" it, or "continue" playing."""
    low, high = config.bounds
    ratio = log_likelihood_ratio(counts, config)
    return "accept" if ratio >= high else "reject" if ratio <= low else "continue"
