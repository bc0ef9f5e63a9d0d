"""How the members of a run's opponent pool become agents."""

from __future__ import annotations

from pathlib import Path

from nashmon.agents.neural import NeuralAgent
from nashmon.agents.specs import get_agent
from nashmon.core.agent import Agent
from nashmon.league.pool import OpponentPool
from nashmon.nets.build import load_policy
from nashmon.train.config import RunConfig

PAST = "past:"


def past_name(update: int) -> str:
    """The pool's name of the learner as it was after an update."""
    return f"{PAST}{update:06d}"


def past_path(folder: Path, name: str) -> Path:
    """Where that version lives in the run directory."""
    return folder / "checkpoints" / "past" / name.removeprefix(PAST)


def opponent_pool(config: RunConfig, folder: Path) -> OpponentPool:
    """The pool of a run; members are loaded when they first play."""

    def make(name: str) -> Agent:
        if name.startswith(PAST):
            policy, _ = load_policy(past_path(folder, name))
            return NeuralAgent(policy, name)
        return get_agent(name, config.format)

    return OpponentPool(config.opponents, make)
