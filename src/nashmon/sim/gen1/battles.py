"""`Gen1Battles`: a `Battles` block played by the engine, without Node."""

from __future__ import annotations

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
from nashmon.sim.gen1.block import new_block, own_arrays
from nashmon.sim.gen1.determinise import SetSampler, determinise
from nashmon.sim.gen1.jit import is_compiled
from nashmon.sim.gen1.kernels import (
    CHUNK,
    DEALS,
    LOGGED,
    SEEN,
    TURN_LIMIT,
    WATCHED,
    Block,
    find_fault,
    show_rows,
    start_rows,
    step_rows,
)
from nashmon.sim.gen1.observe import check_columns
from nashmon.sim.gen1.payoff import coefficients
from nashmon.sim.gen1.positions import Position
from nashmon.sim.gen1.protocol import Event, Narrator, read_events, view_lines
from nashmon.sim.gen1.rng import seed_value
from nashmon.sim.gen1.rules import RULE_LINES, check_format, check_team
from nashmon.sim.gen1.setup import Gen1Team, read_team, write_start
from nashmon.sim.gen1.views import BattleView
from nashmon.sim.seeds import BattleSeed, PoolTeams, TeamSampler, battle_setup, seed_stream

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
        names = self.obs_spec.arrays if config.observation else ()
        layout = step_layout(
            num_battles, self.num_actions, {a.name: (a.shape, a.dtype) for a in names}
        )
        self._arrays = local_arrays(layout)
        self._by_encoder = bool(config.observation) and config.observation != "entity"
        self._block = self._make_block()
        self._taken = np.zeros(1, np.int64)
        self._teams: dict[int, tuple[Gen1Team, Gen1Team]] = {}  # of rows without picks
        self._known_teams: dict[str, Gen1Team] = {}
        self._encoders: dict[tuple[int, int], Any] = {}
        self._history: list[list[Event]] = [[] for _ in range(num_battles)]
        self._finished: dict[int, list[str]] = {}
        self._pool = ThreadPoolExecutor(config.threads - 1) if config.threads > 1 else None
        self._seed: int | None = None

    def _make_block(self) -> Block:
        config = self._config
        by_kernel = config.observation == "entity"
        if by_kernel:
            check_columns(self.obs_spec)
        pools = (config.teams.p1, config.teams.p2) if isinstance(config.teams, PoolTeams) else None
        return new_block(
            self._arrays,
            coefficients(get_reward(config.reward)),
            pools,
            {
                TURN_LIMIT: config.turn_limit,
                WATCHED: config.observation is not None,
                LOGGED: config.keep_logs,
                SEEN: by_kernel,
                DEALS: not config.keep_logs and not self._by_encoder,
                CHUNK: max(1, min(64, self.num_battles // (8 * config.threads))),
            },
        )

    @property
    def episodes(self) -> NDArray[np.int64]:
        """Battles that ended in each row since `reset`."""
        return self._arrays["episodes"]

    @property
    def bytes_per_battle(self) -> int:
        """Memory of one battle: the engine's rows and the arrays of a step."""
        arrays: list[NDArray[Any]] = [*own_arrays(self._block), *self._arrays.arrays.values()]
        return sum(array.nbytes for array in arrays) // self.num_battles

    def reset(self, seed: int) -> Step:
        """Start all battles; the same seed and actions give the same battles."""
        if not is_compiled(step_rows):
            log.info("compiling the Gen 1 engine, once per machine: about a minute")
        self._block.stream[0] = seed_stream(seed)
        self._seed = seed
        for name in ("ended", "truncated", "outcome", "rewards", "episodes"):
            self._arrays[name][:] = 0
        self._start(np.arange(self.num_battles))
        return self._arrays.step()

    def step(self, actions: NDArray[np.integer[Any]]) -> Step:
        """Advance every battle that got its actions."""
        if self._seed is None:
            raise SimulatorError("call reset(seed) before step")
        given = self._checked(actions)
        waiting = self._run(given)
        if self._config.keep_logs:
            self._keep(np.flatnonzero((given >= 0).any(axis=1)).tolist())
        if waiting:
            self._restart(np.flatnonzero(self._block.waiting))
        if self._by_encoder:
            self._encode(np.flatnonzero((given >= 0).any(axis=1)).tolist())
        return self._arrays.step()

    def _checked(self, actions: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        acting, masks = self._arrays["acting"], self._arrays["masks"]
        if actions.shape != acting.shape or actions.dtype.kind not in "iu":
            check_actions(actions, acting, masks)
        given = np.ascontiguousarray(actions, np.int64)
        if find_fault(self._block, given):
            check_actions(actions, acting, masks)
        return given

    def _run(self, actions: NDArray[np.int64]) -> int:
        """One step on all threads; returns how many rows wait for their next battle."""
        self._taken[0] = 0
        others = [
            self._pool.submit(step_rows, self._block, actions, self._taken)
            for _ in range(self._config.threads - 1)
            if self._pool
        ]
        waiting = int(step_rows(self._block, actions, self._taken))
        # A thread that has not started yet would find nothing left to do.
        return waiting + sum(int(other.result()) for other in others if not other.cancel())

    def _start(self, rows: NDArray[np.int64]) -> None:
        self._block.waiting[rows] = 0
        if start_rows(self._block, rows):
            waiting = rows[self._block.waiting[rows] > 0]
            for row in waiting.tolist():
                self._set_up(row)
            start_rows(self._block, waiting)
        if self._config.keep_logs:
            for row in rows.tolist():
                self._history[row] = []
            self._keep(rows.tolist())
        if self._by_encoder:
            for row in rows.tolist():
                for seat in (0, 1):
                    self._encoders[row, seat] = self._space.encoder()
            self._encode(rows.tolist())

    def _set_up(self, row: int) -> None:
        """What kernels cannot do: read teams, or ask a sampler that is not a pool for them."""
        assert self._seed is not None
        block, sampler = self._block, self._config.teams
        episode = int(block.episodes[row])
        packed, words = battle_setup(sampler, self._seed, row, episode)
        first, second = self._read(packed[0]), self._read(packed[1])
        write_start(block.state[row], first, second)
        block.seeds[row] = seed_value(words)
        block.picks[row] = -1
        self._teams[row] = (first, second)
        if isinstance(sampler, PoolTeams):
            picks = sampler.pick(seed_value(words))
            block.sides0[picks[0]], block.sides1[picks[1]] = first.side, second.side

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
            self._history[row].extend(read_events(self._block.logs[row]))

    def _restart(self, rows: NDArray[np.int64]) -> None:
        if self._config.keep_logs:
            for row in rows.tolist():
                self._finished[row] = self._lines(row)
        self._start(rows)

    def _lines(self, row: int) -> list[str]:
        teams = self._team_pair(row)
        narrator = Narrator(teams, NAMES, get_format(self.format_id).name, RULE_LINES)
        return [*narrator.opening(), *view_lines(narrator.lines(self._history[row]), "all")]

    def _team_pair(self, row: int) -> tuple[Gen1Team, Gen1Team]:
        if not 0 <= row < self.num_battles:
            raise IndexError(f"battle {row} of {self.num_battles}")
        first, second = self._block.picks[row].tolist()
        if first >= 0 and isinstance(self._config.teams, PoolTeams):
            return self._read(self._config.teams.p1[first]), self._read(
                self._config.teams.p2[second]
            )
        teams = self._teams.get(row)
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
        block = self._block
        return BattleView(self.format_id, block.state[row], block.know[row], self._team_pair(row))

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
        block, teams = self._block, self._team_pair(row)
        know = block.know[row] if len(block.know) else np.zeros(0, np.int16)
        seed = int(block.seeds[row])
        return Position(block.state[row].copy(), know.copy(), block.memory[row].copy(), seed, teams)

    def imagine(self, row: int, seat: int, rng: np.random.Generator, sets: SetSampler) -> Position:
        """A position that the player of a seat could not tell from the real one."""
        return determinise(self.save(row), seat, rng, sets)

    def restore(self, row: int, position: Position, seed: BattleSeed | None = None) -> Step:
        """Put a battle into a row, with other dice when a seed is given."""
        return self.restore_rows([row], [position], None if seed is None else [seed])

    def restore_rows(
        self,
        rows: Sequence[int],
        positions: Sequence[Position],
        seeds: Sequence[BattleSeed] | None = None,
    ) -> Step:
        """Put battles into rows, with other dice when seeds are given."""
        block, chosen = self._block, self._row_numbers(rows)
        if len(positions) != len(chosen) or (seeds is not None and len(seeds) != len(chosen)):
            raise ValueError(
                f"{len(chosen)} rows need as many positions and seeds, got {len(positions)} and "
                f"{'none' if seeds is None else len(seeds)}"
            )
        if len(block.know) and not all(len(position.know) for position in positions):
            raise SimulatorError("a position saved without observations cannot be observed")
        for index, (row, position) in enumerate(zip(chosen.tolist(), positions, strict=True)):
            block.state[row] = position.state
            if len(block.know):
                block.know[row] = position.know
            block.memory[row] = position.memory
            block.seeds[row] = position.seed if seeds is None else seed_value(seeds[index])
            self._teams[row] = position.teams
            self._history[row] = []
        block.picks[chosen] = -1
        return self._show(chosen)

    def copy_rows(
        self,
        source: Gen1Battles,
        source_rows: Sequence[int] | NDArray[np.integer[Any]],
        target_rows: Sequence[int] | NDArray[np.integer[Any]],
        seeds: NDArray[np.uint64] | None = None,
    ) -> Step:
        """Put battles of a block, which may be this one, into rows of this one.

        `source_rows` and `target_rows` go in pairs; a source may be named often.  The copies keep
        the dice of their sources, or take `seeds`, the generators' states.
        """
        origins, targets = source._row_numbers(source_rows), self._row_numbers(target_rows)
        if len(origins) != len(targets) or (seeds is not None and len(seeds) != len(targets)):
            raise ValueError(
                f"{len(origins)} source rows, {len(targets)} target rows and "
                f"{'no' if seeds is None else len(seeds)} seeds do not go together"
            )
        block, other = self._block, source._block
        if len(block.know) and not len(other.know):
            raise SimulatorError("battles of a block without observations cannot be observed")
        teams = {row: source._team_pair(row) for row in set(origins.tolist())}
        block.state[targets] = other.state[origins]
        block.memory[targets] = other.memory[origins]
        if len(block.know):
            block.know[targets] = other.know[origins]
        block.seeds[targets] = other.seeds[origins] if seeds is None else seeds
        block.picks[targets] = -1
        histories = {row: list(source._history[row]) for row in teams}
        for origin, target in zip(origins.tolist(), targets.tolist(), strict=True):
            self._teams[target] = teams[origin]
            self._history[target] = list(histories[origin])
        return self._show(targets)

    def clone(self, source: int, target: int) -> Step:
        """Copy a battle into another row; both then evolve alike."""
        return self.copy_rows(self, [source], [target])

    def _row_numbers(self, rows: Sequence[int] | NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        numbers = np.asarray(rows, np.int64)
        if self._seed is None:
            raise SimulatorError("call reset(seed) first")
        wrong = numbers[(numbers < 0) | (numbers >= self.num_battles)]
        if len(wrong):
            raise IndexError(f"battle {wrong[0]} of {self.num_battles}")
        return numbers

    def _show(self, rows: NDArray[np.int64]) -> Step:
        show_rows(self._block, rows)
        if self._by_encoder:
            self._encode(rows.tolist())
        return self._arrays.step()

    def set_seed(self, row: int, seed: BattleSeed) -> None:
        """Give a battle other dice from here on."""
        self._team_pair(row)
        self._block.seeds[row] = seed_value(seed)

    def close(self) -> None:
        """Free the threads; safe to call twice."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def __enter__(self) -> Gen1Battles:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
