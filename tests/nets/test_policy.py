from pathlib import Path

import pytest
import torch
from policies import random_masks, random_observations, sharpen, small_entity, small_flat

from nashmon.nets.build import build_policy, load_policy, policy_meta
from nashmon.nets.checkpoint import CheckpointError, load, save
from nashmon.nets.config import SIZES, PolicyConfig, PolicyConfigError, policy_config
from nashmon.nets.distribution import shape_policy
from nashmon.nets.policy import Policy
from nashmon.observe.spec import SpecMismatchError

T, B = 9, 4


def tokens_policy() -> Policy:
    torch.manual_seed(0)
    config = PolicyConfig(
        encoder="tokens", head="flat", width=32, entity_width=16, memory="transformer"
    )
    policy = build_policy("gen1ou", config, "metamon-default")
    sharpen(policy)
    return policy


POLICIES = {
    "flat none": lambda: small_flat("none"),
    "flat gru": lambda: small_flat("gru", value="categorical"),
    "singles set lstm": lambda: small_entity("gen1ou"),
    "singles attention transformer": lambda: small_entity(
        "gen9ou", encoder="attention", memory="transformer"
    ),
    "singles set flat head": lambda: small_entity("gen1ou", head="flat"),
    "doubles set lstm": lambda: small_entity("gen9vgc2025regi"),
    "singles set matchup": lambda: small_entity("gen1ou", matchup=True),
    "doubles attention matchup": lambda: small_entity(
        "gen9vgc2025regi", encoder="attention", matchup=True
    ),
    "tokens transformer": tokens_policy,
}


@pytest.fixture(params=POLICIES, scope="module")
def policy(request) -> Policy:
    return POLICIES[request.param]()


def data(policy: Policy, seed: int = 0):
    obs = random_observations(policy.observation, (T, B), seed)
    masks = random_masks((T, B, policy.actions.num_actions), 0.4, seed)
    masks[2, 1] = masks[5, 0] = False
    resets = random_masks((T, B), 0.2, seed + 1)
    return obs, masks, resets


def test_acting_step_by_step_equals_evaluating_the_sequence(policy: Policy) -> None:
    obs, masks, resets = data(policy)
    full = policy.evaluate(obs, masks, None, resets)
    memory, generator = policy.initial_memory(B), torch.Generator().manual_seed(0)
    for t in range(T):
        memory = policy.reset_memory(memory, resets[t])
        now = {name: array[t] for name, array in obs.items()}
        acted = policy.act(now, masks[t], memory, generator, temperature=0.7, top_p=0.9)
        memory = acted.memory
        sampled = shape_policy(full.log_policy[t], 0.7, 0.9)
        legal = masks[t].any(-1)
        expected = sampled.gather(1, acted.actions.clamp(min=0)[:, None]).squeeze(1)
        assert torch.allclose(acted.log_probs[legal], expected[legal], atol=1e-4)
        assert torch.allclose(acted.values, full.value[t], atol=1e-5)
        assert bool((acted.actions[~legal] == -1).all())
        assert bool(masks[t][legal].gather(1, acted.actions[legal, None]).all())
        step = policy.evaluate({k: v[t : t + 1] for k, v in obs.items()}, masks[t : t + 1])
        assert step.log_policy.shape == (1, B, policy.actions.num_actions)


def test_log_probs_of_actor_and_learner_agree_to_1e_5(policy: Policy) -> None:
    obs, masks, resets = data(policy, 3)
    full = policy.evaluate(obs, masks, None, resets)
    memory, generator = policy.initial_memory(B), torch.Generator().manual_seed(0)
    actions, log_probs = [], []
    for t in range(T):
        memory = policy.reset_memory(memory, resets[t])
        acted = policy.act({k: v[t] for k, v in obs.items()}, masks[t], memory, generator)
        memory = acted.memory
        actions.append(acted.actions)
        log_probs.append(acted.log_probs)
    gap = full.log_prob(torch.stack(actions)) - torch.stack(log_probs)
    assert float(gap.detach().abs().max()) < 1e-5


def test_the_future_never_matters(policy: Policy) -> None:
    obs, masks, resets = data(policy)
    other, other_masks, _ = data(policy, 7)
    base = policy.evaluate(obs, masks, None, resets)
    for t in (1, 4, T - 1):
        mixed = {k: torch.cat((obs[k][:t], other[k][t:])) for k in obs}
        mixed_masks = torch.cat((masks[:t], other_masks[t:]))
        out = policy.evaluate(mixed, mixed_masks, None, resets)
        assert torch.equal(out.log_policy[:t], base.log_policy[:t])
        assert torch.equal(out.value[:t], base.value[:t])
        assert not torch.equal(out.value[t:], base.value[t:])


def test_every_parameter_learns_and_gradients_are_finite(policy: Policy) -> None:
    obs, masks, resets = data(policy)
    out = policy.evaluate(obs, masks, None, resets)
    weights = torch.randn(out.log_policy.shape, generator=torch.Generator().manual_seed(0))
    loss = (out.log_policy.exp() * weights).sum() + out.value.square().sum() + out.entropy().sum()
    policy.zero_grad()
    loss.backward()
    for name, parameter in policy.named_parameters():
        if name.startswith("head.preview"):
            continue  # no team preview in this batch
        assert parameter.grad is not None and bool(parameter.grad.isfinite().all()), name
        # The score's bias shifts all logits alike, so its gradient is 0 up to rounding.
        assert bool((parameter.grad != 0).any()) or name.endswith("score.bias"), name


@pytest.mark.parametrize("encoder", ["set", "attention"])
@pytest.mark.parametrize("format_id", ["gen1ou", "gen9vgc2025regi"])
def test_permuting_the_bench_permutes_the_switches(encoder: str, format_id: str) -> None:
    policy = small_entity(format_id, encoder=encoder)
    slots = 1 if format_id == "gen1ou" else 2
    obs = random_observations(policy.observation, (2, 3))
    bench = 6 - slots
    order = list(range(bench))[::-1]
    rows = [*range(slots), *(slots + k for k in order)]
    foes = [6 + r for r in (*range(slots), *(slots + k for k in (*range(1, bench), 0)))]
    moved = {k: v[:, :, [*rows, *foes]] if k.startswith("pokemon") else v for k, v in obs.items()}
    masks = torch.ones(2, 3, policy.actions.num_actions, dtype=torch.bool)
    before, after = policy.evaluate(obs, masks), policy.evaluate(moved, masks)
    single = list(range(13 if slots == 1 else 45))
    first = 4 if slots == 1 else 40
    for k in range(bench):
        single[first + k] = first + order.index(k)
    if slots == 2:
        index = torch.tensor([45 * single[a] + single[b] for a in range(45) for b in range(45)])
    else:
        index = torch.tensor(single)
    assert torch.allclose(before.log_policy, after.log_policy[..., index], atol=1e-5)
    assert torch.allclose(before.value, after.value, atol=1e-5)
    assert not torch.allclose(before.log_policy, after.log_policy, atol=1e-3)


def test_a_policy_survives_its_checkpoint(policy: Policy, tmp_path: Path) -> None:
    save(tmp_path / "c", {"policy": policy.state_dict()}, policy_meta(policy))
    expected = policy_meta(policy)["spec"]
    twin, _ = load_policy(tmp_path / "c", expected)
    assert twin.config == policy.config and twin.actions == policy.actions
    obs, masks, resets = data(policy)
    one, two = policy.evaluate(obs, masks, None, resets), twin.evaluate(obs, masks, None, resets)
    assert torch.equal(one.log_policy, two.log_policy) and torch.equal(one.value, two.value)


def test_a_checkpoint_of_another_format_is_refused(tmp_path: Path) -> None:
    one, two = small_entity("gen1ou"), small_entity("gen9vgc2025regi")
    save(tmp_path / "c", {"policy": one.state_dict()}, policy_meta(one))
    with pytest.raises(SpecMismatchError, match=r"gen1 singles.*gen9 doubles"):
        load(tmp_path / "c", policy_meta(two)["spec"])
    with pytest.raises(CheckpointError, match=r"singles-default-13.*doubles-default-2025"):
        load(tmp_path / "c", {"actions": policy_meta(two)["spec"]["actions"]})
    save(tmp_path / "d", {"policy": one.state_dict()}, {"something": 1})
    with pytest.raises(CheckpointError, match="does not describe a policy"):
        load_policy(tmp_path / "d")
    save(tmp_path / "e", {"policy": {}}, policy_meta(small_flat()))
    with pytest.raises(CheckpointError, match="does not fit"):
        load_policy(tmp_path / "e")


def test_bfloat16_autocast_stays_close_and_finite() -> None:
    for make in (POLICIES["singles set lstm"], POLICIES["singles attention transformer"]):
        policy = make()
        obs, masks, resets = data(policy)
        exact = policy.evaluate(obs, masks, None, resets)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            rough = policy.evaluate(obs, masks, policy.initial_memory(B), resets)
        assert rough.log_policy.dtype == torch.float32
        gap = (rough.log_policy.exp() - exact.log_policy.exp()).abs()
        assert float(gap.detach().max()) < 0.2 and float(gap.detach().mean()) < 0.02
        rough.log_policy.exp().sum().backward()


@pytest.mark.parametrize(
    ("size", "millions"),
    [
        ("tiny", (0.336, 0.682, 0.702)),
        ("small", (1.25, 2.00, 2.07)),
        ("medium", (18.7, 20.9, 21.3)),
        ("large", (194.0, 203.0, 206.0)),
    ],
)
def test_sizes_have_the_stated_number_of_parameters(size: str, millions) -> None:
    for format_id, expected in zip(("gen1ou", "gen9ou", "gen9vgc2025regi"), millions, strict=True):
        with torch.device("meta"):
            policy = build_policy(format_id, SIZES[size])
        assert policy.num_parameters / 1e6 == pytest.approx(expected, rel=0.02)


def test_new_policies_are_nearly_uniform() -> None:
    torch.manual_seed(1)
    policy = build_policy("gen1ou", SIZES["tiny"])
    masks = torch.ones(1, 50, 13, dtype=torch.bool)
    with torch.no_grad():
        out = policy.evaluate(random_observations(policy.observation, (1, 50)), masks)
    assert float(out.log_policy.exp().max()) < 0.12
    assert float(out.value.abs().max()) < 0.2


def test_configs_refuse_what_they_do_not_know() -> None:
    assert policy_config("tiny", width=64).width == 64
    for wrong, words in (
        ({"hidden": 3}, "hidden"),
        ({"encoder": "cnn"}, "set"),
        ({"width": 0}, "width"),
        ({"width": 100, "memory_heads": 3}, "multiple"),
        ({"value_low": 2.0}, "empty"),
    ):
        with pytest.raises(PolicyConfigError, match=words):
            policy_config("tiny", **wrong)
    with pytest.raises(PolicyConfigError, match="huge"):
        policy_config("huge")
    config = policy_config("medium")
    assert PolicyConfig.from_dict(config.to_dict()) == config


def test_an_encoder_and_an_observation_must_fit() -> None:
    with pytest.raises(PolicyConfigError, match="text_tokens"):
        build_policy("gen1ou", PolicyConfig(encoder="tokens", head="flat"))
    with pytest.raises(PolicyConfigError, match="pokemon_ids"):
        build_policy("gen1ou", PolicyConfig(), "metamon-default")


@pytest.mark.slow
@pytest.mark.parametrize("encoder", ["set", "attention"])
def test_a_pointer_policy_learns_which_move_hits_and_who_is_healthy(encoder: str) -> None:
    torch.manual_seed(0)
    config = PolicyConfig(encoder=encoder, memory="none", width=64, entity_width=32)
    policy = build_policy("gen1ou", config)
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
    hp = policy.observation["pokemon_numbers"].column("hp_fraction")
    accuracies = []
    for step in range(200):
        obs = random_observations(policy.observation, (1, 256), step)
        masks = random_masks((1, 256, 13), 0.6, step)
        masks[..., 0] = True
        effect = policy.encoder.effectiveness(obs["pokemon_ids"][0], torch.ones(256, 2))
        attack = effect[:, 0, :, 0, 0]
        switches = obs["pokemon_numbers"][0, :, 1:6, hp] - 0.5
        score = torch.cat((attack, switches, attack - 9), dim=1)
        best = torch.where(masks[0], score, -99.0).argmax(dim=1)
        out = policy.evaluate(obs, masks)
        accuracies.append(float((out.log_policy[0].argmax(dim=1) == best).float().mean()))
        optimizer.zero_grad()
        (-out.log_prob(best.unsqueeze(0)).mean()).backward()
        optimizer.step()
    assert sum(accuracies[:5]) / 5 < 0.4
    assert sum(accuracies[-20:]) / 20 > 0.78
