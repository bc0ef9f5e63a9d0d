"""What a roll-out hands to the learner is exactly what was played."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nashmon.core.agent import RandomAgent
from nashmon.league.pool import OpponentPool, PoolConfig
from nashmon.learn.batch import evaluate, take
from nashmon.learn.returns import gae
from nashmon.train.trainer import Trainer

MEMORIES = ("none", "lstm", "transformer")


def network(memory: str) -> str:
    return f"network.options={{memory: {memory}, width: 32, entity_width: 16, memory_window: 256}}"


@pytest.mark.parametrize("memory", MEMORIES)
def test_learner_sees_the_log_probs_and_values_of_the_actor(
    small_config: Any, folder: Path, memory: str
) -> None:
    """The same weights give the same numbers when acting and when learning (≤ 1e-5)."""
    trainer = Trainer(small_config(network(memory), "rollout.steps=40"), folder)
    for _ in range(2):  # the second roll-out starts in the middle of battles
        batch, report, _ = trainer.collector.collect()
    assert report.decisions == batch.num_decisions > 500
    assert bool(batch.ends.any()) and bool(batch.resets[1:].any())
    with torch.no_grad():
        decisions = evaluate(trainer.policy, batch)
    index = batch.acting.flatten().nonzero().squeeze(-1)
    actions = take(batch.actions, index)
    chosen = decisions.log_policy.gather(1, actions.unsqueeze(1)).squeeze(1)
    assert torch.allclose(chosen, take(batch.log_probs, index), atol=1e-5)
    assert batch.values is not None and batch.log_policy is not None
    assert torch.allclose(decisions.value, take(batch.values, index), atol=1e-5)
    assert torch.allclose(decisions.log_policy, take(batch.log_policy, index), atol=1e-5)
    trainer.close()


def test_temperature_is_in_the_behaviour_log_probs(small_config: Any, folder: Path) -> None:
    trainer = Trainer(small_config("rollout.temperature=2.0"), folder)
    with torch.no_grad():
        trainer.policy.head.battle.score.weight.mul_(300)  # type: ignore[union-attr,operator]
    batch, _, _ = trainer.collector.collect()
    acting = batch.acting
    assert batch.log_policy is not None
    legal = torch.where(batch.masks[acting], batch.log_policy[acting] / 2, -1e9)
    expected = legal.log_softmax(-1).gather(1, batch.actions[acting].unsqueeze(1)).squeeze(1)
    assert torch.allclose(expected, batch.log_probs[acting], atol=1e-5)
    trainer.close()


def test_every_decision_is_kept_and_rewards_are_zero_sum(small_config: Any, folder: Path) -> None:
    trainer = Trainer(small_config("rollout.steps=150"), folder)
    batch, report, _ = trainer.collector.collect()
    assert torch.equal(batch.acting, batch.masks.any(-1))
    pairs = batch.rewards.view(150, -1, 2)
    assert torch.equal(pairs[..., 0], -pairs[..., 1])
    ended = batch.ends.view(150, -1, 2)[..., 0]
    assert int(ended.sum()) == report.battles > 16
    decided = pairs[..., 0][ended]
    assert set(decided.abs().tolist()) <= {0.0, 1.0} and bool((decided != 0).any())
    assert not bool((pairs[..., 0][~ended] != 0).any())
    trainer.close()


def test_cut_off_battles_are_valued_by_the_network(small_config: Any, folder: Path) -> None:
    """A roll-out cut in two with bootstrapping: λ = 1 advantages end in the value of the cut."""
    trainer = Trainer(small_config("rollout.steps=4"), folder)
    batch, _, _ = trainer.collector.collect()
    assert batch.values is not None
    advantages = gae(
        batch.rewards,
        batch.values,
        batch.acting,
        batch.ends,
        batch.last_value,
        gamma=1.0,
        lam=1.0,
    )
    running = ~batch.ends.any(0)
    first = batch.acting[0] & running
    assert bool(first.any())
    assert torch.allclose((advantages[0] + batch.values[0])[first], batch.last_value[first])
    assert bool((batch.last_value != 0).all())
    trainer.close()


def test_a_waiting_seat_is_valued_as_minus_the_other(small_config: Any, folder: Path) -> None:
    trainer = Trainer(small_config("rollout.steps=1", "rollout.battles=64"), folder)
    seen = 0
    for _ in range(120):
        batch, _, _ = trainer.collector.collect()
        value = batch.last_value.clone().view(-1, 2)
        batch, _, _ = trainer.collector.collect()
        waiting = ~batch.acting[0].view(-1, 2)
        seen += int(waiting.sum())
        assert torch.equal(value[waiting], -value.flip(1)[waiting])
    assert seen > 20
    trainer.close()


def test_opponents_decide_for_their_seat_only(small_config: Any, folder: Path) -> None:
    """Against an opponent one seat learns; results are counted from the learner's side."""
    change = "opponents={self_play: 0.5, others: [[scripted:random, 0.5]]}"
    trainer = Trainer(small_config(change, "rollout.steps=100", "rollout.battles=32"), folder)
    _, _, _ = trainer.collector.collect()
    batch, report, _ = trainer.collector.collect()
    both = batch.acting.view(100, -1, 2).any(0)
    assert bool((both.sum(1) == 2).any()) and bool(both.any(1).all())
    assert report.records["scripted:random"].games > 10
    assert trainer.pool.entries["scripted:random"].games > 10
    owner = trainer.collector.rollout.seating.owner  # type: ignore[attr-defined]
    assert 0 < (owner >= 0).sum() < len(owner)
    assert ((owner >= 0).sum(axis=1) <= 1).all()
    trainer.close()


def test_results_count_from_the_learners_side(small_config: Any, folder: Path) -> None:
    """A learner that always switches when it can loses to max power from both seats."""
    change = "opponents={self_play: 0, others: [[scripted:maxpower, 1]]}"
    trainer = Trainer(small_config(change, "rollout.steps=200", "rollout.battles=32"), folder)
    _, report, _ = trainer.collector.collect()
    record = report.records["scripted:maxpower"]
    assert record.games > 30 and record.win_rate < 0.3
    trainer.close()


def test_pool_shares() -> None:
    """Battles go to the opponents in the asked proportions, whoever is on duty."""
    config = PoolConfig(self_play=0.5, past=0.3, others=(("a", 0.2),), on_duty=2)
    pool = OpponentPool(config, lambda name: RandomAgent())
    assert pool.weights() == pytest.approx({"self": 0.8, "a": 0.2})
    pool.add("past:1", "past")
    pool.add("past:2", "past")
    assert pool.weights() == pytest.approx({"self": 0.5, "a": 0.2, "past:1": 0.15, "past:2": 0.15})
    rng = np.random.default_rng(0)
    counts: dict[str, int] = {}
    for _ in range(400):
        names = pool.draw(rng)
        assert len(set(names)) == len(names) == 2
        for pick in pool.pick(names, 25, rng).tolist():
            name = "self" if pick < 0 else names[pick]
            counts[name] = counts.get(name, 0) + 1
    assert counts["self"] / 10_000 == pytest.approx(0.5, abs=0.02)
