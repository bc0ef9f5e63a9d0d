from __future__ import annotations

import pytest

from nashmon.core.dex import dex_names
from nashmon.core.errors import UnknownFormatError
from nashmon.core.formats import all_formats, get_format, showdown_version


def test_formats_know_how_they_are_played() -> None:
    gen1 = get_format("gen1ou")
    assert (gen1.gen, gen1.game_type, gen1.has_preview, gen1.gimmick) == (1, "singles", False, None)
    vgc = get_format("gen9vgc2025regi")
    assert (vgc.picked, vgc.team_size, vgc.adjust_level, vgc.gimmick) == (4, 6, 50, "tera")
    assert vgc.open_sheets
    champions = get_format("gen9championsvgc2026regmb")
    assert (champions.mod, champions.gimmicks, champions.picked) == ("champions", ("mega",), 4)
    assert get_format("gen7ou").gimmicks == ("mega", "zmove", "ultra")
    assert get_format("gen8ou").gimmick is None  # Dynamax Clause
    assert get_format("gen8vgc2022").gimmick == "dynamax"
    assert get_format("gen9randombattle").random_teams
    assert get_format("gen1nc1997").max_total_level == 155


def test_names_and_ids_find_the_same_format() -> None:
    assert get_format("[Gen 9] VGC 2025 Reg I") is get_format("gen9vgc2025regi")


def test_unknown_format_names_near_ones() -> None:
    with pytest.raises(UnknownFormatError, match=r"gen1uo.*gen1ou"):
        get_format("gen1uo")


def test_every_format_has_a_dex_and_consistent_sizes() -> None:
    formats, mods = all_formats(), dex_names()
    assert len(formats) > 300
    for format in formats:
        assert format.mod in mods
        assert 1 <= format.picked <= format.team_size
        assert format.min_team_size <= format.team_size


def test_tables_are_of_the_installed_version() -> None:
    from nashmon.sim.showdown.install import showdown_version as pinned

    assert showdown_version() == pinned()
