"""Policies, observations and masks for the tests of networks."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nashmon.nets.build import build_policy
from nashmon.nets.config import PolicyConfig
from nashmon.nets.policy import Policy, flat_policy
from nashmon.observe.spec import ObsSpec


def sharpen(module: nn.Module, seed: int = 0) -> None:
    """Random weights everywhere: a new policy is nearly uniform, which hides mistakes."""
    generator = torch.Generator().manual_seed(seed)
    for parameter in module.parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        scale = 1.5 / parameter.shape[-1] ** 0.5 if parameter.dim() > 1 else 0.3
        parameter.data.add_(noise * scale)


def small_flat(memory: str = "lstm", **changes: object) -> Policy:
    torch.manual_seed(0)
    options: dict[str, object] = {
        "encoder": "flat",
        "head": "flat",
        "memory": memory,
        "width": 32,
        "memory_window": 6,
        "memory_layers": 2,
    }
    policy = flat_policy(10, 5, PolicyConfig.from_dict({**options, **changes}))
    sharpen(policy)
    return policy


def small_entity(format_id: str, **changes: object) -> Policy:
    torch.manual_seed(0)
    options: dict[str, object] = {"width": 32, "entity_width": 16, "memory_window": 6}
    policy = build_policy(format_id, PolicyConfig.from_dict({**options, **changes}))
    sharpen(policy)
    return policy


def random_observations(spec: ObsSpec, shape: tuple[int, ...], seed: int = 0) -> dict[str, Tensor]:
    """Values within the bounds of the spec; flags are 0 or 1 and nobody is in team preview."""
    generator = torch.Generator().manual_seed(seed)
    found = {}
    for array in spec.arrays:
        low = torch.tensor([column.low for column in array.columns])
        high = torch.tensor([column.high for column in array.columns])
        unit = torch.rand((*shape, *array.shape), generator=generator)
        values = low + unit * (high - low)
        found[array.name] = values.to(getattr(torch, array.dtype))
        if array.dtype.startswith("int"):
            found[array.name] = values.round().to(getattr(torch, array.dtype))
    if "pokemon_numbers" in found:
        settle(spec, found)
    return found


def settle(spec: ObsSpec, obs: dict[str, Tensor], preview: bool = False) -> None:
    """Six Pokémon on each side, the slots active (or nobody at a team preview)."""
    numbers, field = spec["pokemon_numbers"], spec["field"]
    slots = len(spec["active_numbers"].rows) // 2
    active = torch.zeros(12)
    if not preview:
        active[:slots] = active[6 : 6 + slots] = 1
    obs["pokemon_numbers"][..., numbers.column("present")] = 1
    obs["pokemon_numbers"][..., numbers.column("active")] = active
    obs["active_numbers"][..., spec["active_numbers"].column("occupied")] = float(not preview)
    if preview:
        obs["active_numbers"].zero_()
    obs["field"][..., field.column("phase_preview")] = float(preview)


def random_masks(shape: tuple[int, ...], legal: float = 0.5, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(shape, generator=generator) < legal
