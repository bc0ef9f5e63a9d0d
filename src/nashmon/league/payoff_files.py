"""Payoff tables in files: JSON, CSV and NumPy, with counts or with win rates alone.

.json   {"agents": […], "wins": [[…]], "draws": [[…]], "games": [[…]]} or {…, "win_rates": [[…]]}
.csv    first,second,wins,draws,games, one line per pair, or a matrix with the header agent,NAME,…
.npz    agents, wins, draws, games or agents, win_rates
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from nashmon.league.payoff import PayoffTable, Rates
from nashmon.match.cells import write_atomically
from nashmon.match.metagame import PayoffError, check_win_rates
from nashmon.match.statistics import Record

_COLUMNS = ["first", "second", "wins", "draws", "games"]


def read_rates(path: Path) -> Rates:
    """Read a table; an incomplete or contradictory one is an error that names the place."""
    if not path.is_file():
        raise PayoffError(f"there is no file {path}")
    readers = {".json": _read_json, ".csv": _read_csv, ".npz": _read_npz}
    if path.suffix not in readers:
        raise PayoffError(f"{path}: expected a name that ends in {', '.join(readers)}")
    try:
        rates = readers[path.suffix](path)
        check_win_rates(rates.win_rates)
        if len(rates.agents) != len(rates.win_rates):
            raise PayoffError(f"{len(rates.agents)} names, {len(rates.win_rates)} rows")
    except PayoffError as error:
        raise PayoffError(f"{path}: {error}") from error
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise PayoffError(f"{path} is not a payoff table: {error!r}") from error
    return rates


def write_table(path: Path, table: PayoffTable) -> None:
    """Write counts in the format of the name's ending."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".json":
        write_atomically(path, json.dumps(table.to_dict(), indent=1))
    elif path.suffix == ".csv":
        write_atomically(path, _csv_text(table))
    elif path.suffix == ".npz":
        names = np.array(table.agents)
        np.savez(path, agents=names, wins=table.wins, draws=table.draws, games=table.games)
    else:
        raise PayoffError(f"{path}: expected a name that ends in .json, .csv or .npz")


def _of(data: Any) -> Rates:
    agents = tuple(str(name) for name in data["agents"])
    if "win_rates" in data:
        return Rates(agents, np.array(data["win_rates"], dtype=np.float64))
    table = PayoffTable.from_dict(data)
    return Rates(agents, table.win_rates, table)


def _read_json(path: Path) -> Rates:
    return _of(json.loads(path.read_text(encoding="utf-8")))


def _read_npz(path: Path) -> Rates:
    with np.load(path, allow_pickle=False) as data:
        return _of(data)


def _read_csv(path: Path) -> Rates:
    lines = [row for row in csv.reader(io.StringIO(path.read_text(encoding="utf-8"))) if row]
    if not lines:
        raise PayoffError("the file is empty")
    if lines[0] == _COLUMNS:
        return _pairs(lines[1:])
    agents = tuple(lines[0][1:])
    names = tuple(row[0] for row in lines[1:])
    if names != agents:
        raise PayoffError(f"rows {', '.join(names)} differ from columns {', '.join(agents)}")
    for row in lines[1:]:
        if len(row) != len(lines[0]):
            raise PayoffError(f"row {row[0]} has {len(row) - 1} of {len(agents)} cells")
    return Rates(agents, np.array([[float(x) for x in row[1:]] for row in lines[1:]]))


def _pairs(lines: list[list[str]]) -> Rates:
    agents = tuple(dict.fromkeys(name for row in lines for name in row[:2]))
    records: dict[tuple[int, int], Record] = {}
    for row in lines:
        i, j = agents.index(row[0]), agents.index(row[1])
        if (i, j) in records or (j, i) in records or i == j:
            raise PayoffError(f"{row[0]} – {row[1]} stands twice in the file")
        wins, draws, games = (int(x) for x in row[2:])
        if min(wins, draws, games - wins - draws) < 0:
            raise PayoffError(
                f"{row[0]} – {row[1]}: {wins} wins and {draws} draws of {games} games"
            )
        records[i, j] = Record(wins, draws, games - wins - draws)
    table = PayoffTable.of_records(agents, records)
    return Rates(agents, table.win_rates, table)


def _csv_text(table: PayoffTable) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for i, first in enumerate(table.agents):
        for j in range(i + 1, len(table.agents)):
            counts = table.wins[i, j], table.draws[i, j], table.games[i, j]
            writer.writerow([first, table.agents[j], *map(int, counts)])
    return text.getvalue()
