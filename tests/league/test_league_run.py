"""PSRO and distillation on real battles; the budgets show that they run, not that they win."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from nashmon.agents.neural import NeuralAgent
from nashmon.agents.specs import get_agent
from nashmon.core.settings import override, read_settings
from nashmon.league.analysis import analyse
from nashmon.review.psro import PSROReport, psro_page
from nashmon.train.config import RunConfig
from nashmon.train.distil import DistilConfig, distil
from nashmon.train.psro import League, LeagueConfig, LeagueError

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
    rounds = list(league.run())
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


def test_a_directory_without_a_league_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LeagueError, match="is not a league"):
        League.open(tmp_path)


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
