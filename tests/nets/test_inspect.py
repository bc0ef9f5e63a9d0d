from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from nashmon.cli.checkpoint import app
from nashmon.nets.checkpoint import CheckpointError, load, save
from nashmon.nets.inspect import differences, export, summarise


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    for name, weight, rate in (("a", 1.0, 0.1), ("b", 1.5, 0.2)):
        parts = {
            "policy": {"w": torch.tensor([weight, 2.0]), "same": torch.ones(3)},
            "average": {"w": torch.zeros(2)},
            "optimizer": {"state": {0: {"m": torch.tensor([float("nan")])}}},
        }
        save(tmp_path / name, parts, {"ppo": {"rate": rate}, "spec": {"actions": "x"}})
    return tmp_path / "a", tmp_path / "b"


def test_summary_counts_and_finds_nan(pair) -> None:
    meta, parts = summarise(pair[0])
    assert meta["ppo"] == {"rate": 0.1}
    assert [(p.name, p.tensors, p.numbers, p.finite) for p in parts] == [
        ("policy", 2, 5, True),
        ("average", 1, 2, True),
        ("optimizer", 1, 1, False),
    ]


def test_differences_name_their_places(pair) -> None:
    found = {d.place: d for d in differences(*pair)}
    assert {"ppo.rate", "parts.policy.w"} <= set(found)
    assert "parts.policy.same" not in found
    assert found["ppo.rate"].left == "0.1" and found["ppo.rate"].right == "0.2"
    assert "largest change 0.5" in found["parts.policy.w"].right


def test_export_keeps_one_part_as_the_policy(pair, tmp_path: Path) -> None:
    export(pair[0], tmp_path / "e", part="average")
    back = load(tmp_path / "e")
    assert list(back.parts) == ["policy"]
    assert torch.equal(back.parts["policy"]["w"], torch.zeros(2))
    assert back.meta["spec"] == {"actions": "x"}
    with pytest.raises(CheckpointError, match="exists"):
        export(pair[0], tmp_path / "e")


def test_commands(pair, tmp_path: Path) -> None:
    run = CliRunner().invoke
    shown = run(app, ["info", str(pair[0])])
    assert shown.exit_code == 0 and "ppo.rate" in shown.output and "average" in shown.output
    assert run(app, ["diff", str(pair[0]), str(pair[1])]).exit_code == 1
    done = run(app, ["export", str(pair[0]), str(tmp_path / "e")])
    assert done.exit_code == 0 and list(load(tmp_path / "e").parts) == ["policy"]
    again = run(app, ["diff", str(tmp_path / "e"), str(tmp_path / "e")])
    assert again.exit_code == 0 and "no difference" in again.output
    missing = run(app, ["info", str(tmp_path / "nowhere")])
    assert isinstance(missing.exception, CheckpointError)
