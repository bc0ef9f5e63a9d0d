"""The observation of a followed tracker is that of its state made anew, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from transcripts import NAMES, Moment, record_format

from nashmon.core.formats import get_format
from nashmon.observe import get_observation_space
from nashmon.sim.tracker import Tracker


def compare(format_id: str, seat: int, moments: list[Moment]) -> int:
    """Follow one seat; returns how many observations were compared."""
    space = get_observation_space("entity", get_format(format_id))
    names = NAMES if seat == 0 else NAMES[::-1]
    tracker, reference = (Tracker(format_id, seat, *names) for _ in range(2))
    encoder = space.encoder()
    written, expected = space.allocate(1), space.allocate(1)
    num_compared = 0
    for number, moment in enumerate(moments):
        for one in (tracker, reference):
            one.feed(moment.lines)
            one.request(moment.request)
        state = reference.rebuild()
        if number % 5 == 3:
            continue  # a state and an observation nobody asked for must not be missed by the next
        encoder.write(tracker.state(), written, 0)
        space.encoder().write(state, expected, 0)
        for name, array in expected.items():
            assert np.array_equal(written[name], array), (number, name)
        assert tracker.state() == state
        num_compared += 1
    return num_compared


def check(format_id: str, num_battles: int) -> None:
    compared = 0
    for seats in record_format(format_id, num_battles):
        for seat in (0, 1):
            compared += compare(format_id, seat, seats[seat])
    assert compared > 10 * num_battles


@pytest.mark.parametrize(
    "format_id", ["gen1randombattle", "gen4randombattle", "gen9ou", "gen9vgc2025regi"]
)
def test_observations_are_those_of_states_made_anew(format_id: str) -> None:
    check(format_id, num_battles=2)


@pytest.mark.slow
@pytest.mark.parametrize(
    "format_id",
    [
        *(f"gen{gen}randombattle" for gen in range(1, 10)),
        *("gen8vgc2022", "gen9randomdoublesbattle", "gen9hackmonscup", "gen9doubleshackmonscup"),
        *("gen9ou", "gen9vgc2025regi"),
    ],
)
def test_observations_are_those_of_states_made_anew_in_many_formats(format_id: str) -> None:
    check(format_id, num_battles=20)
