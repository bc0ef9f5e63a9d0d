"""Runs: resumed equals uninterrupted, every mode and algorithm trains, bad settings are refused."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from nashmon.core.errors import NashmonError
from nashmon.core.settings import SettingsError, override, plain, read_settings
from nashmon.learn.ppo import PPOConfig
from nashmon.learn.schedules import Power
from nashmon.nets.checkpoint import CheckpointError
from nashmon.train.config import RunConfig, load_config
from nashmon.train.loop import Loop
from nashmon.train.run import METRICS, RunDirectory, RunError
from nashmon.train.trainer import Trainer

ALGOS = ("ppo", "magnet", "damped_ppo", "portfolio", "rnad")
FAST = ("damping.reference_interval=2", "portfolio.add_interval=2", "rnad.stages=[[2, 1]]")


def weights(trainer: Trainer) -> dict[str, torch.Tensor]:
    return {k: v.clone() for k, v in trainer.policy.state_dict().items()}


def same(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(first[k], second[k]) for k in first)


@pytest.mark.parametrize("algo", ALGOS)
def test_resumed_equals_uninterrupted(small_config: Any, tmp_path: Path, algo: str) -> None:
    past = "" if algo == "rnad" else ", past: 0.4, past_every: 2"
    config = small_config(f"algo={algo}", f"opponents={{self_play: 0.6{past}}}", *FAST)
    whole = Loop(RunDirectory.create(tmp_path / "a", config), config)
    events = [event.progress for event in whole.run() if event.progress]
    assert [p.update for p in events] == [1, 2, 3, 4, 5, 6]
    half = Loop(RunDirectory.create(tmp_path / "b", config), config)
    for event in half.run():
        if event.progress and event.progress.update == 3:
            half.stop()
    run = RunDirectory.open(tmp_path / "b")
    rest = Loop(run, run.config())
    rest.resume()
    later = [event.progress for event in rest.run() if event.progress]
    assert [p.update for p in later] == [4, 5, 6]
    assert same(weights(whole.trainer), weights(rest.trainer))
    assert later[-1].decisions == events[-1].decisions
    assert later[-1].metrics["policy_loss"] == events[-1].metrics["policy_loss"]
    assert [row["update"] for row in run.rows(METRICS)] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_actors_bound_their_staleness(small_config: Any, folder: Path, mode: str) -> None:
    config = small_config(f"rollout.mode={mode}", "rollout.max_staleness=1", "rollout.actors=2")
    trainer = Trainer(config, folder)
    before = weights(trainer)
    progress = [trainer.step() for _ in range(5)]
    trainer.close()
    assert all(p.metrics["max_staleness"] <= 1 for p in progress)
    assert progress[-1].metrics["staleness"] > 0
    assert progress[-1].report.decisions > 100
    assert not same(before, weights(trainer))


def test_a_dead_actor_is_an_error(small_config: Any, folder: Path) -> None:
    trainer = Trainer(small_config("rollout.mode=processes"), folder)
    trainer.step()
    trainer.collector._workers[1].kill()  # type: ignore[attr-defined]
    with pytest.raises(NashmonError, match="actor 1 died"):
        for _ in range(4):
            trainer.step()
    trainer.close()


def test_init_from_a_checkpoint_and_frozen_layers(small_config: Any, tmp_path: Path) -> None:
    first = Trainer(small_config(), tmp_path / "a")
    first.step()
    first.save_policy(tmp_path / "policy")
    first.close()
    config = small_config(f"init=run:{tmp_path / 'policy'}", "frozen=[encoder]")
    second = Trainer(config, tmp_path / "b")
    assert same(weights(first), weights(second))
    second.step()
    second.close()
    after = weights(second)
    for name, value in weights(first).items():
        if name.startswith("encoder"):
            assert torch.equal(value, after[name]), name
    assert not torch.equal(
        weights(first)["head.battle.move.weight"], after["head.battle.move.weight"]
    )


def test_best_checkpoint_and_evaluations(small_config: Any, tmp_path: Path) -> None:
    evaluation = (
        "evaluation={every: 3, games: 4, final_games: 8, opponents: [scripted:random], "
        "background: false}"
    )
    config = small_config(evaluation)
    loop = Loop(RunDirectory.create(tmp_path / "a", config), config)
    results = [r for event in loop.run() for r in event.results]
    assert [(r.update, r.record.games) for r in results] == [(3, 4), (6, 4), (6, 8)]
    assert all(0 <= r.row()["low"] <= r.row()["win_rate"] <= r.row()["high"] <= 1 for r in results)
    names = {p.name for p in (tmp_path / "a" / "checkpoints").iterdir()}
    assert names == {"last", "best"}


def test_settings_round_trip_and_overrides() -> None:
    config = load_config(None, ["ppo.entropy=0.02", "magnet.weight={start: 0.1, power: 1}"])
    assert config.ppo.entropy.start == 0.02 and config.magnet.weight.power == 1.0
    assert read_settings(RunConfig, plain(config)) == config
    # A section of which one key is given keeps the run's own defaults for the others.
    assert config.ppo.epochs == RunConfig().ppo.epochs != PPOConfig().epochs
    assert config.ppo.optim == RunConfig().ppo.optim
    assert load_config(None, ["magnet.weight=0.02"]).magnet.weight == Power(0.02)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("ppo.epoch=3", "unknown setting ppo.epoch; did you mean 'epochs'"),
        ("nonsense=3", "unknown setting nonsense"),
        ("rollout.battles=many", "rollout.battles: expected int, got 'many'"),
        ("algo=magic", "algo is 'magic'; choose from ppo, magnet"),
        ("rollout.reward=aggressive_shaped", "not zero-sum"),
        ("network.size=huge", "unknown size 'huge'"),
        ("format=gen1oo", "gen1oo"),
        ("seed", "expected key=value"),
        ("budget={minutes: 0}", "give minutes, updates or decisions"),
        ("opponents={self_play: 0}", "not all 0"),
    ],
)
def test_bad_settings(change: str, message: str) -> None:
    with pytest.raises(NashmonError, match=message.replace("(", r"\(")):
        load_config(None, [change])


def test_impossible_combinations() -> None:
    with pytest.raises(SettingsError, match="both seats"):
        load_config(None, ["algo=rnad", "opponents.past=0.5"])
    with pytest.raises(SettingsError, match="multiple of"):
        load_config(None, ["rollout.mode=threads", "rollout.actors=3"])
    with pytest.raises(SettingsError, match="is a value, not a section"):
        override({"seed": 1}, ["seed.x=1"])


def test_run_directory_refuses_misuse(small_config: Any, tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "a", small_config())
    with pytest.raises(RunError, match="another process"):
        RunDirectory.open(tmp_path / "a")
    run.close()
    with pytest.raises(RunError, match="already holds a run"):
        RunDirectory.create(tmp_path / "a", small_config())
    with pytest.raises(RunError, match="not a run"):
        RunDirectory.open(tmp_path / "nothing")
    run = RunDirectory.open(tmp_path / "a")
    with pytest.raises(RunError, match="does not exist; checkpoints: none"):
        Loop(run, run.config()).resume()
    run.close()
    run.append(METRICS, {"update": 1})
    with (tmp_path / "a" / METRICS).open("a") as file:
        file.write('{"update": 2, "cut')
    assert run.rows(METRICS) == [{"update": 1}]


def test_spec_mismatch_names_both_sides(small_config: Any, tmp_path: Path) -> None:
    trainer = Trainer(small_config(), tmp_path / "a")
    trainer.save_policy(tmp_path / "policy")
    trainer.close()
    with pytest.raises(NashmonError, match="gen4ou"):
        Trainer(small_config(f"init=run:{tmp_path / 'policy'}", "format=gen4ou"), tmp_path / "b")


def test_a_full_disk_leaves_the_last_checkpoint(
    small_config: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Writing fails half-way; what was there before is still complete."""
    import nashmon.nets.checkpoint as checkpoint

    config = small_config()
    trainer = Trainer(config, tmp_path)
    trainer.step()
    trainer.save(tmp_path / "last")
    saved = weights(trainer)
    trainer.step()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint, "save_file", full)
    with pytest.raises(CheckpointError, match="No space left"):
        trainer.save(tmp_path / "last")
    monkeypatch.undo()
    trainer.close()
    again = Trainer(config, tmp_path)
    again.load(tmp_path / "last")
    again.close()
    assert same(saved, weights(again)) and again.updates == 1


def test_background_evaluation_ends_with_its_parent(tmp_path: Path) -> None:
    """The evaluation process of a training process that was killed does not stay behind."""
    code = (
        "import os, sys, time\n"
        "from nashmon.train.config import load_config\n"
        "from nashmon.train.evaluation import Evaluator\n"
        "if __name__ == '__main__':\n"
        "    evaluator = Evaluator(load_config(None))\n"
        "    evaluator._pool = None\n"
        "    from pathlib import Path\n"
        "    evaluator.submit(Path('nowhere'), 2)\n"
        "    time.sleep(0.5)\n"
        "    print(*evaluator._pool._processes, flush=True)\n"
        "    time.sleep(60)\n"
    )
    script = tmp_path / "parent.py"
    script.write_text(code)
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    worker = int(parent.stdout.readline())
    time.sleep(4.0)  # the worker imports what it needs, then watches
    parent.kill()
    parent.wait()
    parent.stdout.close()
    for _ in range(100):
        time.sleep(0.2)
        if not Path(f"/proc/{worker}").exists():
            break
    else:
        pytest.fail("the evaluation process is still there")
