"""The oracles of PSRO on battles: a response is trained by PPO, in this process or in others.

agents/ID/policy          the network of a response; agents/ID/response.json: how far it has come
agents/ID.mixture.json    an average that draws one of its parts as a battle begins
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Literal

from nashmon.agents.neural import NeuralAgent
from nashmon.agents.specs import get_agent
from nashmon.core.errors import NashmonError
from nashmon.league.population import Member, make_member
from nashmon.league.rounds import Task
from nashmon.learn.schedules import Power
from nashmon.match.cells import write_atomically
from nashmon.match.tournament import one_thread
from nashmon.train.config import RunConfig
from nashmon.train.distil import DistilConfig, distil
from nashmon.train.offline_response import OfflinePlan, train_offline
from nashmon.train.responses import response_run, train_response

Watch = Callable[[str, int, int, float], None]  # (what is done, done, of, win rate or −1)
_MIN_SHARE = 0.005  # opponents below this share of the battles are left out of training


class OracleError(NashmonError):
    """A response that cannot be trained as asked."""


@dataclass(frozen=True)
class OracleConfig:
    """How a response is trained."""

    kind: Literal["ppo", "offline"] = "ppo"
    updates: int = 100
    init: str = "nearest"  # nearest, scratch, mixture (distilled) or an agent spec with a network
    damped: bool = False  # stay near the start: it is the damping reference
    average: Literal["mixture", "network"] = "mixture"  # network: distilled, one fast policy
    workers: int = 0  # pipeline: responses trained at once, a process each; 0: one after the other
    distil: DistilConfig = field(default_factory=DistilConfig)
    offline: OfflinePlan = field(default_factory=OfflinePlan)


@dataclass(frozen=True)
class BattleOracle:
    """Trains responses and averages; everything it makes is in `folder`/agents."""

    run: RunConfig
    config: OracleConfig
    folder: Path

    def train(self, task: Task, watch: Watch | None = None) -> Member:
        """A response; one that was interrupted goes on."""
        folder = self.folder / "agents" / task.name
        init, parents = self._init(task, folder)
        if self.config.kind == "offline":
            if init == "scratch":
                raise OracleError(
                    f"{task.name}: an offline response needs a network to start from and to "
                    "collect with; add one to agents, or set oracle.init"
                )
            mixture = f"mixture:{self._write_mixture(folder / 'opponents.json', task.opponents)}"
            run = replace(self.run, seed=task.seed)
            spec, facts = train_offline(mixture, init, run, self.config.offline, folder)
            return self._member(task, spec, parents, {"init": init, **facts})
        run = response_run(self.run, _shares(task.opponents), init, self.config.updates, task.seed)
        return self._trained(task, run, parents, self.config.damped, watch)

    def defend(self, task: Task, watch: Watch | None = None) -> Member:
        """`task.start`, trained against its exploiters and kept near what it was."""
        if task.start is None:
            raise OracleError(f"{task.name}: nobody to defend")
        shares = _shares(task.opponents)
        run = response_run(self.run, shares, task.start.spec, self.config.updates, task.seed)
        return self._trained(task, run, [task.start.id], True, watch)

    def train_all(
        self, tasks: Sequence[Task], watch: Watch | None = None
    ) -> Iterator[tuple[Task, Member]]:
        """Responses side by side, as they are finished."""
        if self.config.workers < 2 or len(tasks) < 2:
            for task in tasks:
                yield task, self.train(task, watch)
            return
        alone = replace(self, run=replace(self.run, threads=1, ranks=1))
        pool = ProcessPoolExecutor(
            min(self.config.workers, len(tasks)),
            get_context("spawn"),
            initializer=one_thread,
            initargs=(os.getpid(),),
        )
        try:
            jobs = {pool.submit(alone.train, task): task for task in tasks}
            for future in as_completed(jobs):
                yield jobs[future], future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def average(
        self, name: str, members: Sequence[tuple[Member, float]], known: Sequence[str]
    ) -> Member:
        """A mixture as one member; its parents are those of its parts that are `known` ids."""
        path = self._write_mixture(self.folder / "agents" / f"{name}.mixture.json", members)
        spec = f"mixture:{path}"
        if self.config.average == "network":
            run = replace(self.run, seed=self.run.seed + len(members))
            spec = distil(spec, run, self.config.distil, self.folder / "agents" / name)
        parents = tuple(member.id for member, _ in members if member.id in known)
        return make_member(spec, self.run.format, name, "average", parents)

    def _trained(
        self, task: Task, run: RunConfig, parents: list[str], damped: bool, watch: Watch | None
    ) -> Member:
        if damped:
            damping = replace(run.damping, reference_interval=0)
            ppo = replace(run.ppo, entropy=Power(0.0))
            run = replace(run, algo="damped_ppo", damping=damping, ppo=ppo)
        updates = self.config.updates

        def tell(update: int, rate: float) -> None:
            if watch is not None:
                watch(task.name, update, updates, rate)

        folder = self.folder / "agents" / task.name
        response = train_response(run, folder, every=max(1, updates // 10), watch=tell)
        last = response.curve[-1]
        facts = {
            "init": response.init,
            "updates": last.updates,
            "decisions": last.decisions,
            "seconds": last.seconds,
            "win_rate_in_training": last.win_rate,
        }
        return self._member(task, response.agent, parents, facts)

    def _member(
        self, task: Task, spec: str, parents: list[str], facts: dict[str, object]
    ) -> Member:
        ids = [member.id for member, _ in task.opponents]
        known = tuple(dict.fromkeys([*parents, *ids]))
        facts = {**task.facts, **facts}
        return make_member(spec, self.run.format, task.name, "response", known, facts)

    def _init(self, task: Task, folder: Path) -> tuple[str, list[str]]:
        """(spec to start from or scratch, ids of the members behind it)."""
        init = self.config.init
        if task.start is not None and self._is_network(task.start):
            return task.start.spec, [task.start.id]
        if init == "nearest":
            found = next((member for member in task.nearest if self._is_network(member)), None)
            return ("scratch", []) if found is None else (found.spec, [found.id])
        if init == "mixture":
            target = self._write_mixture(folder / "opponents.json", task.opponents)
            run = replace(self.run, seed=task.seed)
            plan = self.config.distil
            return distil(f"mixture:{target}", run, plan, folder / "distilled"), []
        return init, []

    def _is_network(self, member: Member) -> bool:
        return isinstance(get_agent(member.spec, self.run.format), NeuralAgent)

    def _write_mixture(self, path: Path, members: Sequence[tuple[Member, float]]) -> Path:
        write_mixture(path, self.run.format, members)
        return path


def write_mixture(path: Path, format_id: str, members: Sequence[tuple[Member, float]]) -> None:
    """A mixture as a file that is an agent, `mixture:PATH`."""
    agents = [
        {"spec": member.spec, "probability": float(weight)}
        for member, weight in members
        if weight > 0
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps({"format": format_id, "agents": agents}, indent=1))


def _shares(opponents: Sequence[tuple[Member, float]]) -> list[tuple[str, float]]:
    kept = [(member.spec, weight) for member, weight in opponents if weight >= _MIN_SHARE]
    total = sum(weight for _, weight in kept)
    return [(spec, weight / total) for spec, weight in kept]
