from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from nashmon.league.cells import Cells, Job, battles_of, entrant
from nashmon.league.oracles import ExactMatrix
from nashmon.league.payoff import PayoffTable, allocate_games
from nashmon.league.payoff_files import read_rates, write_table
from nashmon.league.population import Member, make_member
from nashmon.match.cells import CellStore, Conditions
from nashmon.match.metagame import PayoffError
from nashmon.match.statistics import Record
from nashmon.match.tournament import TournamentConfig, conditions_of

RPS = np.array([[0.5, 0.1, 0.9], [0.9, 0.5, 0.2], [0.1, 0.8, 0.5]])
CONDITIONS = Conditions("exact", "", "", 3, 0)


def sampled(jobs: Sequence[Job]) -> Iterator[tuple[Job, Record]]:
    """Games of a biased rock-paper-scissors; the dice follow from the place of the batch."""
    for pair, (start, stop) in jobs:
        first, second = (int(agent.spec.removeprefix("pure")) for agent in pair)
        wins = np.random.default_rng([first, second, start]).random(2 * (stop - start))
        won = int((wins < RPS[first, second]).sum())
        yield (pair, (start, stop)), Record(won, 0, len(wins) - won)


@pytest.fixture
def members() -> list[Member]:
    game = ExactMatrix(RPS)
    return [game.pure(i) for i in range(3)]


def table_of(games: int = 100) -> PayoffTable:
    records = {
        (i, j): Record(round(games * RPS[i, j]), 0, games - round(games * RPS[i, j]))
        for i, j in combinations(range(3), 2)
    }
    return PayoffTable.of_records(("r", "p", "s"), records)


def test_only_missing_games_are_played(tmp_path: Path, members: list[Member]) -> None:
    played: list[Job] = []

    def counting(jobs: Sequence[Job]) -> Iterator[tuple[Job, Record]]:
        played.extend(jobs)
        yield from sampled(jobs)

    cells = Cells(CellStore(tmp_path, CONDITIONS), counting, batch=10)
    wanted = dict.fromkeys(combinations(range(3), 2), 40)
    first = cells.fill(members, wanted)
    assert len(played) == 6 and (np.triu(first.games, 1).sum()) == 120
    cells.fill(members, wanted)
    assert len(played) == 6
    more = cells.fill(members, wanted | {(0, 2): 60})
    assert len(played) == 7 and more.games[0, 2] == 60
    # A new member asks for its own cells alone.
    newcomer = ExactMatrix(RPS).pure(0, "pure00")
    cells.fill([*members, newcomer], dict.fromkeys(combinations(range(4), 2), 40))
    assert all(entrant(newcomer) in pair for pair, _ in played[7:]) and len(played) == 13


def test_a_crash_between_batches_loses_and_repeats_nothing(
    tmp_path: Path, members: list[Member]
) -> None:
    wanted = dict.fromkeys(combinations(range(3), 2), 40)
    whole = Cells(CellStore(tmp_path / "whole", CONDITIONS), sampled, 10).fill(members, wanted)

    def dying(jobs: Sequence[Job]) -> Iterator[tuple[Job, Record]]:
        for number, result in enumerate(sampled(jobs)):
            if number == 2:
                raise KeyboardInterrupt
            yield result

    store = CellStore(tmp_path / "cut", CONDITIONS)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            Cells(store, dying, 10).fill(members, wanted)
    assert np.triu(Cells(store, dying, 10).table(members).games).sum() == 80
    rest = Cells(store, sampled, 10).fill(members, wanted)
    for name in ("wins", "draws", "games"):
        np.testing.assert_array_equal(getattr(rest, name), getattr(whole, name))


def test_real_battles_fill_a_table(tmp_path: Path) -> None:
    members = [make_member(spec, "gen1ou", spec) for spec in ("random", "maxpower")]
    conditions = conditions_of(TournamentConfig(("a", "b"), games=8))
    cells = Cells(CellStore(tmp_path, conditions), battles_of(lambda: members, conditions, 0))
    table = cells.fill(members, {(0, 1): 8})
    assert table.games[0, 1] == 8
    assert table.win_rates[1, 0] > 0.5


def test_games_go_to_the_widest_cells() -> None:
    records = {(0, 1): Record(5, 0, 5), (0, 2): Record(98, 0, 2), (1, 2): Record(50, 0, 50)}
    table = PayoffTable.of_records(("a", "b", "c"), records)
    wanted = allocate_games(table, 10, budget=60, batch=10)
    assert wanted[0, 1] == 70 and wanted[0, 2] == 100 and wanted[1, 2] == 100
    assert allocate_games(table, 10, target=0.2, budget=60, batch=10)[0, 1] == 10
    with pytest.raises(PayoffError, match="even"):
        allocate_games(table, 9)


def test_posterior_of_the_counts() -> None:
    table = table_of()
    low, high = table.interval()
    assert (low <= table.win_rates).all() and (table.win_rates <= high).all()
    np.testing.assert_allclose(low + high.T, 1.0, atol=1e-9)
    rng = np.random.default_rng(0)
    drawn = np.array([table.draw(rng) for _ in range(500)])
    np.testing.assert_allclose(drawn + drawn.transpose(0, 2, 1), 1.0)
    np.testing.assert_allclose(drawn.std(0), table.deviation, atol=0.01)
    # Nothing known: anything is possible.
    low, high = PayoffTable.empty(("a", "b")).interval()
    assert low[0, 1] < 0.01 and high[0, 1] > 0.99


@pytest.mark.parametrize("ending", ["json", "csv", "npz"])
def test_files_give_back_the_counts(tmp_path: Path, ending: str) -> None:
    table, path = table_of(), tmp_path / f"t.{ending}"
    write_table(path, table)
    rates = read_rates(path)
    assert rates.agents == table.agents and rates.table is not None
    np.testing.assert_array_equal(rates.table.wins, table.wins)
    np.testing.assert_allclose(rates.win_rates, table.win_rates)


def test_rates_without_counts(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("agent,a,b\na,0.5,0.7\nb,0.3,0.5\n")
    rates = read_rates(path)
    assert rates.agents == ("a", "b") and rates.table is None
    assert rates.win_rates[0, 1] == 0.7


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.csv", "agent,a,b\na,0.5,0.7\nb,0.4,0.5\n", "do not sum to 1"),
        ("t.csv", "agent,a,b\na,0.5,\nb,0.4,0.5\n", "not a payoff table"),
        ("t.csv", "agent,a,b\na,0.5,0.7\nc,0.3,0.5\n", "differ from columns"),
        (
            "t.csv",
            "first,second,wins,draws,games\na,b,3,0,4\nb,c,1,0,2\n",
            "a – c was never played",
        ),
        ("t.csv", "first,second,wins,draws,games\na,b,5,0,4\n", "5 wins and 0 draws of 4"),
        ("t.csv", "first,second,wins,draws,games\na,b,1,0,2\nb,a,1,0,2\n", "stands twice"),
        ("t.json", '{"agents": ["a"]}', "not a payoff table"),
        ("t.txt", "", "ends in"),
    ],
)
def test_wrong_files_are_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(PayoffError, match=message):
        read_rates(path)


def test_contradicting_counts_are_refused() -> None:
    table = table_of()
    wins = table.wins.copy()
    wins[0, 1] += 1
    with pytest.raises(PayoffError, match="r – p: wins and draws sum to 101 of 100"):
        PayoffTable(table.agents, wins, table.draws, table.games)
    with pytest.raises(PayoffError, match="no agent 'x'"):
        table.restricted(["r", "x"])
    assert table.restricted(["s", "r"]).win_rates[0, 1] == pytest.approx(0.1)
