"""Preallocated arrays of roll-outs, (steps, columns, …), written in place and used again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nashmon.learn.batch import Batch
from nashmon.nets.distribution import NO_ACTION
from nashmon.observe.spec import ObsSpec


@dataclass(frozen=True, slots=True)
class Store:
    """One roll-out; columns 2n and 2n+1 are the seats of battle n."""

    observations: dict[str, Tensor]
    masks: Tensor
    actions: Tensor
    log_probs: Tensor
    rewards: Tensor
    values: Tensor
    log_policy: Tensor
    ends: Tensor
    acting: Tensor
    resets: Tensor
    last_value: Tensor  # (columns,)
    memory: dict[str, Tensor]  # (columns, …), before the first step

    @classmethod
    def allocate(
        cls,
        steps: int,
        columns: int,
        observation: ObsSpec,
        num_actions: int,
        memory: Mapping[str, Tensor],
    ) -> Store:
        """Room for a roll-out; `memory` shows the shape of what the policy remembers."""
        shape = (steps, columns)
        observations = {
            array.name: torch.zeros((*shape, *array.shape), dtype=getattr(torch, array.dtype))
            for array in observation.arrays
        }
        log_probs, rewards, values = (torch.zeros(shape) for _ in range(3))
        ends, acting, resets = (torch.zeros(shape, dtype=torch.bool) for _ in range(3))
        return cls(
            observations=observations,
            masks=torch.zeros((*shape, num_actions), dtype=torch.bool),
            actions=torch.full(shape, NO_ACTION, dtype=torch.long),
            log_probs=log_probs,
            rewards=rewards,
            values=values,
            log_policy=torch.zeros((*shape, num_actions)),
            ends=ends,
            acting=acting,
            resets=resets,
            last_value=torch.zeros(columns),
            memory={k: torch.zeros((columns, *v.shape[1:])) for k, v in memory.items()},
        )

    def share(self) -> None:
        """Move everything to shared memory, for other processes to write."""
        self._each(lambda tensor, _: tensor.share_memory_())  # type: ignore[no-untyped-call]

    def part(self, first: int, last: int) -> Store:
        """A view of some columns."""
        return self._each(lambda x, by_time: x[:, first:last] if by_time else x[first:last])

    def _each(self, change: Callable[[Tensor, bool], Tensor]) -> Store:
        changed: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            by_time = field.name not in ("last_value", "memory")
            if isinstance(value, dict):
                changed[field.name] = {k: change(v, by_time) for k, v in value.items()}
            else:
                changed[field.name] = change(value, by_time)
        return Store(**changed)

    def write(
        self,
        t: int,
        observations: Mapping[str, NDArray[Any]],
        masks: NDArray[np.bool_],
        learner: NDArray[np.bool_],
    ) -> None:
        """Copy what the engine shows at step t; decisions of others leave no mask."""
        for name, array in observations.items():
            self.observations[name][t] = torch.from_numpy(array.reshape(-1, *array.shape[2:]))
        acting = torch.from_numpy(learner.reshape(-1))
        self.acting[t] = acting
        self.masks[t] = torch.from_numpy(masks.reshape(len(acting), -1)) & acting.unsqueeze(1)
        self.actions[t] = NO_ACTION
        self.log_probs[t] = 0.0
        self.values[t] = 0.0

    def observations_at(self, t: int, rows: Tensor) -> dict[str, Tensor]:
        """The observations of some columns at step t."""
        return {name: array[t].index_select(0, rows) for name, array in self.observations.items()}

    def batch(self) -> Batch:
        """The arrays as a batch, without copying."""
        return Batch(
            observations=self.observations,
            masks=self.masks,
            actions=self.actions,
            log_probs=self.log_probs,
            rewards=self.rewards,
            ends=self.ends,
            acting=self.acting,
            resets=self.resets,
            last_value=self.last_value,
            memory=self.memory or None,
            paired=True,
            values=self.values,
            log_policy=self.log_policy,
        )
