"""Trajectories as tensors: what roll-outs and stored data give to every algorithm.

Time-major (T, B).  A column is one seat of one battle (or of consecutive battles); with
`paired`, columns 2n and 2n+1 are the two seats of the same battle, step by step.
Losses work on *decisions*: the M entries where the seat acts, in (t, b) order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from itertools import accumulate
from typing import Any, Protocol

import torch
from torch import Tensor


class PolicyOutput(Protocol):
    """What a policy says about every step of a batch."""

    @property
    def log_policy(self) -> Tensor:
        """(T, B, A) normalised log-probabilities, `ILLEGAL` on illegal actions."""
        ...

    @property
    def value(self) -> Tensor:
        """(T, B) expected return of the seat that observes."""
        ...

    @property
    def value_logits(self) -> Tensor | None:
        """(T, B, K) over the value support, or None for a scalar value."""
        ...


class Policy(Protocol):
    """The part of a policy network that the algorithms use (also an `nn.Module`)."""

    @property
    def has_memory(self) -> bool:
        """False: every decision stands alone and may be shuffled."""
        ...

    @property
    def value_support(self) -> Tensor | None:
        """(K,) bin centres of a distributional value."""
        ...

    def evaluate(
        self,
        observations: dict[str, Tensor],
        masks: Tensor,
        memory: dict[str, Tensor] | None = None,
        resets: Tensor | None = None,
    ) -> PolicyOutput:
        """Log-policy and value of every step, given what the seat saw up to that step."""
        ...


_OPTIONAL = ("weights", "values", "log_policy")


@dataclass(frozen=True, slots=True)
class Batch:
    """Trajectories of B seats over T steps."""

    observations: dict[str, Tensor]  # name → (T, B, …)
    masks: Tensor  # (T, B, A) bool: legal actions
    actions: Tensor  # (T, B) long: action taken, −1 where the seat does not act or it is unknown
    log_probs: Tensor  # (T, B): of the distribution actually sampled
    rewards: Tensor  # (T, B): earned between step t and t+1
    ends: Tensor  # (T, B) bool: the battle is over after this step
    acting: Tensor  # (T, B) bool: the seat decides here, and learns from it
    resets: Tensor  # (T, B) bool: a battle starts here
    last_value: Tensor  # (B,): value after the last step, 0 where the battle ended
    memory: dict[str, Tensor] | None = None  # state before step 0, batch first
    paired: bool = False
    weights: Tensor | None = None  # (T, B): how much each decision counts; None: all the same
    # What the acting policy said, when it is the one that learns: saves a forward pass.
    values: Tensor | None = None  # (T, B)
    log_policy: Tensor | None = None  # (T, B, A), before any temperature

    def __post_init__(self) -> None:
        shape = self.acting.shape
        for name in ("actions", "log_probs", "rewards", "ends", "resets"):
            if getattr(self, name).shape != shape:
                raise ValueError(f"batch.{name} is {tuple(getattr(self, name).shape)}, not {shape}")
        if self.paired and shape[1] % 2:
            raise ValueError(f"a paired batch needs an even number of columns, not {shape[1]}")

    def decision_weights(self) -> Tensor | None:
        """Weights of the decisions (M,)."""
        return None if self.weights is None else take(self.weights, places(self.acting))

    @property
    def num_decisions(self) -> int:
        """M, the number of decisions to learn from."""
        return int(self.acting.sum())

    def columns(self, index: Tensor) -> Batch:
        """The given seats only; the pairing of seats is lost."""
        memory = None if self.memory is None else {k: v[index] for k, v in self.memory.items()}
        last = self.last_value[index]
        return self._mapped(lambda x: x[:, index], last_value=last, memory=memory, paired=False)

    def decisions(self, order: Tensor | None = None) -> Batch:
        """Each decision as a trajectory of its own: shape (1, M).  For policies without memory.

        `order` (M,): which come first; as they are if it is None.
        """
        index = places(self.acting)
        if order is not None:
            index = order if index is None else index[order]
        zeros = torch.zeros_like(take(self.rewards, index))
        return self._mapped(
            lambda x: take(x, index).unsqueeze(0), last_value=zeros, memory=None, paired=False
        )

    def span(self, start: int, stop: int) -> Batch:
        """Neighbouring seats of a batch without memory, as views."""
        last = self.last_value[start:stop]
        return self._mapped(lambda x: x[:, start:stop], last_value=last, paired=False)

    def to(self, device: torch.device | str) -> Batch:
        """The same batch on another device."""
        memory = None
        if self.memory is not None:
            memory = {k: v.to(device) for k, v in self.memory.items()}
        return self._mapped(
            lambda x: x.to(device), last_value=self.last_value.to(device), memory=memory
        )

    def _mapped(self, change: Callable[[Tensor], Tensor], **fixed: Any) -> Batch:
        changed = {
            f.name: change(getattr(self, f.name))
            for f in fields(self)
            if f.name not in ("observations", "last_value", "memory", "paired", *_OPTIONAL)
        }
        changes: dict[str, Any] = {**changed, **fixed}
        for name in _OPTIONAL:
            value = getattr(self, name)
            changes[name] = None if value is None else change(value)
        changes["observations"] = {k: change(v) for k, v in self.observations.items()}
        return replace(self, **changes)


@dataclass(frozen=True, slots=True)
class Decisions:
    """A policy's output on the M decisions of a batch."""

    log_policy: Tensor  # (M, A)
    value: Tensor  # (M,)
    value_logits: Tensor | None  # (M, K)


def evaluate(policy: Policy, batch: Batch) -> Decisions:
    """Run the policy on a batch and keep the decisions; the only way algorithms call a policy."""
    observations, masks = batch.observations, batch.masks
    index = places(batch.acting)
    if not policy.has_memory:
        observations = {k: take(v, index).unsqueeze(0) for k, v in observations.items()}
        out = policy.evaluate(observations, take(masks, index).unsqueeze(0))
        logits = None if out.value_logits is None else out.value_logits[0]
        return Decisions(out.log_policy[0], out.value[0], logits)
    out = policy.evaluate(observations, masks, batch.memory, batch.resets)
    logits = None if out.value_logits is None else take(out.value_logits, index)
    return Decisions(take(out.log_policy, index), take(out.value, index), logits)


def places(acting: Tensor) -> Tensor | None:
    """Flat positions (M,) of the decisions among the T·B entries; None: all of them."""
    flat = acting.flatten()
    return None if bool(flat.all()) else flat.nonzero().squeeze(-1)


def take(table: Tensor, index: Tensor | None) -> Tensor:
    """Rows of a (T, B, …) tensor at `places`; faster than a boolean index."""
    flat = table.flatten(0, 1)
    return flat if index is None else flat.index_select(0, index)


def scatter(flat: Tensor, acting: Tensor, fill: float = 0.0) -> Tensor:
    """Put per-decision numbers (M,) back to their places (T, B)."""
    return torch.full(acting.shape, fill, dtype=flat.dtype, device=flat.device).masked_scatter(
        acting, flat
    )


def average(losses: Tensor, weights: Tensor | None) -> Tensor:
    """Mean over decisions (M,), weighted if there are weights."""
    return losses.mean() if weights is None else (weights * losses).sum() / weights.sum()


@dataclass(frozen=True, slots=True)
class Minibatch:
    """A part of a batch and the places of its decisions among the M of the whole."""

    batch: Batch
    index: Tensor  # (m,) long


def minibatches(
    batch: Batch, num_parts: int, has_memory: bool, generator: torch.Generator
) -> list[Minibatch]:
    """Split a batch at random: by decision, or by whole column if the policy remembers.

    There are always `num_parts` parts, some empty if need be: learners that step together take
    equally many steps, however many decisions each of them has.
    """
    if has_memory:
        return _column_parts(batch, num_parts, generator)
    order = torch.randperm(batch.num_decisions, generator=generator)
    flat = batch.decisions(order)  # copied once; the parts are views
    parts = order.tensor_split(num_parts)
    stops = list(accumulate(len(part) for part in parts))
    return [
        Minibatch(flat.span(stop - len(part), stop), part)
        for part, stop in zip(parts, stops, strict=True)
    ]


def _column_parts(batch: Batch, num_parts: int, generator: torch.Generator) -> list[Minibatch]:
    place = scatter(torch.arange(batch.num_decisions, device=batch.acting.device), batch.acting)
    order = torch.randperm(batch.acting.shape[1], generator=generator)
    parts = []
    for part in order.tensor_split(num_parts):
        chosen = batch.columns(part)
        parts.append(Minibatch(chosen, place[:, part][chosen.acting]))
    return parts


def select(minibatch: Minibatch, keep: Tensor) -> Minibatch:
    """Learn only from the decisions where `keep` (m,) is true; the others are still seen."""
    if bool(keep.all()):
        return minibatch
    acting = scatter(keep.to(torch.float32), minibatch.batch.acting).bool()
    return Minibatch(replace(minibatch.batch, acting=acting), minibatch.index[keep])
