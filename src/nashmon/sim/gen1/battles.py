"""`Gen1Battles`: a `Battles` block played by the engine, without Node."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nashmon.core.actions import action_space
from nashmon.core.errors import SimulatorError, TeamError
from nashmon.core.formats import get_format
from nashmon.core.rewards import get_reward
from nashmon.core.state import UniversalState
from nashmon.observe.registry import get_observation_space
from nashmon.sim.arrays import local_arrays, step_layout
from nashmon.sim.base import Step, check_actions
from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1.jit import is_compiled
from nashmon.sim.gen1.kernels import LOG_LENGTH, Out, Rows, show_row, start_rows, step_rows
from nashmon.sim.gen1.knowledge import KNOW
from nashmon.sim.gen1.observe import ID_BLOCK, NUMBER_BLOCK, check_columns
from nashmon.sim.gen1.payoff import MEMORY, coefficients
from nashmon.sim.gen1.protocol import Event, Narrator, read_events, view_lines
from nashmon.sim.gen1.rng import seed_value
from nashmon.sim.gen1.rules import RULE_LINES, check_format, check_team
from nashmon.sim.gen1.setup import Gen1Team, Row, read_team, write_start
from nashmon.sim.gen1.views import BattleView
from nashmon.sim.seeds import BattleSeed, TeamSampler, battle_setup

log = logging.getLogger(__name__)

NAMES = ("Red", "Blue")


@dataclass(frozen=True, slots=True)
class Gen1Config:
    """What a block of Gen 1 battles plays, and how it is seen."""

    format_id: str
    teams: TeamSampler
    observation: str | None = "entity"  # None: no observations, for play-outs
    actions: str = "default"
    reward: str = "binary"
    turn_limit: int = 1000
    keep_logs: bool = False  # remember the protocol log of the last battle of each row
    check_teams: bool = True  # refuse what the format bans
    threads: int = 1


@dataclass(frozen=True, slots=True)
class Position:
    """A battle at one moment, to go on from as often as wanted."""

    state: Row
    know: Row
    memory: NDArray[np.float64]
    seed: int
    teams: tuple[Gen1Team, Gen1Team]


class Gen1Battles:
    """`num_battles` Gen 1 singles battles, bit-exact with Showdown for the same seeds."""

    def __init__(self, config: Gen1Config, num_battles: int) -> None:
        if num_battles < 1 or config.threads < 1:
            raise ValueError(
                f"need num_battles ≥ 1 and threads ≥ 1, got {num_battles}, {config.threads}"
            )
        check_format(config.format_id)
        rules = get_format(config.format_id)
        self._config = config
        self.format_id = rules.id
        self.num_battles = num_battles
        self.num_actions = action_space(rules, config.actions).num_actions
        self._space = get_observation_space(config.observation or "entity", rules)
        self.obs_spec = self._space.spec
        self._coefficients = coefficients(get_reward(config.reward))
        names = self.obs_spec.arrays if config.observation else ()
        layout = step_layout(
            num_battles, self.num_actions, {a.name: (a.shape, a.dtype) for a in names}
        )
        self._arrays = local_arrays(layout)
        self._by_kernel = config.observation == "entity"
        self._rows = self._make_rows()
        self._out = self._make_out()
        self._teams: list[tuple[Gen1Team, Gen1Team] | None] = [None] * num_battles
        self._known_teams: dict[str, Gen1Team] = {}
        self._encoders: dict[tuple[int, int], Any] = {}
        self._history: list[list[Event]] = [[] for _ in range(num_battles)]
        self._finished: dict[int, list[str]] = {}
        self._pool = ThreadPoolExecutor(config.threads) if config.threads > 1 else None
        self._seed: int | None = None

    def _make_rows(self) -> Rows:
        count, kept = self.num_battles, self._config.keep_logs
        watched = count if self._config.observation else 0
        return Rows(
            np.zeros((count, at.ROW), np.int16),
            np.zeros(count, np.uint64),
            np.zeros((watched, KNOW), np.int16),
            np.zeros((count, 2, MEMORY), np.float64),
            np.zeros((count if kept else 0, LOG_LENGTH), np.int16),
            np.zeros((count if self._by_kernel else 0, 2 * ID_BLOCK), np.int16),
            np.zeros((count if self._by_kernel else 0, 2 * NUMBER_BLOCK), np.float32),
        )

    def _make_out(self) -> Out:
        arrays, shown = self._arrays, self._arrays.observations()
        names = ("masks", "acting", "ended", "truncated", "outcome", "rewards", "turns")
        if self._by_kernel:
            check_columns(self.obs_spec)
            seen = [shown[name] for name in ("pokemon_ids", "pokemon_numbers", "active_numbers")]
            seen.append(shown["field"])
        else:
            seen = [np.zeros((0, 2, 1, 1), np.int16)]
            seen += [np.zeros((0, 2, 1, 1), np.float32)] * 2 + [np.zeros((0, 2, 1), np.float32)]
        masks, *others = (arrays[name] for name in names)
        return Out(masks.view(np.uint8), *others, *seen)

    @property
    def episodes(self) -> NDArray[np.int64]:
        """Battles that ended in each row since `reset`."""
        return self._arrays["episodes"]

    @property
    def bytes_per_battle(self) -> int:
        """Memory of one battle: the engine's rows and the arrays of a step."""
        arrays: list[NDArray[Any]] = [*self._rows, *self._arrays.arrays.values()]
        return sum(array.nbytes for array in arrays) // self.num_battles

    def reset(self, seed: int) -> Step:
        """Start all battles; the same seed and actions give the same battles."""
        if not is_compiled(step_rows):
            log.info("compiling the Gen 1 engine, once per machine: about a minute")
        self._seed = seed
        for name in ("ended", "truncated", "outcome", "rewards", "episodes"):
            self._arrays[name][:] = 0
        self._start(np.arange(self.num_battles))
        return self._arrays.step()

    def step(self, actions: NDArray[np.integer[Any]]) -> Step:
        """Advance every battle that got its actions."""
        if self._seed is None:
            raise SimulatorError("call reset(seed) before step")
        check_actions(actions, self._arrays["acting"], self._arrays["masks"])
        given = np.ascontiguousarray(actions, np.int64)
        self._run(given)
        if self._config.keep_logs:
            self._keep(np.flatnonzero((given >= 0).any(axis=1)).tolist())
        if self._out.ended.any():
            self._restart(np.flatnonzero(self._out.ended))
        if not self._by_kernel and self._config.observation:
            self._encode(np.flatnonzero((given >= 0).any(axis=1)).tolist())
        return self._arrays.step()

    def _run(self, actions: NDArray[np.int64]) -> None:
        rows, out, limit = self._rows, self._out, self._config.turn_limit
        if self._pool is None:
            step_rows(rows, out, self._coefficients, limit, actions, 0, self.num_battles)
            return
        bounds = np.linspace(0, self.num_battles, self._config.threads + 1).astype(int).tolist()
        parts = [
            self._pool.submit(step_rows, rows, out, self._coefficients, limit, actions, first, last)
            for first, last in itertools.pairwise(bounds)
        ]
        for part in parts:
            part.result()

    def _start(self, rows: NDArray[np.int64]) -> None:
        assert self._seed is not None
        state, seeds = self._rows.state, self._rows.seeds
        for row in rows.tolist():
            episode = int(self._arrays["episodes"][row])
            packed, words = battle_setup(self._config.teams, self._seed, row, episode)
            first, second = self._read(packed[0]), self._read(packed[1])
            self._teams[row] = (first, second)
            write_start(state[row], first, second)
            seeds[row] = seed_value(words)
        start_rows(self._rows, self._out, self._coefficients, rows)
        if self._config.keep_logs:
            for row in rows.tolist():
                self._history[row] = []
            self._keep(rows.tolist())
        if not self._by_kernel and self._config.observation:
            for row in rows.tolist():
                for seat in (0, 1):
                    self._encoders[row, seat] = self._space.encoder()
            self._encode(rows.tolist())

    def _read(self, packed: str | None) -> Gen1Team:
        if packed is None:
            raise TeamError(
                f"{self.format_id}: the Gen 1 engine needs teams; random teams are made by Showdown"
            )
        team = self._known_teams.get(packed)
        if team is None:
            team = read_team(packed)
            if self._config.check_teams:
                check_team(self.format_id, team)
            self._known_teams[packed] = team
        return team

    def _keep(self, rows: Sequence[int]) -> None:
        for row in rows:
            self._history[row].extend(read_events(self._rows.logs[row]))

    def _restart(self, rows: NDArray[np.int64]) -> None:
        if self._config.keep_logs:
            for row in rows.tolist():
                self._finished[row] = self._lines(row)
        self._arrays["episodes"][rows] += 1
        self._start(rows)

    def _lines(self, row: int) -> list[str]:
        teams = self._team_pair(row)
        narrator = Narrator(teams, NAMES, get_format(self.format_id).name, RULE_LINES)
        return [*narrator.opening(), *view_lines(narrator.lines(self._history[row]), "all")]

    def _team_pair(self, row: int) -> tuple[Gen1Team, Gen1Team]:
        if not 0 <= row < self.num_battles:
            raise IndexError(f"battle {row} of {self.num_battles}")
        teams = self._teams[row]
        if teams is None:
            raise SimulatorError("call reset(seed) first")
        return teams

    def _encode(self, rows: Sequence[int]) -> None:
        shown = self._arrays.observations()
        flat = {name: array.reshape(-1, *array.shape[2:]) for name, array in shown.items()}
        for row in rows:
            for seat in (0, 1):
                if self._arrays["acting"][row, seat]:
                    state = self.view(row).state(seat)
                    self._encoders[row, seat].write(state, flat, 2 * row + seat)

    def view(self, row: int) -> BattleView:
        """States and requests of one battle."""
        if not self._config.observation:
            raise SimulatorError("a block made with observation=None knows no states")
        rows = self._rows
        return BattleView(self.format_id, rows.state[row], rows.know[row], self._team_pair(row))

    def states(self, pairs: Sequence[tuple[int, int]]) -> list[UniversalState]:
        """The state of each (battle, seat) as that player knows it now."""
        return [self.view(row).state(seat) for row, seat in pairs]

    def finished_log(self, row: int) -> list[str]:
        """Protocol lines of the battle that last ended in a row (needs `keep_logs=True`)."""
        if row not in self._finished:
            raise SimulatorError(f"no log of battle {row}: keep_logs is off or none ended")
        return self._finished[row]

    def save(self, row: int) -> Position:
        """The battle of a row as it stands now."""
        rows, teams = self._rows, self._team_pair(row)
        know = rows.know[row] if len(rows.know) else np.zeros(0, np.int16)
        seed = int(rows.seeds[row])
        return Position(rows.state[row].copy(), know.copy(), rows.memory[row].copy(), seed, teams)

    def restore(self, row: int, position: Position, seed: BattleSeed | None = None) -> Step:
        """Put a battle into a row, with other dice when a seed is given."""
        rows = self._rows
        self._team_pair(row)
        if len(rows.know) and not len(position.know):
            raise SimulatorError("a position saved without observations cannot be observed")
        self._teams[row] = position.teams
        rows.state[row] = position.state
        if len(rows.know):
            rows.know[row] = position.know
        rows.memory[row] = position.memory
        rows.seeds[row] = position.seed if seed is None else seed_value(seed)
        self._history[row] = []
        show_row(rows, self._out, row)
        if not self._by_kernel and self._config.observation:
            self._encode([row])
        return self._arrays.step()

    def clone(self, source: int, target: int) -> Step:
        """Copy a battle into another row; both then evolve alike."""
        history = self._history[source]
        step = self.restore(target, self.save(source))
        self._history[target] = list(history)
        return step

    def set_seed(self, row: int, seed: BattleSeed) -> None:
        """Give a battle other dice from here on."""
        self._team_pair(row)
        self._rows.seeds[row] = seed_value(seed)

    def close(self) -> None:
        """Free the threads; safe to call twice."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def __enter__(self) -> Gen1Battles:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
