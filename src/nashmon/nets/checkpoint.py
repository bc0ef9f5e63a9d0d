"""Checkpoints: directories of safetensors and JSON, replaced atomically, never unpickled.

    checkpoint.json        schema, meta (config, specs, counters …), structure and hash of the parts
    <part>.safetensors     the arrays of one part (policy, optimizer, references, rng …)

A save is written beside the target, flushed to disk and renamed into place; whatever goes wrong
before the rename leaves the old checkpoint untouched.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from nashmon.core.errors import NashmonError
from nashmon.core.files import readable_as_folder
from nashmon.nets.structure import flatten, restore
from nashmon.observe.spec import ObsSpec

SCHEMA = 1
INDEX = "checkpoint.json"
_PART_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_PICKLE_SUFFIXES = {".pt", ".pth", ".pkl", ".pickle", ".bin", ".ckpt"}


class CheckpointError(NashmonError):
    """A checkpoint that cannot be written, read or used here."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint in memory."""

    parts: dict[str, Any]  # name → the nested value that was saved
    meta: dict[str, Any]


def save(path: Path | str, parts: Mapping[str, Any], meta: Mapping[str, Any]) -> None:
    """Write or replace a checkpoint; `meta` must be plain JSON values."""
    path = Path(path)
    for name in parts:
        if not _PART_NAME.fullmatch(name):
            raise CheckpointError(f"{name!r} is not a name for a part of a checkpoint")
    settle(path)
    fresh = path.parent / f".{path.name}.new"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(fresh, ignore_errors=True)  # left by a save that was killed
        fresh.mkdir()
        _write(fresh, parts, meta)
        swap(fresh, path)
    except (OSError, SafetensorError) as error:
        settle(path)
        raise CheckpointError(
            f"could not write checkpoint {path}: {error}; what was there before is unchanged"
        ) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _write(folder: Path, parts: Mapping[str, Any], meta: Mapping[str, Any]) -> None:
    index: dict[str, Any] = {"schema": SCHEMA, "meta": dict(meta), "parts": {}}
    for name, value in parts.items():
        structure, arrays = flatten(value, name)
        file = folder / f"{name}.safetensors"
        save_file(arrays, file)
        readable_as_folder(file)
        _flush(file)
        index["parts"][name] = {"sha256": _sha256(file), "structure": structure}
    try:
        body = json.dumps(index, indent=1, sort_keys=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"meta must be plain JSON values: {error}") from error
    file = folder / INDEX
    file.write_text(
        json.dumps({"sha256": _text_hash(body), "index": json.loads(body)}, indent=1),
        encoding="utf-8",
    )
    _flush(file)
    _flush(folder)


def swap(fresh: Path, path: Path) -> None:
    """Put a complete checkpoint in the place of another; a crash leaves one of them there."""
    old = _old(path)
    if path.exists():
        shutil.rmtree(old, ignore_errors=True)
        path.rename(old)
    fresh.rename(path)
    _flush(path.parent)
    shutil.rmtree(old, ignore_errors=True)


def _old(path: Path) -> Path:
    return path.parent / f".{path.name}.old"


def settle(path: Path) -> None:
    """Finish a replacement that was killed between its two renames: the old one comes back."""
    old = _old(path)
    if old.exists() and not path.exists():
        old.rename(path)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _text_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def load(
    path: Path | str,
    expected_spec: Mapping[str, Any] | None = None,
    parts: Iterable[str] | None = None,
) -> Checkpoint:
    """Read a checkpoint, or only some parts, after checking every byte of what is read.

    `expected_spec` is compared with `meta["spec"]`, see `check_spec`.
    """
    path = Path(path)
    index = read_index(path)
    meta = index["meta"]
    if expected_spec is not None:
        check_spec(meta.get("spec", {}), expected_spec, str(path))
    wanted = list(index["parts"]) if parts is None else list(parts)
    missing = [name for name in wanted if name not in index["parts"]]
    if missing:
        raise CheckpointError(
            f"{path} has no part {', '.join(missing)}; it has {', '.join(index['parts'])}"
        )
    return Checkpoint({name: _read_part(path, name, index["parts"][name]) for name in wanted}, meta)


def read_index(path: Path) -> dict[str, Any]:
    """The verified content of `checkpoint.json`: schema, meta and parts."""
    settle(path)
    _refuse_pickle(path)
    file = path / INDEX
    if not file.is_file():
        raise CheckpointError(f"{path} is not a checkpoint: it has no {INDEX}")
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
        index, digest = stored["index"], stored["sha256"]
        schema, parts, meta = index["schema"], index["parts"], index["meta"]
    except (ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{file} is damaged: {error!r}") from error
    if schema != SCHEMA:
        raise CheckpointError(f"{file} has schema {schema}; this version reads schema {SCHEMA}")
    if _text_hash(json.dumps(index, indent=1, sort_keys=False)) != digest:
        raise CheckpointError(f"{file} is damaged: its hash does not match its content")
    if not isinstance(parts, dict) or not isinstance(meta, dict):
        raise CheckpointError(f"{file} is damaged: parts and meta must be objects")
    return dict(index)


def _refuse_pickle(path: Path) -> None:
    if path.is_file() or (not path.exists() and path.suffix in _PICKLE_SUFFIXES):
        kind = "a pickle file" if path.suffix in _PICKLE_SUFFIXES else "a file"
        raise CheckpointError(
            f"{path} is {kind}; a checkpoint is a directory of safetensors and JSON, "
            "and nothing is ever unpickled"
        )


def _read_part(path: Path, name: str, entry: Mapping[str, Any]) -> Any:
    if not _PART_NAME.fullmatch(name):
        raise CheckpointError(f"{path}: {name!r} is not a name for a part")
    file = path / f"{name}.safetensors"
    if not file.is_file():
        raise CheckpointError(f"{path} is incomplete: {file.name} is missing")
    digest = _sha256(file)
    if digest != entry["sha256"]:
        raise CheckpointError(
            f"{file} is damaged: sha256 is {digest[:12]}…, recorded was {entry['sha256'][:12]}…"
        )
    return restore(entry["structure"], load_file(file))


def check_spec(found: Mapping[str, Any], expected: Mapping[str, Any], where: str) -> None:
    """Raise unless every expected spec (observation, actions, reward …) equals the stored one."""
    for name, want in json.loads(json.dumps(dict(expected))).items():
        if name not in found:
            raise CheckpointError(f"{where} says nothing about its {name}; expected {want}")
        have = found[name]
        if name == "observation":
            ObsSpec.from_dict(have).check(ObsSpec.from_dict(want), where, "this run")
        elif have != want:
            raise CheckpointError(f"{name} of {where} is {have}, of this run is {want}")
