"""The patched simulator must be indistinguishable from the stock one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from showdown_play import Table, battle

from nashmon.sim.showdown.process import ShowdownProcess

FORMATS = [
    "gen1ou",
    "gen4ou",
    "gen7randombattle",
    "gen9ou",
    "gen9vgc2025regi",
    "gen9championsvgc2026regmb",
]
MORE_FORMATS = [
    *FORMATS,
    "gen1randombattle",
    "gen2ou",
    "gen3ou",
    "gen4randombattle",
    "gen5randombattle",
    "gen6randombattle",
    "gen8randombattle",
    "gen8randomdoublesbattle",
    "gen9randombattle",
    "gen9randomdoublesbattle",
    "gen9hackmonscup",
]


Builds = tuple[ShowdownProcess, ShowdownProcess]


@pytest.fixture(scope="module")
def builds() -> Iterator[Builds]:
    with ShowdownProcess(patched=True) as patched, ShowdownProcess(patched=False) as stock:
        yield patched, stock


def assert_same_battles(builds: Builds, format_id: str, numbers: range) -> None:
    """Play the same battles in both builds and compare every line, request and error."""
    starts = [battle(format_id, number) for number in numbers]
    table = Table(numbers.start)
    for process in builds:
        process.send_start(starts)
    while True:
        updates, expected = (process.receive() for process in builds)
        assert updates == expected
        table.note(updates)
        if not table.requests:
            break
        choices = table.choices()
        for process in builds:
            process.send_choose(choices)
    for start in starts:
        log, expected_log = (process.log(start.id) for process in builds)
        assert log == expected_log


@pytest.mark.parametrize("format_id", FORMATS)
def test_patched_battles_equal_stock_battles(builds: Builds, format_id: str) -> None:
    assert_same_battles(builds, format_id, range(10))


@pytest.mark.slow
@pytest.mark.parametrize("format_id", MORE_FORMATS)
def test_many_patched_battles_equal_stock_battles(builds: Builds, format_id: str) -> None:
    for first in range(0, 250, 50):
        assert_same_battles(builds, format_id, range(first, first + 50))
