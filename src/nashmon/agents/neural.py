"""The agent that plays what a policy network says."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray

from nashmon.core.actions import action_space
from nashmon.core.agent import Decisions
from nashmon.core.errors import UnsupportedError
from nashmon.core.formats import Format, get_format
from nashmon.nets import distribution
from nashmon.nets.memory import MemoryState
from nashmon.nets.policy import Policy
from nashmon.observe.registry import Encoder, ObservationSpace, get_observation_space
from nashmon.observe.spec import Arrays

_ACTION_NAMES = {"singles": ("default", "minimal"), "doubles": ("default",)}


@dataclass(slots=True)
class NeuralMemory:
    """What the policy remembers of each slot, and what it said last."""

    state: MemoryState  # batch = slots
    entropy: NDArray[np.float32]  # (B,) of the last call, over the distribution that was sampled
    log_probs: NDArray[np.float32]  # (B,) of the actions of the last call
    space: ObservationSpace | None = None  # set when the battles show another observation
    encoders: dict[int, Encoder] = field(default_factory=dict)  # slot → its writer, for `space`
    checked: bool = False


class NeuralAgent:
    """Samples from a policy, one forward pass per call.

    The observation may be another than the battles offer; it is then made from the states.
    """

    def __init__(
        self, policy: Policy, name: str, temperature: float = 1.0, greedy: bool = False
    ) -> None:
        if temperature < 0.0:
            raise ValueError(f"temperature must be 0 or more, not {temperature}")
        self.policy = policy.eval()
        self.name = name
        self.temperature = 0.0 if greedy else temperature
        self._generator = torch.Generator()

    def check_format(self, format_id: str) -> None:
        """Raise unless the policy's observation and actions are those of the format."""
        rules = get_format(format_id)
        _check_actions(self.policy, rules, self.name)
        here = get_observation_space(self.policy.observation.name, rules).spec
        self.policy.observation.check(here, f"agent {self.name}", rules.id)

    def start(self, num_slots: int) -> NeuralMemory:
        """Empty memory for that many battles."""
        nothing = np.zeros(0, np.float32)
        return NeuralMemory(self.policy.initial_memory(num_slots), nothing, nothing)

    @torch.inference_mode()
    def act(
        self, decisions: Decisions, memory: NeuralMemory, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """One action per decision, drawn from the policy at this agent's temperature."""
        arrays = self._observations(decisions, memory)
        observations = {k: torch.as_tensor(v).unsqueeze(0) for k, v in arrays.items()}
        masks = torch.as_tensor(decisions.masks[:, : self.policy.actions.num_actions])
        slots = torch.as_tensor(decisions.slots)
        before = {name: tensor[slots] for name, tensor in memory.state.items()}
        first = torch.as_tensor(decisions.first).unsqueeze(0)
        output = self.policy.evaluate(observations, masks.unsqueeze(0), before, first)
        for name, tensor in output.memory.items():
            memory.state[name][slots] = tensor
        shaped = distribution.shape_policy(output.log_policy.squeeze(0), self.temperature)
        self._generator.manual_seed(int(rng.integers(1 << 63)))
        actions, log_probs = distribution.sample(shaped, self._generator)
        memory.entropy = distribution.entropy(shaped).numpy()
        memory.log_probs = log_probs.numpy()
        return actions.numpy()

    def _observations(self, decisions: Decisions, memory: NeuralMemory) -> Arrays:
        if not memory.checked:
            memory.space = self._find_space(decisions)
            memory.checked = True
        if memory.space is None:
            return dict(decisions.observations)
        arrays = memory.space.allocate(len(decisions.slots))
        for row, (slot, state) in enumerate(
            zip(decisions.slots.tolist(), decisions.states(), strict=True)
        ):
            encoder = memory.encoders.get(slot)
            if encoder is None:
                encoder = memory.encoders[slot] = memory.space.encoder()
            elif decisions.first[row]:
                encoder.reset()
            encoder.write(state, arrays, row)
        return arrays

    def _find_space(self, decisions: Decisions) -> ObservationSpace | None:
        """The space to make observations with; None when the battles already show the policy's."""
        format_id = decisions.states()[0].format
        self.check_format(format_id)
        wanted = {a.name: (a.shape, a.dtype) for a in self.policy.observation.arrays}
        given = {k: (v.shape[1:], v.dtype.name) for k, v in decisions.observations.items()}
        if wanted == given:
            return None
        return get_observation_space(self.policy.observation.name, get_format(format_id))


def _check_actions(policy: Policy, rules: Format, name: str) -> None:
    offered = [action_space(rules, a).spec for a in _ACTION_NAMES.get(rules.game_type, ())]
    if policy.actions.label not in offered:
        raise UnsupportedError(
            f"agent {name} has actions {policy.actions.label}; "
            f"{rules.id} has {' or '.join(offered) or 'none'}"
        )
