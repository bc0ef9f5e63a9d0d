"""The conformance tests every engine passes."""

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest

from nashmon.core.actions import IllegalActionError
from nashmon.core.agent import RandomAgent
from nashmon.core.formats import get_format
from nashmon.match.play import decisions_of
from nashmon.observe.registry import get_observation_space
from nashmon.sim.base import NO_ACTION, Battles, Step
from nashmon.sim.make import make_battles

# (engine, format): every engine × the kinds of battles it can play.
CASES = [
    ("gen1", "gen1ou"),
    ("showdown", "gen1ou"),
    ("showdown", "gen4ou"),
    ("showdown", "gen9ou"),
    ("showdown", "gen9vgc2025regi"),
    ("showdown", "gen9randombattle"),
]
NUM_BATTLES = 3

Make = Callable[..., Battles]


@pytest.fixture(params=CASES, ids=lambda case: "-".join(case))
def make(request: pytest.FixtureRequest) -> Iterator[Make]:
    engine, format_id = request.param
    opened: list[Battles] = []

    def build(**options: object) -> Battles:
        options = {"num_battles": NUM_BATTLES, **options}
        battles = make_battles(format_id, engine=engine, **options)  # type: ignore[arg-type]
        opened.append(battles)
        return battles

    yield build
    for battles in opened:
        battles.close()


def random_actions(battles: Battles, step: Step, rng: np.random.Generator) -> np.ndarray:
    actions = np.full(step.acting.shape, NO_ACTION, dtype=np.int64)
    for seat in (0, 1):
        rows = np.flatnonzero(step.acting[:, seat])
        if len(rows):
            view = decisions_of(battles, step, rows, seat, step.acting)
            actions[rows, seat] = RandomAgent().act(view, None, rng)
    return actions


def snapshot(step: Step) -> dict[str, np.ndarray]:
    names = ("masks", "acting", "ended", "truncated", "outcome", "rewards", "turns")
    acting = step.acting  # observations of seats that are not asked mean nothing
    seen = {f"obs.{k}": v[acting].copy() for k, v in step.observations.items()}
    return {name: getattr(step, name).copy() for name in names} | seen


def transcript(battles: Battles, seed: int, steps: int) -> list[dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    step = battles.reset(seed)
    rows = [snapshot(step)]
    for _ in range(steps):
        step = battles.step(random_actions(battles, step, rng))
        rows.append(snapshot(step))
    return rows


def assert_same(left: list[dict[str, np.ndarray]], right: list[dict[str, np.ndarray]]) -> None:
    for number, (a, b) in enumerate(zip(left, right, strict=True)):
        for name in a:
            np.testing.assert_array_equal(a[name], b[name], err_msg=f"step {number}: {name}")


def test_same_seed_gives_the_same_battles_again_and_in_a_new_block(make: Make) -> None:
    battles = make()
    first = transcript(battles, 5, 60)
    assert_same(first, transcript(battles, 5, 60))
    assert_same(first, transcript(make(), 5, 60))
    other = transcript(battles, 6, 60)
    assert any(
        not np.array_equal(a["masks"], b["masks"]) for a, b in zip(first, other, strict=True)
    )


def test_arrays_have_the_shapes_and_bounds_of_the_spec(make: Make) -> None:
    battles = make()
    rng = np.random.default_rng(1)
    step = battles.reset(1)
    for _ in range(40):
        for array in battles.obs_spec.arrays:
            values = step.observations[array.name]
            assert values.shape == (NUM_BATTLES, 2, *array.shape)
            assert values.dtype == array.dtype
            acted = values[step.acting]
            assert (acted >= [c.low for c in array.columns]).all(), array.name
            assert (acted <= [c.high for c in array.columns]).all(), array.name
        step = battles.step(random_actions(battles, step, rng))


def test_a_seat_has_legal_actions_exactly_when_it_acts(make: Make) -> None:
    battles = make()
    rng = np.random.default_rng(2)
    step = battles.reset(2)
    for _ in range(60):
        np.testing.assert_array_equal(step.masks.any(axis=2), step.acting)
        assert step.acting.any(axis=1).all(), "a battle in which nobody acts would never go on"
        step = battles.step(random_actions(battles, step, rng))


def test_every_battle_ends_with_opposite_rewards(make: Make) -> None:
    battles = make(reward="binary")
    rng = np.random.default_rng(3)
    step = battles.reset(3)
    seen = 0
    for _ in range(20000):
        step = battles.step(random_actions(battles, step, rng))
        for row in np.flatnonzero(step.ended):
            seen += 1
            expected = np.sign(step.rewards[row])
            np.testing.assert_array_equal(expected, [step.outcome[row], -step.outcome[row]])
        assert (step.rewards[~step.ended] == 0).all()
        if seen >= 4:
            break
    assert seen >= 4
    assert battles.episodes.sum() == seen


def test_turn_limit_ends_a_battle_as_a_truncated_draw(make: Make) -> None:
    battles = make(turn_limit=2)
    rng = np.random.default_rng(4)
    step = battles.reset(4)
    for _ in range(60):
        step = battles.step(random_actions(battles, step, rng))
        assert (step.turns <= 2).all()
        assert (step.outcome[step.truncated] == 0).all()
        if step.truncated.any():
            return
    pytest.fail("no battle reached turn 3")


def test_an_illegal_action_raises_and_changes_nothing(make: Make) -> None:
    control = make()
    expected = transcript(control, 7, 12)
    battles = make()
    rng = np.random.default_rng(7)
    step = battles.reset(7)
    for number in range(12):
        good = random_actions(battles, step, rng)
        row, seat = np.argwhere(step.acting)[0]
        forbidden = np.flatnonzero(~step.masks[row, seat])[:1].tolist()
        for wrong in (*forbidden, battles.num_actions, -2):
            bad = good.copy()
            bad[row, seat] = wrong
            with pytest.raises(IllegalActionError, match=rf"battle {row}, p{seat + 1}"):
                battles.step(bad)
        with pytest.raises(IllegalActionError, match="shape"):
            battles.step(good[:1])
        step = battles.step(good)
        assert_same([snapshot(step)], [expected[number + 1]])


def test_battles_without_actions_pause(make: Make) -> None:
    battles = make()
    rng = np.random.default_rng(8)
    step = battles.reset(8)
    before = snapshot(step)
    actions = random_actions(battles, step, rng)
    actions[1:] = NO_ACTION
    step = battles.step(actions)
    after = snapshot(step)
    for name in ("masks", "acting", "turns"):
        np.testing.assert_array_equal(before[name][1:], after[name][1:])


def test_an_observation_is_the_encoding_of_the_state(make: Make) -> None:
    battles = make()
    space = get_observation_space("entity", get_format(battles.format_id))
    rng = np.random.default_rng(9)
    step = battles.reset(9)
    for _ in range(25):
        pairs = [(int(row), int(seat)) for row, seat in np.argwhere(step.acting)]
        for (row, seat), state in zip(pairs, battles.states(pairs), strict=True):
            fresh = space.allocate(1)
            space.encoder().write(state, fresh, 0)
            for name, array in fresh.items():
                np.testing.assert_array_equal(array[0], step.observations[name][row, seat])
        step = battles.step(random_actions(battles, step, rng))


def test_a_finished_battle_leaves_its_log(make: Make) -> None:
    battles = make(num_battles=1, keep_logs=True)
    rng = np.random.default_rng(10)
    step = battles.reset(10)
    while not step.ended[0]:
        step = battles.step(random_actions(battles, step, rng))
    lines = battles.finished_log(0)
    assert any(line.startswith(("|win|", "|tie")) for line in lines)
    assert any(line.startswith("|move|") for line in lines)


def test_the_gen1_engine_and_showdown_cannot_be_told_apart() -> None:
    engine = make_battles("gen1ou", 4, engine="gen1")
    showdown = make_battles("gen1ou", 4, engine="showdown")
    with closing(engine), closing(showdown):
        assert_same(transcript(engine, 12, 300), transcript(showdown, 12, 300))
        pairs = [(row, seat) for row in range(4) for seat in (0, 1)]
        assert engine.states(pairs) == showdown.states(pairs)


@pytest.mark.parametrize("changes", [{"workers": 1}, {"workers": 2}, {"overlap": False}])
def test_results_do_not_depend_on_how_the_work_is_divided(changes: dict[str, Any]) -> None:
    usual = make_battles("gen1ou", 4, engine="showdown")
    divided = make_battles("gen1ou", 4, engine="showdown", **changes)
    with closing(usual), closing(divided):
        assert_same(transcript(usual, 11, 30), transcript(divided, 11, 30))
        pairs = [(3, 0), (0, 1)]
        assert usual.states(pairs) == divided.states(pairs)
