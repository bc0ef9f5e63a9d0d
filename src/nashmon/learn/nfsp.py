"""Neural fictitious self-play: a best response trained by PPO, and its average by imitation."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from nashmon.learn.batch import Batch, Policy, evaluate
from nashmon.learn.bc import imitation_loss
from nashmon.learn.optim import Descent, OptimConfig
from nashmon.learn.ppo import PPO
from nashmon.learn.regulariser import Metrics


@dataclass(frozen=True)
class NFSPConfig:
    """Hyper-parameters of the average policy."""

    optim: OptimConfig = field(default_factory=OptimConfig)
    anticipatory: float = 0.1  # share of seats that play the best response
    capacity: int = 1_000_000  # decisions kept
    batch_size: int = 4096  # decisions per imitation step
    steps: int = 4  # imitation steps per update


class Reservoir:
    """A uniform sample of all decisions ever added (Vitter's algorithm R, many at a time)."""

    def __init__(self, capacity: int, generator: torch.Generator) -> None:
        if capacity < 1:
            raise ValueError(f"a reservoir needs room for a decision, not {capacity}")
        self.capacity = capacity
        self.generator = generator
        self.seen = 0
        self.rows: dict[str, Tensor] = {}

    def __len__(self) -> int:
        return min(self.seen, self.capacity)

    def add(self, rows: dict[str, Tensor]) -> None:
        """Offer n rows (n, …) of each array."""
        count = len(next(iter(rows.values())))
        if not self.rows:
            self.rows = {k: v.new_zeros((self.capacity, *v.shape[1:])) for k, v in rows.items()}
        order = self.seen + torch.arange(count)
        draw = torch.rand(count, generator=self.generator, dtype=torch.float64)
        slot = torch.where(order < self.capacity, order, (draw * (order + 1)).long())
        # Rows that drew the same slot replace one another: the last one stays.
        newest = torch.full((self.capacity,), -1)
        taken = slot < self.capacity
        newest.scatter_reduce_(0, slot[taken], torch.arange(count)[taken], "amax")
        place = (newest >= 0).nonzero().squeeze(-1)
        for name, value in rows.items():
            self.rows[name][place] = value[newest[place]]
        self.seen += count

    def sample(self, count: int) -> dict[str, Tensor]:
        """Draw rows with replacement."""
        index = torch.randint(len(self), (count,), generator=self.generator)
        return {name: value[index] for name, value in self.rows.items()}

    def state_dict(self) -> dict[str, Any]:
        """All rows kept, and the count of those seen."""
        rows = {name: value[: len(self)].clone() for name, value in self.rows.items()}
        return {"seen": self.seen, "rows": rows, "generator": self.generator.get_state()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from `state_dict`."""
        self.seen = state["seen"]
        self.rows = {}
        for name, value in state["rows"].items():
            room = value.new_zeros((self.capacity, *value.shape[1:]))
            room[: len(value)] = value
            self.rows[name] = room
        self.generator.set_state(state["generator"])


class NFSP:
    """Trains `response` against the mixture of itself and the `average` policy.

    Policies without memory only: the reservoir keeps single decisions.
    """

    def __init__(
        self, response: PPO, average: Policy, config: NFSPConfig, generator: torch.Generator
    ) -> None:
        assert isinstance(average, nn.Module)
        if average.has_memory:
            raise ValueError("NFSP's reservoir holds single decisions: no policies with memory")
        self.response = response
        self.average = average
        self.config = config
        self.reservoir = Reservoir(config.capacity, generator)
        self.descent = Descent(average.parameters(), config.optim)
        self.updates = 0

    def choose(self, num_columns: int) -> Tensor:
        """Which seats play the best response in the next games (bool)."""
        draw = torch.rand(num_columns, generator=self.reservoir.generator)
        return draw < self.config.anticipatory

    def update(self, batch: Batch, responding: Tensor) -> Metrics:
        """Learn from games where the `responding` columns (B,) played the best response."""
        mine = replace(batch, acting=batch.acting & responding.unsqueeze(0))
        if mine.num_decisions == 0:
            raise ValueError("no seat of the batch played the best response")
        flat = mine.decisions()
        rows = {f"obs/{name}": value[0] for name, value in flat.observations.items()}
        self.reservoir.add(rows | {"masks": flat.masks[0], "actions": flat.actions[0]})
        metrics = self.response.update(mine)
        losses = [self._imitate() for _ in range(self.config.steps)]
        self.updates += 1
        size = float(len(self.reservoir))
        return metrics | {"average_loss": sum(losses) / len(losses), "reservoir": size}

    def _imitate(self) -> float:
        rows = self.reservoir.sample(self.config.batch_size)
        batch = _decisions(rows)
        with self.descent.autocast():
            output = evaluate(self.average, batch)
        loss = imitation_loss(output.log_policy, rows["masks"], rows["actions"], 0.0).mean()
        self.descent.step(loss)
        return float(loss.detach())

    def state_dict(self) -> dict[str, Any]:
        """Everything but the average policy's weights."""
        assert isinstance(self.response.policy, nn.Module)
        return {
            "response": self.response.state_dict(),
            "response_policy": dict(self.response.policy.state_dict()),
            "reservoir": self.reservoir.state_dict(),
            "descent": self.descent.state_dict(),
            "updates": self.updates,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from `state_dict`."""
        assert isinstance(self.response.policy, nn.Module)
        self.response.load_state_dict(state["response"])
        self.response.policy.load_state_dict(state["response_policy"])
        self.reservoir.load_state_dict(state["reservoir"])
        self.descent.load_state_dict(state["descent"])
        self.updates = state["updates"]


def _decisions(rows: dict[str, Tensor]) -> Batch:
    """Reservoir rows as a (1, n) batch."""
    actions = rows["actions"].unsqueeze(0)
    zeros = torch.zeros(actions.shape, device=actions.device)
    return Batch(
        observations={k[4:]: v.unsqueeze(0) for k, v in rows.items() if k.startswith("obs/")},
        masks=rows["masks"].unsqueeze(0),
        actions=actions,
        log_probs=zeros,
        rewards=zeros,
        ends=zeros.bool(),
        acting=~zeros.bool(),
        resets=zeros.bool(),
        last_value=zeros[0],
    )
