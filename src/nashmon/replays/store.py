"""The trajectory store: decisions of many battles, from each player's view, as arrays on disk.

    store.json              schema, format, observation and action spec, reward, what made it
    shard_000000.safetensors …   trajectories one after the other

A trajectory is one seat of one battle.  Shards are written beside their place and renamed, so a
crash leaves whole shards only; `next_shard` says where to go on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from nashmon.core.errors import NashmonError
from nashmon.core.files import readable_as_folder
from nashmon.observe.spec import ObsSpec

SCHEMA = 1
INDEX = "store.json"
_OBSERVATION = "observation."


class StoreError(NashmonError):
    """A trajectory store that cannot be read or extended."""


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One seat of one battle."""

    observations: dict[str, NDArray[Any]]  # name → (T, …)
    masks: NDArray[np.bool_]  # (T, A)
    actions: NDArray[np.int64]  # (T,), −1 unknown
    rewards: NDArray[np.float32]  # (T,), earned after each decision
    outcome: int  # 1 won, 0 drawn, −1 lost
    seat: int

    def __len__(self) -> int:
        """The number of decisions."""
        return len(self.actions)


class TrajectoryStore:
    """A directory of shards."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.index = json.loads((path / INDEX).read_text(encoding="utf-8"))
            schema = self.index["schema"]
        except (OSError, ValueError, KeyError) as error:
            raise StoreError(f"{path} is not a trajectory store: {error}") from error
        if schema != SCHEMA:
            raise StoreError(f"{path} has schema {schema}; this version reads schema {SCHEMA}")

    @classmethod
    def create(cls, path: Path, facts: Mapping[str, Any], observation: ObsSpec) -> TrajectoryStore:
        """A new store, or the one that is there if it is about the same thing."""
        index = {"schema": SCHEMA, **facts, "observation": observation.to_dict()}
        if (path / INDEX).exists():
            store = cls(path)
            for name, value in json.loads(json.dumps(index)).items():
                if store.index.get(name) != value:
                    raise StoreError(f"{path} holds other trajectories: {name} differs")
            return store
        path.mkdir(parents=True, exist_ok=True)
        fresh = path / f".{INDEX}.new"
        fresh.write_text(json.dumps(index), encoding="utf-8")
        fresh.replace(path / INDEX)
        return cls(path)

    @property
    def shards(self) -> list[Path]:
        """The files, in order."""
        return sorted(self.path.glob("shard_*.safetensors"))

    @property
    def next_shard(self) -> int:
        """The number of the shard to write next."""
        return len(self.shards)

    def append(self, trajectories: Sequence[Trajectory]) -> Path:
        """Write one shard."""
        if not trajectories:
            raise StoreError("a shard needs at least one trajectory")
        names = trajectories[0].observations
        arrays: dict[str, NDArray[Any]] = {
            f"{_OBSERVATION}{name}": np.concatenate([t.observations[name] for t in trajectories])
            for name in names
        }
        arrays |= {
            "masks": np.concatenate([t.masks for t in trajectories]).astype(np.uint8),
            "actions": np.concatenate([t.actions for t in trajectories]).astype(np.int16),
            "rewards": np.concatenate([t.rewards for t in trajectories]).astype(np.float32),
            "lengths": np.array([len(t) for t in trajectories], np.int32),
            "outcomes": np.array([t.outcome for t in trajectories], np.int8),
            "seats": np.array([t.seat for t in trajectories], np.int8),
        }
        path = self.path / f"shard_{self.next_shard:06d}.safetensors"
        fresh = path.with_name(f".{path.name}.new")
        save_file(arrays, fresh)
        readable_as_folder(fresh)
        fresh.replace(path)
        return path

    def __iter__(self) -> Iterator[Trajectory]:
        """Every trajectory, in the order in which it was written."""
        for path in self.shards:
            yield from read_shard(path)


def read_shard(path: Path) -> Iterator[Trajectory]:
    """The trajectories of one file."""
    try:
        arrays = load_file(path)
    except (SafetensorError, OSError) as error:
        raise StoreError(f"{path} cannot be read: {error}") from error
    ends = np.cumsum(arrays["lengths"])
    for number, (end, length) in enumerate(zip(ends, arrays["lengths"], strict=True)):
        span = slice(int(end - length), int(end))
        yield Trajectory(
            observations={
                name.removeprefix(_OBSERVATION): array[span]
                for name, array in arrays.items()
                if name.startswith(_OBSERVATION)
            },
            masks=arrays["masks"][span].astype(bool),
            actions=arrays["actions"][span].astype(np.int64),
            rewards=arrays["rewards"][span],
            outcome=int(arrays["outcomes"][number]),
            seat=int(arrays["seats"][number]),
        )
