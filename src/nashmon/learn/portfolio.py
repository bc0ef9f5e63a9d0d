"""Several references at once: the policy is pulled to the closest of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor, nn

from nashmon.learn import masked
from nashmon.learn.batch import Batch, Policy, average, evaluate
from nashmon.learn.optim import Reduce, frozen
from nashmon.learn.regulariser import Metrics
from nashmon.learn.schedules import Power


@dataclass(frozen=True)
class PortfolioConfig:
    """How many references, how they are chosen and how strongly they pull."""

    weight: Power = field(default_factory=lambda: Power(0.01))
    max_size: int = 5
    add_interval: int = 5000  # updates between additions of the current policy; 0: by hand only
    strategy: Literal["diverse", "best", "recent"] = "diverse"
    closest: Literal["state", "batch"] = "state"  # minimum per decision, or of the batch means

    def __post_init__(self) -> None:
        if self.max_size < 1:
            raise ValueError(f"a portfolio needs room for a reference, not {self.max_size}")


@dataclass
class Reference:
    """A frozen policy of the past."""

    policy: Any
    added: int  # update at which it was added
    score: float | None  # strength, higher is better; used by "best"
    selected: float = 0.0  # decisions for which it was the closest


class Portfolio:
    """Adds weight · min_i KL(π ‖ ρ_i) to the loss."""

    name = "portfolio"

    def __init__(
        self,
        config: PortfolioConfig,
        policy: Policy,
        score: Callable[[Policy], float] | None = None,
        reduce: Reduce | None = None,
    ) -> None:
        if config.strategy == "best" and score is None:
            raise ValueError("the 'best' portfolio strategy needs a score function")
        self.config, self.reduce = config, reduce
        self.score = score
        self.updates = 0
        self.references = [self._reference(policy)]

    def _reference(self, policy: Policy) -> Reference:
        assert isinstance(policy, nn.Module)
        score = None if self.score is None else self.score(policy)
        return Reference(frozen(policy), self.updates, score)

    @property
    def weight(self) -> float:
        """Weight in the next loss."""
        return self.config.weight(self.updates)

    @torch.no_grad()
    def prepare(self, batch: Batch) -> Tensor:
        """Log-policies of all references at each decision (M, references, A)."""
        tables = [evaluate(r.policy, batch).log_policy for r in self.references]
        return torch.stack(tables, dim=1)

    def loss(
        self, log_policy: Tensor, masks: Tensor, reference: Tensor, weights: Tensor | None = None
    ) -> tuple[Tensor, Metrics]:
        """weight · KL to the closest reference, per decision or for the batch as a whole."""
        distances = masked.kl(log_policy.unsqueeze(1), reference, masks.unsqueeze(1))  # (m, refs)
        if self.config.closest == "state":
            nearest = distances.detach().argmin(1)
        else:
            means = torch.stack([average(d, weights) for d in distances.detach().unbind(1)])
            self._agree(means)
            nearest = means.argmin().expand(len(distances))
        distance = average(distances.gather(1, nearest.unsqueeze(1)).squeeze(1), weights)
        counts = torch.bincount(nearest, minlength=len(self.references)).double()
        self._agree(counts)
        for ref, count in zip(self.references, counts.tolist(), strict=True):
            ref.selected += count
        metrics = {"portfolio_kl": float(distance.detach())}
        for i, mean in enumerate(distances.detach().mean(0).tolist()):
            metrics[f"portfolio_kl_ref_{i}"] = mean
        return self.weight * distance, metrics

    def _agree(self, numbers: Tensor) -> None:
        if self.reduce is not None:
            self.reduce(numbers)

    def learning_rate(self, base: float) -> float:
        """Unchanged."""
        return base

    def advance(self, policy: Policy, batch: Batch) -> Metrics:
        """Count the update; add the current policy when it is time."""
        used = self.weight
        self.updates += 1
        if self.config.add_interval and self.updates % self.config.add_interval == 0:
            self.add(policy, batch)
        total = max(1.0, sum(r.selected for r in self.references))
        metrics = {"portfolio_weight": used, "portfolio_size": float(len(self.references))}
        for i, ref in enumerate(self.references):
            metrics[f"portfolio_selection_ref_{i}"] = ref.selected / total
        return metrics

    def add(self, policy: Policy, batch: Batch) -> None:
        """Add a copy of the policy; drop one reference if there are too many."""
        self.references.append(self._reference(policy))
        if len(self.references) > self.config.max_size:
            del self.references[self._surplus(batch)]

    def _surplus(self, batch: Batch) -> int:
        """Index of the reference to drop."""
        if self.config.strategy == "recent":
            return 0
        if self.config.strategy == "best":
            scores = [r.score if r.score is not None else float("-inf") for r in self.references]
            return min(range(len(scores)), key=lambda i: (scores[i], i))
        distances = self.distances(batch)
        self._agree(distances)
        distances.fill_diagonal_(float("inf"))
        # One of the two most alike goes: the older, since the newer says the same of today's play.
        return int(distances.min(1).values.argmin())

    @torch.no_grad()
    def distances(self, batch: Batch) -> Tensor:
        """Symmetric mean KL between the references on a batch (references, references)."""
        tables = self.prepare(batch)
        masks = batch.masks[batch.acting].unsqueeze(1)
        rows = [
            masked.kl(tables[:, i : i + 1], tables, masks).mean(0) for i in range(tables.shape[1])
        ]
        one_way = torch.stack(rows)
        return one_way + one_way.T

    def state_dict(self) -> dict[str, Any]:
        """Counters and all references."""
        references = [
            {
                "weights": dict(r.policy.state_dict()),
                "added": r.added,
                "score": r.score,
                "selected": r.selected,
            }
            for r in self.references
        ]
        return {"updates": self.updates, "references": references}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from `state_dict`."""
        template = self.references[0].policy
        self.references = []
        for saved in state["references"]:
            twin = frozen(template)
            twin.load_state_dict(saved["weights"])
            reference = Reference(twin, saved["added"], saved["score"], saved["selected"])
            self.references.append(reference)
        self.updates = state["updates"]
