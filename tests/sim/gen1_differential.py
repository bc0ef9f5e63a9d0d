"""Plays the same Gen 1 battle in Showdown and in the engine, and names the first difference."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from gen1_jobs import Job
from gen1_rewards import RewardWatch

from nashmon.core.actions import action_space
from nashmon.core.formats import get_format
from nashmon.core.state import UniversalState
from nashmon.observe.entity import EntitySpace
from nashmon.sim.gen1 import calls
from nashmon.sim.gen1 import events as ev
from nashmon.sim.gen1 import knowledge as kn
from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1.legal import NUM_ACTIONS
from nashmon.sim.gen1.observe import SCRATCH
from nashmon.sim.gen1.protocol import Narrator, read_events, view_lines
from nashmon.sim.gen1.rng import seed_value, seed_words
from nashmon.sim.gen1.setup import read_team, write_start
from nashmon.sim.gen1.views import BattleView
from nashmon.sim.showdown.install import find_showdown
from nashmon.sim.showdown.node import find_node
from nashmon.sim.tracker import Tracker

HERE = Path(__file__).parent
_AHEAD = 3  # jobs given to Node at a time; few enough to fit into a pipe
OBSERVATION = ("pokemon_ids", "pokemon_numbers", "active_numbers", "field")


class Oracle:
    """A Node process that plays battles in Showdown."""

    def __init__(self, patched: bool = True) -> None:
        import nashmon.sim.showdown as showdown

        patch = Path(showdown.__file__).parent / "node" / "patch.js"
        command = [str(find_node().path), str(HERE / "gen1_oracle.js"), str(find_showdown())]
        command.append(str(patch) if patched else "stock")
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def play(self, jobs: Iterable[Job]) -> Iterator[dict[str, Any]]:
        """The battles in order; the next ones are played while the caller looks at one."""
        assert self._process.stdout
        waiting = iter(jobs)
        asked = sum(self._ask(job) for job in islice(waiting, _AHEAD))
        while asked:
            played = self._process.stdout.readline()
            asked += sum(self._ask(job) for job in islice(waiting, 1)) - 1
            yield json.loads(played)

    def _ask(self, job: Job) -> int:
        assert self._process.stdin
        self._process.stdin.write(job.to_json() + "\n")
        self._process.stdin.flush()
        return 1

    def close(self) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()


def split_views(lines: list[str]) -> dict[str, list[str]]:
    """What each onlooker sees of raw simulator lines, without clocks."""
    views: dict[str, list[str]] = {"all": [], "p1": [], "p2": [], "spectator": []}
    index = 0
    while index < len(lines):
        line = lines[index]
        if line.startswith("|split|"):
            owner, secret, shared = line[7:], lines[index + 1], lines[index + 2]
            for view, text in views.items():
                shown = secret if view in ("all", owner) else shared
                if shown:
                    text.append(shown)
            index += 3
            continue
        if not line.startswith("|t:|"):
            for text in views.values():
                text.append(line)
        index += 1
    return views


class EngineBattle:
    """One battle in the engine, watched."""

    def __init__(self, job: Job, teams: list[str]) -> None:
        first, second = (read_team(team) for team in teams)
        self.narrator = Narrator((first, second))
        self.state = np.zeros((1, at.ROW), np.int16)
        self.seeds = np.array([seed_value(job.seed)], np.uint64)
        self.log = ev.new_log(400)[None]
        write_start(self.state[0], first, second)
        self.know = kn.new_knowledge(1)
        calls.begin_knowledge(self.know[0], self.state[0])
        self.view = BattleView(job.format, self.state[0], self.know[0], (first, second))
        self.space = EntitySpace(get_format(job.format))
        self.made = [self.space.allocate(1) for _ in (0, 1)]
        self.trackers = [Tracker(job.format, p, f"p{p + 1}", f"p{2 - p}") for p in (0, 1)]
        self.rewards = RewardWatch(self.state[0])
        self.clear()
        calls.start(self.state[0], self.seeds, self.log[0])
        calls.update_knowledge(self.know[0], self.state[0], self.log[0])

    def clear(self) -> None:
        self.log[0, ev.COUNT], self.log[0, ev.LAST_MOVE] = 0, -1

    def step(self, actions: list[int]) -> None:
        self.clear()
        calls.advance(self.state[0], self.seeds, self.log[0], *actions)
        calls.update_knowledge(self.know[0], self.state[0], self.log[0])

    def views(self) -> dict[str, list[str]]:
        lines = list(self.narrator.lines(read_events(self.log[0])))
        views = ("all", "p1", "p2", "spectator")
        return {
            view: [line for line in view_lines(lines, view) if not line.startswith("|t:|")]
            for view in views
        }

    def mask(self, seat: int) -> np.ndarray:
        mask = np.zeros(NUM_ACTIONS, bool)
        calls.write_mask(self.state[0], seat, mask.view(np.uint8))
        return mask

    def knowledge_difference(self, step: dict[str, Any]) -> str | None:
        """Compare requests, states, observations and rewards with those of trackers."""
        views = split_views(step["log"])
        running = any(step["requests"])
        for seat, tracker in enumerate(self.trackers):
            tracker.feed(views[f"p{seat + 1}"])
            problem = self.rewards.end_difference(seat, tracker, running)
            if running and not problem:
                problem = self._request_difference(seat, tracker, step["requests"][seat])
            if problem:
                return f"p{seat + 1}: {problem}"
        return None

    def _request_difference(
        self, seat: int, tracker: Tracker, request: dict[str, Any] | None
    ) -> str | None:
        own = self.view.request(seat, f"p{seat + 1}")
        if request is not None and request != own:
            return f"request\n  Showdown: {request}\n  engine:   {own}"
        tracker.request(own)
        problem = self._state_difference(seat, tracker.state())
        if problem or request is None:
            return problem
        return self.rewards.decision_difference(seat, tracker.state())

    def _state_difference(self, seat: int, expected: UniversalState) -> str | None:
        shown = self.view.state(seat)
        if shown != expected:
            return "\n".join(_fields(expected.to_dict(), shown.to_dict(), "state"))
        if expected.phase == "wait":
            return None
        wanted, made = self.space.allocate(1), self.made[seat]
        self.space.encoder().write(expected, wanted, 0)
        arrays = [made[name][0] for name in OBSERVATION]
        scratch = np.zeros(SCRATCH, np.int64)
        calls.write_entity(self.state[0], self.know[0], seat, *arrays, scratch)
        for name, array in wanted.items():
            if not np.array_equal(array, made[name]):
                return f"{name} at {np.argwhere(array != made[name]).tolist()}"
        return None

    def seed_text(self) -> str:
        return ",".join(map(str, seed_words(int(self.seeds[0]))))


def _fields(expected: Any, shown: Any, path: str) -> Iterator[str]:
    """Paths at which two nested values differ."""
    if isinstance(expected, dict) and isinstance(shown, dict):
        for key in expected:
            yield from _fields(expected[key], shown.get(key), f"{path}.{key}")
    elif isinstance(expected, tuple) and isinstance(shown, tuple) and len(expected) == len(shown):
        for index, pair in enumerate(zip(expected, shown, strict=True)):
            yield from _fields(*pair, f"{path}[{index}]")
    elif expected != shown:
        yield f"{path}: tracker {expected!r}, engine {shown!r}"


def compare(job: Job, played: dict[str, Any], knowledge: bool = True) -> str | None:
    """The first difference between Showdown's battle and the engine's, None when equal."""
    space = action_space(get_format(job.format))
    battle = EngineBattle(job, played["teams"])
    steps = played["steps"]
    for number, step in enumerate(steps):
        problem = _difference(battle, step, space, opening=number == 0)
        if not problem and knowledge:
            problem = battle.knowledge_difference(step)
        if problem:
            return f"step {number}: {problem}"
        if "choices" not in step or number + 1 == len(steps):
            break
        actions = [
            -1 if request is None else space.action(request, choice)
            for request, choice in zip(step["requests"], step["choices"], strict=True)
        ]
        battle.step(actions)
    return None


def _difference(
    battle: EngineBattle, step: dict[str, Any], space: Any, opening: bool
) -> str | None:
    expected = split_views(step["log"])
    shown = battle.views()
    for view, lines in expected.items():
        if opening:
            lines = lines[lines.index("|") :]
        if lines != shown[view]:
            return f"{view} log\n" + _diff(lines, shown[view])
    if step["seed"] != battle.seed_text():
        return f"seed {step['seed']} but {battle.seed_text()}\n" + "\n".join(expected["all"])
    for seat, request in enumerate(step["requests"]):
        mask = battle.mask(seat)
        wanted = np.zeros_like(mask) if request is None else space.mask(request)
        if not np.array_equal(mask, wanted):
            return f"mask of p{seat + 1}: {wanted.astype(int)} but {mask.astype(int)}\n{request}"
    return None


def _diff(expected: list[str], shown: list[str]) -> str:
    for index, pair in enumerate(zip_longest(expected, shown)):
        if pair[0] != pair[1]:
            before = "\n".join(f"    {line}" for line in expected[max(0, index - 12) : index])
            return f"{before}\n  Showdown: {pair[0]}\n  engine:   {pair[1]}"
    return "lengths"


def minimise(oracle: Oracle, job: Job, played: dict[str, Any]) -> tuple[Job, str]:
    """The shortest start of a failing battle that still fails, with its difference."""
    choices = tuple(tuple(step["choices"]) for step in played["steps"] if "choices" in step)
    teams = tuple(played["teams"])
    for count in range(len(choices) + 1):
        short = Job(job.seed, teams, choices=choices[:count], format=job.format)
        (again,) = oracle.play([short])
        problem = compare(short, again)
        if problem:
            return short, problem
    raise AssertionError("the failing battle cannot be repeated")
