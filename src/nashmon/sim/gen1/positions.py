"""Single moments of battles, for search: what to go on from, and what it is worth."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1.playout import play_rows
from nashmon.sim.gen1.setup import Gen1Team, Row


@dataclass(frozen=True, slots=True)
class Position:
    """A battle at one moment, to go on from as often as wanted."""

    state: Row
    know: Row  # empty when nobody watched
    memory: NDArray[np.float64]
    seed: int
    teams: tuple[Gen1Team, Gen1Team]


def playouts(
    positions: Sequence[Position],
    seeds: NDArray[np.uint64],
    max_turns: int = 1000,
    threads: int = 1,
) -> NDArray[np.float64]:
    """Play on at random from each position, once for each of its seeds.

    `seeds` (positions, samples) are states of the generator; they decide both the dice and the
    choices.  Returns p1's results in the shape of `seeds`: 1, 0 or −1 where the battle ended within
    `max_turns` more turns, else the difference in material (half living Pokémon, half HP) between
    −1 and 1.  Positions are left as they are.
    """
    if seeds.ndim != 2 or seeds.shape[0] != len(positions) or seeds.dtype != np.uint64:
        raise ValueError(
            f"seeds must be uint64 of shape ({len(positions)}, samples), got {seeds.dtype} "
            f"{seeds.shape}"
        )
    if max_turns < 0 or threads < 1:
        raise ValueError(f"need max_turns ≥ 0 and threads ≥ 1, got {max_turns}, {threads}")
    values = np.zeros(seeds.size)
    if not seeds.size:
        return values.reshape(seeds.shape)
    rows = np.repeat(np.stack([one.state for one in positions]), seeds.shape[1], axis=0)
    dice = seeds.reshape(-1).copy()
    parts = [slice(part[0], part[-1] + 1) for part in _split(seeds.size, threads)]
    with ThreadPoolExecutor(len(parts)) as pool:
        done = [pool.submit(play_rows, rows[p], dice[p], max_turns, values[p]) for p in parts]
        for part in done:
            part.result()
    return values.reshape(seeds.shape)


def _split(count: int, parts: int) -> list[NDArray[np.int64]]:
    return [part for part in np.array_split(np.arange(count), parts) if len(part)]


def material(position: Position) -> float:
    """The difference in material as `playouts` counts it, from p1's side."""
    totals = []
    for seat in (0, 1):
        base = seat * at.SIDE
        size = int(position.state[base + at.TEAM_SIZE])
        party = position.state[base + at.PARTY :][: size * at.MON].reshape(size, at.MON)
        hp, full = party[:, at.M_HP], party[:, at.M_MAX_HP]
        totals.append(float(np.mean((hp > 0) * 0.5 + 0.5 * hp / full)))
    return totals[0] - totals[1]
