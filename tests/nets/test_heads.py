import math
from itertools import combinations

import numpy as np
import pytest
import torch
from policies import random_masks, random_observations, settle, small_entity

from nashmon.core.actions import action_space
from nashmon.core.actions_preview import picks
from nashmon.nets.build import action_spec
from nashmon.nets.config import ActionSpec, PolicyConfig, PolicyConfigError
from nashmon.nets.distribution import ILLEGAL
from nashmon.nets.encoding import Encoding
from nashmon.nets.heads import build_head
from nashmon.nets.pointer import joint_log_policy

CONFIG = PolicyConfig(width=32, entity_width=16)
SINGLES = ActionSpec("singles", 13)
DOUBLES = ActionSpec("doubles", 2025)


def encoding(slots: int, count: int = 3, seed: int = 0) -> Encoding:
    g = torch.Generator().manual_seed(seed)
    return Encoding(
        summary=torch.randn(count, 32, generator=g),
        pokemon=torch.randn(count, 12, 16, generator=g),
        moves=torch.randn(count, slots, 4, 16, generator=g),
        effectiveness=torch.randn(count, slots, 4, slots, 2, generator=g),
        preview=torch.zeros(count, dtype=torch.long),
    )


def replaced(old: Encoding, **parts: torch.Tensor) -> Encoding:
    names = ("summary", "pokemon", "moves", "effectiveness", "preview")
    return Encoding(**{**{name: getattr(old, name) for name in names}, **parts})


def brute_force(first: np.ndarray, second: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """p(a)·p(b|a) by enumerating the legal pairs one by one."""
    joint = np.zeros(pairs.shape)
    possible = [a for a in range(len(first)) if pairs[a].any()]
    total = sum(math.exp(first[a]) for a in possible)
    for a in possible:
        legal = [b for b in range(second.shape[1]) if pairs[a, b]]
        inner = sum(math.exp(second[a, b]) for b in legal)
        for b in legal:
            joint[a, b] = math.exp(first[a]) / total * math.exp(second[a, b]) / inner
    return joint


@pytest.mark.parametrize("legal", [0.02, 0.3, 1.0])
def test_the_joint_policy_equals_brute_force(legal: float) -> None:
    g = torch.Generator().manual_seed(1)
    first, second = torch.randn(4, 45, generator=g), 2 * torch.randn(4, 45, 45, generator=g)
    pairs = random_masks((4, 45, 45), legal)
    pairs[3] = False
    log_joint = joint_log_policy(first, second, pairs)
    for n in range(3):
        expected = brute_force(first[n].numpy(), second[n].numpy(), pairs[n].numpy())
        assert np.allclose(log_joint[n].exp().numpy(), expected, atol=1e-6)
        assert abs(expected.sum() - 1) < 1e-9
    assert bool((log_joint[3] == ILLEGAL).all())


def test_joint_gradients_are_finite_with_impossible_rows() -> None:
    first = torch.randn(3, 45, requires_grad=True)
    second = torch.randn(3, 45, 45, requires_grad=True)
    pairs = random_masks((3, 45, 45), 0.05)
    pairs[1] = False
    log_joint = joint_log_policy(first, second, pairs)
    (log_joint.exp() * log_joint).sum().backward()
    for tensor in (first, second):
        assert tensor.grad is not None and bool(tensor.grad.isfinite().all())
    assert bool((second.grad[~pairs] == 0).all())


def logits_changed(head, one: Encoding, two: Encoding, num_actions: int) -> torch.Tensor:
    """Which actions score differently, judged against one that does not change (the last)."""
    mask = torch.ones(len(one.summary), num_actions, dtype=torch.bool)
    before, after = head(one.summary, one, mask), head(two.summary, two, mask)
    gap = (after - before) - (after - before)[:, -1:]
    return (gap.abs() > 1e-5).any(dim=0)


def sharp_head(actions: ActionSpec):
    torch.manual_seed(0)
    head = build_head(CONFIG, actions)
    for parameter in head.parameters():
        parameter.data.add_(0.3 * torch.randn_like(parameter))
    return head


def test_singles_actions_look_at_what_they_name() -> None:
    head, base = sharp_head(ActionSpec("singles", 14)), encoding(1)
    for k in range(4):
        moves = base.moves.clone()
        moves[:, 0, k] = torch.randn_like(moves[:, 0, k])
        changed = logits_changed(head, base, replaced(base, moves=moves), 14)
        assert changed.nonzero().flatten().tolist() == [k, 9 + k]
    for k in range(5):
        pokemon = base.pokemon.clone()
        pokemon[:, 1 + k] = torch.randn_like(pokemon[:, 1 + k])
        changed = logits_changed(head, base, replaced(base, pokemon=pokemon), 14)
        assert changed.nonzero().flatten().tolist() == [4 + k]


def slot_scores(head, enc: Encoding) -> torch.Tensor:
    """Scores (N, 2, 45) of each slot's actions before they are combined."""
    scores: torch.Tensor = head.battle.score(head.battle._action_vectors(enc.summary, enc))
    return scores.squeeze(-1)


def test_doubles_codes_look_at_what_they_name() -> None:
    head, base = sharp_head(DOUBLES), encoding(2)
    before = slot_scores(head, base)

    def changed(**parts: torch.Tensor) -> list[list[int]]:
        gap = (slot_scores(head, replaced(base, **parts)) - before).abs() > 1e-5
        return [gap[:, slot].any(dim=0).nonzero().flatten().tolist() for slot in range(2)]

    for slot in range(2):
        for m in range(4):
            moves = base.moves.clone()
            moves[:, slot, m] = torch.randn_like(moves[:, slot, m])
            expected = [[], []]
            expected[slot] = list(range(10 * m, 10 * m + 10))
            assert changed(moves=moves) == expected
    for row, target in ((6, 1), (7, 2)):
        pokemon = base.pokemon.clone()
        pokemon[:, row] = torch.randn_like(pokemon[:, row])
        aimed = sorted(10 * m + target + 2 + 5 * g for m in range(4) for g in range(2))
        assert changed(pokemon=pokemon) == [aimed, aimed]
    for k in range(4):
        pokemon = base.pokemon.clone()
        pokemon[:, 2 + k] = torch.randn_like(pokemon[:, 2 + k])
        assert changed(pokemon=pokemon) == [[40 + k], [40 + k]]
    # The own Pokémon a is the context of slot a, and for slot b only the target −1.
    pokemon = base.pokemon.clone()
    pokemon[:, 0] = torch.randn_like(pokemon[:, 0])
    aimed = sorted(10 * m - 1 + 2 + 5 * g for m in range(4) for g in range(2))
    assert changed(pokemon=pokemon)[1] == aimed
    assert len(changed(pokemon=pokemon)[0]) == 45


def test_effectiveness_counts_for_the_foe_aimed_at() -> None:
    head, base = sharp_head(DOUBLES), encoding(2)
    effect = base.effectiveness.clone()
    effect[:, 0, 2, 1] += 1  # slot a's third move on the foe's slot b
    gap = slot_scores(head, replaced(base, effectiveness=effect)) - slot_scores(head, base)
    found = (gap.abs() > 1e-6).any(dim=0)
    assert found[0].nonzero().flatten().tolist() == [22, 24, 27, 29]  # no target (mean), slot b
    assert not bool(found[1].any())


@pytest.mark.parametrize("format_id", ["gen9ou", "gen9vgc2025regi", "gen91v1", "gen9bssregi"])
def test_preview_sets_are_the_codecs_picks(format_id: str) -> None:
    space = action_space(format_id)
    spec = action_spec(space)
    for size in range(1, space.format.team_size + 1):
        ours = [(*lead, *back) for lead, back in spec.preview_sets(size)]
        theirs = picks(size, min(size, space.format.picked), space.leads)
        assert ours == list(theirs)
        assert len(ours) <= spec.num_actions


@pytest.mark.parametrize("format_id", ["gen9ou", "gen9vgc2025regi", "gen9bssregi"])
def test_permuting_the_team_permutes_preview_picks(format_id: str) -> None:
    policy = small_entity(format_id)
    spec, actions = policy.observation, policy.actions
    obs = random_observations(spec, (1, 2))
    settle(spec, obs, preview=True)
    sets = [(frozenset(a), frozenset(b)) for a, b in actions.preview_sets(6)]
    mask = torch.zeros(1, 2, actions.num_actions, dtype=torch.bool)
    mask[..., : len(sets)] = True
    base = policy.evaluate(obs, mask).log_policy
    order = [3, 0, 5, 1, 4, 2]
    rows = [*order, *range(6, 12)]
    moved = {k: v[:, :, rows] if k.startswith("pokemon") else v for k, v in obs.items()}
    after = policy.evaluate(moved, mask).log_policy
    where = {old: new for new, old in enumerate(order)}
    target = [
        sets.index((frozenset(where[i] for i in a), frozenset(where[i] for i in b)))
        for a, b in sets
    ]
    assert torch.allclose(base[..., : len(sets)], after[..., target], atol=1e-5)
    spread = base[0, 0, : len(sets)]
    assert spread.max() - spread.min() > 1e-2


def test_previews_and_battles_share_a_batch() -> None:
    policy = small_entity("gen9vgc2025regi")
    battle = random_observations(policy.observation, (1, 2))
    preview = {name: array.clone() for name, array in battle.items()}
    settle(policy.observation, preview, preview=True)
    mixed = {name: torch.stack((battle[name][0, 0], preview[name][0, 1]))[None] for name in battle}
    mask = torch.ones(1, 2, 2025, dtype=torch.bool)
    mask[0, 1, 90:] = False
    together = policy.evaluate(mixed, mask).log_policy
    alone = policy.evaluate(preview, mask[:, 1:].expand(1, 2, -1)).log_policy
    assert torch.allclose(together[0, 1], alone[0, 1], atol=1e-5)
    assert torch.allclose(
        together[0, 0],
        policy.evaluate(battle, mask[:, :1].expand(1, 2, -1)).log_policy[0, 0],
        atol=1e-5,
    )


def test_smaller_teams_have_their_own_preview_table() -> None:
    assert len(list(combinations(range(5), 2))) * 3 == len(
        ActionSpec("doubles", 2025, preview=(6, 4, 2)).preview_sets(5)
    )


def test_heads_that_cannot_work_are_refused() -> None:
    with pytest.raises(PolicyConfigError, match="pointer head"):
        build_head(PolicyConfig(encoder="flat"), SINGLES)
    with pytest.raises(PolicyConfigError, match="pointer head"):
        build_head(CONFIG, ActionSpec("flat", 13))
    with pytest.raises(PolicyConfigError, match="2025"):
        build_head(CONFIG, ActionSpec("doubles", 13))
    with pytest.raises(PolicyConfigError, match="do not fit"):
        build_head(CONFIG, ActionSpec("singles", 13, preview=(6, 3, 1)))
