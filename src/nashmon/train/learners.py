"""The learner a config asks for."""

from __future__ import annotations

from typing import Any, Protocol

import torch

from nashmon.learn.batch import Batch
from nashmon.learn.damping import Damping
from nashmon.learn.magnet import Magnet
from nashmon.learn.optim import Reduce
from nashmon.learn.portfolio import Portfolio
from nashmon.learn.ppo import PPO
from nashmon.learn.regulariser import Metrics, Regulariser
from nashmon.learn.rnad import RNaD
from nashmon.nets.policy import Policy
from nashmon.train.config import RunConfig


class Learner(Protocol):
    """Anything that improves a policy from batches of its play."""

    updates: int

    def update(self, batch: Batch) -> Metrics:
        """Learn from one batch."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """Everything but the policy's own weights."""
        ...

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from `state_dict`."""
        ...


def build_learner(
    config: RunConfig, policy: Policy, generator: torch.Generator, reduce: Reduce | None = None
) -> Learner:
    """PPO with the regulariser of the algorithm's name, or R-NaD."""
    if config.algo == "rnad":
        return RNaD(policy, config.rnad, reduce)
    parts: list[Regulariser] = []
    if config.algo == "magnet":
        parts.append(Magnet(config.magnet, policy))
    elif config.algo == "damped_ppo":
        parts.append(Damping(config.damping, policy, reduce))
    elif config.algo == "portfolio":
        parts.append(Portfolio(config.portfolio, policy, reduce=reduce))
    return PPO(policy, config.ppo, generator, parts, reduce)


def freeze(policy: Policy, prefixes: tuple[str, ...]) -> None:
    """Keep the parameters whose names begin with one of the prefixes as they are."""
    names = [name for name, _ in policy.named_parameters()]
    for prefix in prefixes:
        if not any(name.startswith(prefix) for name in names):
            tops = sorted({name.split(".")[0] for name in names})
            raise ValueError(f"frozen: no parameter begins with {prefix!r}; parts: {tops}")
    for name, parameter in policy.named_parameters():
        parameter.requires_grad_(not name.startswith(prefixes) if prefixes else True)
