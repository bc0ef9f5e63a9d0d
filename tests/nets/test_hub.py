from pathlib import Path

import pytest
import torch
from hub_server import TOKEN, Hub, running_hub

from nashmon.nets.checkpoint import CheckpointError, load, save
from nashmon.nets.hub import HubError, pull, push


@pytest.fixture
def hub(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with running_hub() as running:
        yield running


def write(path: Path, value: float = 1.0) -> None:
    save(path, {"policy": {"w": torch.full((3,), value)}}, {"step": 7})
    (path / "notes.pkl").write_bytes(b"\x80\x04N.")
    (path / "log.txt").write_text("private")


def test_a_pushed_checkpoint_is_pulled_back_equal(hub: Hub, tmp_path: Path) -> None:
    write(tmp_path / "step_7")
    url = push(tmp_path / "step_7", "team/agent", hub.endpoint)
    assert url.startswith(hub.endpoint)
    pull("team/agent", tmp_path / "back", hub.endpoint)
    back = load(tmp_path / "back")
    assert back.meta == {"step": 7}
    assert torch.equal(back.parts["policy"]["w"], torch.ones(3))


def test_only_safetensors_and_json_travel(hub: Hub, tmp_path: Path) -> None:
    write(tmp_path / "step_7")
    push(tmp_path / "step_7", "team/agent", hub.endpoint)
    assert set(hub.repos["team/agent"]) == {"checkpoint.json", "policy.safetensors"}
    hub.repos["team/agent"]["evil.pkl"] = b"\x80\x04N."
    pull("team/agent", tmp_path / "back", hub.endpoint)
    assert {p.name for p in (tmp_path / "back").iterdir()} == {
        "checkpoint.json",
        "policy.safetensors",
    }
    assert not any("evil.pkl" in request for request in hub.requests)


def test_a_second_push_removes_parts_that_are_gone(hub: Hub, tmp_path: Path) -> None:
    save(tmp_path / "a", {"policy": {}, "optimizer": {"m": torch.ones(1)}}, {})
    push(tmp_path / "a", "team/agent", hub.endpoint)
    save(tmp_path / "b", {"policy": {"w": torch.ones(2)}}, {})
    push(tmp_path / "b", "team/agent", hub.endpoint)
    assert set(hub.repos["team/agent"]) == {"checkpoint.json", "policy.safetensors"}


def test_a_damaged_download_leaves_nothing_behind(hub: Hub, tmp_path: Path) -> None:
    write(tmp_path / "step_7")
    push(tmp_path / "step_7", "team/agent", hub.endpoint)
    hub.repos["team/agent"]["policy.safetensors"] += b"x"
    with pytest.raises(CheckpointError, match="damaged"):
        pull("team/agent", tmp_path / "back", hub.endpoint)
    assert [p.name for p in tmp_path.iterdir()] == ["step_7"]


def test_refusals_are_one_clear_error(hub: Hub, tmp_path: Path, monkeypatch) -> None:
    write(tmp_path / "step_7")
    with pytest.raises(HubError, match="nobody/nothing"):
        pull("nobody/nothing", tmp_path / "back", hub.endpoint)
    with pytest.raises(HubError, match="exists already"):
        pull("team/agent", tmp_path / "step_7", hub.endpoint)
    monkeypatch.delenv("HF_TOKEN")
    with pytest.raises(HubError, match="401"):
        push(tmp_path / "step_7", "team/agent", hub.endpoint)
    with pytest.raises(HubError, match="could not push"):
        push(tmp_path / "step_7", "team/agent", "http://127.0.0.1:9")


def test_a_broken_checkpoint_is_not_pushed(hub: Hub, tmp_path: Path) -> None:
    write(tmp_path / "step_7")
    (tmp_path / "step_7" / "policy.safetensors").unlink()
    with pytest.raises(CheckpointError, match="missing"):
        push(tmp_path / "step_7", "team/agent", hub.endpoint)
    assert hub.requests == []
