import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nashmon.match.allocate import allocate, rating_variances
from nashmon.match.cells import CellError, CellStore, Conditions, Entrant
from nashmon.match.standings import standings
from nashmon.match.statistics import Record
from nashmon.match.tournament import Results, Tournament, TournamentConfig, TournamentError
from nashmon.review.tournament import tournament_page

CONDITIONS = Conditions("gen1ou", "", "teams", 1, 1000)
A, B = Entrant("a", "1"), Entrant("b", "1")
AGENTS = ("scripted:random", "scripted:maxpower", "pokeenv:RandomPlayer")


def files(directory: Path) -> dict[str, str]:
    return {str(f.relative_to(directory)): f.read_text() for f in directory.rglob("*.json")}


def test_a_stored_record_is_seen_from_either_side(tmp_path: Path) -> None:
    store = CellStore(tmp_path, CONDITIONS)
    store.add((B, A), (0, 2), Record(3, 0, 1, pairs=(0, 0, 1, 0, 1)))
    assert store.record((B, A)) == Record(3, 0, 1, pairs=(0, 0, 1, 0, 1))
    assert store.record((A, B)) == Record(1, 0, 3, pairs=(1, 0, 1, 0, 0))
    with pytest.raises(CellError, match="already stored"):
        store.add((A, B), (1, 3), Record(4, 0, 0))


def test_missing_games_are_the_gaps(tmp_path: Path) -> None:
    store = CellStore(tmp_path, CONDITIONS)
    assert store.missing((A, B), 5, 2) == [(0, 2), (2, 4), (4, 5)]
    store.add((A, B), (2, 4), Record(4, 0, 0))
    assert store.missing((A, B), 5, 2) == [(0, 2), (4, 5)]
    assert store.missing((A, B), 3, 2) == [(0, 2)]
    # Another fingerprint, seed or team set is another cell.
    assert store.missing((A, Entrant("b", "2")), 2, 2) == [(0, 2)]
    other = CellStore(tmp_path, Conditions("gen1ou", "", "teams", 2, 1000))
    assert other.missing((A, B), 2, 2) == [(0, 2)]


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    store = CellStore(tmp_path, CONDITIONS)
    store.add((A, B), (0, 1), Record(1, 0, 1))
    (file,) = tmp_path.rglob("*.json")
    file.write_text(file.read_text()[:50])
    with pytest.raises(CellError, match=file.name):
        store.record((A, B))


def test_only_missing_games_are_played_and_agents_can_be_added(tmp_path: Path) -> None:
    played: list[int] = []

    def run(*agents: str, games: int) -> Results:
        played.clear()
        config = TournamentConfig(agents, games=games, workers=0, turn_limit=60)
        return Tournament(config, tmp_path).run(lambda done, total: played.append(total))

    first = run(*AGENTS[:2], games=4)
    assert played == [4] and first.games[0, 1] == 4
    before = files(tmp_path)
    again = run(*AGENTS[1::-1], games=4)  # the order of names changes nothing
    assert not played and files(tmp_path) == before
    assert again.records[1, 0] == first.records[0, 1]
    more = run(*AGENTS, games=6)
    assert sum(file not in before for file in files(tmp_path)) == 3
    assert (more.games[np.triu_indices(3, 1)] == 6).all()
    assert before.items() <= files(tmp_path).items()


def test_the_same_seed_gives_the_same_games_wherever_they_run(tmp_path: Path) -> None:
    config = TournamentConfig(AGENTS[:2], games=4, workers=0, turn_limit=60)
    first = Tournament(config, tmp_path / "a").run()
    second = Tournament(config, tmp_path / "b").run()
    assert first.records == second.records
    assert files(tmp_path / "a").keys() == files(tmp_path / "b").keys()


@pytest.mark.slow
def test_a_killed_tournament_goes_on_to_the_result_of_an_undisturbed_one(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from nashmon.cli.main import main; main()", "tournament"]
    command += [*AGENTS, "--games", "200", "--workers", "2", "--out"]
    process = subprocess.Popen([*command, str(tmp_path / "a")], start_new_session=True)
    while len(files(tmp_path / "a")) < 2 and process.poll() is None:
        time.sleep(0.05)
    assert process.poll() is None, "it was over before it could be killed"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    kept = files(tmp_path / "a")
    assert 0 < len(kept) < 6
    for name in ("a", "b"):
        subprocess.run([*command, str(tmp_path / name)], check=True, capture_output=True)
    a, b = (results_of(tmp_path / name) for name in ("a", "b"))
    assert kept.items() <= files(tmp_path / "a").items()
    assert a == b


def results_of(directory: Path) -> dict[str, Record]:
    return {k: Record.from_dict(json.loads(v)["record"]) for k, v in files(directory).items()}


BROKEN = """
import os
from poke_env.player import RandomPlayer

class Dies(RandomPlayer):
    def choose_move(self, battle):
        {body}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "message"),
    [("raise RuntimeError('no idea')", "no idea"), ("os._exit(3)", "terminated abruptly")],
)
def test_a_workers_failure_is_one_error_and_finished_games_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, message: str
) -> None:
    (tmp_path / "broken_player.py").write_text(BROKEN.format(body=body))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    good = TournamentConfig(AGENTS[:2], games=100, workers=1, turn_limit=60)
    Tournament(good, tmp_path / "out").run()
    kept = files(tmp_path / "out")
    bad = (*AGENTS[:2], "pokeenv:broken_player.Dies")
    with pytest.raises(TournamentError, match=message):
        Tournament(
            TournamentConfig(bad, games=100, workers=2, turn_limit=60), tmp_path / "out"
        ).run()
    assert kept.items() <= files(tmp_path / "out").items()


def rock_paper_scissors(strong: int, games: int) -> Results:
    wins = {(0, 1): strong, (1, 2): strong, (2, 0): strong}
    records = {}
    for (i, j), won in wins.items():
        records[i, j] = Record(won, 0, games - won)
        records[j, i] = records[i, j].flipped()
    return Results(("rock", "scissors", "paper"), records)


def test_standings_of_a_cycle() -> None:
    table = standings(rock_paper_scissors(80, 100), samples=50)
    assert len(table.cycles) == 1 and set(table.cycles[0]) == {"rock", "scissors", "paper"}
    for row in table.rows:
        assert row.nash_weight == pytest.approx(1 / 3, abs=1e-3)
        assert row.alpha_mass == pytest.approx(1 / 3, abs=1e-3)
        assert row.rating.rating == pytest.approx(0.0, abs=1e-6)
        assert row.nash_skill.low <= row.nash_skill.rating <= row.nash_skill.high
        assert row.glicko.gxe == pytest.approx(50, abs=0.1)
    assert standings(rock_paper_scissors(52, 100), samples=10).cycles == ()


@settings(max_examples=8, deadline=None)
@given(st.integers(1, 20), st.lists(st.integers(0, 20), min_size=3, max_size=3))
def test_every_estimate_lies_inside_its_interval(games: int, wins: list[int]) -> None:
    records = {}
    for (i, j), won in zip([(0, 1), (0, 2), (1, 2)], wins, strict=True):
        records[i, j] = Record(min(won, games), 0, games - min(won, games))
        records[j, i] = records[i, j].flipped()
    table = standings(Results(("a", "b", "c"), records), samples=20)
    for row in table.rows:
        for estimate in (row.rating, row.nash_skill):
            assert estimate.low <= estimate.rating <= estimate.high
        low, high = row.total.interval
        assert low <= row.total.win_rate <= high
    assert (table.low <= table.win_rates + 1e-12).all()


def test_the_report_is_complete_and_needs_no_network() -> None:
    config = TournamentConfig(("rock", "scissors", "paper"), games=100)
    html = tournament_page(config, standings(rock_paper_scissors(80, 100), samples=20))
    assert "http" not in html and "src=" not in html
    for text in ("rock", "scissors", "paper", "80.0", "→", "decisions/s", "illegal", "seed"):
        assert text in html
    assert html.count("<svg") == 2


def test_further_games_go_where_they_lower_the_variance_most() -> None:
    games = np.array([[0, 1000, 1000], [1000, 0, 20], [1000, 20, 0]])
    scores = games / 2.0
    extra = allocate(scores, games, budget=400, batch=50)
    assert extra[1, 2] == extra.max() and np.triu(extra).sum() == 400
    games = np.array([[0, 100, 10, 10], [100, 0, 10, 10], [10, 10, 0, 10], [10, 10, 10, 0]])
    scores = games / 2.0
    chosen = games + allocate(scores, games, budget=600, batch=10)
    even = games + 100 * (1 - np.eye(4, dtype=np.int64))
    assert rating_variances(chosen / 2.0, chosen).sum() < rating_variances(even / 2.0, even).sum()


def test_a_budget_is_spent_once(tmp_path: Path) -> None:
    config = TournamentConfig(AGENTS[:2], games=2, budget=4, workers=0, turn_limit=30)
    assert Tournament(config, tmp_path).run().games[0, 1] == 6
    assert Tournament(config, tmp_path).run().games[0, 1] == 6


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"agents": ("random",)}, "two agents"),
        ({"agents": ("random", "random")}, "named twice"),
        ({"games": 3}, "even"),
        ({"games": 0}, "at least 2"),
    ],
)
def test_impossible_tournaments_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(TournamentError, match=message):
        TournamentConfig(**{"agents": ("random", "maxpower"), **changes})  # type: ignore[arg-type]
