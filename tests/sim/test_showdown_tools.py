"""Questions about teams and formats through the shared Showdown process."""

from __future__ import annotations

import os

import pytest

from nashmon.core.errors import SimulatorError, TeamError, UnknownFormatError
from nashmon.sim.showdown import tools

PASTE = """Tauros
Ability: No Ability
- Body Slam
- Hyper Beam
- Blizzard
- Earthquake
"""


def test_paste_pack_and_unpack_round_trip() -> None:
    packed = tools.import_team(PASTE)
    sets = tools.unpack(packed)
    assert [entry["moves"] for entry in sets] == [
        ["Body Slam", "Hyper Beam", "Blizzard", "Earthquake"]
    ]
    assert tools.pack(sets) == packed
    assert tools.import_team(tools.export_team(packed)) == packed


def test_legal_team_has_no_reasons_and_illegal_team_says_why() -> None:
    legal = tools.import_team(PASTE)
    illegal = tools.import_team(PASTE.replace("Tauros", "Mewtwo"))
    assert tools.validate_team("gen1ou", legal) == []
    assert any("Mewtwo" in reason for reason in tools.validate_team("gen1ou", illegal))
    assert [
        bool(found) for found in tools.validate_teams([("gen1ou", legal), ("gen1ou", illegal)])
    ] == [False, True]


def test_random_team_depends_on_the_seed_alone() -> None:
    once = tools.random_team("gen9randombattle", 5)
    assert tools.random_team("gen9randombattle", 6) != once
    assert tools.random_team("gen9randombattle", 5) == once
    assert len(tools.unpack(once)) == 6


def test_formats_carry_their_properties() -> None:
    formats = {entry["id"]: entry for entry in tools.list_formats()}
    assert len(formats) > 300
    regulation = formats["gen9vgc2025regi"]
    assert (regulation["game_type"], regulation["picked"], regulation["has_preview"]) == (
        "doubles",
        4,
        True,
    )
    assert formats["gen1randombattle"]["random_teams"] and not formats["gen1ou"]["random_teams"]
    assert formats["gen1ou"]["gen"] == 1 and not formats["gen1ou"]["has_preview"]


def test_bad_questions_are_clear_errors() -> None:
    with pytest.raises(TeamError, match="not a packed team"):
        tools.unpack("nonsense")
    with pytest.raises(TeamError, match="no Pokémon"):
        tools.import_team("")
    with pytest.raises(TeamError, match="list of sets"):
        tools.pack([{"moves": []}])
    with pytest.raises(UnknownFormatError, match="gen77ou"):
        tools.validate_team("gen77ou", tools.import_team(PASTE))
    with pytest.raises(UnknownFormatError, match="no random teams"):
        tools.random_team("gen1ou", 0)
    with pytest.raises(SimulatorError, match="seed -1"):
        tools.random_team("gen1randombattle", -1)


def test_a_killed_shared_process_is_replaced() -> None:
    tools.import_team(PASTE)
    assert tools._shared is not None
    os.kill(tools._shared[1].pid, 9)
    with pytest.raises(SimulatorError, match="signal 9"):
        tools.import_team(PASTE)
    assert tools.import_team(PASTE)
