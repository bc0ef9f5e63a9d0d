"""`Gen1Battles` as a block: equal to embedded Showdown, deterministic, safe against bad input."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
import pytest

from nashmon.core.errors import NashmonError, SimulatorError, TeamError, UnsupportedError
from nashmon.core.rewards import reward_names
from nashmon.sim.base import NO_ACTION, IllegalActionError, Step
from nashmon.sim.gen1 import calls
from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1.battles import Gen1Battles, Gen1Config
from nashmon.sim.gen1.events import new_log
from nashmon.sim.gen1.rng import seed_value
from nashmon.sim.gen1.setup import read_team, write_start
from nashmon.sim.make import default_teams
from nashmon.sim.seeds import PoolTeams, RandomTeams, battle_setup
from nashmon.sim.showdown.battles import ShowdownBattles
from nashmon.sim.showdown.lane import LaneConfig

POOL = default_teams("gen1ou")
TEAMS = PoolTeams(POOL, POOL)
CONFIG = Gen1Config("gen1ou", TEAMS)


def choose(step: Step, rng: np.random.Generator) -> np.ndarray:
    """A legal action for every acting seat."""
    actions = np.full(step.acting.shape, NO_ACTION)
    for row, seat in np.argwhere(step.acting):
        actions[row, seat] = rng.choice(np.flatnonzero(step.masks[row, seat]))
    return actions


def copy_of(step: Step) -> dict[str, np.ndarray]:
    """A step's arrays, which the next step overwrites."""
    names = ("masks", "acting", "ended", "truncated", "outcome", "rewards", "turns")
    arrays = {name: getattr(step, name).copy() for name in names}
    return arrays | {name: array.copy() for name, array in step.observations.items()}


def assert_same(first: dict[str, np.ndarray], second: dict[str, np.ndarray]) -> None:
    assert first.keys() == second.keys()
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name], err_msg=name)


@pytest.mark.parametrize("reward", reward_names())
def test_block_equals_embedded_showdown(reward: str) -> None:
    """Observations, masks, rewards and ends are bit for bit those of the tracker path."""
    rng = np.random.default_rng(7)
    lane = LaneConfig("gen1ou", TEAMS, reward=reward, turn_limit=60)
    config = replace(CONFIG, reward=reward, turn_limit=60)
    with ShowdownBattles(lane, 3) as expected, Gen1Battles(config, 3) as battles:
        step, mine = expected.reset(5), battles.reset(5)
        for _ in range(90):
            assert_same(copy_of(step), copy_of(mine))
            assert battles.states([(0, 0), (1, 1)]) == expected.states([(0, 0), (1, 1)])
            actions = choose(step, rng)
            step, mine = expected.step(actions), battles.step(actions)
        assert battles.episodes.sum() > 0
        np.testing.assert_array_equal(battles.episodes, expected.episodes)


@pytest.mark.parametrize("observation", ["entity", "metamon-opponentmove"])
def test_same_seed_same_battles(observation: str) -> None:
    config = replace(CONFIG, observation=observation)
    runs = []
    for threads in (1, 2):
        rng = np.random.default_rng(3)
        with Gen1Battles(replace(config, threads=threads), 5) as battles:
            step = battles.reset(11)
            arrays = []
            for _ in range(40):
                arrays.append(copy_of(step))
                step = battles.step(choose(step, rng))
            runs.append(arrays)
    for first, second in zip(*runs, strict=True):
        assert_same(first, second)


def test_writing_what_changed_equals_writing_everything() -> None:
    """Observations are written over the previous ones; a copied battle's are written whole."""
    rng = np.random.default_rng(3)
    rows = list(range(6))
    with Gen1Battles(CONFIG, 6) as battles, Gen1Battles(CONFIG, 6) as fresh:
        step = battles.reset(1)
        fresh.reset(2)
        for _ in range(200):
            seen = fresh.copy_rows(battles, rows, rows)
            np.testing.assert_array_equal(step.masks, seen.masks)
            for name, array in step.observations.items():
                acting = step.acting
                np.testing.assert_array_equal(array[acting], seen.observations[name][acting])
            step = battles.step(choose(step, rng))
        assert battles.episodes.sum() > 0


def test_kernels_deal_the_teams_and_dice_of_battle_setup() -> None:
    rng = np.random.default_rng(3)
    teams, seed = PoolTeams(POOL[:5], POOL[2:]), 1 << 70 | 9
    with Gen1Battles(replace(CONFIG, teams=teams, turn_limit=2), 4) as battles:
        step = battles.reset(seed)
        begun = np.ones(4, bool)
        for _ in range(60):
            for row in np.flatnonzero(begun):
                packed, words = battle_setup(teams, seed, row, int(battles.episodes[row]))
                state, dice = np.zeros(at.ROW, np.int16), np.array([seed_value(words)], np.uint64)
                write_start(state, *map(read_team, packed))
                calls.start(state, dice, new_log(0))
                position = battles.save(row)
                np.testing.assert_array_equal(position.state, state)
                assert position.seed == dice[0]
                assert position.teams == tuple(map(read_team, packed))
            step = battles.step(choose(step, rng))
            begun = step.ended
        assert battles.episodes.min() > 10


def test_any_sampler_may_draw_the_teams() -> None:
    def sampler(rng: np.random.Generator) -> tuple[str, str]:
        drawn.append(int(rng.integers(len(POOL))))
        return POOL[drawn[-1]], POOL[0]

    drawn: list[int] = []
    rng = np.random.default_rng(3)
    with Gen1Battles(replace(CONFIG, teams=sampler, turn_limit=2), 4) as battles:
        step = battles.reset(1)
        for _ in range(20):
            step = battles.step(choose(step, rng))
        assert len(drawn) == 4 + battles.episodes.sum() > 10
        assert len(set(drawn)) > 1


def test_minimal_actions_are_the_first_nine() -> None:
    with Gen1Battles(CONFIG, 2) as wide, Gen1Battles(replace(CONFIG, actions="minimal"), 2) as nine:
        assert nine.num_actions == 9
        np.testing.assert_array_equal(wide.reset(1).masks[..., :9], nine.reset(1).masks)


def test_clones_evolve_alike_and_new_dice_differ() -> None:
    rng = np.random.default_rng(0)
    with Gen1Battles(CONFIG, 3) as battles:
        step = battles.reset(1)
        for _ in range(5):
            step = battles.step(choose(step, rng))
        battles.clone(0, 1)
        position = battles.save(0)
        step = battles.restore(2, position, seed=(1, 2, 3, 4))
        assert battles.states([(0, 0)]) == battles.states([(1, 0)]) == battles.states([(2, 0)])
        same = []
        for _ in range(8):
            actions = choose(step, rng)
            actions[1] = actions[2] = actions[0]
            if not (step.acting[2] == step.acting[0]).all():
                break
            try:
                step = battles.step(actions)
            except IllegalActionError:
                break  # the third battle took another course
            np.testing.assert_array_equal(step.masks[0], step.masks[1])
            for array in step.observations.values():
                np.testing.assert_array_equal(array[0][step.acting[0]], array[1][step.acting[1]])
            same.append(battles.states([(0, 0)]) == battles.states([(2, 0)]))
        assert not all(same)


def test_restored_position_repeats_itself() -> None:
    rng = np.random.default_rng(1)
    with Gen1Battles(CONFIG, 1) as battles:
        battles.reset(4)
        position = battles.save(0)
        runs = []
        for _ in range(2):
            step = battles.restore(0, position, seed=(9, 9, 9, 9))
            rng = np.random.default_rng(1)
            for _ in range(10):
                step = battles.step(choose(step, rng))
            runs.append((copy_of(step), battles.states([(0, 0), (0, 1)])))
        assert_same(runs[0][0], runs[1][0])
        assert runs[0][1] == runs[1][1]


def test_paused_battles_do_not_move() -> None:
    rng = np.random.default_rng(1)
    with Gen1Battles(CONFIG, 2) as battles:
        step = battles.reset(4)
        before = battles.states([(1, 0), (1, 1)])
        actions = choose(step, rng)
        actions[1] = NO_ACTION
        battles.step(actions)
        assert battles.states([(1, 0), (1, 1)]) == before


def test_illegal_input_changes_nothing() -> None:
    with Gen1Battles(CONFIG, 2) as battles:
        step = battles.reset(4)
        legal = choose(step, np.random.default_rng(0))
        before = copy_of(step), battles.states([(0, 0), (1, 1)])
        bad = [np.zeros((2, 3), int), legal.astype(float), legal + 100, np.full((2, 2), 12)]
        half = legal.copy()
        half[0, 1] = NO_ACTION
        for actions in (*bad, half):
            with pytest.raises(IllegalActionError):
                battles.step(actions)
            assert_same(before[0], copy_of(step))
            assert battles.states([(0, 0), (1, 1)]) == before[1]


@pytest.mark.parametrize(
    ("format_id", "team", "what"),
    [
        ("gen1ou", "Mewtwo|||NoAbility|psychic|||||||", "mewtwo is banned"),
        ("gen1ou", "Dugtrio|||NoAbility|dig|||||||", "dig .* is banned"),
        ("gen1ou", "]".join(["Tauros|||NoAbility|tackle|||||||"] * 2), "Species Clause"),
        ("gen1uu", "Tauros|||NoAbility|tackle|||||||", "tauros is banned"),
        ("gen1ou", "Garchomp|||NoAbility|tackle|||||||", "Garchomp: not a Gen 1"),
        ("gen1ou", "Tauros|||NoAbility|crunch|||||||", "crunch is not a Gen 1 move"),
        ("gen1ou", "Tauros|||NoAbility|tackle,tackle|||||||", "same move twice"),
        ("gen1ou", "Tauros|||NoAbility||||||||", "1 to 4 moves"),
        ("gen1ou", "Tauros|||NoAbility|tackle|Adamant||||||", "no natures"),
        ("gen1ou", "]".join(["Tauros|||NoAbility|tackle|||||||"] * 7), "1 to 6"),
    ],
)
def test_illegal_teams_are_refused_by_name(format_id: str, team: str, what: str) -> None:
    with (
        Gen1Battles(Gen1Config(format_id, PoolTeams([team], [team])), 1) as battles,
        pytest.raises(TeamError, match=what),
    ):
        battles.reset(1)


def test_other_formats_are_refused_by_name() -> None:
    for format_id in ("gen2ou", "gen9ou", "gen1stadiumou", "gen1customgame"):
        with pytest.raises(UnsupportedError, match=format_id):
            Gen1Battles(Gen1Config(format_id, TEAMS), 1)
    with pytest.raises(NashmonError, match="needs teams"):
        Gen1Battles(Gen1Config("gen1randombattle", RandomTeams()), 1).reset(1)
    with pytest.raises(ValueError, match="num_battles"):
        Gen1Battles(CONFIG, 0)
    with pytest.raises(SimulatorError, match="reset"):
        Gen1Battles(CONFIG, 1).step(np.zeros((1, 2), int))


def test_turn_limit_is_a_truncated_draw() -> None:
    rng = np.random.default_rng(1)
    with Gen1Battles(replace(CONFIG, turn_limit=3, reward="outcome"), 4) as battles:
        step = battles.reset(4)
        seen = 0
        for _ in range(20):
            step = battles.step(choose(step, rng))
            cut = step.truncated
            seen += int(cut.sum())
            assert (step.outcome[cut] == 0).all() and (step.rewards[cut] == 0).all()
            assert (step.turns <= 3).all()
        assert seen > 0


def test_finished_log_can_be_watched() -> None:
    rng = np.random.default_rng(1)
    with Gen1Battles(replace(CONFIG, keep_logs=True), 2) as battles:
        step = battles.reset(4)
        with pytest.raises(SimulatorError, match="no log"):
            battles.finished_log(0)
        while not battles.episodes[0]:
            step = battles.step(choose(step, rng))
        lines = battles.finished_log(0)
        assert lines[0] == "|gametype|singles"
        assert "|tier|[Gen 1] OU" in lines
        assert lines[-1].startswith(("|win|", "|tie"))


def test_play_outs_need_no_observation(caplog: pytest.LogCaptureFixture) -> None:
    rng = np.random.default_rng(1)
    caplog.set_level(logging.INFO)
    with Gen1Battles(replace(CONFIG, observation=None), 2) as battles:
        step = battles.reset(4)
        assert step.observations == {}
        step = battles.step(choose(step, rng))
        with pytest.raises(SimulatorError, match="observation=None"):
            battles.states([(0, 0)])


def test_unstated_names_and_genders_follow_showdown() -> None:
    team = read_team("Bull|Tauros||NoAbility|tackle||252,252,252,252,252,252|M||S|74|")
    assert team.names == ("Bull",)
    assert team.details == ("Tauros, L74, M, shiny",)
