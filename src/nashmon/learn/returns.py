"""Returns of time-major trajectories (T, B), where a column is one seat of one battle.

A seat does not act at every step.  `rewards[t]` is what the seat earned between step t and t+1;
what it earns while not acting belongs to its last decision.  Discounts count the seat's own
decisions.  `ends[t]`: the battle was over after step t.  Nothing flows across an end.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Trace:
    """What the two-player V-trace gives; entries where the seat did not act are 0."""

    value_targets: Tensor  # (T, B)
    backups: Tensor  # (T, B): sampled action value, corrected for the opponent's policy only


@torch.no_grad()
def gae(
    rewards: Tensor,
    values: Tensor,
    acting: Tensor,
    ends: Tensor,
    last_value: Tensor,
    *,
    gamma: float,
    lam: float,
) -> Tensor:
    """Advantages A_k = δ_k + γλ A_{k+1}, δ_k = r_k + γ V_{k+1} − V_k over own decisions k."""
    advantages = torch.zeros_like(values)
    running = torch.zeros_like(last_value)
    pending = torch.zeros_like(last_value)
    next_value = last_value
    for t in reversed(range(len(rewards))):
        alive = (~ends[t]).to(values.dtype)
        gain = rewards[t] + alive * pending
        following = alive * next_value
        delta = gain + gamma * following - values[t]
        estimate = delta + gamma * lam * alive * running
        act = acting[t]
        advantages[t] = torch.where(act, estimate, advantages[t])
        running = torch.where(act, estimate, alive * running)
        next_value = torch.where(act, values[t], following)
        pending = torch.where(act, torch.zeros_like(gain), gain)
    return advantages


def lambda_returns(
    rewards: Tensor,
    values: Tensor,
    acting: Tensor,
    ends: Tensor,
    last_value: Tensor,
    *,
    gamma: float,
    lam: float,
) -> Tensor:
    """λ-returns G_k = V_k + A_k; λ = 1 is the Monte-Carlo return, λ = 0 the one-step target."""
    advantages = gae(rewards, values, acting, ends, last_value, gamma=gamma, lam=lam)
    return torch.where(acting, values + advantages, advantages)


def opponent(column: Tensor) -> Tensor:
    """The same tensor seen from the other seat: columns 2n and 2n+1 are one battle."""
    pairs = column.reshape(*column.shape[:-1], -1, 2)
    return pairs.flip(-1).reshape(column.shape)


@torch.no_grad()
def two_player_vtrace(
    rewards: Tensor,
    values: Tensor,
    acting: Tensor,
    ends: Tensor,
    last_value: Tensor,
    ratios: Tensor,
    costs: Tensor,
    *,
    gamma: float = 1.0,
    lam: float = 1.0,
    clip_c: float = 1.0,
    clip_rho: float = float("inf"),
) -> Trace:
    """V-trace where each seat's return also depends on the opponent's sampled actions.

    `ratios` = π(a)/μ(a) and `costs` = η·KL(π ‖ π_reg), for the seat's own decisions.  A seat pays
    its own cost and receives the opponent's, so the transformed game stays zero-sum.  When both
    act in one step, each sees its own move first and the opponent's after it.  With
    w = Π(opponent's ratios until the seat's next decision):
      V̂ = V + min(ρ̄, ratio·w)(r − cost + cost' + γV₊ − V) + λ min(c̄, ratio·w) γ(V̂₊ − V₊)
      backup = cost' + ratio'·(r + …) + γ w V̂₊
    """
    ratios = torch.where(acting, ratios, torch.ones_like(ratios))
    costs = torch.where(acting, costs, torch.zeros_like(costs))
    foe_ratios, foe_costs = opponent(ratios), opponent(costs)
    targets, backups = torch.zeros_like(values), torch.zeros_like(values)
    zero, one = torch.zeros_like(last_value), torch.ones_like(last_value)
    corrected, raw, weight = zero, zero, one  # gains since the next decision, opponent's ratio
    next_value, next_target = last_value, last_value
    for t in reversed(range(len(rewards))):
        alive = ~ends[t]
        corrected, raw = torch.where(alive, corrected, zero), torch.where(alive, raw, zero)
        weight = torch.where(alive, weight, one) * foe_ratios[t]
        next_value = torch.where(alive, next_value, zero)
        next_target = torch.where(alive, next_target, zero)
        corrected = foe_costs[t] + foe_ratios[t] * (rewards[t] + corrected)
        raw = foe_costs[t] + rewards[t] + raw
        joint = ratios[t] * weight
        delta = raw - costs[t] + gamma * next_value - values[t]
        target = values[t] + joint.clamp(max=clip_rho) * delta
        target = target + lam * gamma * joint.clamp(max=clip_c) * (next_target - next_value)
        act = acting[t]
        targets[t] = torch.where(act, target, targets[t])
        backups[t] = torch.where(act, corrected + gamma * weight * next_target, backups[t])
        corrected, raw = torch.where(act, zero, corrected), torch.where(act, zero, raw)
        weight = torch.where(act, one, weight)
        next_value = torch.where(act, values[t], next_value)
        next_target = torch.where(act, target, next_target)
    return Trace(targets, backups)
