"""Saving and restoring the state of random number generators."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from nashmon.core.errors import NashmonError

Source = random.Random | np.random.Generator | torch.Generator


class RngError(NashmonError):
    """Stored generator states that do not fit the generators at hand."""


def rng_state(sources: Mapping[str, Source]) -> dict[str, Any]:
    """States of the global generators (python, numpy, torch, CUDA) and of the named ones."""
    return {
        "python": random.getstate(),
        "numpy": np.random.get_state(legacy=False),
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        "sources": {name: _get(source) for name, source in sources.items()},
    }


def set_rng_state(state: Mapping[str, Any], sources: Mapping[str, Source]) -> None:
    """Put back what `rng_state` returned; the named generators must be the same."""
    stored = state["sources"]
    if set(stored) != set(sources):
        raise RngError(
            f"stored generators are {', '.join(sorted(stored)) or 'none'}, "
            f"this run has {', '.join(sorted(sources)) or 'none'}"
        )
    random.setstate(state["python"])
    np.random.set_state(state["numpy"])
    torch.set_rng_state(state["torch"])
    if torch.cuda.is_available() and state["cuda"]:
        torch.cuda.set_rng_state_all(state["cuda"])
    for name, source in sources.items():
        _set(name, source, stored[name])


def _get(source: Source) -> Any:
    if isinstance(source, random.Random):
        return source.getstate()
    if isinstance(source, torch.Generator):
        return source.get_state()
    return dict(source.bit_generator.state)


def _set(name: str, source: Source, state: Any) -> None:
    if isinstance(source, random.Random) and isinstance(state, tuple):
        source.setstate(state)
    elif isinstance(source, torch.Generator) and isinstance(state, torch.Tensor):
        source.set_state(state)
    elif isinstance(source, np.random.Generator) and isinstance(state, dict):
        source.bit_generator.state = state
    else:
        raise RngError(f"stored state of generator {name!r} is not of a {type(source).__name__}")
