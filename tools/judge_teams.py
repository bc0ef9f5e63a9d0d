"""Judge every shipped team and write the table of legal ones, so that loading them needs no Node.

Usage: python tools/judge_teams.py
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

from nashmon.core.formats import showdown_version
from nashmon.sim.showdown.tools import validate_team
from nashmon.teams.defaults import complete
from nashmon.teams.legality import verdict_key
from nashmon.teams.pool import load_teams, named_sets

OUTPUT = Path(__file__).parents[1] / "src" / "nashmon" / "teams" / "data" / "legal.json.gz"


def main() -> None:
    """Write the table, or list the illegal teams and write nothing."""
    legal: dict[str, list[str]] = {}
    num_illegal = 0
    for format_id, set_name in named_sets():
        for team in load_teams(format_id, f"{format_id}/{set_name}"):
            reasons = validate_team(format_id, complete(team, format_id).packed)
            if reasons:
                num_illegal += 1
                print(f"{format_id}/{set_name}: {team.name}: {'; '.join(reasons)}")
            legal.setdefault(format_id, []).append(verdict_key(team, format_id))
    if num_illegal:
        sys.exit(f"{num_illegal} illegal teams; nothing written")
    table = {"version": showdown_version(), "legal": {f: sorted(k) for f, k in legal.items()}}
    OUTPUT.write_bytes(gzip.compress(json.dumps(table).encode(), mtime=0))
    print(f"{sum(map(len, legal.values()))} teams of {len(legal)} formats are legal")


if __name__ == "__main__":
    main()
