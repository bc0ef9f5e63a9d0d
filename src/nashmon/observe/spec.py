"""What an observation is made of: every array, every column, their bounds, and a hash of it all.

A checkpoint stores the spec it was trained on; `ObsSpec.check` refuses any other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nashmon.core.errors import NashmonError

Arrays = dict[str, NDArray[Any]]


class SpecMismatchError(NashmonError):
    """Two observation specs that should be the same are not."""


@dataclass(frozen=True, slots=True)
class Column:
    """One position of an array's last axis; values lie in [low, high]."""

    name: str
    doc: str  # the exact formula from the fields of the state
    low: float
    high: float
    vocab: str | None = None  # for ids: the vocabulary they index


@dataclass(frozen=True, slots=True)
class ArraySpec:
    """One array of an observation; `columns` name the last axis, `rows` the axis before it."""

    name: str
    dtype: str
    columns: tuple[Column, ...]
    rows: tuple[str, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape for one seat, without the batch axis."""
        return (len(self.rows), len(self.columns)) if self.rows else (len(self.columns),)

    def column(self, name: str) -> int:
        """Position of a column by name."""
        for index, column in enumerate(self.columns):
            if column.name == name:
                return index
        raise KeyError(f"array {self.name!r} has no column {name!r}")


@dataclass(frozen=True, slots=True)
class VocabSpec:
    """Size and hash of a vocabulary that id columns index."""

    name: str
    size: int
    hash: str


@dataclass(frozen=True)
class ObsSpec:
    """The complete description of an observation space."""

    name: str
    version: int
    scope: str  # what it is a function of, for example "gen1 singles"
    arrays: tuple[ArraySpec, ...]
    vocabularies: tuple[VocabSpec, ...]

    def __getitem__(self, name: str) -> ArraySpec:
        for array in self.arrays:
            if array.name == name:
                return array
        raise KeyError(f"observation {self.name!r} has no array {name!r}")

    def vocabulary(self, name: str) -> VocabSpec:
        """Size and hash of one vocabulary by name."""
        for vocab in self.vocabularies:
            if vocab.name == name:
                return vocab
        raise KeyError(f"observation {self.name!r} has no vocabulary {name!r}")

    @cached_property
    def hash(self) -> str:
        """Hash of everything that gives the numbers their meaning."""
        return sha256(self.to_json().encode()).hexdigest()[:16]

    def allocate(self, batch: int) -> Arrays:
        """Zeroed arrays for `batch` seats."""
        return {a.name: np.zeros((batch, *a.shape), dtype=a.dtype) for a in self.arrays}

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-ready values."""
        return asdict(self)

    def to_json(self) -> str:
        """Canonical JSON; equal specs give equal text."""
        return json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ObsSpec:
        """Rebuild a spec from `to_dict` output."""
        return cls(
            name=data["name"],
            version=data["version"],
            scope=data["scope"],
            arrays=tuple(_array(array) for array in data["arrays"]),
            vocabularies=tuple(VocabSpec(**vocab) for vocab in data["vocabularies"]),
        )

    @classmethod
    def from_json(cls, text: str) -> ObsSpec:
        """Rebuild a spec from `to_json` output."""
        return cls.from_dict(json.loads(text))

    def check(self, other: ObsSpec, here: str = "this", there: str = "other") -> None:
        """Raise unless `other` means the same numbers; the message names both sides."""
        if self.hash == other.hash:
            return
        title = f"observation of {here} is {self.label}, of {there} is {other.label}"
        raise SpecMismatchError("; ".join([title, *_differences(self, other)[:3]]))

    @property
    def label(self) -> str:
        """Short name for messages."""
        return f"{self.name} v{self.version} ({self.scope}, {self.hash})"


def _array(data: Mapping[str, Any]) -> ArraySpec:
    columns = tuple(Column(**column) for column in data["columns"])
    return ArraySpec(data["name"], data["dtype"], columns, tuple(data["rows"]))


def _differences(mine: ObsSpec, other: ObsSpec) -> list[str]:
    found = []
    theirs = {array.name: array for array in other.arrays}
    for array in mine.arrays:
        twin = theirs.pop(array.name, None)
        if twin is None:
            found.append(f"array {array.name} is missing on the other side")
        elif array != twin:
            found.append(f"array {array.name}: {_array_difference(array, twin)}")
    found += [f"array {name} exists only on the other side" for name in theirs]
    sizes = {vocab.name: vocab for vocab in other.vocabularies}
    for vocab in mine.vocabularies:
        if sizes.get(vocab.name) != vocab:
            found.append(f"vocabulary {vocab.name}: {vocab} against {sizes.get(vocab.name)}")
    return found


def _array_difference(mine: ArraySpec, other: ArraySpec) -> str:
    if mine.shape != other.shape or mine.dtype != other.dtype:
        return f"{mine.dtype}{mine.shape} against {other.dtype}{other.shape}"
    for left, right in zip(mine.columns, other.columns, strict=True):
        if left != right:
            return f"column {left} against {right}"
    return f"rows {mine.rows} against {other.rows}"
