from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from small_run import SMALL

from nashmon.core.settings import override, read_settings
from nashmon.train.config import RunConfig


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
