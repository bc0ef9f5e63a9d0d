"""Looking into checkpoints: what they hold, how two differ, and copies with the weights only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from nashmon.nets.checkpoint import CheckpointError, load, read_index, save


@dataclass(frozen=True, slots=True)
class PartSummary:
    """Size of one part of a checkpoint."""

    name: str
    tensors: int
    numbers: int
    megabytes: float
    finite: bool  # no NaN or infinity among its tensors


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where two checkpoints differ."""

    place: str
    left: str
    right: str


def tensors_of(value: Any, place: str) -> Iterator[tuple[str, Tensor]]:
    """All tensors of a nested value with their places."""
    if isinstance(value, Tensor):
        yield place, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from tensors_of(item, f"{place}.{key}")
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from tensors_of(item, f"{place}.{index}")


def summarise(path: Path) -> tuple[dict[str, Any], list[PartSummary]]:
    """Meta and the size of each part; reads and verifies the whole checkpoint."""
    index = read_index(path)
    parts = []
    for name in index["parts"]:
        tensors = [t for _, t in tensors_of(load(path, parts=[name]).parts[name], name)]
        size = (path / f"{name}.safetensors").stat().st_size / 1e6
        finite = all(bool(torch.isfinite(t).all()) for t in tensors if t.is_floating_point())
        numbers = sum(t.numel() for t in tensors)
        parts.append(PartSummary(name, len(tensors), numbers, size, finite))
    return index["meta"], parts


def flat_values(value: Any, place: str = "") -> dict[str, str]:
    """Plain nested values as {place: text}."""
    if isinstance(value, Mapping) and value:
        items: Any = value.items()
    elif isinstance(value, list) and value:
        items = enumerate(value)
    else:
        return {place: str(value)}
    found: dict[str, str] = {}
    for key, item in items:
        found.update(flat_values(item, f"{place}.{key}" if place else str(key)))
    return found


def differences(left: Path, right: Path) -> list[Difference]:
    """Every place where meta or tensors of two checkpoints differ."""
    one, two = load(left), load(right)
    found = _compared(flat_values(one.meta), flat_values(two.meta))
    mine = dict(tensors_of(one.parts, "parts"))
    theirs = dict(tensors_of(two.parts, "parts"))
    for place in sorted(mine.keys() | theirs.keys()):
        found += _tensor_difference(place, mine.get(place), theirs.get(place))
    return found


def _compared(left: dict[str, str], right: dict[str, str]) -> list[Difference]:
    return [
        Difference(place, left.get(place, "–"), right.get(place, "–"))
        for place in sorted(left.keys() | right.keys())
        if left.get(place) != right.get(place)
    ]


def _tensor_difference(place: str, left: Tensor | None, right: Tensor | None) -> list[Difference]:
    if left is None or right is None or left.shape != right.shape or left.dtype != right.dtype:
        return [Difference(place, _shape(left), _shape(right))]
    if bool(((left == right) | (left.isnan() & right.isnan())).all()):
        return []
    gap = (left.double() - right.double()).abs()
    text = f"norm {left.double().norm():.6g}", f"norm {right.double().norm():.6g}"
    return [Difference(place, text[0], f"{text[1]}, largest change {gap.max():.3g}")]


def _shape(tensor: Tensor | None) -> str:
    return "–" if tensor is None else f"{str(tensor.dtype)[6:]}{tuple(tensor.shape)}"


def export(source: Path, target: Path, part: str = "policy") -> None:
    """A new checkpoint that holds one part of another, as its policy, and what describes it."""
    if target.exists():
        raise CheckpointError(f"{target} exists already; export to a new directory")
    checkpoint = load(source, parts=[part])
    save(target, {"policy": checkpoint.parts[part]}, {**checkpoint.meta, "exported_part": part})
