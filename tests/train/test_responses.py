"""Best responses, automatic exploiters, iterated self-play and their reports, small."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

from nashmon.cli.main import app
from nashmon.league.exploiter import Registry
from nashmon.review.exploit import exploit_page
from nashmon.review.selfplay import selfplay_page
from nashmon.review.training import training_page
from nashmon.train.loop import Loop
from nashmon.train.responses import ResponseConfig, exploit
from nashmon.train.run import RunDirectory
from nashmon.train.selfplay import (
    SelfPlay,
    SelfPlayConfig,
    SelfPlayError,
    compare_rows,
    diversity,
    preset_run,
)

TINY = ResponseConfig(updates=2, inits=("scratch",), selection_games=4, fresh_games=8)


def test_response_trains_against_the_victim_only(small_config: Any, tmp_path: Path) -> None:
    config = small_config("rollout.steps=60")
    found = exploit(config, "scripted:random", TINY, tmp_path)
    assert found.record.games == 8 and len(found.responses) == 1
    last = found.responses[0].curve[-1]
    assert last.updates == 2 and last.games > 0
    # One seat of each battle learns: about half of what self-play would give.
    assert 0.3 < last.decisions / (2 * 60 * 16 * 2) < 0.6
    html = exploit_page(found)
    assert "Exploitability of scripted:random" in html and "<svg" in html


def test_responses_side_by_side_are_those_trained_in_turn(
    small_config: Any, tmp_path: Path
) -> None:
    config = small_config()
    plan = replace(TINY, inits=("scratch", "zoo:gen1ou-magnet"), curve_every=1)
    seen = []
    made = [
        exploit(
            config,
            "scripted:random",
            replace(plan, workers=workers),
            tmp_path / str(workers),
            lambda name, update, updates, rate: seen.append((name, update)),
        )
        for workers in (0, 2)
    ]
    first, second = (
        [
            (point.updates, point.decisions, point.win_rate)
            for r in found.responses
            for point in r.curve
        ]
        for found in made
    )
    assert first == second and len(first) == 4
    assert made[0].record == made[1].record
    assert {name for name, _ in seen} == {"scratch_0", "zoo_gen1ou-magnet_0"}


def test_automatic_exploiters_join_the_pool(small_config: Any, tmp_path: Path) -> None:
    plan = "exploiters={every: 3, updates: 1, games: 4, threshold: 0.0}"
    config = small_config(plan, "opponents={self_play: 0.5, exploiters: 0.5}")
    loop = Loop(RunDirectory.create(tmp_path / "a", config), config)
    messages = [event.message for event in loop.run() if event.message]
    assert sum("exploiter registered" in message for message in messages) == 2
    entries = Registry(tmp_path / "a" / "exploiter_registry.json").entries()
    assert [entry.update for entry in entries] == [3, 6]
    kinds = {name: entry.kind for name, entry in loop.trainer.pool.entries.items()}
    assert kinds == {entry.agent: "exploiters" for entry in entries}
    html = training_page(tmp_path / "a")
    assert "Entropy" in html and "http" not in html.replace("http://www.w3.org", "")


@pytest.mark.parametrize("moment", ["while it is trained", "after it joined"])
def test_exploiters_survive_a_crash(
    small_config: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """The exploiter of update 3 is trained behind the checkpoint of update 3."""

    class Killed(BaseException):
        pass

    def crash(*_: Any) -> None:
        raise Killed

    plan = "exploiters={every: 3, updates: 1, games: 4, threshold: 0.0}"
    config = small_config(plan, "opponents={self_play: 0.5, exploiters: 0.5}", "budget.updates=5")
    whole = Loop(RunDirectory.create(tmp_path / "whole", config), config)
    list(whole.run())
    cut = Loop(RunDirectory.create(tmp_path / "cut", config), config)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        if moment == "while it is trained":
            patch.setattr("nashmon.train.loop.exploit", crash)
        for event in cut.run():
            if event.progress is not None and event.progress.update == 4:
                cut.close()
                raise Killed
    resumed = Loop(RunDirectory.open(tmp_path / "cut"), config)
    resumed.resume()
    list(resumed.run())
    (entry,) = Registry(tmp_path / "cut" / "exploiter_registry.json").entries()
    assert entry.update == 3 and list(resumed.trainer.pool.entries) == [entry.agent]
    first, second = (loop.trainer.policy.state_dict() for loop in (whole, resumed))
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_iterated_selfplay_resumes_and_compares(small_config: Any, tmp_path: Path) -> None:
    plan = SelfPlayConfig(iterations=2, updates=2, games=4, opponents=("scripted:random",))
    for preset in ("baseline", "damped"):
        run = preset_run(small_config(), preset, 0)  # type: ignore[arg-type]
        whole = SelfPlay(run, plan, tmp_path / f"{preset}_0")
        steps = [(number, update) for number, update, _ in whole.run()]
        assert steps == [(1, 1), (1, 2), (2, 1), (2, 2)]
    rows = compare_rows(tmp_path)
    assert set(rows) == {"baseline_0", "damped_0"}
    for iterations in rows.values():
        assert [row["number"] for row in iterations] == [1, 2]
        assert all(row["kl"] >= 0 and row["entropy"] > 0 for row in iterations)
        assert iterations[0]["previous"] == [] and len(iterations[1]["previous"]) == 3
    longer = SelfPlayConfig(iterations=3, updates=2, games=4, opponents=("scripted:random",))
    more = SelfPlay(run, longer, tmp_path / "damped_0")
    assert [(number, update) for number, update, _ in more.run()] == [(3, 1), (3, 2)]
    distances = diversity(tmp_path / "damped_0", run)
    assert len(distances) == 3 and distances[0][0] == pytest.approx(0.0, abs=1e-6)
    assert distances[0][2] > 0
    html = selfplay_page(compare_rows(tmp_path), {"damped_0": distances})
    assert "Against the iteration before" in html
    with pytest.raises(SelfPlayError, match="updates per iteration"):
        SelfPlay(run, SelfPlayConfig(updates=5), tmp_path / "damped_0")


def test_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from small_run import SMALL

    monkeypatch.chdir(tmp_path)
    sets = [item for change in SMALL for item in ("-s", change)]
    runner = CliRunner()
    made = runner.invoke(app, ["config", "init", "a.yaml", *sets])
    assert made.exit_code == 0, made.output
    assert runner.invoke(app, ["config", "check", "a.yaml"]).exit_code == 0
    done = runner.invoke(app, ["train", "a.yaml", "--out", "run", "-s", "budget.updates=2"])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "run" / "report.html").exists()
    more = runner.invoke(app, ["train", "--resume", "run"])
    assert more.exit_code == 0, more.output
    bad = runner.invoke(app, ["train", "a.yaml", "--resume", "run"])
    assert bad.exit_code == 2
