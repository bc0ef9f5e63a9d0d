"""The engine against Showdown: same teams, seed and choices give the same battle."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from gen1_differential import KINDS, Job, Oracle, compare, make_jobs, minimise

from nashmon.sim.gen1 import tables as tb

REGRESSIONS = Path(__file__).parent / "gen1_regressions.json"


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    made = Oracle()
    yield made
    made.close()


def check(oracle: Oracle, job: Job, knowledge: bool) -> Counter[str]:
    """Fail with a minimised battle on a difference; returns how often each move was used."""
    (played,) = oracle.play([job])
    assert "error" not in played, played["error"]
    problem = compare(job, played, knowledge)
    if problem:
        short, problem = minimise(oracle, job, played)
        pytest.fail(f"{problem}\n\nminimised: {short.to_json()}")
    lines = (line for step in played["steps"] for line in step["log"])
    return Counter(line.split("|")[3] for line in lines if line.startswith("|move|"))


@pytest.mark.parametrize("kind", KINDS)
def test_battles_are_equal(oracle: Oracle, kind: str) -> None:
    """Every line, every roll of the generator, every mask."""
    for job in make_jobs(kind, seed=1, count=40):
        check(oracle, job, knowledge=False)


@pytest.mark.parametrize("kind", KINDS)
def test_knowledge_is_the_trackers(oracle: Oracle, kind: str) -> None:
    """Requests, states and observations as well."""
    for job in make_jobs(kind, seed=2, count=4):
        check(oracle, job, knowledge=True)


@pytest.mark.parametrize("case", json.loads(REGRESSIONS.read_text()), ids=lambda case: case["name"])
def test_found_differences_stay_mended(oracle: Oracle, case: dict[str, object]) -> None:
    job = dict(case)
    job.pop("name")
    for name in ("seed", "teams"):
        job[name] = tuple(job[name])  # type: ignore[arg-type]
    check(oracle, Job(**job), knowledge=True)  # type: ignore[arg-type]


def test_a_difference_is_found(oracle: Oracle) -> None:
    """The comparison itself can fail: one changed roll shows."""
    (job,) = make_jobs("wild", seed=3, count=1)
    (played,) = oracle.play([job])
    changed = Job((job.seed[0] ^ 1, *job.seed[1:]), job.teams, job.pick, job.switches)
    assert compare(changed, played, knowledge=False) is not None


@pytest.mark.slow
def test_twenty_thousand_battles(oracle: Oracle) -> None:
    """About an hour; each move is used at least 500 times."""
    uses: Counter[str] = Counter()
    plan = {"wild": 7000, "focus": 8000, "random": 3500, "teams": 1500}
    for kind, count in plan.items():
        for number, job in enumerate(make_jobs(kind, seed=4, count=count)):
            uses += check(oracle, job, knowledge=number % 4 == 0)
    rare = {name: uses[name] for name in tb.MOVE_NAMES[1:166] if uses[name] < 500}
    assert not rare
