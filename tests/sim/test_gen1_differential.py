"""The engine against Showdown: same teams, seed and choices give the same battle."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import tee
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


def check(oracle: Oracle, jobs: Iterable[Job], every: int) -> Counter[str]:
    """Fail with a minimised battle on a difference; returns how often each move was used.

    Knowledge is compared in one of `every` battles.
    """
    ahead, given = tee(jobs)
    uses: Counter[str] = Counter()
    for number, (job, played) in enumerate(zip(given, oracle.play(ahead), strict=True)):
        assert "error" not in played, played["error"]
        if compare(job, played, knowledge=number % every == 0):
            short, problem = minimise(Oracle(), job, played)
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
    """Requests, states and observations as well."""
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


@pytest.mark.slow
def test_twenty_thousand_battles(oracle: Oracle) -> None:
    """Some twenty minutes; each move is used at least 500 times."""
    uses: Counter[str] = Counter()
    plan = {"wild": 7000, "focus": 8000, "random": 3500, "teams": 1500}
    for kind, count in plan.items():
        begun = time.monotonic()
        uses += check(oracle, make_jobs(kind, seed=4, count=count), every=4)
        seconds = time.monotonic() - begun
        print(f"{kind}: {count} battles, {sum(uses.values())} moves so far, {seconds:.0f} s")
    counts = {name: uses[name] for name in tb.MOVE_NAMES[1:166]}
    rarest = sorted(counts, key=lambda name: counts[name])[:5]
    print("rarest moves:", ", ".join(f"{name} {counts[name]}" for name in rarest))
    assert counts[rarest[0]] >= 500
