"""Exhaustive check of masks and choices against the simulator, on random-legal battles.

Usage: choice_audit.py FORMAT … --battles N [--share S] [--teams DIR | --variety] [--jobs N]
On a share of the requests (all by default): in singles every candidate choice, in doubles every
pair of slot choices (of 5 % of these, else choices of the mask).  On every request a random choice
of the mask is played.  Teams are the shipped ones.  Faults make the exit status 1.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from nashmon.core.formats import Format, get_format
from nashmon.sim.choice_audit import Auditor, AuditResult, TeamSource
from nashmon.sim.make import default_teams
from nashmon.sim.showdown.process import ShowdownProcess
from nashmon.sim.variety import variety_team

FORMATS = (
    "gen1ou",
    "gen2ou",
    "gen3ou",
    "gen4ou",
    "gen9ou",
    "gen1randombattle",
    "gen4randombattle",
    "gen7randombattle",
    "gen9randombattle",
    "gen9vgc2025regi",
    "gen9championsvgc2026regmb",
    "gen9randomdoublesbattle",
)
CHUNK = 10  # battles per task


@dataclass(frozen=True)
class Task:
    """A few battles of one format."""

    format_id: str
    first_seed: int
    battles: int
    packed: tuple[str, ...]  # empty: random or variety teams
    variety: bool
    share: float


def team_source(format: Format, packed: tuple[str, ...], variety: bool) -> TeamSource:
    if packed:
        return lambda rng: packed[int(rng.integers(len(packed)))]
    if variety:
        return lambda rng: variety_team(format, rng)
    return lambda rng: None


@cache
def shared_process() -> ShowdownProcess:
    """One simulator for all tasks of a worker."""
    return ShowdownProcess()


def run(task: Task) -> AuditResult:
    format = get_format(task.format_id)
    source = team_source(format, task.packed, task.variety)
    auditor = Auditor(shared_process(), format, share=task.share)
    for seed in range(task.first_seed, task.first_seed + task.battles):
        auditor.play(seed, source)
    return auditor.result


def read_teams(directory: Path, format_id: str) -> tuple[str, ...]:
    """Packed teams of <format>.*.jsonl.gz (VGC files are named by regulation) or <format>.txt."""
    names = [format_id]
    if "vgc20" in format_id and "champions" not in format_id:
        names.append(f"gen9vgc_reg_{format_id[-1]}")
    teams: list[str] = []
    for path in sorted(p for name in names for p in directory.glob(f"{name}.*.jsonl.gz")):
        rows = map(json.loads, gzip.decompress(path.read_bytes()).splitlines())
        teams += [row["packed"] for row in rows if row.get("valid")]
    return tuple(teams)


def audit(args: argparse.Namespace, format_id: str, pool: ProcessPoolExecutor) -> AuditResult:
    format = get_format(format_id)
    packed = () if args.variety else default_teams(format_id)
    if args.teams and not format.random_teams and not args.variety:
        packed = read_teams(args.teams, format_id)
        if not packed:
            sys.exit(f"no teams for {format_id} in {args.teams}")
        order = np.random.default_rng(args.seed).permutation(len(packed))
        packed = tuple(packed[i] for i in order[:500])
    seeds = range(args.seed, args.seed + args.battles, CHUNK)
    last = args.seed + args.battles
    tasks = [
        Task(format_id, s, min(CHUNK, last - s), packed, args.variety, args.share) for s in seeds
    ]
    total = AuditResult()
    for result in pool.map(run, tasks):
        total.add(result)
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("formats", nargs="*", default=list(FORMATS))
    parser.add_argument("--battles", type=int, default=200)
    parser.add_argument("--teams", type=Path, help="directory of packed teams")
    parser.add_argument("--variety", action="store_true", help="teams of arbitrary sets")
    parser.add_argument("--share", type=float, default=1.0, help="of the requests checked in full")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="one battle per format")
    args = parser.parse_args()
    if args.quick:
        args.battles = 1
    rows: dict[str, dict[str, object]] = {}
    columns = (
        "battles",
        "requests",
        "played",
        "checked",
        "legal",
        "rejected",
        "unreachable",
        "unavailable",
    )
    print(f"{'format':28}" + "".join(f"{name:>12}" for name in columns) + "     time")
    faults = 0
    with ProcessPoolExecutor(args.jobs, mp_context=get_context("spawn")) as pool:
        for format_id in args.formats:
            start = time.perf_counter()
            result = audit(args, format_id, pool)
            seconds = time.perf_counter() - start
            values = {name: getattr(result, name) for name in columns}
            print(f"{format_id:28}" + "".join(f"{v:12}" for v in values.values()) +
                  f"{seconds:8.0f}s", flush=True)  # fmt: skip
            for example in result.examples:
                print("  " + example)
            rows[format_id] = values | {
                "equivalent": dict(result.equivalent),
                "seen": dict(sorted(result.seen.items())),
            }
            faults += result.rejected + result.unreachable
    print("RESULT " + json.dumps({"faults": faults, "variety": args.variety, "formats": rows}))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
