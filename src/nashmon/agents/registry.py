"""Agents by name: `scripted:NAME` on the command line and in files."""

from __future__ import annotations

from collections.abc import Callable

from nashmon.agents.baselines import (
    BasicSwitcher,
    BugCatcher,
    Gen1Trainer,
    Grunt,
    GymLeader,
    MaxBasePower,
    MaxDamage,
)
from nashmon.agents.doubles_agents import DoublesHeuristics
from nashmon.agents.game_ai import Gen1Boss, Kaizo
from nashmon.agents.tactician import Tactician
from nashmon.core.agent import Agent, RandomAgent
from nashmon.core.errors import NashmonError

_RANDOM_LINE = "uniform among the legal actions"

SCRIPTED: dict[str, Callable[[], Agent]] = {
    "random": RandomAgent,
    "maxpower": MaxBasePower,
    "maxdamage": MaxDamage,
    "gen1trainer": Gen1Trainer,
    "gen1boss": Gen1Boss,
    "grunt": Grunt,
    "gymleader": GymLeader,
    "bugcatcher": BugCatcher,
    "switcher": BasicSwitcher,
    "kaizo": Kaizo,
    "tactician": Tactician,
    "heuristics-doubles": DoublesHeuristics,
}


class UnknownAgentError(NashmonError):
    """An agent spec that names nothing."""


def get_agent(spec: str) -> Agent:
    """The agent of a spec such as `scripted:random`; the prefix may be left out."""
    kind, _, name = spec.rpartition(":")
    if kind not in ("", "scripted") or name not in SCRIPTED:
        known = ", ".join(f"scripted:{name}" for name in SCRIPTED)
        raise UnknownAgentError(f"unknown agent {spec!r}; known: {known}")
    return SCRIPTED[name]()


def scripted_lines() -> dict[str, str]:
    """Every scripted agent with one line on what it does."""
    return {name: getattr(make, "line", _RANDOM_LINE) for name, make in SCRIPTED.items()}
