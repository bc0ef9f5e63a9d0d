"""PSRO and its variants with exact oracles on games whose equilibrium is known."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from nashmon.league.oracles import ExactMatrix, ExactTree
from nashmon.league.population import Member
from nashmon.league.psro import PSRO
from nashmon.league.rounds import PSROConfig, PSROError, Round, Task
from nashmon.learn.games import load_game
from nashmon.learn.presets import preset
from nashmon.learn.solve import solve

STAGES = {"psro": 1, "anytime": 40, "selfplay": 40, "pipeline": 2}


def random_game(seed: int, size: int = 12) -> np.ndarray:
    upper = np.triu(np.random.default_rng(seed).uniform(0.02, 0.98, (size, size)), 1)
    return upper + np.tril(1 - upper.T, -1) + 0.5 * np.eye(size)


def config(variant: str, rounds: int, stages: int = 40) -> PSROConfig:
    return PSROConfig(
        rounds=rounds, variant=variant, solver="lp", stages=stages, min_gain=1e-9, patience=1
    )


def run(
    game: ExactMatrix | ExactTree, start: Member, settings: PSROConfig, goal: float = 0.0
) -> tuple[list[Round], list[float]]:
    """Rounds, and the exploitability of each round's mixture in the whole game."""
    members = {start.id: start}
    oracles = replace(game.oracles(), enlist=lambda new: members.setdefault(new.id, new))
    loop = PSRO(settings, [start], oracles)
    rounds, exact = [], []
    for result in loop.run():
        rounds.append(result)
        population = [members[name] for name in result.population]
        exact.append(game.exploitability(population, result.mixture))
        if exact[-1] <= goal:
            break
    return rounds, exact


@pytest.mark.parametrize("variant", STAGES)
@pytest.mark.parametrize("seed", range(3))
def test_matrix_games_are_solved(variant: str, seed: int) -> None:
    game = ExactMatrix(random_game(seed))
    rounds, exact = run(game, game.pure(0), config(variant, 40, STAGES[variant]))
    assert exact[-1] <= 1e-6
    # What the response gained is the exploitability of the mixture it met.
    for result, truth in zip(rounds, exact, strict=True):
        assert result.gain.value == pytest.approx(truth, abs=1e-7)
        assert result.inside <= truth + 1e-9


@pytest.mark.parametrize("variant", STAGES)
def test_kuhn_is_solved(variant: str) -> None:
    game = ExactTree(load_game("kuhn"))
    start = game.add("start", game.tree.uniform())
    _, exact = run(game, start, config(variant, 40, STAGES[variant]), goal=0.01)
    assert exact[-1] <= 0.01


@pytest.mark.parametrize("game_name", ["kuhn", "matrix"])
def test_anytime_never_gets_worse(game_name: str) -> None:
    game: ExactMatrix | ExactTree
    if game_name == "matrix":
        game = ExactMatrix(random_game(7, 20))
        start = game.pure(0)
    else:
        game = ExactTree(load_game("kuhn"))
        start = game.add("start", game.tree.uniform())
    _, exact = run(game, start, config("anytime", 30))
    assert len(exact) > 3
    assert all(later <= before + 1e-7 for before, later in pairwise(exact))
    # The plain variant does get worse on the way: the property is not for free.
    if game_name == "kuhn":
        _, plain = run(game, start, config("psro", 30))
        assert any(later > before + 1e-3 for before, later in pairwise(plain))


def test_anytime_psro_on_leduc_finds_what_its_mixture_loses() -> None:
    game = ExactTree(load_game("leduc_ranks"))
    start = game.add("start", game.tree.uniform())
    rounds, exact = run(game, start, config("anytime", 8, stages=8))
    bounds = [result.gain.value * 2 * game.tree.max_return for result in rounds]
    assert exact[0] == pytest.approx(2.374, abs=0.01)
    assert all(bound <= truth + 1e-7 for bound, truth in zip(bounds, exact, strict=True))
    assert exact[-1] < exact[0] / 2


def leduc(game_name: str, settings: PSROConfig, goal: float) -> list[float]:
    game = ExactTree(load_game(game_name))
    start = game.add("start", game.tree.uniform())
    _, exact = run(game, start, settings, goal)
    if settings.variant != "psro":
        assert all(later <= before + 1e-7 for before, later in pairwise(exact))
    return exact


@pytest.mark.parametrize(
    ("variant", "rounds", "stages"), [("psro", 90, 1), ("anytime", 14, 8), ("selfplay", 20, 5)]
)
def test_leduc_gets_close_on_a_small_budget(variant: str, rounds: int, stages: int) -> None:
    exact = leduc("leduc_ranks", config(variant, rounds, stages), goal=0.5)
    assert exact[-1] <= 0.5 < 2.0 < exact[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game_name", "variant", "rounds", "stages"),
    [
        ("leduc", "psro", 400, 1),
        ("leduc_ranks", "anytime", 60, 10),
        ("leduc_ranks", "selfplay", 90, 5),
    ],
)
def test_leduc_is_solved(game_name: str, variant: str, rounds: int, stages: int) -> None:
    assert leduc(game_name, config(variant, rounds, stages), goal=0.05)[-1] <= 0.05


def test_payoffs_of_a_tree_are_its_values() -> None:
    game = ExactTree(load_game("kuhn"))
    tree, rng = game.tree, np.random.default_rng(0)
    tables = []
    for name in ("a", "b"):
        raw = rng.random(tree.masks.shape) * tree.masks
        tables.append(raw / raw.sum(1, keepdims=True))
        game.add(name, tables[-1])
    members = [Member(n, f"table:{n}", "response", "exact", n) for n in ("a", "b")]
    seat = tree.infoset_player[:, None]
    first = tree.value(np.where(seat == 0, tables[0], tables[1]))
    second = -tree.value(np.where(seat == 0, tables[1], tables[0]))
    expected = 0.5 + (first + second) / (4 * tree.max_return)
    assert game.play(members).win_rates[0, 1] == pytest.approx(expected)
    # A mixture as one policy is worth what its members are worth.
    mixed = game.average("m", [(members[0], 0.3), (members[1], 0.7)])
    rates = game.play([*members, mixed]).win_rates
    assert rates[2, 0] == pytest.approx(0.3 * 0.5 + 0.7 * rates[1, 0])


def test_fictitious_play_lowers_exploitability_on_leduc() -> None:
    """PSRO with the uniform solver is fictitious play: the mean of all best responses."""
    game = ExactTree(load_game("leduc_ranks"))
    start = game.add("start", game.tree.uniform())
    settings = PSROConfig(rounds=40, solver="uniform", min_gain=-1.0)
    _, exact = run(game, start, settings)
    assert exact[39] < exact[14] < exact[4] < exact[0]


@pytest.mark.parametrize("variant", ["nfsp", "descent"])
def test_one_agent_variants_lower_exploitability_on_leduc(variant: str) -> None:
    game = ExactTree(load_game("leduc_ranks"))
    start = game.add("start", game.tree.uniform())
    rounds, exact = run(game, start, config(variant, 40))
    assert exact[39] < exact[14] < exact[4] < exact[0]
    # The response is exact: what it gains is the exploitability of the one agent it met.
    gains = [result.gain.value * 2 * game.tree.max_return for result in rounds]
    np.testing.assert_allclose(gains, exact, atol=1e-9)
    assert all(max(result.mixture) == 1.0 for result in rounds)


def test_pipeline_responses_are_trained_slice_by_slice() -> None:
    game = ExactMatrix(random_game(3))
    starts: dict[str, str | None] = {}

    def train(task: Task) -> Member:
        starts[task.name] = task.start and task.start.id
        return game.train(task)

    oracles = replace(game.oracles(), train=train)
    loop = PSRO(config("pipeline", 3, stages=3), [game.pure(0)], oracles)
    assert [result.added for result in loop.run()] == [("r001v001",), ("r002v002",), ("r003v003",)]
    assert starts["r003v001"] is None
    assert starts["r003v002"] == "r003v001" and starts["r003v003"] == "r003v002"
    assert "r004v001" not in starts and starts["r004v002"] is None


def test_nfsp_falls_on_leduc() -> None:
    points = solve(replace(preset("leduc_ranks", "nfsp", 30, games=1024), evaluations=2))
    curve = [point.exploitability for point in points]
    assert curve == sorted(curve, reverse=True)
    assert curve[-1] < 0.6 * curve[0]


def test_descent_ends_at_an_equilibrium() -> None:
    rps = np.array([[0.5, 0.0, 1.0], [1.0, 0.5, 0.0], [0.0, 1.0, 0.5]])
    game = ExactMatrix(rps)
    even = game.average("even", [(game.pure(i), 1 / 3) for i in range(3)])
    loop = PSRO(config("descent", 5), [even], game.oracles())
    assert [result.added for result in loop.run()] == [("x001",)]
    members, mixture = loop.final()
    assert members[int(mixture.argmax())] == even


def test_wrong_settings_are_refused() -> None:
    game = ExactMatrix(random_game(0))
    with pytest.raises(PSROError, match="unknown variant"):
        PSROConfig(variant="best")  # type: ignore[arg-type]
    with pytest.raises(PSROError, match="at least one agent"):
        PSRO(PSROConfig(), [], game.oracles())
    other = Member("x", "pure:0", "response", "gen1ou", "x")
    with pytest.raises(PSROError, match="exact, gen1ou"):
        PSRO(PSROConfig(), [game.pure(0), other], game.oracles())
