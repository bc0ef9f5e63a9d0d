"""A policy: encoder → memory → heads, with one forward path for acting and learning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from nashmon.nets import distribution
from nashmon.nets.config import ActionSpec, PolicyConfig
from nashmon.nets.encoders import build_encoder
from nashmon.nets.encoding import Tables
from nashmon.nets.heads import build_head
from nashmon.nets.memory import MemoryState, build_memory, forget
from nashmon.nets.value import build_value
from nashmon.observe.spec import ArraySpec, Column, ObsSpec

Observations = Mapping[str, Tensor]


@dataclass(frozen=True, slots=True)
class PolicyOutput:
    """What a policy says about every step of a sequence; shapes (time, batch, …)."""

    log_policy: Tensor  # (T, B, A) normalised; illegal actions hold distribution.ILLEGAL
    value: Tensor  # (T, B) expected return of the seat that observes
    value_logits: Tensor | None  # (T, B, bins) of a categorical value
    features: Tensor  # (T, B, width) after memory, for further heads
    memory: MemoryState  # after the last step

    def log_prob(self, actions: Tensor) -> Tensor:
        """Log-probability of the actions (T, B); 0 where nothing was chosen."""
        return distribution.log_prob(self.log_policy, actions)

    def entropy(self) -> Tensor:
        """Entropy over the legal actions (T, B)."""
        return distribution.entropy(self.log_policy)


class Acted(NamedTuple):
    """Result of `Policy.act`; shapes (batch, …)."""

    actions: Tensor  # NO_ACTION where the mask is empty
    log_probs: Tensor  # under the distribution that was sampled
    values: Tensor
    memory: MemoryState


class Policy(nn.Module):
    """Maps observations and legal actions to action probabilities and a value."""

    def __init__(
        self,
        config: PolicyConfig,
        observation: ObsSpec,
        actions: ActionSpec,
        tables: Tables | None = None,
    ) -> None:
        super().__init__()
        self.config, self.observation, self.actions = config, observation, actions
        self.encoder = build_encoder(config, observation, tables)
        self.memory = build_memory(
            config.memory,
            config.width,
            config.memory_layers,
            config.memory_heads,
            config.memory_window,
        )
        self.norm = nn.LayerNorm(config.width)
        self.head = build_head(config, actions)
        self.value_head = build_value(config)

    def initial_memory(self, batch: int) -> MemoryState:
        """Memory at the start of `batch` episodes."""
        return self.memory.initial(batch)

    def reset_memory(self, memory: MemoryState, rows: Tensor) -> MemoryState:
        """Memory in which the given rows (batch,) bool start a new episode."""
        return forget(memory, self.memory.initial(len(rows)), rows)

    def evaluate(
        self,
        observations: Observations,
        masks: Tensor,
        memory: MemoryState | None = None,
        resets: Tensor | None = None,
    ) -> PolicyOutput:
        """Evaluate (T, B, …) observations and masks; `resets` (T, B) marks episode starts.

        Rows without a legal action get a value but are not remembered.  Without `memory` the
        sequences begin new episodes.
        """
        acting = masks.any(dim=-1)
        resets = torch.zeros_like(acting) if resets is None else resets
        encoding = self.encoder({name: array.flatten(0, 1) for name, array in observations.items()})
        summary = encoding.summary.unflatten(0, acting.shape)
        remembered, memory = self.memory.sequence(summary, memory, resets, acting)
        features = self.norm(remembered)
        flat = features.flatten(0, 1)
        log_policy = self.head(flat, encoding, masks.flatten(0, 1))
        value, value_logits = self.value_head(flat)
        return PolicyOutput(
            log_policy=log_policy.unflatten(0, acting.shape),
            value=value.unflatten(0, acting.shape),
            value_logits=None if value_logits is None else value_logits.unflatten(0, acting.shape),
            features=features,
            memory=memory,
        )

    @torch.no_grad()
    def act(
        self,
        observations: Observations,
        mask: Tensor,
        memory: MemoryState,
        generator: torch.Generator,
        temperature: float = 1.0,
        top_p: float = 1.0,
    ) -> Acted:
        """Choose actions for one decision per row: observations (B, …), mask (B, A)."""
        sequence = {name: array.unsqueeze(0) for name, array in observations.items()}
        output = self.evaluate(sequence, mask.unsqueeze(0), memory)
        shaped = distribution.shape_policy(output.log_policy.squeeze(0), temperature, top_p)
        actions, log_probs = distribution.sample(shaped, generator)
        return Acted(actions, log_probs, output.value.squeeze(0), output.memory)

    @property
    def has_memory(self) -> bool:
        """False: every decision stands alone."""
        return self.config.memory != "none"

    @property
    def value_support(self) -> Tensor | None:
        """Bin centres (bins,) of a categorical value."""
        return self.value_head.centres

    @property
    def num_parameters(self) -> int:
        """How many numbers are trained."""
        return sum(p.numel() for p in self.parameters() if p.requires_grad)


def flat_spec(num_features: int, name: str = "flat") -> ObsSpec:
    """The spec of an observation {"features": (…, num_features) float32} of a small game."""
    columns = tuple(Column(f"f{i}", "", -1.0, 1.0) for i in range(num_features))
    return ObsSpec(name, 1, "flat", (ArraySpec("features", "float32", columns),), ())


def flat_policy(num_features: int, num_actions: int, config: PolicyConfig) -> Policy:
    """A policy on {"features": (…, num_features)} with a plain set of actions."""
    return Policy(config, flat_spec(num_features), ActionSpec("flat", num_actions))
