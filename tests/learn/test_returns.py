"""Returns against slow reference implementations and hand-computed values."""

import numpy as np
import pytest
import torch
from torch import Tensor

from nashmon.learn.returns import gae, lambda_returns, opponent, two_player_vtrace
from nashmon.nets.value import two_hot


def random_columns(seed: int, steps: int = 12, columns: int = 6) -> dict[str, Tensor]:
    g = torch.Generator().manual_seed(seed)
    ends = torch.rand(steps, columns // 2, generator=g) < 0.2
    return {
        "rewards": torch.randn(steps, columns, generator=g),
        "values": torch.randn(steps, columns, generator=g),
        "acting": torch.rand(steps, columns, generator=g) < 0.6,
        "ends": ends.repeat_interleave(2, 1),
        "last_value": torch.randn(columns, generator=g),
    }


def decisions_of(data: dict[str, Tensor], b: int) -> list[list[tuple[int, float]]]:
    """Per battle of column b: (t, reward until the next decision); rewards before one are lost."""
    battles: list[list[tuple[int, float]]] = [[]]
    for t in range(len(data["rewards"])):
        if data["acting"][t, b]:
            battles[-1].append((t, 0.0))
        if battles[-1]:
            step, total = battles[-1][-1]
            battles[-1][-1] = (step, total + float(data["rewards"][t, b]))
        if data["ends"][t, b]:
            battles.append([])
    return battles


@pytest.mark.parametrize(("gamma", "lam"), [(1.0, 1.0), (0.9, 0.8), (0.99, 0.0)])
def test_gae_equals_the_sum_over_each_seats_own_decisions(gamma: float, lam: float) -> None:
    data = random_columns(1)
    got = gae(**data, gamma=gamma, lam=lam)
    for b in range(6):
        battles = decisions_of(data, b)
        for i, battle in enumerate(battles):
            bootstrap = float(data["last_value"][b]) if i == len(battles) - 1 else 0.0
            values = [float(data["values"][t, b]) for t, _ in battle] + [bootstrap]
            deltas = [r + gamma * values[k + 1] - values[k] for k, (_, r) in enumerate(battle)]
            for k, (t, _) in enumerate(battle):
                tail = enumerate(deltas[k:])
                want = sum((gamma * lam) ** n * delta for n, delta in tail)
                assert float(got[t, b]) == pytest.approx(want, abs=1e-5)
    assert (got[~data["acting"]] == 0).all()


def test_lambda_one_is_the_monte_carlo_return_and_zero_the_one_step_target() -> None:
    acting = torch.tensor([[True], [False], [True]])
    steps = {
        "rewards": torch.tensor([[1.0], [2.0], [4.0]]),
        "values": torch.tensor([[10.0], [99.0], [20.0]]),
        "acting": acting,
        "ends": torch.tensor([[False], [False], [True]]),
        "last_value": torch.tensor([7.0]),
    }
    full = lambda_returns(**steps, gamma=0.5, lam=1.0)
    assert full.flatten().tolist() == pytest.approx([3 + 0.5 * 4, 0, 4])
    short = lambda_returns(**steps, gamma=0.5, lam=0.0)
    assert short.flatten().tolist() == pytest.approx([3 + 0.5 * 20, 0, 4])


def test_nothing_flows_across_an_end() -> None:
    data = random_columns(2)
    data["ends"][5] = True
    changed = {k: v.clone() for k, v in data.items()}
    changed["rewards"][6:] += 10
    changed["values"][6:] -= 10
    ones, zeros = torch.ones(12, 6), torch.zeros(12, 6)
    before, after = (gae(**d, gamma=0.9, lam=0.9)[:6] for d in (data, changed))
    assert torch.equal(before, after)
    before, after = (
        two_player_vtrace(**d, ratios=ones, costs=zeros).backups[:6] for d in (data, changed)
    )
    assert torch.equal(before, after)


def test_opponent_swaps_the_seats_of_each_battle() -> None:
    assert opponent(torch.arange(6)).tolist() == [1, 0, 3, 2, 5, 4]


def test_on_policy_vtrace_without_costs_is_the_lambda_return() -> None:
    data = random_columns(3)
    ones, zeros = torch.ones(12, 6), torch.zeros(12, 6)
    for lam in (0.0, 0.7, 1.0):
        trace = two_player_vtrace(**data, ratios=ones, costs=zeros, gamma=0.9, lam=lam)
        want = lambda_returns(**data, gamma=0.9, lam=lam)
        torch.testing.assert_close(trace.value_targets, want)


def slow_vtrace(
    data: dict[str, Tensor], ratios: Tensor, costs: Tensor, gamma: float, lam: float, c: float
) -> tuple[np.ndarray, np.ndarray]:
    """The definition, by recursion over decisions, one column at a time."""
    steps, columns = ratios.shape
    targets, backups = np.zeros((steps, columns)), np.zeros((steps, columns))
    r, v, act, end = (data[k].double().numpy() for k in ("rewards", "values", "acting", "ends"))
    rho, cost = ratios.double().numpy(), costs.double().numpy()

    def interval(t: int, b: int) -> tuple[float, float, float, int | None, bool]:
        """From a decision at t: raw gain, corrected gain, weight, next decision, ended."""
        foe = b ^ 1
        raw = corrected = 0.0
        weight = 1.0
        s = t
        while s < steps:
            if s > t and act[s, b]:
                return raw, corrected, weight, s, False
            if act[s, foe]:
                corrected += weight * cost[s, foe]
                raw += cost[s, foe]
                weight *= rho[s, foe]
            corrected += weight * r[s, b]
            raw += r[s, b]
            if end[s, b]:
                return raw, corrected, weight, None, True
            s += 1
        return raw, corrected, weight, None, False

    for b in range(columns):
        for t in reversed(range(steps)):
            if not act[t, b]:
                continue
            raw, corrected, weight, nxt, ended = interval(t, b)
            last = 0.0 if ended else float(data["last_value"][b])
            next_v = v[nxt, b] if nxt is not None else last
            next_target = targets[nxt, b] if nxt is not None else last
            joint = rho[t, b] * weight
            delta = raw - cost[t, b] + gamma * next_v - v[t, b]
            targets[t, b] = v[t, b] + joint * delta
            targets[t, b] += lam * gamma * min(c, joint) * (next_target - next_v)
            backups[t, b] = corrected + gamma * weight * next_target
    return targets, backups


@pytest.mark.parametrize("lam", [1.0, 0.5])
def test_off_policy_vtrace_equals_the_definition(lam: float) -> None:
    data = random_columns(4)
    g = torch.Generator().manual_seed(5)
    ratios = torch.rand(12, 6, generator=g) * 2
    costs = torch.rand(12, 6, generator=g)
    want = slow_vtrace(data, ratios, costs, 0.95, lam, 1.0)
    got = two_player_vtrace(**data, ratios=ratios, costs=costs, gamma=0.95, lam=lam)
    np.testing.assert_allclose(got.value_targets.numpy(), want[0], atol=2e-4, rtol=1e-4)
    np.testing.assert_allclose(got.backups.numpy(), want[1], atol=2e-4, rtol=1e-4)


def test_the_transformed_rewards_are_zero_sum() -> None:
    """What one seat pays for leaving its regularisation policy, the other receives."""
    g = torch.Generator().manual_seed(6)
    gain = torch.randn(8, 3, generator=g)
    rewards = torch.stack([gain, -gain], -1).view(8, 6)
    ends = torch.zeros(8, 6, dtype=torch.bool)
    ends[-1] = True
    trace = two_player_vtrace(
        rewards,
        torch.zeros(8, 6),
        torch.ones(8, 6, dtype=torch.bool),
        ends,
        torch.zeros(6),
        torch.ones(8, 6),
        torch.rand(8, 6, generator=g),
    )
    pairs = trace.value_targets.view(8, 3, 2)
    torch.testing.assert_close(pairs[..., 0], -pairs[..., 1])


def test_two_hot_keeps_the_mean_and_refuses_what_it_cannot_express() -> None:
    support = torch.linspace(-1, 1, 5)
    values = torch.tensor([-1.0, -0.6, 0.0, 0.9, 1.0])
    target = two_hot(values, support)
    torch.testing.assert_close(target @ support, values)
    assert ((target > 0).sum(-1) <= 2).all()
    with pytest.raises(Exception, match="covers"):
        two_hot(torch.tensor([1.5]), support)
