"""All spaces on the states of real battles: no unknown word, and no memory where none is due."""

from __future__ import annotations

import numpy as np
import pytest

from nashmon.core.formats import get_format
from nashmon.core.state import UniversalState
from nashmon.observe import get_observation_space
from nashmon.observe.registry import NAMES
from nashmon.sim.make import make_battles


def play(format_id: str, steps: int) -> list[list[UniversalState]]:
    """The states of each player in each battle of some random-legal play."""
    rng = np.random.default_rng(5)
    battles = make_battles(format_id, 2, engine="showdown")
    sequences: dict[tuple[int, int, int], list[UniversalState]] = {}
    episode = np.zeros(2, int)
    try:
        step = battles.reset(5)
        for _ in range(steps):
            pairs = [(int(n), int(seat)) for n, seat in np.argwhere(step.acting)]
            for (n, seat), state in zip(pairs, battles.states(pairs), strict=True):
                sequences.setdefault((n, seat, int(episode[n])), []).append(state)
            noise = rng.random(step.masks.shape) * step.masks
            step = battles.step(np.where(step.acting, noise.argmax(axis=2), -1))
            episode += step.ended
    finally:
        battles.close()
    return list(sequences.values())


@pytest.mark.parametrize("format_id", ["gen1randombattle", "gen9randomdoublesbattle"])
def test_real_states_are_written_completely(format_id: str) -> None:
    check(format_id, steps=25)


@pytest.mark.slow
@pytest.mark.parametrize(
    "format_id",
    [
        *(f"gen{gen}randombattle" for gen in range(1, 10)),
        *("gen7hackmonscup", "gen8hackmonscup", "gen9hackmonscup", "gen9doubleshackmonscup"),
        *("gen9bssfactory", "gen9championsrandombattle", "gen7letsgorandombattle"),
        *("gen1ou", "gen9ou", "gen9vgc2025regi", "gen9championsvgc2026regmb"),
    ],
)
def test_real_states_of_many_formats_are_written_completely(format_id: str) -> None:
    check(format_id, steps=250)


def check(format_id: str, steps: int) -> None:
    format = get_format(format_id)
    names = [name for name in NAMES if name == "entity" or format.game_type == "singles"]
    sequences = play(format_id, steps)
    assert sum(map(len, sequences)) >= steps
    for name in names:
        space = get_observation_space(name, format)
        warm, fresh = space.allocate(1), space.allocate(1)
        for states in sequences:
            encoder = space.encoder()
            for state in states:
                encoder.write(state, warm, 0)
                if not space.carries_history:
                    space.encoder().write(state, fresh, 0)
                    assert all(np.array_equal(warm[key], fresh[key]) for key in warm)
                for array in space.spec.arrays:
                    assert (warm[array.name] >= [c.low for c in array.columns]).all()
                    assert (warm[array.name] <= [c.high for c in array.columns]).all()
                if name != "entity":
                    assert (warm["text_tokens"] >= 0).all()
