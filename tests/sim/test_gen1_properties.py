"""What holds in every Gen 1 battle, whatever the players choose."""

from __future__ import annotations

import numpy as np
from gen1_jobs import wild_team
from hypothesis import given, settings
from hypothesis import strategies as st

from nashmon.sim.gen1 import calls
from nashmon.sim.gen1 import events as ev
from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1.legal import NUM_ACTIONS
from nashmon.sim.gen1.rng import seed_value, seed_words
from nashmon.sim.gen1.setup import read_team, write_start

seeds = st.integers(0, 2**32 - 1)


class Battle:
    """A battle of two wild teams."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        teams = [read_team(wild_team(self.rng, int(self.rng.integers(1, 7)))) for _ in (0, 1)]
        self.state = np.zeros(at.ROW, np.int16)
        self.seed = np.array([seed * 0x9E3779B97F4A7C15 % 2**64], np.uint64)
        self.log = ev.new_log(0)
        write_start(self.state, *teams)
        calls.start(self.state, self.seed, self.log)

    @property
    def running(self) -> bool:
        return bool(self.state[at.OUTCOME] == at.RUNNING)

    def masks(self) -> np.ndarray:
        masks = np.zeros((2, NUM_ACTIONS), np.uint8)
        for seat in (0, 1):
            calls.write_mask(self.state, seat, masks[seat])
        return masks

    def actions(self) -> list[int]:
        chosen = []
        for mask in self.masks():
            legal = np.flatnonzero(mask)
            chosen.append(int(self.rng.choice(legal)) if len(legal) else -1)
        return chosen

    def step(self, actions: list[int]) -> None:
        calls.advance(self.state, self.seed, self.log, *actions)


def check_invariants(s: np.ndarray) -> None:
    for side in (0, at.SIDE):
        assert 0 <= s[side + at.ACTIVE] < s[side + at.TEAM_SIZE] <= at.TEAM
        size = int(s[side + at.TEAM_SIZE])
        mons = s[side + at.PARTY : side + at.PARTY + size * at.MON].reshape(size, at.MON)
        hp, full = mons[:, at.M_HP], mons[:, at.M_MAX_HP]
        assert ((hp >= 0) & (hp <= full)).all()
        assert ((hp == 0) == (mons[:, at.M_FAINTED] == 1)).all()
        assert s[side + at.LEFT] == (hp > 0).sum()
        assert ((mons[:, at.M_STATUS] >= 0) & (mons[:, at.M_STATUS] <= at.TOX)).all()
        assert (mons[:, at.M_STATUS][hp == 0] == 0).all()
        pp = mons[:, at.M_PP : at.M_PP + at.NUM_MOVES]
        assert ((pp >= 0) & (pp < 64)).all()
        stages = s[side + at.BOOSTS : side + at.BOOSTS + 7]
        assert (np.abs(stages) <= 6).all()
        stats = s[side + at.STATS : side + at.STATS + 5]
        assert ((stats >= 1) & (stats <= 999)).all()
        asleep = (mons[:, at.M_STATUS] == at.SLP) & (mons[:, at.M_SELF_SLEPT] == 0)
        assert asleep.sum() <= 1, "Sleep Clause"
        assert (mons[:, at.M_STATUS] == at.FRZ).sum() <= 1, "Freeze Clause"
        assert sorted(s[side + at.ORDER : side + at.ORDER + size]) == list(range(size))
        assert s[side + at.ORDER] == s[side + at.ACTIVE]


@settings(max_examples=60, deadline=None)
@given(seeds)
def test_invariants_hold(seed: int) -> None:
    """Also: while a battle runs somebody is asked, and whoever is asked has an action."""
    battle = Battle(seed)
    for _ in range(300):
        check_invariants(battle.state)
        if not battle.running:
            assert not battle.masks().any()
            break
        requests = battle.state[at.REQUEST : at.REQUEST + 2]
        assert (requests != at.WAIT).any()
        assert (battle.masks().any(axis=1) == (requests != at.WAIT)).all()
        assert not battle.masks()[:, 9:].any()
        battle.step(battle.actions())


@settings(max_examples=30, deadline=None)
@given(seeds, st.integers(0, 60))
def test_a_copied_row_evolves_alike(seed: int, steps: int) -> None:
    battle, twin = Battle(seed), Battle(seed ^ 1)
    for _ in range(steps):
        if battle.running:
            battle.step(battle.actions())
    twin.state[:], twin.seed[:] = battle.state, battle.seed
    for _ in range(20):
        if not battle.running:
            break
        actions = battle.actions()
        battle.step(actions)
        twin.step(actions)
        np.testing.assert_array_equal(battle.state, twin.state)
        assert battle.seed == twin.seed


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_watching_changes_nothing(seed: int) -> None:
    """A battle with a log is the battle without one, but for the hints it has given."""
    quiet, watched = Battle(seed), Battle(seed)
    watched.log = ev.new_log(256)
    for _ in range(40):
        if not quiet.running:
            break
        actions = quiet.actions()
        watched.log[ev.COUNT] = 0
        quiet.step(actions)
        watched.step(actions)
        hints = slice(at.HINTS, at.HINTS + 2)
        watched.state[hints] = quiet.state[hints]
        np.testing.assert_array_equal(quiet.state, watched.state)


@given(st.tuples(*[st.integers(0, 0xFFFF)] * 4))
def test_seed_words_round_trip(words: tuple[int, int, int, int]) -> None:
    assert seed_words(seed_value(words)) == words
