"""Dynamic damping: a frozen reference, scheduled KL and entropy weights, adaptive control.

The controller's multipliers persist.  They compose with the schedules instead of being overwritten
by them:  kl_t = clip(schedule(t)·m_t, 0, kl_max)  and  lr_t = clip(base_t·n_t, lr_min, lr_max).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from nashmon.learn import masked
from nashmon.learn.batch import Batch, Policy, average, evaluate
from nashmon.learn.optim import Reduce, frozen, mean_over
from nashmon.learn.regulariser import Metrics
from nashmon.learn.schedules import Power

KL_FLOOR = 1e-6  # the controller never lowers the KL weight below this


@dataclass(frozen=True)
class DampingConfig:
    """Schedules and controller; the names and defaults of the metamon damping study."""

    kl_coef_init: float = 0.05
    kl_coef_max: float = 0.5
    kl_power_alpha: float = 0.5
    kl_schedule_steps: int = 1_000_000
    ent_coef_init: float = 0.01
    ent_coef_min: float = 0.001
    ent_power_alpha: float = 0.7
    ent_schedule_steps: int = 1_000_000
    target_kl_per_step: float = 0.01
    kl_tolerance: float = 1.5
    lr_shrink_factor: float = 0.5
    lr_grow_factor: float = 1.1
    kl_coef_growth_factor: float = 1.5
    kl_coef_decay_factor: float = 0.9
    min_lr: float = 1e-6
    max_lr: float = 1e-3
    adaptive: bool = True
    adapt_interval: int = 100  # losses between two decisions of the controller
    window: int = 100  # losses whose mean KL it looks at
    min_samples: int = 10
    reference_interval: int = 0  # updates between snapshots; 0: only `snapshot()` takes one

    def __post_init__(self) -> None:
        if self.kl_tolerance < 1.0:
            raise ValueError(f"kl_tolerance must be at least 1, not {self.kl_tolerance}")
        if not 0 < self.min_lr <= self.max_lr:
            raise ValueError(f"learning rates [{self.min_lr}, {self.max_lr}] are no range")

    def kl_schedule(self, step: int) -> float:
        """β_t = β_0 (1 + t/T)^−α, at most kl_coef_max."""
        power = Power(self.kl_coef_init, self.kl_power_alpha, self.kl_schedule_steps)
        return min(power(step), self.kl_coef_max)

    def entropy_schedule(self, step: int) -> float:
        """Entropy weight ent_0 (1 + t/T)^−α, at least ent_coef_min."""
        power = Power(self.ent_coef_init, self.ent_power_alpha, self.ent_schedule_steps)
        return max(power(step), self.ent_coef_min)


class Damping:
    """Adds kl_t · KL(π ‖ π_ref) − ent_t · H(π) to the loss; steers kl_t and the learning rate."""

    name = "damping"

    def __init__(self, config: DampingConfig, policy: Policy, reduce: Reduce | None = None) -> None:
        assert isinstance(policy, nn.Module)
        self.config, self.reduce = config, reduce
        self.reference: Any = frozen(policy)
        self.updates = 0
        self.kl_multiplier = 1.0
        self.lr_multiplier = 1.0
        self._window: deque[float] = deque(maxlen=config.window)
        self._losses = 0
        self._base_rate = 0.0

    @property
    def kl_weight(self) -> float:
        """The KL weight of the next loss."""
        weight = self.config.kl_schedule(self.updates) * self.kl_multiplier
        return min(max(weight, 0.0), self.config.kl_coef_max)

    @property
    def entropy_weight(self) -> float:
        """The entropy weight of the next loss."""
        return self.config.entropy_schedule(self.updates)

    def learning_rate(self, base: float) -> float:
        """The rate of the next optimiser step."""
        self._base_rate = base
        return min(max(base * self.lr_multiplier, self.config.min_lr), self.config.max_lr)

    def snapshot(self, policy: Policy) -> None:
        """Make the current policy the reference (the start of a self-play iteration)."""
        assert isinstance(policy, nn.Module)
        self.reference.load_state_dict(policy.state_dict())

    @torch.no_grad()
    def prepare(self, batch: Batch) -> Tensor:
        """Log-policy of the reference at each decision."""
        return evaluate(self.reference, batch).log_policy

    def loss(
        self, log_policy: Tensor, masks: Tensor, reference: Tensor, weights: Tensor | None = None
    ) -> tuple[Tensor, Metrics]:
        """Both weighted terms; afterwards the controller sees the KL."""
        distance = average(masked.kl(log_policy, reference, masks), weights)
        spread = average(masked.entropy(log_policy, masks), weights)
        term = self.kl_weight * distance - self.entropy_weight * spread
        metrics = {
            "KL Divergence": mean_over(self.reduce, float(distance.detach())),
            "Policy Entropy": float(spread.detach()),
            "Damping/KL Coefficient": self.kl_weight,
            "Damping/Entropy Coefficient": self.entropy_weight,
        }
        if self.config.adaptive:
            self.observe(metrics["KL Divergence"])
        return term, metrics

    def observe(self, kl: float) -> None:
        """Record one loss's KL; every `adapt_interval` losses, adapt the multipliers."""
        c = self.config
        self._window.append(kl)
        self._losses += 1
        if self._losses % c.adapt_interval or len(self._window) < c.min_samples:
            return
        mean = sum(self._window) / len(self._window)
        if mean > c.target_kl_per_step * c.kl_tolerance:
            self._scale(c.lr_shrink_factor, c.kl_coef_growth_factor)
        elif mean < c.target_kl_per_step / c.kl_tolerance:
            self._scale(c.lr_grow_factor, c.kl_coef_decay_factor)

    def _scale(self, rate: float, weight: float) -> None:
        """Scale both multipliers, but not beyond what the limits can show (no wind-up)."""
        c = self.config
        schedule = c.kl_schedule(self.updates)
        if schedule > 0:
            wanted = schedule * self.kl_multiplier * weight
            self.kl_multiplier = min(max(wanted, KL_FLOOR), c.kl_coef_max) / schedule
        if self._base_rate > 0:
            wanted = self._base_rate * self.lr_multiplier * rate
            self.lr_multiplier = min(max(wanted, c.min_lr), c.max_lr) / self._base_rate
        else:
            self.lr_multiplier *= rate

    def advance(self, policy: Policy, batch: Batch) -> Metrics:
        """Advance the schedules; take a snapshot when it is time."""
        self.updates += 1
        every = self.config.reference_interval
        if every and self.updates % every == 0:
            self.snapshot(policy)
        return {
            "Damping/Step": float(self.updates),
            "Learning Rate": self.learning_rate(self._base_rate),
        }

    def state_dict(self) -> dict[str, Any]:
        """Counters, multipliers, window and the reference's weights."""
        return {
            "updates": self.updates,
            "losses": self._losses,
            "kl_multiplier": self.kl_multiplier,
            "lr_multiplier": self.lr_multiplier,
            "base_rate": self._base_rate,
            "window": list(self._window),
            "reference": dict(self.reference.state_dict()),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from `state_dict`; the reference is the saved one, never a fresh network."""
        self.updates = state["updates"]
        self._losses = state["losses"]
        self.kl_multiplier = state["kl_multiplier"]
        self.lr_multiplier = state["lr_multiplier"]
        self._base_rate = state["base_rate"]
        self._window = deque(state["window"], maxlen=self.config.window)
        self.reference.load_state_dict(state["reference"])
