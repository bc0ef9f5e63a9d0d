"""Dataclasses from plain values (YAML, JSON, the command line), strictly.

An unknown key, a wrong type or an impossible value is an error that names the key.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import yaml

from nashmon.core.errors import NashmonError

T = TypeVar("T")


class SettingsError(NashmonError):
    """Settings that cannot be used."""


def read_settings(cls: type[T], data: Any, where: str = "", base: T | None = None) -> T:
    """An instance of a dataclass from nested plain values.

    Keys that are left out keep the values of `base`, else the defaults; so do the keys of a section
    of which only some are given.
    """
    if not isinstance(data, Mapping):
        raise SettingsError(f"{where or 'settings'}: expected keys and values, got {data!r}")
    hints = get_type_hints(cls)
    names = [field.name for field in dataclasses.fields(cls)]  # type: ignore[arg-type]
    values = {}
    for key, value in data.items():
        path = f"{where}.{key}" if where else str(key)
        if key not in names:
            close = difflib.get_close_matches(str(key), names, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(names)}"
            raise SettingsError(f"unknown setting {path}; {hint}")
        kept = default(cls, key) if base is None else getattr(base, key)
        values[key] = _convert(hints[key], value, path, kept)
    try:
        if base is None:
            return cls(**values)
        return dataclasses.replace(base, **values)  # type: ignore[type-var]
    except (ValueError, TypeError) as error:
        raise SettingsError(f"{where or 'settings'}: {error}") from error


def default(cls: type[Any], name: str) -> Any:
    """The default value of a field, None when it has none."""
    field = next(f for f in dataclasses.fields(cls) if f.name == name)
    if field.default is not dataclasses.MISSING:
        return field.default
    return None if field.default_factory is dataclasses.MISSING else field.default_factory()


def _convert(hint: Any, value: Any, path: str, base: Any = None) -> Any:
    origin = get_origin(hint)
    if dataclasses.is_dataclass(hint):
        return _dataclass(hint, value, path, base)
    if origin in (Union, types.UnionType):
        return _union(hint, value, path, base)
    if origin is Literal:
        if value not in get_args(hint):
            raise SettingsError(f"{path} is {value!r}; choose from {_join(get_args(hint))}")
        return value
    if origin is tuple:
        return _tuple(get_args(hint), value, path)
    if origin is dict:
        return _dict(get_args(hint)[1], value, path)
    return _plain(hint, value, path)


def _dataclass(hint: Any, value: Any, path: str, base: Any) -> Any:
    """Nested settings; a bare number stands for a constant schedule."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return read_settings(hint, {dataclasses.fields(hint)[0].name: value}, path)
    return read_settings(hint, value, path, base if isinstance(base, hint) else None)


def _union(hint: Any, value: Any, path: str, base: Any) -> Any:
    options = get_args(hint)
    if value is None and type(None) in options:
        return None
    return _convert(next(o for o in options if o is not type(None)), value, path, base)


def _tuple(args: tuple[Any, ...], value: Any, path: str) -> tuple[Any, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise SettingsError(f"{path}: expected a list, got {value!r}")
    if len(args) == 2 and args[1] is Ellipsis:
        return tuple(_convert(args[0], item, f"{path}[{i}]") for i, item in enumerate(value))
    if len(value) != len(args):
        raise SettingsError(f"{path}: expected {len(args)} values, got {len(value)}")
    pairs = zip(args, value, strict=True)
    return tuple(_convert(arg, item, f"{path}[{i}]") for i, (arg, item) in enumerate(pairs))


def _dict(hint: Any, value: Any, path: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise SettingsError(f"{path}: expected keys and values, got {value!r}")
    return {str(key): _convert(hint, item, f"{path}.{key}") for key, item in value.items()}


def _plain(hint: Any, value: Any, path: str) -> Any:
    if hint is Any:
        return value
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if hint is float and isinstance(value, str):
        try:  # YAML reads 1e-4 (without a point) as a string
            return float(value)
        except ValueError:
            pass
    if type(value) is not hint:
        raise SettingsError(f"{path}: expected {hint.__name__}, got {value!r}")
    return value


def _join(names: Sequence[Any]) -> str:
    return ", ".join(str(name) for name in names)


def plain(value: Any) -> Any:
    """Dataclasses as nested plain values, ready for YAML or JSON."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no infinity; `read_settings` takes the word
    return value


def read_yaml(path: Path) -> dict[str, Any]:
    """The keys and values of a YAML file."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"cannot read {path}: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise SettingsError(f"{path} is not YAML: {error}") from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise SettingsError(f"{path}: expected keys and values, got a {type(data).__name__}")
    return data


def override(data: Mapping[str, Any], assignments: Sequence[str]) -> dict[str, Any]:
    """Settings with `key.key=value` assignments from the command line; values are YAML."""
    result: dict[str, Any] = {**data}
    for text in assignments:
        path, equals, raw = text.partition("=")
        if not equals or not path:
            raise SettingsError(f"override {text!r}: expected key=value, for example seed=1")
        try:
            value = yaml.safe_load(raw)
        except yaml.YAMLError as error:
            raise SettingsError(f"override {text!r}: {raw!r} is not a YAML value") from error
        node = result
        *parents, last = path.split(".")
        for parent in parents:
            child = node.get(parent, {})
            if not isinstance(child, Mapping):
                raise SettingsError(f"override {text!r}: {parent} is a value, not a section")
            node[parent] = {**child}
            node = node[parent]
        node[last] = value
    return result
