"""The opponent pool: who the learner meets in training, and how often.

The pool knows names and weights; agents are made on demand by a callable, so that a past
checkpoint is loaded only while it plays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nashmon.core.agent import Agent
from nashmon.core.errors import NashmonError
from nashmon.match.statistics import Record

SELF = "self"


class PoolError(NashmonError):
    """An opponent pool that cannot be used."""


@dataclass(frozen=True)
class PoolConfig:
    """Shares of the training battles, by kind of opponent.

    `others` maps agent specs to shares.  Shares are normalised; a kind that has no member yet
    (no past policy, no exploiter) passes its share to self-play.
    """

    self_play: float = 1.0
    past: float = 0.0  # earlier versions of the learner
    exploiters: float = 0.0
    others: tuple[tuple[str, float], ...] = ()
    weighting: Literal["fixed", "adaptive"] = "fixed"  # inside a kind
    floor: float = 0.1  # adaptive: smallest weight, relative to the largest
    decay: float = 0.98  # of the counted results, per battle against that opponent
    on_duty: int = 3  # opponents that play in one roll-out
    past_every: int = 50  # updates between two versions that are kept
    past_size: int = 8  # versions kept; the middle is thinned out first

    def __post_init__(self) -> None:
        shares = [self.self_play, self.past, self.exploiters, *(s for _, s in self.others)]
        if min(shares) < 0 or sum(shares) <= 0:
            raise PoolError(
                f"opponent shares must be ≥ 0 and not all 0, got {shares} "
                "(self_play, past, exploiters, others …)"
            )
        if not 0 < self.decay <= 1 or not 0 <= self.floor <= 1 or self.on_duty < 1:
            raise PoolError(
                f"need 0 < decay ≤ 1, 0 ≤ floor ≤ 1 and on_duty ≥ 1; got {self.decay}, "
                f"{self.floor}, {self.on_duty}"
            )


@dataclass(slots=True)
class Entry:
    """A member of the pool and what is known of it."""

    kind: Literal["past", "exploiters", "others"]
    share: float  # of its own, for `others`
    score: float = 0.0  # the learner's decayed score against it
    games: float = 0.0  # decayed

    @property
    def losing_rate(self) -> float:
        """How often the learner loses to it; ½ as long as nothing is known."""
        return 1.0 - (self.score + 1.0) / (self.games + 2.0)


class OpponentPool:
    """Draws opponents by kind, then by weight inside the kind."""

    def __init__(self, config: PoolConfig, make: Callable[[str], Agent]) -> None:
        self.config = config
        self._make = make
        self._agents: dict[str, Agent] = {}
        self.entries: dict[str, Entry] = {
            name: Entry("others", share) for name, share in config.others
        }

    def add(self, name: str, kind: Literal["past", "exploiters"]) -> list[str]:
        """Add a member; returns the past versions that left to make room."""
        self.entries[name] = Entry(kind, 1.0)
        past = [key for key, entry in self.entries.items() if entry.kind == "past"]
        if len(past) <= self.config.past_size:
            return []
        # Keep the oldest and the newest; every second addition thins out another place.
        surplus = past[1 + len(self.entries) % (len(past) - 2)]
        del self.entries[surplus]
        self._agents.pop(surplus, None)
        return [surplus]

    def agent(self, name: str) -> Agent:
        """The agent of a member, made when first needed."""
        if name not in self._agents:
            if name not in self.entries:
                known = ", ".join(self.entries) or "nobody"
                raise PoolError(f"no opponent {name!r} in the pool; it has {known}")
            self._agents[name] = self._make(name)
        return self._agents[name]

    def weights(self) -> dict[str, float]:
        """Share of the battles each member gets, `self` included; sums to 1."""
        config = self.config
        kinds = {"past": config.past, "exploiters": config.exploiters}
        shares = {name: e.share for name, e in self.entries.items() if e.kind == "others"}
        spare = config.self_play
        for kind, share in kinds.items():
            members = [name for name, e in self.entries.items() if e.kind == kind]
            if not members:
                spare += share
                continue
            inside = self._inside(members)
            shares |= {name: share * w for name, w in inside.items()}
        total = spare + sum(shares.values())
        return {SELF: spare / total, **{name: s / total for name, s in shares.items()}}

    def _inside(self, members: list[str]) -> dict[str, float]:
        if self.config.weighting == "fixed":
            return {name: 1.0 / len(members) for name in members}
        raw = {name: self.entries[name].losing_rate for name in members}
        top = max(raw.values())
        floored = {name: max(w, self.config.floor * top, 1e-9) for name, w in raw.items()}
        total = sum(floored.values())
        return {name: w / total for name, w in floored.items()}

    def draw(self, rng: np.random.Generator) -> list[str]:
        """Opponents on duty, at most `on_duty` different ones, drawn by weight."""
        outside = {n: w for n, w in self.weights().items() if n != SELF and w > 0}
        if not outside:
            return []
        names, weights = list(outside), np.array(list(outside.values()))
        count = min(self.config.on_duty, len(names))
        picked = rng.choice(len(names), size=count, replace=False, p=weights / weights.sum())
        return [names[i] for i in sorted(picked.tolist())]

    def pick(self, names: list[str], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """For `count` battles: the position in `names` of the opponent, or −1 for self-play.

        The chance of an outside opponent is the pool's, whoever is on duty.
        """
        weights = self.weights()
        inside = np.array([weights.get(name, 0.0) for name in names])
        if not names or inside.sum() <= 0:
            return np.full(count, -1, dtype=np.int64)
        outside = 1.0 - weights[SELF]
        shares = np.concatenate(([weights[SELF]], outside * inside / inside.sum()))
        return rng.choice(len(shares), size=count, p=shares / shares.sum()) - 1

    def record(self, name: str, result: Record) -> None:
        """Count results of the learner against a member."""
        entry = self.entries.get(name)
        if entry is None:  # it left the pool while its last battle was running
            return
        keep = self.config.decay**result.games
        entry.score = keep * entry.score + result.score
        entry.games = keep * entry.games + result.games

    def metrics(self) -> dict[str, float]:
        """Weights and the learner's decayed win rates."""
        report = {f"pool/weight/{name}": w for name, w in self.weights().items()}
        for name, entry in self.entries.items():
            if entry.games > 0:
                report[f"pool/win_rate/{name}"] = entry.score / entry.games
        return report

    def state_dict(self) -> dict[str, Any]:
        """Members and results, plain values."""
        return {
            name: {"kind": e.kind, "share": e.share, "score": e.score, "games": e.games}
            for name, e in self.entries.items()
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from `state_dict`."""
        self.entries = {name: Entry(**entry) for name, entry in state.items()}
        self._agents = {n: a for n, a in self._agents.items() if n in self.entries}
