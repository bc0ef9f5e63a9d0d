"""The engine against Showdown: same teams, seed and choices give the same battle."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import tee
from pathlib import Path
from typing import Any

import gen1_rewards
import numpy as np
import pytest
from gen1_differential import Oracle, compare, minimise
from gen1_jobs import KINDS, VARIETY_FORMATS, Job, make_jobs, variety_pool

from nashmon.core.rewards import Reward
from nashmon.sim.gen1 import calls, payoff
from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1 import tables as tb
from nashmon.sim.showdown.tools import validate_teams

REGRESSIONS = Path(__file__).parent / "gen1_regressions.json"


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    made = Oracle()
    yield made
    made.close()


def check(oracle: Oracle, jobs: Iterable[Job], every: int) -> Counter[str]:
    """Fail with a minimised battle on a difference; returns how often each move was used.

    Knowledge and rewards are compared in one of `every` battles.
    """
    ahead, given = tee(jobs)
    uses: Counter[str] = Counter()
    for number, (job, played) in enumerate(zip(given, oracle.play(ahead), strict=True)):
        assert "error" not in played, played["error"]
        if compare(job, played, knowledge=number % every == 0):
            spare = Oracle()  # the other one still owes battles
            short, problem = minimise(spare, job, played)
            spare.close()
            pytest.fail(f"{problem}\n\nminimised: {short.to_json()}")
        lines = (line for step in played["steps"] for line in step["log"])
        uses.update(line.split("|")[3] for line in lines if line.startswith("|move|"))
    return uses


NO_KNOWLEDGE = 1 << 30  # as `every`: in the first battle only


@pytest.mark.parametrize("kind", KINDS)
def test_battles_are_equal(oracle: Oracle, kind: str) -> None:
    """Every line, every roll of the generator, every mask."""
    check(oracle, make_jobs(kind, seed=1, count=40), NO_KNOWLEDGE)


@pytest.mark.parametrize("kind", KINDS)
def test_knowledge_is_the_trackers(oracle: Oracle, kind: str) -> None:
    """Requests, states, observations and rewards as well."""
    check(oracle, make_jobs(kind, seed=2, count=4), 1)


@pytest.mark.parametrize("case", json.loads(REGRESSIONS.read_text()), ids=lambda case: case["name"])
def test_found_differences_stay_mended(oracle: Oracle, case: dict[str, object]) -> None:
    job = dict(case)
    job.pop("name")
    for name in ("seed", "teams"):
        job[name] = tuple(job[name])  # type: ignore[arg-type]
    check(oracle, [Job(**job)], 1)  # type: ignore[arg-type]


def test_a_difference_is_found(oracle: Oracle) -> None:
    """The comparison itself can fail: one changed roll shows."""
    (job,) = make_jobs("wild", seed=3, count=1)
    (played,) = oracle.play([job])
    changed = Job((job.seed[0] ^ 1, *job.seed[1:]), job.teams, job.pick, job.switches)
    assert compare(changed, played, knowledge=False) is not None


@pytest.fixture(scope="module")
def shipped(oracle: Oracle) -> tuple[Job, dict[str, Any]]:
    """A battle of shipped teams with a winner, and Showdown's course of it."""
    (job,) = make_jobs("teams", seed=5, count=1)
    (played,) = oracle.play([job])
    assert compare(job, played) is None
    assert any(line.startswith("|win|") for line in played["steps"][-1]["log"])
    return job, played


def change_coefficient(monkeypatch: pytest.MonkeyPatch, place: int) -> None:
    """Let the kernels reckon with a slightly different number."""

    def changed(reward: Reward) -> np.ndarray:
        numbers = payoff.coefficients(reward)
        numbers[place] += 1e-4
        return numbers

    monkeypatch.setattr(gen1_rewards, "coefficients", changed)


@pytest.mark.parametrize("place", range(payoff.WIN, payoff.SHAPING + 1))
def test_a_changed_coefficient_is_found(
    shipped: tuple[Job, dict[str, Any]], monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    change_coefficient(monkeypatch, place)
    assert "reward" in (compare(*shipped) or "")
    assert compare(*shipped, knowledge=False) is None


@pytest.mark.parametrize(
    ("place", "change"),
    [(at.PARTY + at.M_HP, -1), (at.PARTY + at.M_STATUS, 1), (at.LEFT, -1), (at.SIDE + at.LEFT, -1)],
)
def test_a_changed_state_is_found(
    shipped: tuple[Job, dict[str, Any]], monkeypatch: pytest.MonkeyPatch, place: int, change: int
) -> None:
    """The kernels are shown a row in which one number is off."""
    reward_since = calls.reward_since

    def off(row: np.ndarray, *rest: Any) -> float:
        other = row.copy()
        other[place] = max(int(other[place]) + change, 0)
        return float(reward_since(other, *rest))

    monkeypatch.setattr(calls, "reward_since", off)
    assert "reward" in (compare(*shipped) or "")


def test_a_wrong_reward_is_minimised(
    oracle: Oracle, shipped: tuple[Job, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    change_coefficient(monkeypatch, payoff.HP)
    job, played = shipped
    short, problem = minimise(oracle, job, played)
    assert "reward" in problem
    assert short.choices is not None and 0 < len(short.choices) < len(played["steps"]) - 1
    (again,) = oracle.play([short])
    assert compare(short, again) == problem
    monkeypatch.undo()
    assert compare(short, again) is None


def test_variety_teams_are_legal_and_differ() -> None:
    teams = [(name, team) for name in sorted(set(VARIETY_FORMATS)) for team in variety_pool(name)]
    assert len(set(teams)) == len(teams)
    assert not any(validate_teams(teams))


@pytest.mark.slow
def test_twenty_thousand_battles(oracle: Oracle) -> None:
    """A quarter of an hour; each move is used at least 500 times."""
    uses: Counter[str] = Counter()
    plan = {"wild": 6500, "focus": 7500, "random": 2500, "teams": 1500, "variety": 2000}
    for kind, count in plan.items():
        begun = time.monotonic()
        uses += check(oracle, make_jobs(kind, seed=4, count=count), every=4)
        seconds = time.monotonic() - begun
        print(f"{kind}: {count} battles, {sum(uses.values())} moves so far, {seconds:.0f} s")
    counts = {name: uses[name] for name in tb.MOVE_NAMES[1:166]}
    rarest = sorted(counts, key=lambda name: counts[name])[:5]
    print("rarest moves:", ", ".join(f"{name} {counts[name]}" for name in rarest))
    assert counts[rarest[0]] >= 500
