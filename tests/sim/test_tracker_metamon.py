"""States of real battles survive metamon's schema."""

from __future__ import annotations

import orjson
import pytest
from transcripts import record_format, states

from nashmon.core.metamon import from_metamon, to_metamon


@pytest.mark.parametrize("format_id", ["gen1randombattle", "gen4randombattle", "gen9ou"])
def test_round_trip_of_real_states_is_the_identity(format_id: str) -> None:
    moments = next(record_format(format_id, 1, limit=40))
    count = 0
    for state in states(format_id, 0, moments[0]):
        if state.phase not in ("move", "switch"):
            continue
        data = to_metamon(state)
        assert to_metamon(from_metamon(orjson.loads(orjson.dumps(data)))) == data
        count += 1
    assert count > 10
