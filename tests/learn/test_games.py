"""Compiled game trees against OpenSpiel."""

import re

import numpy as np
import pytest
import torch
from open_spiel.python import policy as spiel_policy
from open_spiel.python.algorithms import expected_game_score
from open_spiel.python.algorithms import exploitability as spiel_exploitability

from nashmon.learn.batch import Batch
from nashmon.learn.games import load_game, spiel_game
from nashmon.learn.tabular import NetworkPolicy, TabularPolicy, reweighted, to_batch
from nashmon.learn.tree import Enumeration, Player


def random_policy(name: str, seed: int) -> np.ndarray:
    tree = load_game(name)
    table = np.random.default_rng(seed).random(tree.masks.shape) * tree.masks
    return table / table.sum(1, keepdims=True)


def to_spiel(name: str, table: np.ndarray) -> spiel_policy.Policy:
    tree, game = load_game(name), spiel_game(name)
    rows = {key: i for i, key in enumerate(tree.keys)}

    class Table(spiel_policy.Policy):
        def action_probabilities(self, state, player_id=None):  # type: ignore[no-untyped-def]
            player = state.current_player() if player_id is None else player_id
            row = table[rows[f"{player}: {state.information_state_string(player)}"]]
            return {a: float(row[a]) for a in state.legal_actions(player)}

    return Table(game, [0, 1])


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_exploitability_and_value_equal_open_spiel(name: str) -> None:
    tree, table = load_game(name), random_policy(name, 3)
    policy = to_spiel(name, table)
    game = spiel_game(name)
    want = spiel_exploitability.exploitability(game, policy)
    assert tree.exploitability(table) == pytest.approx(want, abs=1e-9)
    value = expected_game_score.policy_value(game.new_initial_state(), [policy, policy])[0]
    assert tree.value(table) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "uniform"), [("kuhn", 0.4583333), ("leduc", 2.3736111), ("biased_rps", 1 / 6)]
)
def test_known_exploitability_of_the_uniform_policy(name: str, uniform: float) -> None:
    tree = load_game(name)
    assert tree.exploitability(tree.uniform()) == pytest.approx(uniform, abs=1e-6)


def test_known_equilibria_are_not_exploitable() -> None:
    rps = np.array([[1, 10, 5], [1, 10, 5]]) / 16
    assert load_game("biased_rps").exploitability(rps) == pytest.approx(0, abs=1e-9)
    dominance = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert load_game("dominance").exploitability(dominance) == pytest.approx(0, abs=1e-9)
    assert load_game("dominance").value(dominance) == pytest.approx(0.1)


def test_leduc_without_suits_is_the_same_game() -> None:
    """A policy that ignores suits is as exploitable with suits as without them."""
    ranks, suits = load_game("leduc_ranks"), load_game("leduc")
    table = random_policy("leduc_ranks", 11)
    rows = {key: i for i, key in enumerate(ranks.keys)}

    def without_suits(key: str) -> str:
        return re.sub(r"(Private|Public): (\d)", lambda m: f"{m[1]}: {int(m[2]) // 2}", key)

    lifted = table[[rows[without_suits(key)] for key in suits.keys]]
    assert suits.exploitability(lifted) == pytest.approx(ranks.exploitability(table), abs=1e-9)
    assert suits.value(lifted) == pytest.approx(ranks.value(table), abs=1e-9)
    assert len(ranks.player) < 0.25 * len(suits.player)


def test_best_response_beats_its_victim_by_its_value() -> None:
    tree, table = load_game("leduc"), random_policy("leduc", 5)
    for seat, sign in ((0, 1), (1, -1)):
        value, response = tree.best_response(table, seat)
        mine = (tree.infoset_player == seat)[:, None]
        reached = response.sum(1, keepdims=True) > 0
        joint = np.where(mine & reached, response, table)
        assert sign * tree.value(joint) == pytest.approx(value, abs=1e-9)
        assert value >= sign * tree.value(table)


@pytest.mark.parametrize("name", ["biased_rps", "kuhn", "leduc", "goofspiel3"])
def test_sampled_games_have_the_exact_mean_and_legal_moves(name: str) -> None:
    tree, table = load_game(name), random_policy(name, 7)
    games = Player(tree).play(table, 60_000, np.random.default_rng(1))
    total = games.rewards.sum(0)
    assert np.array_equal(total[:, 0], -total[:, 1])
    error = total[:, 0].std() / np.sqrt(len(total))
    assert abs(total[:, 0].mean() - tree.value(table)) < 4 * error + 1e-9
    act = games.acting
    assert tree.masks[games.infosets[act], games.actions[act]].all()
    chosen = table[games.infosets[act], games.actions[act]]
    np.testing.assert_allclose(games.log_probs[act], np.log(chosen), rtol=1e-5)
    assert (games.ends.sum(0) == 1).all()


def test_both_seats_act_in_the_same_step_of_a_simultaneous_game() -> None:
    tree = load_game("biased_rps")
    games = Player(tree).play(tree.uniform(), 10, np.random.default_rng(0))
    assert games.acting.shape == (1, 10, 2)
    assert games.acting.all()


def test_the_same_seed_gives_the_same_games() -> None:
    tree = load_game("leduc")
    one, two = (Player(tree).play(tree.uniform(), 500, np.random.default_rng(4)) for _ in range(2))
    assert np.array_equal(one.actions, two.actions)
    assert np.array_equal(one.infosets, two.infosets)


def test_batches_hold_the_distribution_that_was_sampled() -> None:
    tree = load_game("leduc")
    policy = TabularPolicy(tree)
    torch.nn.init.normal_(policy.logits, generator=torch.Generator().manual_seed(0))
    batch = to_batch(Player(tree).play(policy.table(), 2000, np.random.default_rng(2)), tree)
    with torch.no_grad():
        output = policy.evaluate(batch.observations, batch.masks)
    act = batch.acting
    learner = output.log_policy[act].gather(-1, batch.actions[act].unsqueeze(-1)).squeeze(-1)
    assert (learner - batch.log_probs[act]).abs().max() < 1e-5


def test_rows_of_a_table_learn_at_the_same_rate_and_of_a_balanced_network_nearly() -> None:
    tree = load_game("kuhn")
    share = torch.tensor([0.5, 0.3, 0.2 - 1e-3, 1e-3] + [0.0] * (tree.num_infosets - 4))
    assert torch.allclose(TabularPolicy(tree).row_scale(share)[:4] * share[:4], torch.ones(4))
    generator = torch.Generator().manual_seed(0)
    plain = NetworkPolicy(tree, generator, 8).row_scale(share)
    assert torch.allclose(plain, torch.ones_like(share))
    half = NetworkPolicy(tree, generator, 8, balance=0.5).row_scale(share) * share
    assert float(half.sum()) == pytest.approx(1.0)
    assert float(half[0] / half[3]) == pytest.approx((0.5 / 1e-3) ** 0.5, rel=1e-4)


def test_the_scale_of_a_row_reaches_its_gradient() -> None:
    tree = load_game("kuhn")
    policy = TabularPolicy(tree)
    sets = torch.tensor([[0, 0, 0, 1]])
    seen = {"infoset": sets, "weight": torch.ones(1, 4)}
    out = policy.evaluate(seen, torch.from_numpy(tree.masks)[sets])
    out.log_policy[..., 0].mean().backward()
    gradient = policy.logits.grad
    assert gradient is not None
    assert torch.allclose(gradient[0], gradient[1])
    assert gradient[0, 0] == pytest.approx(0.5)


def _weighted(games: Enumeration, policy: np.ndarray) -> Batch:
    episodes, probability = games.play(policy)
    return to_batch(episodes, games.tree, 1.0, probability)


def test_reweighted_games_equal_a_fresh_batch() -> None:
    tree = load_game("kuhn")
    games = Enumeration(tree)
    first = _weighted(games, tree.uniform())
    other = random_policy("kuhn", 3)
    episodes, probability = games.play(other)
    fresh = _weighted(games, other)
    again = reweighted(first, episodes, probability)
    for name in ("log_probs", "weights", "rewards", "actions", "acting"):
        assert torch.equal(getattr(again, name), getattr(fresh, name)), name
    assert torch.equal(again.observations["weight"], fresh.observations["weight"])


def test_a_table_that_is_no_policy_is_refused() -> None:
    tree = load_game("kuhn")
    with pytest.raises(ValueError, match="no distribution over legal actions"):
        tree.exploitability(tree.uniform() * 0.9)
    with pytest.raises(ValueError, match="unknown game 'chess'"):
        load_game("chess")


@pytest.mark.slow
def test_liars_dice_equals_the_known_exploitability() -> None:
    tree = load_game("liars_dice")
    assert tree.exploitability(tree.uniform()) == pytest.approx(0.7807, abs=1e-4)
