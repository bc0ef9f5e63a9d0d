from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from nashmon.core.settings import override, read_settings
from nashmon.train.config import RunConfig

SMALL = [
    "threads=1",
    "network.options={memory: none, width: 32, entity_width: 16}",
    "rollout.battles=16",
    "rollout.steps=8",
    "rollout.turn_limit=100",
    "teams.train=[competitive]",
    "budget={minutes: 0, updates: 6}",
    "checkpoints.every=3",
    "ppo.num_minibatches=2",
    "evaluation={every: 0, opponents: [], background: false}",
    "log.tensorboard=false",
]


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture
def small_config() -> Any:
    def make(*changes: str) -> RunConfig:
        return read_settings(RunConfig, override({}, [*SMALL, *changes]))

    return make


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run"
