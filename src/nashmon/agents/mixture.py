"""A mixture over agents: each battle is played by one member, drawn as the battle begins."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nashmon.core.agent import Agent, Decisions
from nashmon.core.errors import NashmonError

TOLERANCE = 1e-6


class MixtureError(NashmonError):
    """A mixture whose file or probabilities are wrong."""


@dataclass(frozen=True, slots=True)
class MixtureFile:
    """The content of a mixture file."""

    format: str
    members: tuple[tuple[str, float], ...]  # (spec, probability)


def read_mixture(path: Path) -> MixtureFile:
    """Read `{"format": …, "agents": [{"spec": …, "probability": …}, …]}`."""
    if not path.is_file():
        raise MixtureError(f"there is no mixture file {path}")
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        members = tuple((str(m["spec"]), float(m["probability"])) for m in data["agents"])
        format_id = str(data["format"])
    except (ValueError, KeyError, TypeError) as error:
        raise MixtureError(
            f"{path} is not a mixture ({error!r}); expected "
            '{"format": …, "agents": [{"spec": …, "probability": …}, …]}'
        ) from error
    check_probabilities([p for _, p in members], str(path))
    return MixtureFile(format_id, members)


def check_probabilities(probabilities: Sequence[float], where: str) -> None:
    """Raise unless these are probabilities that sum to 1 within TOLERANCE."""
    if any(not 0.0 <= p <= 1.0 for p in probabilities):
        raise MixtureError(f"probabilities of {where} must lie in [0, 1], got {probabilities}")
    total = sum(probabilities)
    if abs(total - 1.0) > TOLERANCE:
        raise MixtureError(f"probabilities of {where} sum to {total:.9g}, expected 1 ± {TOLERANCE}")


@dataclass(slots=True)
class MixtureMemory:
    """Who plays in each slot, and every member's own memory."""

    member: NDArray[np.int64]  # (slots,)
    memories: list[Any]
    entropy: NDArray[np.float32] | None = None  # of the last call's decisions that have one


class MixtureAgent:
    """Plays each battle with one of its members."""

    def __init__(self, members: Sequence[Agent], probabilities: Sequence[float], name: str) -> None:
        check_probabilities(probabilities, name)
        if len(members) != len(probabilities):
            raise MixtureError(f"{name}: {len(members)} members, {len(probabilities)} numbers")
        self.name = name
        self.members = tuple(members)
        self.probabilities = np.asarray(probabilities, np.float64) / sum(probabilities)

    def start(self, num_slots: int) -> MixtureMemory:
        """Memory of every member for every slot."""
        nobody = np.zeros(num_slots, np.int64)
        return MixtureMemory(nobody, [member.start(num_slots) for member in self.members])

    def act(
        self, decisions: Decisions, memory: MixtureMemory, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Draw a member where a battle begins; each member answers for its battles."""
        fresh = decisions.slots[decisions.first]
        if len(fresh):
            memory.member[fresh] = rng.choice(
                len(self.members), size=len(fresh), p=self.probabilities
            )
        who = memory.member[decisions.slots]
        actions = np.zeros(len(who), np.int64)
        entropies = []
        for index in np.unique(who).tolist():
            rows = np.flatnonzero(who == index)
            part = select(decisions, rows)
            actions[rows] = self.members[index].act(part, memory.memories[index], rng)
            entropy = getattr(memory.memories[index], "entropy", None)
            if entropy is not None:
                entropies.append(entropy)
        memory.entropy = np.concatenate(entropies) if entropies else None
        return actions


def select(decisions: Decisions, rows: NDArray[np.int64]) -> Decisions:
    """Some of a batch of decisions."""
    return Decisions(
        observations={name: array[rows] for name, array in decisions.observations.items()},
        masks=decisions.masks[rows],
        slots=decisions.slots[rows],
        first=decisions.first[rows],
        states=lambda: _pick(decisions, rows),
    )


def _pick(decisions: Decisions, rows: NDArray[np.int64]) -> list[Any]:
    states = decisions.states()
    return [states[row] for row in rows.tolist()]
