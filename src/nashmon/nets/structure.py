"""Nested Python values ↔ JSON plus named arrays, without pickle.

Dicts (any scalar keys), lists, tuples, None, bool, int, float, str, bytes, torch tensors and numpy
arrays come back as the same types with the same values.  Anything else is an error that names its
place.
"""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nashmon.core.errors import NashmonError

Arrays = dict[str, Tensor]
_TAG = "$"  # an encoded dict has one key that starts with it


class StructureError(NashmonError):
    """A value that cannot be stored, or stored data that cannot be read."""


def flatten(value: Any, place: str = "") -> tuple[Any, Arrays]:
    """JSON-ready structure of a value and its arrays by place."""
    arrays: Arrays = {}
    return _encode(value, place or "value", arrays), arrays


def _encode(value: Any, place: str, arrays: Arrays) -> Any:
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Tensor | np.ndarray):
        arrays[place] = _storable(value, place)
        return {"$tensor" if isinstance(value, Tensor) else "$array": place}
    if isinstance(value, np.generic):
        arrays[place] = _storable(np.asarray(value), place)
        return {"$scalar": place}
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": repr(value)}
    if isinstance(value, bytes):
        return {"$bytes": base64.b64encode(value).decode("ascii")}
    if isinstance(value, list | tuple):
        items = [_encode(item, f"{place}.{k}", arrays) for k, item in enumerate(value)]
        return items if isinstance(value, list) else {"$tuple": items}
    if isinstance(value, dict):
        return _encode_dict(value, place, arrays)
    raise StructureError(f"{place} is a {type(value).__name__}, which a checkpoint cannot store")


def _encode_dict(value: dict[Any, Any], place: str, arrays: Arrays) -> Any:
    plain = all(isinstance(key, str) and not key.startswith(_TAG) for key in value)
    items = {}
    for key, item in value.items():
        if not isinstance(key, str | int | float | bool | None):
            raise StructureError(f"{place} has a key of type {type(key).__name__}")
        items[key] = _encode(item, f"{place}.{key}", arrays)
    return items if plain else {"$dict": [[key, item] for key, item in items.items()]}


def _storable(value: Tensor | np.ndarray[Any, Any], place: str) -> Tensor:
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biuf":
            raise StructureError(f"{place} is an array of {value.dtype}, which cannot be stored")
        value = torch.from_numpy(np.ascontiguousarray(value).reshape(value.shape))
    if value.layout != torch.strided or value.is_complex():
        raise StructureError(f"{place} is a {value.layout} {value.dtype} tensor; make it dense")
    # A copy: tensors that share memory (tied weights, views) are stored apart.
    return value.detach().to("cpu", copy=True).contiguous()


def restore(structure: Any, arrays: Arrays) -> Any:
    """The value that `flatten` took apart."""
    if isinstance(structure, list):
        return [restore(item, arrays) for item in structure]
    if not isinstance(structure, dict):
        return structure
    if len(structure) == 1:
        ((tag, content),) = structure.items()
        if tag.startswith(_TAG):
            return _restore_tagged(tag, content, arrays)
    return {key: restore(item, arrays) for key, item in structure.items()}


def _restore_tagged(tag: str, content: Any, arrays: Arrays) -> Any:
    if tag in ("$tensor", "$array", "$scalar"):
        if content not in arrays:
            raise StructureError(f"array {content!r} is missing")
        tensor = arrays[content]
        if tag == "$tensor":
            return tensor
        return tensor.numpy() if tag == "$array" else tensor.numpy()[()]
    if tag == "$float":
        return float(content)
    if tag == "$bytes":
        return base64.b64decode(content)
    if tag == "$tuple":
        return tuple(restore(item, arrays) for item in content)
    if tag == "$dict":
        return {key: restore(item, arrays) for key, item in content}
    raise StructureError(f"unknown tag {tag!r}: written by a newer version?")
