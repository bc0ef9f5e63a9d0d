"""PSRO interrupted at every write, and killed: nothing is lost, nothing is played twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nashmon.league.cells import Cells, Job
from nashmon.league.journal import Journal, JournalError
from nashmon.league.oracles import ExactMatrix
from nashmon.league.payoff import Rates
from nashmon.league.population import Member, Population
from nashmon.league.psro import PSRO
from nashmon.league.rounds import PSROConfig
from nashmon.match.cells import CellStore, Conditions
from nashmon.match.statistics import Record

CONDITIONS = Conditions("exact", "", "", 3, 0)
SEED, ROUNDS, GAMES = 5, 2, 10


def game() -> ExactMatrix:
    upper = np.triu(np.random.default_rng(SEED).uniform(0.05, 0.95, (8, 8)), 1)
    return ExactMatrix(upper + np.tril(1 - upper.T, -1) + 0.5 * np.eye(8))


class League:
    """A league in a directory whose games are drawn from a matrix."""

    def __init__(self, folder: Path, variant: str = "psro", pause: float = 0.0) -> None:
        self.game, self.played, self.pause = game(), list[Job](), pause
        path = folder / "population.json"
        self.population = (
            Population.open(path) if path.exists() else Population.create(path, "exact")
        )
        self.cells = Cells(CellStore(folder, CONDITIONS), self.games, batch=5)
        start = self.population.add(self.game.pure(0))
        oracles = replace(self.game.oracles(), play=self.play, enlist=self.population.add)
        config = PSROConfig(rounds=ROUNDS, variant=variant, stages=2, min_gain=-1.0, solver="lp")
        self.psro = PSRO(config, [start], oracles, Journal(folder))

    def games(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Record]]:
        members = {member.id: member for member in self.population.all_members()}
        for pair, (start, stop) in jobs:
            time.sleep(self.pause)
            first, second = (self.game.strategy(members[agent.spec]) for agent in pair)
            chance = first @ self.game.win_rates @ second
            names = [*pair[0].spec.encode(), *pair[1].spec.encode(), start]
            won = int((np.random.default_rng(names).random(2 * (stop - start)) < chance).sum())
            self.played.append((pair, (start, stop)))
            yield (pair, (start, stop)), Record(won, 0, 2 * (stop - start) - won)

    def play(self, members: Sequence[Member]) -> Rates:
        wanted = dict.fromkeys(combinations(range(len(members)), 2), GAMES)
        return Rates.of(self.cells.fill(members, wanted))


def artefacts(folder: Path) -> dict[str, Any]:
    """Every file, without what depends on the clock."""
    found = {}
    for path in sorted(folder.rglob("*.json")):
        if path.name.startswith("."):
            continue  # left half-written by a crash, never read
        data = json.loads(path.read_text())
        if "round" in data:
            del data["round"]["seconds"]
        found[str(path.relative_to(folder))] = data
    return found


class Crash(BaseException):
    """The power goes out."""


@pytest.mark.parametrize("variant", ["psro", "selfplay", "pipeline", "descent"])
@pytest.mark.parametrize("stored", [False, True], ids=["before", "after"])
def test_a_crash_at_any_write_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variant: str, stored: bool
) -> None:
    whole = League(tmp_path / "whole", variant)
    list(whole.psro.run())
    expected, rename = artefacts(tmp_path / "whole"), Path.replace
    played: list[Job] = []
    crashes = 0

    def session() -> bool:
        """Run until a file is to be replaced a second time, or (`stored`) was once."""
        writes = 0

        def dying(self: Path, target: Path) -> Path:
            nonlocal writes
            writes += 1
            if stored or writes == 1:
                rename(self, target)
            if stored or writes == 2:
                raise Crash
            return target

        monkeypatch.setattr(Path, "replace", dying)
        league = None
        try:
            league = League(tmp_path / "cut", variant)
            list(league.psro.run())
        except Crash:
            return False
        finally:
            played.extend([] if league is None else league.played)
        return True

    while not session():
        crashes += 1
    monkeypatch.setattr(Path, "replace", rename)
    assert crashes >= len(expected) - 1
    assert artefacts(tmp_path / "cut") == expected
    assert set(played) == set(whole.played)
    if stored:  # every finished batch was kept: none was played twice
        assert len(played) == len(whole.played)


SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_resume import League
list(League(Path({folder!r}), "psro", 0.02).psro.run())
"""


def test_kill_9_loses_no_finished_batch(tmp_path: Path) -> None:
    list(League(tmp_path / "whole").psro.run())
    folder = tmp_path / "cut"
    code = SCRIPT.format(tests=str(Path(__file__).parent), folder=str(folder))
    process = subprocess.Popen([sys.executable, "-c", code])
    cells = folder / "cells"
    deadline = time.monotonic() + 300
    while len(list(cells.glob("*/[0-9]*.json"))) < 3:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    kept = {path: path.read_text() for path in cells.glob("*/[0-9]*.json")}
    assert kept != {}
    league = League(folder)
    list(league.psro.run())
    assert all(path.read_text() == text for path, text in kept.items())
    assert artefacts(folder) == artefacts(tmp_path / "whole")
    assert len(league.played) + len(kept) == len(list(cells.glob("*/[0-9]*.json")))


def test_a_damaged_step_is_named(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    assert journal.once("a/b", lambda: {"x": 1}) == {"x": 1}
    assert journal.once("a/b", lambda: {"x": 2}) == {"x": 1}
    (tmp_path / "a" / "b.json").write_text("{")
    with pytest.raises(JournalError, match=r"a/b\.json is damaged"):
        journal.once("a/b", lambda: {"x": 2})
