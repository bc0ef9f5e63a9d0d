"""Pools: sources, legality at load, sampling, splits."""

import logging
import time
from pathlib import Path

import numpy as np
import pytest

from nashmon.core.errors import TeamError, UnknownFormatError
from nashmon.core.home import HOME_VARIABLE, home_directory
from nashmon.sim.showdown.install import showdown_path
from nashmon.teams import TeamPool, legality, parse_teams, write_paste
from nashmon.teams.pool import load_teams


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = showdown_path()
    home = tmp_path / "home"
    home.mkdir()
    (home / installed.name).symlink_to(installed)
    monkeypatch.setenv(HOME_VARIABLE, str(home))


def no_dragonite(format_id: str, packed: str) -> list[str]:
    return ["Dragonite is not welcome."] if "Dragonite" in packed else []


def test_the_default_pool_loads_fast_and_needs_no_validator() -> None:
    start = time.process_time()  # not the clock: other processes may be busy
    pool = TeamPool.load("gen1ou")
    assert time.process_time() - start < 0.1
    assert len(pool) >= 24
    assert pool.packed == TeamPool.load("gen1ou", "gen1ou/competitive").packed


def test_teams_of_a_pool_are_ready_to_fight() -> None:
    assert all("|252,252,252,252,252,252|" in team.packed for team in TeamPool.load("gen1ou"))
    assert all(
        pokemon.level == 50 for team in TeamPool.load("gen9vgc2025regi") for pokemon in team.pokemon
    )


def test_sampling_is_uniform_and_seeded() -> None:
    pool = TeamPool.load("gen1ou")
    draws = [pool.sample(np.random.default_rng(7)).name for _ in range(3)]
    assert len(set(draws)) == 1
    rng = np.random.default_rng(1)
    counts = np.zeros(len(pool))
    for _ in range(3000):
        counts[pool.teams.index(pool.sample(rng))] += 1
    expected = 3000 / len(pool)
    # χ² with n − 1 degrees of freedom: mean n − 1, standard deviation √(2 (n − 1)).
    chi2 = float(((counts - expected) ** 2 / expected).sum())
    assert chi2 < (len(pool) - 1) + 5 * np.sqrt(2 * (len(pool) - 1))


def test_split_is_disjoint_complete_and_stable() -> None:
    pool = TeamPool.load("gen1ou")
    train, held = pool.split(0.25)
    assert len(train) + len(held) == len(pool)
    assert not {t.digest for t in train} & {t.digest for t in held}
    # Fewer teams, another order: every team stays on its side.
    half = TeamPool("gen1ou", pool.teams[::-2])
    again, held_again = half.split(0.25)
    assert {t.digest for t in again} <= {t.digest for t in train}
    assert {t.digest for t in held_again} <= {t.digest for t in held}
    with pytest.raises(TeamError, match="between 0 and 1"):
        pool.split(1.0)


def test_a_directory_is_read_recursively_and_other_formats_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "teams" / "deep"
    folder.mkdir(parents=True)
    first, second, third = load_teams("gen1ou")[:3]
    (folder / "a.txt").write_text(write_paste(first, header=True))
    (folder / "b.gen1ou_team").write_text(write_paste(second))
    (folder / "b.gen2ou_team").write_text("not even a team")
    (folder / "c.packed").write_text(third.packed)
    (folder / "d.txt").write_text("=== [gen3ou] Other ===\nTyranitar\n- Rest\n")
    (folder / "readme.md").write_text("ignored")
    pool = TeamPool.load("gen1ou", tmp_path / "teams")
    assert {team.species for team in pool} == {first.species, second.species, third.species}


def test_illegal_teams_are_kept_out_and_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = "=== Good ===\nTauros\n- Rest\n\n=== Bad ===\nDragonite\n- Rest\n"
    teams = parse_teams(text)
    with caplog.at_level(logging.WARNING):
        pool = TeamPool.of("gen1ou", teams, "mine", no_dragonite)
    assert [team.name for team in pool] == ["Good"]
    assert [(team.name, why) for team, why in pool.rejected] == [
        ("Bad", ("Dragonite is not welcome.",))
    ]
    assert "Dragonite is not welcome." in caplog.text
    with pytest.raises(
        TeamError, match=r"no legal gen1ou team .1 refused: Dragonite is not welcome"
    ):
        TeamPool.of("gen1ou", teams[1:], "mine", no_dragonite)


def test_verdicts_are_remembered_across_loads() -> None:
    teams = parse_teams("Tauros\n- Rest")
    asked = []

    def validate(format_id: str, packed: str) -> list[str]:
        asked.append(packed)
        return []

    with pytest.raises(TeamError, match="never judged"):
        TeamPool.of("gen1ou", teams)
    for _ in range(2):
        TeamPool.of("gen1ou", teams, validate=validate)
    TeamPool.of("gen1ou", teams)
    assert len(asked) == 1


def test_a_damaged_verdict_file_is_named() -> None:
    teams = parse_teams("Tauros\n- Rest")
    legality.check("gen1ou", teams, no_dragonite)
    (file,) = (home_directory() / "legality").rglob("gen1ou.json")
    file.write_text("{")
    with pytest.raises(TeamError, match=r"gen1ou\.json: damaged"):
        legality.check("gen1ou", teams, no_dragonite)


def test_unknown_sources_say_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(TeamError, match=r"'nonsense'.*shipped for gen1ou: competitive"):
        TeamPool.load("gen1ou", "nonsense")
    with pytest.raises(TeamError, match="shipped for gen9lc: none"):
        TeamPool.load("gen9lc")
    with pytest.raises(TeamError, match="holds no team file"):
        TeamPool.load("gen1ou", tmp_path)
    with pytest.raises(UnknownFormatError, match="gen1ou"):
        TeamPool.load("gen1oo")


def test_generated_pools_by_name() -> None:
    pool = TeamPool.load("gen1ou", "variety:12:3")
    assert len(pool) == 12
    assert pool.packed == TeamPool.load("gen1ou", "variety:12:3").packed
    assert pool.packed != TeamPool.load("gen1ou", "variety:12:4").packed
    assert len(TeamPool.load("gen1ou", "wild:5")) == 5
