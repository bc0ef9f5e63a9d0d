"""Properties every learner shares: it resumes bit for bit, and acting equals learning."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nashmon.learn.batch import Batch, evaluate, minibatches, scatter, select
from nashmon.learn.bc import BC, BCConfig
from nashmon.learn.critic import NetworkCritic, TabularCritic
from nashmon.learn.damping import Damping, DampingConfig
from nashmon.learn.games import load_game
from nashmon.learn.magnet import ATARAXOS_PPO, Magnet, MagnetConfig, ataraxos_magnet
from nashmon.learn.nfsp import Reservoir
from nashmon.learn.offline import Offline, OfflineConfig, transitions
from nashmon.learn.optim import OptimConfig
from nashmon.learn.portfolio import Portfolio, PortfolioConfig
from nashmon.learn.ppo import PPO, PPOConfig
from nashmon.learn.presets import networked, preset
from nashmon.learn.rnad import RNaD, RNaDConfig
from nashmon.learn.solve import LEARNERS, SelfPlay
from nashmon.learn.tabular import TabularPolicy, to_batch
from nashmon.learn.tree import Player
from nashmon.nets import checkpoint
from nashmon.nets.config import PolicyConfig
from nashmon.nets.policy import Policy, flat_policy

TREE = load_game("kuhn")
SUPPORT = torch.linspace(-1, 1, 11)


def games(seed: int = 0, count: int = 60) -> Batch:
    return to_batch(
        Player(TREE).play(TREE.uniform(), count, np.random.default_rng(seed)), TREE, 2.0
    )


def with_features(batch: Batch) -> Batch:
    """The same games observed through the information-set features, for real networks."""
    index = batch.observations["infoset"].clamp(min=0)
    return replace(batch, observations={"features": torch.from_numpy(TREE.features)[index]})


def recurrent_policy(seed: int = 0, value: str = "categorical") -> Policy:
    torch.manual_seed(seed)
    config = PolicyConfig(encoder="flat", head="flat", memory="gru", width=16, value=value)
    return flat_policy(TREE.features.shape[1], TREE.num_actions, config)


def resume(tmp_path: Path, run: Any, fresh: Any, advance: Any) -> None:
    """Two steps, save, two steps; a fresh run that loads the save must end up the same."""
    for _ in range(2):
        advance(run)
    checkpoint.save(tmp_path / "c", {"run": run.state_dict()}, {})
    for _ in range(2):
        advance(run)
    fresh.load_state_dict(checkpoint.load(tmp_path / "c").parts["run"])
    for _ in range(2):
        advance(fresh)
    assert_equal(run.state_dict(), fresh.state_dict())


def assert_equal(a: Any, b: Any, where: str = "") -> None:
    if isinstance(a, torch.Tensor):
        assert torch.equal(a, b), where
    elif isinstance(a, dict):
        assert a.keys() == b.keys(), where
        for key in a:
            assert_equal(a[key], b[key], f"{where}/{key}")
    elif isinstance(a, list | tuple):
        assert len(a) == len(b), where
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            assert_equal(x, y, f"{where}/{i}")
    else:
        assert a == b, where


@pytest.mark.parametrize("network", [False, True])
@pytest.mark.parametrize("algo", list(LEARNERS))
def test_self_play_resumes_bit_for_bit(tmp_path: Path, algo: str, network: bool) -> None:
    config = replace(preset("kuhn", algo, updates=4, games=50), width=16)
    config = replace(
        config,
        rnad=replace(config.rnad, stages=((3, 1),)),
        damping=replace(config.damping, adaptive=True, adapt_interval=1, min_samples=1),
        portfolio=replace(config.portfolio, add_interval=1, max_size=2),
        nfsp=replace(config.nfsp, capacity=100, batch_size=32, anticipatory=0.5),
    )
    if network:
        config = networked(config)
    # A different seed: what is not restored would show.
    resume(tmp_path, SelfPlay(config), SelfPlay(replace(config, seed=9)), lambda run: run.step())


class Training:
    """A real recurrent network, its learner and a fixed stream of games."""

    def __init__(self, kind: str, seed: int) -> None:
        self.policy = recurrent_policy(seed)
        g = torch.Generator().manual_seed(seed)
        optim = OptimConfig(learning_rate=1e-3)
        self.learner: Any
        if kind == "ppo":
            config = PPOConfig(optim=optim, filter_quantile=0.5, num_minibatches=2)
            parts = [
                Magnet(MagnetConfig(kind="policy", move_every=1), self.policy),
                Damping(DampingConfig(reference_interval=1), self.policy),
                Portfolio(PortfolioConfig(add_interval=1, strategy="diverse"), self.policy),
            ]
            self.learner = PPO(self.policy, config, g, parts)
        elif kind == "rnad":
            self.learner = RNaD(self.policy, RNaDConfig(optim=optim, stages=((3, 1),)))
        elif kind == "bc":
            self.learner = BC(self.policy, BCConfig(optim=optim, num_minibatches=2), g)
        else:
            critic = NetworkCritic(
                recurrent_policy(seed + 1), 16, TREE.num_actions, SUPPORT, (3, 2)
            )
            config_ = OfflineConfig(optim=optim, discounts=(0.9, 1.0), max_q_weight=0.1)
            self.learner = Offline(self.policy, critic, config_, g)
        self.count = 0

    def step(self) -> dict[str, float]:
        self.count += 1
        return dict(self.learner.update(with_features(games(self.count))))

    def state_dict(self) -> dict[str, Any]:
        return {
            "policy": dict(self.policy.state_dict()),
            "learner": self.learner.state_dict(),
            "count": self.count,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.policy.load_state_dict(state["policy"])
        self.learner.load_state_dict(state["learner"])
        self.count = state["count"]


@pytest.mark.parametrize("kind", ["ppo", "rnad", "bc", "offline"])
def test_recurrent_networks_resume_bit_for_bit(tmp_path: Path, kind: str) -> None:
    resume(tmp_path, Training(kind, 0), Training(kind, 5), lambda run: run.step())


@pytest.mark.parametrize("kind", ["ppo", "rnad", "bc", "offline"])
def test_an_update_reaches_every_trained_part(kind: str) -> None:
    """Policy head, value head, encoder and memory all move; nothing else is left at zero."""
    run = Training(kind, 0)
    before = {name: p.detach().clone() for name, p in run.policy.named_parameters()}
    for _ in range(2):
        metrics = run.step()
    assert all(np.isfinite(v) for v in metrics.values())
    moved = {n for n, p in run.policy.named_parameters() if not torch.equal(before[n], p)}
    still = {n for n in before if n not in moved}
    allowed = {n for n in still if n.startswith("value_head")} if kind == "offline" else set()
    assert still == allowed


@pytest.mark.parametrize(("temperature", "top_p"), [(1.0, 1.0), (0.7, 0.9)])
def test_acting_and_learning_agree_on_log_probs(temperature: float, top_p: float) -> None:
    """Step by step through memory = the whole sequence, for the distribution that was sampled."""
    from nashmon.nets.distribution import shape_policy

    policy = recurrent_policy(3)
    batch = with_features(games(1, 30))
    g = torch.Generator().manual_seed(0)
    memory = policy.initial_memory(batch.acting.shape[1])
    log_probs, actions = [], []
    for t in range(len(batch.acting)):
        seen = {"features": batch.observations["features"][t]}
        acted = policy.act(seen, batch.masks[t], memory, g, temperature, top_p)
        memory = acted.memory
        log_probs.append(acted.log_probs)
        actions.append(acted.actions)
    batch = replace(batch, actions=torch.stack(actions), log_probs=torch.stack(log_probs))
    with torch.no_grad():
        learned = shape_policy(evaluate(policy, batch).log_policy, temperature, top_p)
    taken = batch.actions[batch.acting].unsqueeze(-1)
    gap = learned.gather(-1, taken).squeeze(-1) - batch.log_probs[batch.acting]
    assert gap.abs().max() < 1e-5


def test_no_learner_sees_the_future() -> None:
    policy = recurrent_policy(1)
    batch = with_features(games(2, 30))
    changed = {"features": batch.observations["features"].clone()}
    changed["features"][2:] += 1.0
    with torch.no_grad():
        one = policy.evaluate(batch.observations, batch.masks, None, batch.resets)
        two = policy.evaluate(changed, batch.masks, None, batch.resets)
    assert torch.equal(one.log_policy[:2], two.log_policy[:2])
    assert torch.equal(one.value[:2], two.value[:2])
    assert not torch.equal(one.value[2:], two.value[2:])


@pytest.mark.parametrize("has_memory", [False, True])
def test_minibatches_are_a_partition_and_know_their_places(has_memory: bool) -> None:
    batch = games(3)
    g = torch.Generator().manual_seed(0)
    parts = minibatches(batch, 3, has_memory, g)
    index = torch.cat([p.index for p in parts])
    assert sorted(index.tolist()) == list(range(batch.num_decisions))
    actions = batch.actions[batch.acting]
    for part in parts:
        assert torch.equal(part.batch.actions[part.batch.acting], actions[part.index])
        keep = torch.rand(len(part.index), generator=g) < 0.5
        kept = select(part, keep)
        assert torch.equal(kept.batch.actions[kept.batch.acting], actions[kept.index])


def test_filtered_decisions_are_still_remembered() -> None:
    """Advantage filtering must not hide a decision from the memory of later ones."""
    policy = recurrent_policy(2)
    batch = with_features(games(4))
    g = torch.Generator().manual_seed(0)
    (part,) = minibatches(batch, 1, True, g)
    last = torch.rand(len(part.index), generator=g) < 0.3
    with torch.no_grad():
        full = evaluate(policy, part.batch).log_policy
        some = evaluate(policy, select(part, last).batch).log_policy
    torch.testing.assert_close(full[last], some)


def test_ataraxos_preset_trains() -> None:
    policy = TabularPolicy(TREE)
    torch.nn.init.normal_(policy.values, generator=torch.Generator().manual_seed(0))
    magnet = Magnet(ataraxos_magnet((0, 1)), policy)
    learner = PPO(
        policy, replace(ATARAXOS_PPO, num_minibatches=2), torch.Generator().manual_seed(0), [magnet]
    )
    report = learner.update(games(5))
    assert report["magnet_weight"] == pytest.approx(0.05)
    assert report["learning_rate"] == pytest.approx(1e-4)
    assert 0.25 <= report["kept"] < 0.4


def test_ppo_stops_its_epochs_when_the_policy_has_moved_far() -> None:
    def far(target: float) -> dict[str, float]:
        policy = TabularPolicy(TREE)
        optim = OptimConfig(kind="sgd", learning_rate=5.0, max_grad_norm=0.0)
        config = PPOConfig(optim=optim, epochs=20, target_kl=target, clip=10.0)
        return PPO(policy, config, torch.Generator().manual_seed(0)).update(games(6))

    assert far(0.01)["early_stop"] == 1.0
    assert far(0.0)["early_stop"] == 0.0


def test_rnad_refuses_a_batch_of_one_seat() -> None:
    policy = TabularPolicy(TREE)
    with pytest.raises(ValueError, match="both seats"):
        RNaD(policy, RNaDConfig()).update(games().columns(torch.arange(5)))


def test_rnad_stage_hands_the_target_network_to_the_regularisation_policy() -> None:
    policy = TabularPolicy(TREE)
    optim = OptimConfig(kind="sgd", learning_rate=1.0, max_grad_norm=0.0)
    learner = RNaD(policy, RNaDConfig(optim=optim, stages=((2, 1),), target_rate=0.5))
    start = learner.regularisation.table()
    learner.update(games(0))
    assert np.array_equal(learner.regularisation.table(), start)
    learner.update(games(1))
    assert np.array_equal(learner.regularisation.table(), learner.target.module.table())
    assert np.array_equal(learner.previous.table(), start)


def test_transitions_link_each_decision_to_the_seats_next_one() -> None:
    acting = torch.tensor([[True], [False], [True], [True], [False]])
    batch = replace(
        games().columns(torch.tensor([0])),
        observations={},
        masks=acting.unsqueeze(-1),
        acting=acting,
        actions=torch.zeros(5, 1, dtype=torch.long),
        log_probs=torch.zeros(5, 1),
        rewards=torch.tensor([[1.0], [2.0], [4.0], [8.0], [16.0]]),
        ends=torch.tensor([[False], [False], [True], [False], [False]]),
        resets=torch.zeros(5, 1, dtype=torch.bool),
    )
    links = transitions(batch)
    assert links.rewards.tolist() == [3.0, 4.0, 24.0]
    assert links.following.tolist() == [1, -1, -1]
    assert links.complete.tolist() == [True, True, False]


def test_missing_labels_do_not_enter_the_loss() -> None:
    """Changing what is written where the label is missing changes nothing."""
    batch = games(7)
    hidden = torch.rand(batch.actions.shape, generator=torch.Generator().manual_seed(0)) < 0.4
    reports = []
    for learner in ("bc", "offline"):
        for poison in (0.0, 50.0):
            policy = TabularPolicy(TREE)
            data = replace(
                batch,
                actions=batch.actions.masked_fill(hidden, -1),
                log_probs=batch.log_probs + poison * hidden,
            )
            g = torch.Generator().manual_seed(1)
            if learner == "bc":
                reports.append(BC(policy, BCConfig(), g).update(data))
            else:
                critic = TabularCritic(TREE, SUPPORT, 2, 1, torch.Generator().manual_seed(2))
                config = OfflineConfig(discounts=(1.0,))
                reports.append(Offline(policy, critic, config, g).update(data))
    assert reports[0] == reports[1]
    assert reports[2] == reports[3]


def test_bc_frozen_layers_stay_and_unknown_names_are_refused() -> None:
    policy = recurrent_policy()
    learner = BC(policy, BCConfig(frozen=("encoder",)), torch.Generator().manual_seed(0))
    before = {n: p.detach().clone() for n, p in policy.named_parameters()}
    learner.update(with_features(games()))
    for name, parameter in policy.named_parameters():
        assert torch.equal(before[name], parameter) == name.startswith("encoder")
    with pytest.raises(ValueError, match="starts with 'nose'"):
        BC(policy, BCConfig(frozen=("nose",)), torch.Generator())


def test_bc_accuracy_by_kind_of_action() -> None:
    policy = TabularPolicy(TREE)
    with torch.no_grad():
        policy.logits[:, 0] = 5.0
    config = BCConfig(action_groups=(0, 1), group_names=("pass", "bet"))
    report = BC(policy, config, torch.Generator().manual_seed(0)).update(games(8))
    assert (report["top1/pass"], report["top1/bet"]) == (1.0, 0.0)
    assert report["top3"] == 1.0
    assert report["calibration_error"] > 0.3


def test_reservoir_keeps_a_uniform_sample_of_everything_seen() -> None:
    counts = np.zeros(200)
    for seed in range(300):
        reservoir = Reservoir(20, torch.Generator().manual_seed(seed))
        for start in range(0, 200, 40):
            reservoir.add({"x": torch.arange(start, start + 40)})
        assert len(reservoir) == 20
        kept = reservoir.rows["x"].tolist()
        assert len(set(kept)) == 20
        counts[kept] += 1
    # 300·20/200 = 30 expected each; old and new must be kept equally often.
    halves = counts[:100].sum() / counts.sum()
    assert halves == pytest.approx(0.5, abs=0.03)
    assert counts.min() > 8
    assert counts.max() < 60


def test_scatter_puts_decisions_back() -> None:
    batch = games(9)
    flat = torch.arange(batch.num_decisions, dtype=torch.float32)
    back = scatter(flat, batch.acting, fill=-1.0)
    assert torch.equal(back[batch.acting], flat)
    assert (back[~batch.acting] == -1).all()
