"""Rewards from hand-computed transitions."""

from __future__ import annotations

from itertools import pairwise
from math import inf
from typing import Any

import numpy as np
import pytest

from nashmon.core.errors import NashmonError
from nashmon.core.rewards import (
    PotentialReward,
    SideSummary,
    UnknownRewardError,
    foe_summary,
    get_reward,
    own_summary,
    reward_names,
    shaping_scale,
)
from nashmon.core.state import UniversalPokemon, UniversalSide, UniversalState


def mon(name: str, fraction: float = 1.0, status: str | None = None) -> UniversalPokemon:
    return UniversalPokemon(
        species=name,
        base_species=name,
        ident=name,
        level=100,
        gender=None,
        hp_fraction=fraction,
        hp=round(300 * fraction),
        max_hp=300,
        fainted=fraction == 0.0,
        status=status,
        status_turns=0,
        types=("normal",),
        tera_type=None,
        terastallized=False,
        item=None,
        ability=None,
        moves=(),
        stats=None,
        active=True,
        revealed=True,
        selected=None,
    )


def side(*active: UniversalPokemon, bench: tuple[UniversalPokemon, ...] = ()) -> UniversalSide:
    return UniversalSide(
        active=active,
        bench=bench,
        conditions=(),
        slot_conditions=tuple(() for _ in active),
        team_size=6,
        num_fainted=sum(p.fainted for p in (*active, *bench)),
        gimmicks_used=(),
        dynamax_turns=None,
        preview=(),
    )


def state(own: UniversalSide, foe: UniversalSide, **more: Any) -> UniversalState:
    doubles = len(own.active) == 2
    values: dict[str, Any] = {
        "format": "gen9doublesou" if doubles else "gen1ou",
        "gen": 1,
        "game_type": "doubles" if doubles else "singles",
        "turn": 1,
        "phase": "move",
        "own": own,
        "foe": foe,
        "weather": None,
        "weather_turns": 0,
        "fields": (),
        "force_switch": (False,),
        "trapped": (False,),
        "maybe_trapped": (False,),
        "can_gimmick": (None,),
        "reviving": False,
    }
    return UniversalState(**(values | more))


A, B, C, X, Y = mon("a"), mon("b"), mon("c"), mon("x"), mon("y")
START = state(side(A, bench=(B, C)), side(X, bench=(Y,)))


def test_damage_healing_and_status() -> None:
    now = state(side(mon("a", 0.75, "par"), bench=(B, C)), side(mon("x", 0.5, "slp"), bench=(Y,)))
    assert get_reward("default_shaped")(START, now) == pytest.approx(0.5 - 0.25 + 0.5 - 0.5)
    assert get_reward("aggressive_shaped")(START, now) == pytest.approx(0.25)
    assert get_reward("binary")(START, now) == 0.0
    healed = now._replace(own=side(mon("a", 1.0, "par"), bench=(B, C)))
    assert get_reward("default_shaped")(now, healed) == pytest.approx(0.25)  # the status is old


def test_a_faint_of_ours_is_paid_twice_and_late() -> None:
    reward = get_reward("default_shaped")
    down = START._replace(own=side(mon("a", 0.0), bench=(B, C)))
    assert reward(START, down) == pytest.approx(-1.0 - 0.5)  # hit points and "a new status"
    replaced = START._replace(own=side(B, bench=(C, mon("a", 0.0))))
    assert reward(down, replaced) == pytest.approx(-1.0)  # one reserve fewer
    last = state(side(A), START.foe)
    gone = last._replace(own=side(mon("a", 0.0)), result="loss")
    assert reward(last, gone) == pytest.approx(-1.5 - 100.0)  # never "lost": no reserve left


def test_damage_that_knocks_out_a_foe_is_not_paid() -> None:
    now = START._replace(foe=side(Y, bench=(mon("x", 0.0),)))
    assert get_reward("default_shaped")(START, now) == pytest.approx(1.0)
    assert get_reward("aggressive_shaped")(START, now) == pytest.approx(2.0)


def test_damage_to_a_foe_that_leaves_is_not_paid_but_ours_is_charged_on_return() -> None:
    reward = get_reward("default_shaped")
    foe_left = START._replace(foe=side(mon("y", 0.5), bench=(X,)))
    assert reward(START, foe_left) == 0.0
    switched = START._replace(own=side(mon("b", 0.75), bench=(A, C)))
    assert reward(START, switched) == pytest.approx(-0.25)


def test_outcomes() -> None:
    for result, default, aggressive in (("win", 100, 200), ("loss", -100, 0), ("draw", 0, 0)):
        final = state(START.own, START.foe, result=result)
        assert get_reward("default_shaped")(START, final) == default
        assert get_reward("binary")(START, final) == default
        assert get_reward("aggressive_shaped")(START, final) == aggressive
        assert get_reward("outcome")(START, final) == default / 100


def test_doubles_sums_over_both_slots() -> None:
    before = state(side(A, B, bench=(C,)), side(X, Y))
    after = state(side(mon("a", 0.5), mon("b", 0.75), bench=(C,)), side(mon("x", 0.5), mon("y", 0)))
    default = get_reward("default_shaped")(before, after)
    assert default == pytest.approx(1.5 - 0.75 + 0.5 + 1.0)  # y lies in its slot: seen to faint


def mirror(first: UniversalState) -> UniversalState:
    """The other player's view when nothing is hidden."""
    other = {"win": "loss", "loss": "win", "draw": "draw", None: None}[first.result]
    return state(first.foe, first.own, result=other)


@pytest.mark.parametrize("name", ["symmetric_shaped", "symmetric_aggressive", "binary", "outcome"])
def test_symmetric_rewards_sum_to_zero(name: str) -> None:
    reward = get_reward(name)
    assert reward.zero_sum
    rng = np.random.default_rng(5)
    percents = rng.integers(0, 101, size=(40, 5)) / 100
    for row in percents:
        a, b, c, x, y = (
            mon(k, float(f), None if rng.random() < 0.5 else "brn")
            for k, f in zip("abcxy", row, strict=True)
        )
        now = state(side(a, bench=(b, c)), side(x, bench=(y,)), result=rng.choice(["win", "loss"]))
        total = reward(START, now) + reward(mirror(START), mirror(now))
        assert total == pytest.approx(0.0, abs=1e-12)


def test_own_hit_points_are_rounded_as_the_foe_sees_them() -> None:
    reward = get_reward("symmetric_shaped")
    hit = A._replace(hp=299, hp_fraction=299 / 300)
    now = START._replace(own=side(hit, bench=(B, C)))
    assert reward(START, now) == pytest.approx(-0.01)  # 99 %, never 100
    hurt = A._replace(hp=1, hp_fraction=1 / 300)
    assert own_summary(START._replace(own=side(hurt))).hp_lost == pytest.approx(0.99)


def test_the_return_of_a_symmetric_reward_telescopes_within_its_bounds() -> None:
    reward = get_reward("symmetric_shaped")
    assert reward.bounds == (-112.0, 112.0)
    path = [START]
    path.append(START._replace(foe=side(mon("x", 0.5), bench=(Y,))))
    path.append(START._replace(foe=side(mon("x", 1.0), bench=(Y,))))  # healed again
    path.append(START._replace(foe=side(mon("x", 0.0), bench=(mon("y", 0.0),)), result="win"))
    total = sum(reward(before, after) for before, after in pairwise(path))
    assert total == pytest.approx(100.0 + 2 * (1.0 + 1.0))


def test_pair_is_exactly_opposite_even_when_views_differ() -> None:
    reward = get_reward("symmetric_shaped")
    assert isinstance(reward, PotentialReward)
    first = (START, mirror(START))
    hidden = A._replace(hp=200, hp_fraction=2 / 3)
    seen = START._replace(own=side(B, bench=(hidden, C)))  # the foe has not seen the change
    gain, loss = reward.pair(first, (seen, mirror(START)))
    assert gain == -loss == pytest.approx(-0.33)


def test_potential_works_on_arrays() -> None:
    reward = get_reward("symmetric_shaped")
    assert isinstance(reward, PotentialReward)
    own = SideSummary(np.array([0.5, 0.0]), np.array([0, 1]), np.array([1, 0]))  # type: ignore[arg-type]
    foe = SideSummary(np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2]))  # type: ignore[arg-type]
    np.testing.assert_allclose(reward.potential(own, foe), [0.5 + 1 - 0.5, 2.0 + 0 + 1.0])
    assert foe_summary(START) == SideSummary(0.0, 0, 0)


def test_shaping_fades_to_the_plain_outcome() -> None:
    now = START._replace(foe=side(mon("x", 0.5), bench=(Y,)), result="win")
    reward = get_reward("default_shaped")
    assert reward(START, now) == pytest.approx(100.5)
    assert reward.scaled(shaping_scale(50, 100))(START, now) == pytest.approx(100.25)
    assert reward.scaled(shaping_scale(200, 100))(START, now) == 100.0
    assert reward.bounds == (-inf, inf) and reward.scaled(0.0).bounds == (-100.0, 100.0)
    assert get_reward("symmetric_shaped").scaled(0.5).bounds == (-106.0, 106.0)
    with pytest.raises(NashmonError, match="shaping"):
        reward.scaled(1.5)
    with pytest.raises(NashmonError, match="anneal_steps"):
        shaping_scale(1, 0)


def test_unknown_reward_lists_the_names() -> None:
    with pytest.raises(UnknownRewardError, match="binary"):
        get_reward("shaped")
    assert set(reward_names()) >= {"binary", "default_shaped", "aggressive_shaped"}
