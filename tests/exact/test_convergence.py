"""Last-iterate convergence to equilibrium on games whose exploitability is exact.

Budgets are reduced; docs/exact-games.md holds the full table.
"""

from dataclasses import replace

import numpy as np
import pytest

from nashmon.learn.games import load_game
from nashmon.learn.presets import networked, preset
from nashmon.learn.solve import SelfPlay, SolveConfig, solve
from nashmon.learn.tabular import to_batch
from nashmon.learn.tree import Enumeration, Player


def final(config: SolveConfig) -> float:
    return list(solve(replace(config, evaluations=1)))[-1].exploitability


@pytest.mark.parametrize("algo", ["rnad", "magnet"])
@pytest.mark.parametrize("game", ["biased_rps", "kuhn"])
def test_regularised_self_play_reaches_the_equilibrium(game: str, algo: str) -> None:
    assert final(preset(game, algo, updates=400)) <= 0.01


@pytest.mark.parametrize(("game", "updates"), [("biased_rps", 500), ("kuhn", 250)])
def test_damped_ppo_reaches_the_equilibrium(game: str, updates: int) -> None:
    assert final(preset(game, "damped", updates)) <= 0.01


def test_plain_ppo_cycles_on_biased_rock_paper_scissors() -> None:
    points = list(solve(preset("biased_rps", "ppo", updates=300)))
    assert min(p.exploitability for p in points[5:]) > 0.03


def test_every_algorithm_finds_dominant_strategies() -> None:
    for algo in ("ppo", "magnet", "damped", "portfolio"):
        assert final(preset("dominance", algo, updates=100)) < 0.02


def test_simultaneous_moves_over_several_rounds() -> None:
    config = preset("goofspiel3", "rnad", updates=150)
    assert final(config) < 0.1 * load_game("goofspiel3").exploitability(
        load_game("goofspiel3").uniform()
    )


def test_leduc_exploitability_falls_fast_even_with_a_small_budget() -> None:
    points = list(solve(replace(preset("leduc", "magnet", updates=60), evaluations=2)))
    assert points[-1].exploitability < 0.6 < 2.0 < points[0].exploitability


def test_rnad_solves_leduc_without_suits() -> None:
    config = preset("leduc_ranks", "rnad", updates=600)
    assert final(config) < 0.2


def test_a_network_learns_kuhn_poker() -> None:
    config = replace(networked(preset("kuhn", "rnad", updates=400)), width=64)
    assert final(config) < 0.05


def test_nfsp_average_policy_improves_on_sampled_kuhn_games() -> None:
    points = list(solve(replace(preset("kuhn", "nfsp", updates=150, games=512), evaluations=3)))
    assert points[-1].exploitability < 0.5 * points[0].exploitability


def test_enumerated_games_are_the_limit_of_sampled_ones() -> None:
    """The exact batch's mean return and visit shares equal those of many sampled games."""
    tree = load_game("leduc")
    policy = tree.uniform()
    every, probability = Enumeration(tree).play(policy)
    assert probability.sum() == pytest.approx(1.0)
    assert (every.rewards[..., 0].sum(0) @ probability) == pytest.approx(tree.value(policy))
    exact = to_batch(every, tree, 1.0, probability)
    weights = exact.decision_weights()
    assert weights is not None
    sets = exact.observations["infoset"][exact.acting]
    share = np.bincount(sets.numpy(), weights.numpy(), tree.num_infosets)
    games = Player(tree).play(policy, 200_000, np.random.default_rng(0))
    counts = np.bincount(games.infosets[games.acting], minlength=tree.num_infosets)
    np.testing.assert_allclose(counts / 200_000, share, atol=5e-3)


def test_runs_with_the_same_seed_are_the_same() -> None:
    config = preset("kuhn", "rnad", updates=5, games=64)
    tables = []
    for seed in (1, 1, 2):
        run = SelfPlay(replace(config, seed=seed))
        for _ in range(5):
            run.step()
        tables.append(run.policy.table())
    assert np.array_equal(tables[0], tables[1])
    assert not np.array_equal(tables[0], tables[2])


@pytest.mark.slow
@pytest.mark.parametrize(("algo", "goal"), [("magnet", 0.05), ("rnad", 0.05)])
def test_leduc_full_budget(algo: str, goal: float) -> None:
    assert final(preset("leduc", algo)) <= goal


@pytest.mark.slow
def test_nfsp_decreases_on_leduc() -> None:
    points = list(solve(replace(preset("leduc", "nfsp", updates=300), evaluations=3)))
    curve = [p.exploitability for p in points]
    assert curve == sorted(curve, reverse=True)
    assert curve[-1] < 0.4 * curve[0]
