"""Observations: arrays made from a state, each described by an `ObsSpec`."""

from nashmon.observe.registry import Encoder, ObservationSpace, get_observation_space
from nashmon.observe.spec import ArraySpec, Column, ObsSpec, SpecMismatchError

__all__ = [
    "ArraySpec",
    "Column",
    "Encoder",
    "ObsSpec",
    "ObservationSpace",
    "SpecMismatchError",
    "get_observation_space",
]
