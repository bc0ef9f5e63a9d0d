"""The parts and sizes of a policy network, and what its action indices mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from itertools import combinations
from typing import Any, Literal, get_args, get_type_hints

from nashmon.core.errors import NashmonError
from nashmon.nets.memory import MemoryKind

EncoderKind = Literal["flat", "set", "attention", "tokens"]
HeadKind = Literal["flat", "pointer"]
ValueKind = Literal["scalar", "categorical"]
ActionKind = Literal["flat", "singles", "doubles"]


class PolicyConfigError(NashmonError):
    """A policy configuration that cannot be built."""


@dataclass(frozen=True, slots=True)
class PolicyConfig:
    """Which encoder, memory and heads a policy has, and how large they are."""

    encoder: EncoderKind = "set"
    head: HeadKind = "pointer"
    memory: MemoryKind = "lstm"
    value: ValueKind = "scalar"
    width: int = 128  # of the summary of a decision, the memory and the heads
    entity_width: int = 48  # of one Pokémon, move or token
    encoder_layers: int = 1  # hidden layers or attention blocks
    encoder_heads: int = 4
    matchup: bool = False  # entity encoders see estimated damage and who is faster
    scratch_tokens: int = 4  # tokens the text encoder reads its summary from
    memory_layers: int = 1
    memory_heads: int = 4
    memory_window: int = 64  # decisions the transformer memory looks back
    value_bins: int = 51
    value_low: float = -1.0  # range of returns a categorical value can express
    value_high: float = 1.0

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        for name in ("encoder", "head", "memory", "value"):
            if getattr(self, name) not in get_args(hints[name]):
                choices = ", ".join(get_args(hints[name]))
                raise PolicyConfigError(f"{name} is {getattr(self, name)!r}; choose from {choices}")
        for name in (f.name for f in fields(self) if f.type == "int"):
            if getattr(self, name) < 1:
                raise PolicyConfigError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.value_low >= self.value_high:
            raise PolicyConfigError(f"value range [{self.value_low}, {self.value_high}] is empty")
        if self.width % (2 * self.memory_heads) or self.entity_width % self.encoder_heads:
            raise PolicyConfigError(
                f"width {self.width} must be a multiple of 2 × memory_heads {self.memory_heads}, "
                f"entity_width {self.entity_width} of encoder_heads {self.encoder_heads}"
            )

    @property
    def effect_channels(self) -> int:
        """Numbers that say what a move does to a foe: effectiveness, and damage if estimated."""
        return 4 if self.matchup else 2

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-ready values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PolicyConfig:
        """Build from plain values; an unknown key is an error."""
        names = {f.name for f in fields(cls)}
        unknown = sorted(set(data) - names)
        if unknown:
            raise PolicyConfigError(
                f"unknown policy option {', '.join(unknown)}; known: {', '.join(sorted(names))}"
            )
        return cls(**data)


# 0.3, 1.3, 19 and 194 million parameters in gen1ou (docs/networks.md).  The first two are what two
# CPU cores train; attention among Pokémon and over the battle is for GPUs.
SIZES: dict[str, PolicyConfig] = {
    "tiny": PolicyConfig(),
    "small": PolicyConfig(width=256, entity_width=96, encoder_layers=2),
    "medium": PolicyConfig(
        encoder="attention",
        memory="transformer",
        value="categorical",
        width=512,
        entity_width=256,
        encoder_layers=4,
        encoder_heads=8,
        memory_layers=4,
        memory_heads=8,
        memory_window=128,
    ),
    "large": PolicyConfig(
        encoder="attention",
        memory="transformer",
        value="categorical",
        width=1280,
        entity_width=768,
        encoder_layers=8,
        encoder_heads=12,
        memory_layers=6,
        memory_heads=20,
        memory_window=200,
    ),
}


def policy_config(size: str, **changes: Any) -> PolicyConfig:
    """A preset by name with some options changed."""
    if size not in SIZES:
        raise PolicyConfigError(f"unknown size {size!r}; choose from {', '.join(SIZES)}")
    return PolicyConfig.from_dict({**SIZES[size].to_dict(), **changes})


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """What the indices of an action set mean to a head.

    flat: nothing.  singles: 4 moves, 5 switches and, with 13 or more actions, the moves with the
    gimmick.  doubles: 45 × 45.  `preview` is (team size, picked, leads): its actions are the sets
    of leads in lexicographic order, then the sets of the others picked from the rest.
    """

    kind: ActionKind
    num_actions: int
    label: str = "flat"  # what a checkpoint must agree with to be used elsewhere
    preview: tuple[int, int, int] | None = None

    def preview_sets(self, size: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """The (leads, others) of each preview action of a team of `size` Pokémon."""
        if self.preview is None or not 1 <= size <= self.preview[0]:
            return []
        picked = min(size, self.preview[1])
        leads = min(picked, self.preview[2])
        return [
            (lead, back)
            for lead in combinations(range(size), leads)
            for back in combinations([i for i in range(size) if i not in lead], picked - leads)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-ready values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ActionSpec:
        """Rebuild from `to_dict` output or its JSON."""
        preview = data.get("preview")
        return cls(**{**data, "preview": None if preview is None else tuple(preview)})
