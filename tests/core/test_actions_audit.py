"""Masks against the simulator on random-legal battles with arbitrary sets."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from nashmon.core.formats import get_format
from nashmon.sim.choice_audit import Auditor, AuditResult
from nashmon.sim.showdown.process import ShowdownProcess
from nashmon.sim.variety import variety_team

FORMATS = ("gen1ou", "gen4ou", "gen7ou", "gen9ou", "gen8vgc2022", "gen9vgc2025regi")


@pytest.fixture(scope="module")
def process() -> Iterator[ShowdownProcess]:
    with ShowdownProcess() as child:
        yield child


def audit(process: ShowdownProcess, format_id: str, battles: int, max_turns: int) -> AuditResult:
    format = get_format(format_id)
    auditor = Auditor(process, format, pair_share=0.02)
    for seed in range(battles):
        auditor.play(seed, lambda rng: variety_team(format, rng), max_turns)
    return auditor.result


@pytest.mark.parametrize("format_id", FORMATS)
def test_masks_are_what_the_simulator_accepts(process: ShowdownProcess, format_id: str) -> None:
    result = audit(process, format_id, battles=2, max_turns=25)
    assert (result.rejected, result.unreachable) == (0, 0), result.examples
    assert result.battles == 2 and result.legal > 100


@pytest.mark.slow
@pytest.mark.parametrize(
    "format_id", [*FORMATS, "gen2ou", "gen3ou", "gen6ou", "gen7doublesou", "gen9doublesou"]
)
def test_masks_over_many_battles(process: ShowdownProcess, format_id: str) -> None:
    result = audit(process, format_id, battles=60, max_turns=200)
    assert (result.rejected, result.unreachable) == (0, 0), result.examples
