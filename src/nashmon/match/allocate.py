"""Where further games tell most about the ratings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nashmon.match.ratings import ELO, Games, Scores, bradley_terry

_PRIOR_WEIGHT = 1e-3  # keeps the information matrix invertible: ratings have no absolute level


def rating_variances(scores: Scores, games: Games) -> NDArray[np.float64]:
    """Large-sample variance of each rating, in squared rating points."""
    covariance = _covariance(bradley_terry(scores, games), games)
    variances: NDArray[np.float64] = ELO**2 * np.diag(covariance)
    return variances


def allocate(scores: Scores, games: Games, budget: int, batch: int) -> Games:
    """How many of `budget` further games each pair should play, in batches; symmetric.

    Greedy: each batch goes to the pair that lowers the sum of the ratings' variances most.  One
    game between i and j adds p(1 − p) u uᵀ to the information, u = eᵢ − eⱼ; with covariance Σ the
    sum falls by n p(1 − p) uᵀΣΣu / (1 + n p(1 − p) uᵀΣu)  (Sherman–Morrison).
    """
    ratings = bradley_terry(scores, games)
    extra = np.zeros_like(games)
    upper = np.triu(np.ones(games.shape, dtype=bool), 1)
    weight = _weights(ratings)
    for _ in range(budget // batch):
        covariance = _covariance(ratings, games + extra)
        squared = covariance @ covariance
        added = batch * weight
        gain = added * _spread(squared) / (1.0 + added * _spread(covariance))
        i, j = np.unravel_index(np.argmax(np.where(upper, gain, -1.0)), gain.shape)
        extra[i, j] += batch
        extra[j, i] += batch
    return extra


def _weights(ratings: NDArray[np.float64]) -> NDArray[np.float64]:
    expected = 1.0 / (1.0 + np.exp((ratings[None, :] - ratings[:, None]) / ELO))
    weights: NDArray[np.float64] = expected * (1.0 - expected)
    return weights


def _covariance(ratings: NDArray[np.float64], games: Games) -> NDArray[np.float64]:
    """Inverse of the Fisher information, for ratings whose mean is held at 0."""
    weight = games * _weights(ratings)
    information = np.diag(weight.sum(axis=1) + _PRIOR_WEIGHT) - weight
    centre = np.eye(len(ratings)) - 1.0 / len(ratings)
    covariance: NDArray[np.float64] = centre @ np.linalg.inv(information) @ centre
    return covariance


def _spread(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """uᵀMu of every pair."""
    diagonal = np.diag(matrix)
    return diagonal[:, None] + diagonal[None, :] - 2.0 * matrix
