"""Observation spaces by name."""

from __future__ import annotations

from typing import Any, Protocol

from nashmon.core.errors import UnsupportedError
from nashmon.core.formats import Format
from nashmon.core.state import UniversalState
from nashmon.observe.entity import EntitySpace
from nashmon.observe.metamon import MetamonSpace
from nashmon.observe.metamon_spec import LAYOUTS
from nashmon.observe.spec import Arrays, ObsSpec

NAMES = ("entity", *LAYOUTS)


class Encoder(Protocol):
    """Writes states of a space into its arrays."""

    def write(self, state: UniversalState, out: Arrays, index: Any) -> None:
        """Write one state at `out[name][index]`."""
        ...

    def reset(self) -> None:
        """Forget the battle."""
        ...


class ObservationSpace(Protocol):
    """How states of one format become arrays."""

    name: str
    format: Format
    spec: ObsSpec
    carries_history: bool  # needs one encoder per battle and seat, reset between battles

    def allocate(self, batch: int) -> Arrays:
        """Zeroed arrays for `batch` seats."""
        ...

    def encoder(self) -> Encoder:
        """A new writer."""
        ...


def get_observation_space(name: str, format: Format, strict: bool = True) -> ObservationSpace:
    """The space of that name for a format; unknown names and pairs it cannot serve raise.

    Formats with made-up effects need `strict=False`: what has no word of its own is "unknown".
    """
    if name == "entity":
        return EntitySpace(format, strict)
    if name in LAYOUTS:
        return MetamonSpace(format, name)
    raise UnsupportedError(f"unknown observation {name!r}; there are {', '.join(NAMES)}")
