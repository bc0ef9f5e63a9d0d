"""kill -9 at random moments: every resume works and the result is that of an undisturbed run."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from small_run import SMALL

from nashmon.nets.build import load_policy
from nashmon.train.loop import Loop
from nashmon.train.run import METRICS, RunDirectory, read_rows

UPDATES = 400
CHANGES = (f"budget.updates={UPDATES}", "checkpoints.every=5")


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "from nashmon.cli.main import main; main()", *arguments]


def kill_at_random(arguments: list[str], path: Path, rng: random.Random) -> bool:
    """Run until it has saved something, then kill it; True when it had already finished."""
    before = len(read_rows(path / METRICS)) if path.exists() else 0
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while process.poll() is None and len(read_rows(path / METRICS)) <= before + 6:
        time.sleep(0.05)
    time.sleep(rng.uniform(0.0, 1.0))
    finished = process.poll() is not None
    process.send_signal(signal.SIGKILL)
    _, errors = process.communicate()
    if finished:
        assert process.returncode == 0, errors.decode()
    return finished


@pytest.mark.slow
def test_ten_kills(small_config: Any, tmp_path: Path) -> None:
    rng = random.Random(0)
    path = tmp_path / "killed"
    sets = [item for change in (*SMALL, *CHANGES) for item in ("-s", change)]
    assert not kill_at_random(command("train", "--out", str(path), *sets), path, rng)
    kills = 1
    while kills < 10:
        if not (path / "checkpoints" / "last").exists():
            pytest.fail("killed before the first checkpoint: nothing to resume")
        assert not kill_at_random(command("train", "--resume", str(path)), path, rng)
        load_policy(path / "checkpoints" / "last")  # every byte is checked
        kills += 1
    subprocess.run(command("train", "--resume", str(path)), check=True, capture_output=True)
    config = small_config(*CHANGES)
    whole = Loop(RunDirectory.create(tmp_path / "whole", config), config)
    for _ in whole.run():
        pass
    rows = read_rows(path / METRICS)
    assert [row["update"] for row in rows] == list(range(1, UPDATES + 1))
    first = load_policy(path / "checkpoints" / "last")[0].state_dict()
    second = load_policy(tmp_path / "whole" / "checkpoints" / "last")[0].state_dict()
    assert all(torch.equal(first[name], second[name]) for name in first)
