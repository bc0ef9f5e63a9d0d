"""PSRO and distillation on real battles; the budgets show that they run, not that they win."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from nashmon.agents.neural import NeuralAgent
from nashmon.agents.specs import get_agent, zoo
from nashmon.core.settings import override, read_settings
from nashmon.league.analysis import analyse
from nashmon.league.population import make_member
from nashmon.league.rounds import Measured, Round, Task
from nashmon.nets.build import load_policy
from nashmon.review.psro import PSROReport, psro_page
from nashmon.train.config import RunConfig
from nashmon.train.distil import DistilConfig, distil
from nashmon.train.offline_response import OfflineError, OfflinePlan, train_offline
from nashmon.train.oracles import BattleOracle, OracleConfig
from nashmon.train.psro import League, LeagueConfig, LeagueError
from nashmon.train.responses import response_run, train_response

RUN = [
    "threads=1",
    "network.options={memory: none, width: 32, entity_width: 16}",
    "rollout.battles=16",
    "rollout.steps=8",
    "rollout.turn_limit=100",
    "teams.train=[competitive]",
    "ppo.num_minibatches=2",
]
LEAGUE = [
    *(f"run.{line}" for line in RUN),
    "agents=[scripted:random, scripted:maxpower]",
    "psro={rounds: 2, solver: lp, min_gain: -1.0}",
    "oracle.updates=3",
    "payoff={games: 16, workers: 0, turn_limit: 100}",
]


def settings(*changes: str) -> LeagueConfig:
    return read_settings(LeagueConfig, override({}, [*LEAGUE, *changes]))


def test_two_rounds_on_gen1ou(tmp_path: Path) -> None:
    league = League.create(settings(), tmp_path)
    rounds = [found for found in league.run() if isinstance(found, Round)]
    assert [result.added for result in rounds] == [("r001",), ("r002",)]
    assert rounds[1].games == 6 * 16  # of every pair among four
    members, mixture, rates = league.rates()
    assert len(members) == 4 and mixture.sum() == pytest.approx(1.0)
    assert league.population.get("r002").provenance["updates"] == 3
    # The second response started from the first, the only network there was.
    assert league.population.get("r002").parents[0] == "r001"
    get_agent(f"mixture:{tmp_path / 'mixture.json'}", "gen1ou")
    again = League.open(tmp_path)
    assert list(again.run()) == rounds
    solved = analyse(rates.agents, rates.win_rates, table=rates.table, samples=5)
    page = psro_page(PSROReport("PSRO", members, rounds, rates, solved))
    for name in ("Exploitability by round", "r002", "Who was trained against whom", "Control"):
        assert name in page
    with pytest.raises(LeagueError, match="already holds"):
        League.create(settings(), tmp_path)


@pytest.mark.parametrize("workers", [0, 2])
def test_rounds_the_last_mixture_and_the_control_are_measured_alike(
    tmp_path: Path, workers: int
) -> None:
    measure = "measure={updates: 2, inits: [victim, scratch], selection_games: 4, games: 8}"
    plan = settings(
        "psro={rounds: 1, solver: lp, min_gain: -1.0}", measure, f"measure.workers={workers}"
    )
    league = League.create(plan, tmp_path)
    results = list(league.run(control=True))
    measured = [found for found in results if isinstance(found, Measured)]
    assert [found.name for found in measured] == ["001", "final", "control"]
    assert all(found.games == 8 and found.gain.low <= found.gain.high for found in measured)
    control = league.population.get("control")
    spent = league.population.get("r001").provenance["decisions"]
    batch = 2 * 16 * 8  # self-play learns from both seats; the last update may go beyond
    assert spent <= control.provenance["trained_on"] < spent + batch
    again = League.open(tmp_path)
    stored = list(again.run(control=True))  # measurements beside the rounds may come later
    assert sorted(stored, key=repr) == sorted(results, key=repr)
    members, _, rates = again.rates()
    rounds = [found for found in results if isinstance(found, Round)]
    solved = analyse(rates.agents, rates.win_rates, table=rates.table, samples=5)
    against = again.against_mixture(control)
    page = psro_page(PSROReport("PSRO", members, rounds, rates, solved, measured, against))
    assert "Exploitability, measured" in page and "exploitability of the control" in page


def test_an_agent_named_by_a_relative_path_is_found_from_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(zoo()["gen1ou-magnet"], tmp_path / "start")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(tmp_path)
    plan = settings(
        "agents=[scripted:random, 'run:start']",
        "psro={rounds: 1, solver: lp, min_gain: -1.0}",
        "oracle.updates=1",
        "measure={updates: 1, inits: [victim], selection_games: 4, games: 8, workers: 1}",
    )
    results = list(League.create(plan, Path("league")).run())
    round_1, measured = results[0], results[1:]
    assert isinstance(round_1, Round) and round_1.mixture == (0.0, 1.0)  # of the run alone
    assert len(measured) == 2 and all(isinstance(found, Measured) for found in measured)
    monkeypatch.chdir(elsewhere)
    assert list(League.open(tmp_path / "league").run()) == results
    get_agent(f"mixture:{tmp_path / 'league' / 'mixture.json'}", "gen1ou")


def test_a_killed_response_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    run = response_run(
        read_settings(RunConfig, override({}, RUN)), [("scripted:random", 1.0)], "scratch", 4, 3
    )

    class Killed(BaseException):
        pass

    def killer(update: int, rate: float) -> None:
        if update == 3:
            raise Killed

    whole = train_response(run, tmp_path / "whole", every=1)
    with pytest.raises(Killed):
        train_response(run, tmp_path / "cut", every=1, watch=killer)
    seen: list[int] = []
    cut = train_response(run, tmp_path / "cut", every=1, watch=lambda u, r: seen.append(u))
    assert seen == [4]
    facts = [[(p.updates, p.decisions, p.win_rate) for p in r.curve] for r in (whole, cut)]
    assert facts[0] == facts[1]
    one, two = (load_policy(tmp_path / name / "policy")[0] for name in ("whole", "cut"))
    for name, tensor in one.state_dict().items():
        assert torch.equal(tensor, two.state_dict()[name]), name
    # It is done: nothing is trained again, unless something else is asked for.
    train_response(run, tmp_path / "cut", every=1, watch=lambda u, r: seen.append(u))
    assert seen == [4]
    train_response(
        replace(run, seed=4), tmp_path / "cut", every=4, watch=lambda u, r: seen.append(u)
    )
    assert seen == [4, 1, 2, 3, 4]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "changes", "added"),
    [
        ("pipeline", ["psro.stages=2"], ["r001v001", "r002v002"]),
        ("nfsp", ["oracle={average: network, distil: {updates: 2}}"], ["r001", "a001"]),
        ("descent", ["agents=[scripted:random, zoo:gen1ou-magnet]"], ["x001", "d001"]),
    ],
)
def test_variants_run_on_battles(
    tmp_path: Path, variant: str, changes: list[str], added: list[str]
) -> None:
    rounds = 2 if variant == "pipeline" else 1
    tiny = [f"psro.rounds={rounds}", f"psro.variant={variant}", "oracle.updates=1"]
    league = League.create(settings(*tiny, *changes, "payoff.games=4"), tmp_path)
    results = [found for found in league.run() if isinstance(found, Round)]
    assert [name for result in results for name in result.added] == added
    members, mixture = league.psro.final()
    if variant != "pipeline":
        assert members[int(mixture.argmax())].id == added[-1]
        assert isinstance(get_agent(members[-1].spec, "gen1ou"), NeuralAgent)


@pytest.mark.slow
def test_pipeline_responses_train_in_processes(tmp_path: Path) -> None:
    run = read_settings(RunConfig, override({}, RUN))
    oracle = BattleOracle(run, OracleConfig(updates=1, workers=2), tmp_path)
    foe = make_member("scripted:random", "gen1ou", "foe")
    tasks = [Task(f"t{i}", ((foe, 1.0),), (foe,), i, {}) for i in (1, 2)]
    found = {task.name: member.id for task, member in oracle.train_all(tasks)}
    assert found == {"t1": "t1", "t2": "t2"}
    # Who trains it does not matter.
    alone = BattleOracle(run, OracleConfig(updates=1), tmp_path / "alone").train(tasks[0])
    one, two = (
        load_policy(folder / "agents" / "t1" / "policy")[0]
        for folder in (tmp_path, tmp_path / "alone")
    )
    assert alone.kind == "response"
    for name, tensor in one.state_dict().items():
        assert torch.equal(tensor, two.state_dict()[name]), name


def test_an_offline_response_learns_from_collected_and_other_battles(tmp_path: Path) -> None:
    run = replace(read_settings(RunConfig, override({}, RUN)), seed=1)
    torch.manual_seed(1)
    first = response_run(run, [("scripted:random", 1.0)], "scratch", 1, 1)
    init = train_response(first, tmp_path / "init").agent
    plan = OfflinePlan(trajectories=60, updates=3, columns=8)
    spec, facts = train_offline("scripted:random", init, run, plan, tmp_path / "a")
    assert isinstance(get_agent(spec, "gen1ou"), NeuralAgent)
    assert 0 < facts["trajectories"] < 60 and facts["others"] == 0  # one seat of two
    mixed = replace(plan, others=str(tmp_path / "a" / "data"), share=0.5)
    _, facts = train_offline("scripted:random", init, run, mixed, tmp_path / "b")
    assert facts["others"] == 60
    with pytest.raises(OfflineError, match="not a network"):
        train_offline("scripted:random", "scripted:maxpower", run, plan, tmp_path / "c")


def test_a_directory_without_a_league_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LeagueError, match="is not a league"):
        League.open(tmp_path)


def test_descent_needs_a_network_to_improve(tmp_path: Path) -> None:
    with pytest.raises(LeagueError, match="scripted:maxpower is no network"):
        League.create(settings("psro.variant=descent"), tmp_path)
    assert not (tmp_path / "league.yaml").exists()


def test_a_distilled_network_plays_like_its_mixture(tmp_path: Path) -> None:
    """Imitating one deterministic script is learnable: accuracy rises with updates."""
    mixture = tmp_path / "mixture.json"
    agents = [{"spec": "scripted:maxpower", "probability": 1.0}]
    mixture.write_text(json.dumps({"format": "gen1ou", "agents": agents}))
    run = read_settings(RunConfig, override({}, RUN))
    seen: list[float] = []
    spec = distil(
        f"mixture:{mixture}",
        run,
        DistilConfig(updates=30, learning_rate=3e-3),
        tmp_path / "net",
        watch=lambda update, metrics: seen.append(metrics["bc_loss"]),
    )
    torch.set_num_threads(1)
    assert sum(seen[-5:]) < 0.85 * sum(seen[:5])
    assert isinstance(get_agent(spec, "gen1ou"), NeuralAgent)
