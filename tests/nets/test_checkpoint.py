import json
import os
import pickle
import random
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from nashmon.nets.checkpoint import CheckpointError, check_spec, load, save
from nashmon.nets.config import PolicyConfig
from nashmon.nets.policy import flat_policy, flat_spec
from nashmon.nets.rng import RngError, rng_state, set_rng_state
from nashmon.observe.spec import SpecMismatchError


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_parts_and_meta_come_back(tmp_path: Path) -> None:
    save(
        tmp_path / "c",
        {"policy": {"w": torch.arange(3)}, "counters": {"step": 5}},
        {"name": "é", "lr": 0.1},
    )
    back = load(tmp_path / "c")
    assert torch.equal(back.parts["policy"]["w"], torch.arange(3))
    assert back.parts["counters"] == {"step": 5}
    assert back.meta == {"name": "é", "lr": 0.1}
    assert list(load(tmp_path / "c", parts=["counters"]).parts) == ["counters"]
    assert names(tmp_path) == {"c"}


def test_replacing_leaves_no_trace_of_the_old_one(tmp_path: Path) -> None:
    save(tmp_path / "c", {"policy": {"w": torch.ones(1)}, "extra": {}}, {})
    save(tmp_path / "c", {"policy": {"w": torch.zeros(1)}}, {})
    assert load(tmp_path / "c").parts["policy"]["w"].item() == 0
    assert names(tmp_path) == {"c"}
    assert names(tmp_path / "c") == {"checkpoint.json", "policy.safetensors"}


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_weights_are_as_readable_as_everything_else(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        save(tmp_path / "c", {"policy": {"w": torch.ones(1)}}, {})
    finally:
        os.umask(before)
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "c").iterdir()}
    assert modes == {0o666 & ~mask}


@pytest.mark.parametrize("moment", ["before the swap", "inside the swap", "after the swap"])
def test_a_save_killed_at_any_moment_leaves_a_whole_checkpoint(tmp_path: Path, moment: str) -> None:
    save(tmp_path / "c", {"policy": {"w": torch.ones(1)}}, {"step": 1})
    if moment == "before the swap":
        (tmp_path / ".c.new").mkdir()
        (tmp_path / ".c.new" / "policy.safetensors").write_bytes(b"half")
    elif moment == "inside the swap":
        shutil.copytree(tmp_path / "c", tmp_path / ".c.new")
        (tmp_path / "c").rename(tmp_path / ".c.old")
    else:
        shutil.copytree(tmp_path / "c", tmp_path / ".c.old")
    assert load(tmp_path / "c").meta == {"step": 1}
    save(tmp_path / "c", {"policy": {}}, {"step": 2})
    assert load(tmp_path / "c").meta == {"step": 2}
    assert names(tmp_path) == {"c"}


def test_a_full_disk_leaves_the_old_checkpoint(tmp_path: Path) -> None:
    save(tmp_path / "c", {"policy": {"w": torch.ones(1)}}, {"step": 1})
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        with pytest.raises(CheckpointError, match="unchanged"):
            save(tmp_path / "c", {"policy": {"w": torch.ones(50_000)}}, {"step": 2})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert load(tmp_path / "c").meta == {"step": 1}
    assert names(tmp_path) == {"c"}


def test_a_process_killed_while_saving_never_leaves_half_a_checkpoint(tmp_path: Path) -> None:
    script = (
        "import sys, torch; from nashmon.nets.checkpoint import save\n"
        "step = 0\n"
        "while True:\n"
        "    step += 1\n"
        "    weights = torch.full((20000,), float(step))\n"
        "    save(sys.argv[1], {'policy': {'w': weights}}, {'step': step})\n"
        "    print(step, flush=True)\n"
    )
    target = tmp_path / "c"
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(target)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for _ in range(20):
        process.stdout.readline()
    process.kill()
    rest = process.communicate()[0]
    back = load(target)
    assert back.meta["step"] >= 20 + len(rest.split())
    assert bool((back.parts["policy"]["w"] == back.meta["step"]).all())


@pytest.mark.parametrize("file", ["checkpoint.json", "policy.safetensors"])
@pytest.mark.parametrize("damage", ["missing", "truncated", "flipped", "empty"])
def test_damage_is_named(tmp_path: Path, file: str, damage: str) -> None:
    save(tmp_path / "c", {"policy": {"w": torch.ones(100)}}, {"step": 1})
    path = tmp_path / "c" / file
    data = path.read_bytes()
    if damage == "missing":
        path.unlink()
    elif damage == "flipped":
        middle = data.index(b'"step": 1') + 8 if file.endswith("json") else len(data) - 5
        path.write_bytes(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :])
    else:
        path.write_bytes(data[: len(data) // 2 if damage == "truncated" else 0])
    with pytest.raises(CheckpointError, match=file.replace(".", r"\.")):
        load(tmp_path / "c")


def test_pickle_files_are_refused_unread(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("unpickled",))

    file = tmp_path / "model.pt"
    file.write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(CheckpointError, match="pickle"):
        load(file)
    save(tmp_path / "c", {"policy": {"w": torch.ones(1)}}, {})
    (tmp_path / "c" / "policy.safetensors").write_bytes(file.read_bytes())
    with pytest.raises(CheckpointError, match="damaged"):
        load(tmp_path / "c")


def test_part_names_cannot_leave_the_directory(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="not a name"):
        save(tmp_path / "c", {"../x": {}}, {})
    with pytest.raises(CheckpointError, match="no part"):
        save(tmp_path / "c", {"policy": {}}, {})
        load(tmp_path / "c", parts=["optimizer"])


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    save(tmp_path / "c", {}, {})
    file = tmp_path / "c" / "checkpoint.json"
    stored = json.loads(file.read_text())
    stored["index"]["schema"] = 99
    file.write_text(json.dumps(stored))
    with pytest.raises(CheckpointError, match="schema 99"):
        load(tmp_path / "c")


def test_values_that_are_not_data_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="JSON"):
        save(tmp_path / "c", {}, {"when": object()})
    assert names(tmp_path) == set()


def test_a_spec_mismatch_names_both_sides() -> None:
    found = json.loads(
        json.dumps({"actions": "singles-default-13", "observation": flat_spec(3).to_dict()})
    )
    check_spec(found, {"actions": "singles-default-13", "observation": flat_spec(3).to_dict()}, "c")
    with pytest.raises(CheckpointError, match=r"singles-default-13.*doubles-default-2025"):
        check_spec(found, {"actions": "doubles-default-2025"}, "c")
    with pytest.raises(SpecMismatchError, match=r"\(3,\) against.*\(4,\)"):
        check_spec(found, {"observation": flat_spec(4).to_dict()}, "c")
    with pytest.raises(CheckpointError, match="nothing about its reward"):
        check_spec(found, {"reward": "win-loss"}, "c")


class Training:
    """A small run with every kind of state a real one has."""

    def __init__(self) -> None:
        torch.manual_seed(3)
        config = PolicyConfig(encoder="flat", head="flat", memory="gru", width=16)
        self.policy = flat_policy(4, 3, config)
        self.reference = flat_policy(4, 3, config)
        self.optimizer = torch.optim.AdamW(self.policy.parameters(), lr=1e-2)
        self.schedule = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, 0.9)
        self.rng = np.random.default_rng(1)
        self.generator = torch.Generator().manual_seed(2)
        self.memory = self.policy.initial_memory(5)
        self.step = 0

    def update(self) -> None:
        noise = self.rng.normal(size=(1, 5, 4)) + random.random() + np.random.rand()
        obs = {"features": torch.from_numpy(noise).float() + torch.rand(1)}
        masks = torch.ones(1, 5, 3, dtype=torch.bool)
        acted = self.policy.act(
            {"features": obs["features"][0]}, masks[0], self.memory, self.generator
        )
        output = self.policy.evaluate(obs, masks, self.memory)
        anchor = self.reference.evaluate(obs, masks).log_policy.detach()
        kl = (output.log_policy.exp() * (output.log_policy - anchor)).sum()
        loss = kl - output.log_prob(acted.actions.unsqueeze(0)).sum() + output.value.square().sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.schedule.step()
        self.memory, self.step = acted.memory, self.step + 1

    def parts(self) -> dict:
        sources = {"data": self.rng, "actions": self.generator}
        return {
            "policy": self.policy.state_dict(),
            "references": [self.reference.state_dict()],
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "memory": self.memory,
            "rng": rng_state(sources),
            "counters": {"step": self.step},
        }

    def restore(self, parts: dict) -> None:
        self.policy.load_state_dict(parts["policy"])
        self.reference.load_state_dict(parts["references"][0])
        self.optimizer.load_state_dict(parts["optimizer"])
        self.schedule.load_state_dict(parts["schedule"])
        self.memory, self.step = parts["memory"], parts["counters"]["step"]
        set_rng_state(parts["rng"], {"data": self.rng, "actions": self.generator})


def test_a_resumed_run_equals_an_uninterrupted_one_bit_for_bit(tmp_path: Path) -> None:
    random.seed(5)
    np.random.seed(6)
    straight = Training()
    for _ in range(3):
        straight.update()
    save(tmp_path / "c", straight.parts(), {"step": straight.step})
    for _ in range(4):
        straight.update()
    resumed = Training()
    for _ in range(9):
        resumed.update()
    resumed.restore(load(tmp_path / "c").parts)
    for _ in range(4):
        resumed.update()
    assert resumed.step == straight.step
    for (name, a), b in zip(
        straight.policy.state_dict().items(), resumed.policy.state_dict().values(), strict=True
    ):
        assert torch.equal(a, b), name


def test_generators_must_match() -> None:
    state = rng_state({"data": np.random.default_rng(1)})
    with pytest.raises(RngError, match="data"):
        set_rng_state(state, {})
    with pytest.raises(RngError, match="data"):
        set_rng_state(state, {"data": torch.Generator()})
