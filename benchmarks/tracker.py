"""CPU time per decision of the tracker: lines, request, state; beside it poke-env's parser alone.

Transcripts of random battles are recorded through embedded Showdown first.  poke-env parses the
same lines and requests in turn with the tracker, so that the machine's mood cancels; where it fails
on every transcript of a format its column is 0.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import time
from pathlib import Path
from typing import Any

from poke_env.battle import Battle, DoubleBattle

from nashmon.core.formats import get_format
from nashmon.sim.tracker import Tracker

sys.path.append(str(Path(__file__).parents[1] / "tests" / "sim"))
from transcripts import NAMES, Moment, record_format

FORMATS = ["gen1randombattle", "gen4randombattle", "gen9ou", "gen9vgc2025regi"]
# Lines that poke-env's client keeps from its battles.
UNPARSED = {"", "t:", "win", "tie", "error", "expire", "-candynamax", "bigerror", "-primal"}
PARTS = ("feed", "request", "state")


def time_tracker(format_id: str, seat: int, moments: list[Moment], spent: dict[str, int]) -> None:
    clock = time.thread_time_ns
    tracker = Tracker(format_id, seat, *(NAMES if seat == 0 else NAMES[::-1]))
    for moment in moments:
        begin = clock()
        tracker.feed(moment.lines)
        fed = clock()
        tracker.request(moment.request)
        asked = clock()
        tracker.state()
        spent["feed"] += fed - begin
        spent["request"] += asked - fed
        spent["state"] += clock() - asked


def time_poke_env(format_id: str, seat: int, moments: list[Moment]) -> int | None:
    """Nanoseconds of its parser, None where it fails on the transcript."""
    rules = get_format(format_id)
    kind = Battle if rules.game_type == "singles" else DoubleBattle
    battle: Any = kind("battle", NAMES[seat], logging.getLogger("poke-env"), gen=rules.gen)
    spent = 0
    for moment in moments:
        begin = time.thread_time_ns()
        try:
            for line in moment.lines:
                parts = line.split("|")
                if len(parts) > 1 and parts[1] not in UNPARSED:
                    battle.parse_message(parts)
            battle.parse_request(moment.request)
        except (AssertionError, AttributeError, KeyError, NotImplementedError, ValueError):
            return None
        spent += time.thread_time_ns() - begin
    return spent


def measure(format_id: str, num_battles: int, repeats: int) -> dict[str, float]:
    battles = [
        (seat, moments[seat])
        for moments in record_format(format_id, num_battles)
        for seat in (0, 1)
    ]
    best: dict[str, float] = {}
    poke_env = []
    for _ in range(repeats):
        spent = dict.fromkeys(PARTS, 0)
        parsed = decisions = 0
        for seat, moments in battles:
            time_tracker(format_id, seat, moments, spent)
            other = time_poke_env(format_id, seat, moments)
            if other is not None:
                parsed += other
                decisions += len(moments)
        total = sum(len(moments) for _, moments in battles)
        row = {part: spent[part] / total / 1000 for part in PARTS}
        row["total"] = sum(row.values())
        if not best or row["total"] < best["total"]:
            best = row
        poke_env.append(parsed / max(decisions, 1) / 1000)
    best["poke_env"] = min(poke_env)
    best["decisions"] = sum(len(moments) for _, moments in battles)
    return {name: round(value, 1) for name, value in best.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer battles")
    quick = parser.parse_args().quick
    logging.getLogger("poke-env").setLevel(logging.CRITICAL)
    result = {}
    print(
        f"{'µs per decision':24}" + "".join(f"{name:>10}" for name in (*PARTS, "total", "poke-env"))
    )
    for format_id in FORMATS:
        row = measure(format_id, 2 if quick else 12, 2 if quick else 5)
        result[format_id] = row
        values = [row[name] for name in (*PARTS, "total", "poke_env")]
        print(f"{format_id:24}" + "".join(f"{value:10.1f}" for value in values))
    print("RESULT", json.dumps(result))


if __name__ == "__main__":
    main()
