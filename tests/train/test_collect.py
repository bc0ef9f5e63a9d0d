from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nashmon.agents.specs import get_agent
from nashmon.replays.store import StoreError, Trajectory, TrajectoryStore
from nashmon.sim.make import make_battles
from nashmon.train.collect import CollectConfig, CollectError, collect


def fill(path: Path, trajectories: int, **changes: Any) -> list[Trajectory]:
    battles = make_battles("gen1ou", 8, reward="outcome")
    agents = get_agent("maxpower", "gen1ou"), get_agent("random", "gen1ou")
    store = TrajectoryStore.create(path, {"format": "gen1ou"}, battles.obs_spec)
    collect(store, battles, agents, CollectConfig(trajectories, per_shard=10, **changes), 3)
    battles.close()
    return list(store)


def test_trajectories_are_whole_and_legal(tmp_path: Path) -> None:
    kept = fill(tmp_path, 30)
    assert len(kept) == 30 and {t.seat for t in kept} == {0, 1}
    for one in kept:
        legal = one.masks[np.arange(len(one)), one.actions]
        assert legal.all() and len(one.rewards) == len(one)
        assert one.rewards.sum() == one.outcome and one.rewards[-1] == one.outcome
        assert one.observations["pokemon_ids"].shape == (len(one), 12, 11)
    # No trajectory twice: first observations and actions tell them apart.
    keys = {(t.actions.tobytes(), t.observations["pokemon_numbers"].tobytes()) for t in kept}
    assert len(keys) == 30


def test_resumed_equals_uninterrupted(tmp_path: Path) -> None:
    whole = fill(tmp_path / "a", 30)
    fill(tmp_path / "b", 10)
    (tmp_path / "b" / ".shard_000001.safetensors.new").write_bytes(b"cut off by a crash")
    resumed = fill(tmp_path / "b", 30)
    assert len(resumed) == 30
    for one, other in zip(whole, resumed, strict=True):
        assert np.array_equal(one.actions, other.actions) and one.outcome == other.outcome


def test_filters(tmp_path: Path) -> None:
    winners = fill(tmp_path, 20, winners_only=True, min_decisions=15)
    assert all(t.outcome == 1 and len(t) >= 15 for t in winners)
    with pytest.raises(CollectError, match="nothing would be kept"):
        CollectConfig(min_decisions=5, max_decisions=2)


def test_bad_stores(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="not a trajectory store"):
        TrajectoryStore(tmp_path)
    fill(tmp_path / "a", 10)
    spec = make_battles("gen1ou", 1).obs_spec
    with pytest.raises(StoreError, match="format differs"):
        TrajectoryStore.create(tmp_path / "a", {"format": "gen1uu"}, spec)
    shard = TrajectoryStore(tmp_path / "a").shards[0]
    shard.write_bytes(shard.read_bytes()[:100])
    with pytest.raises(StoreError, match="cannot be read"):
        list(TrajectoryStore(tmp_path / "a"))
