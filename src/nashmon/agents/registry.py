"""Agents by name: `scripted:NAME` on the command line and in files."""

from __future__ import annotations

from collections.abc import Callable

from nashmon.agents.power import MaxBasePower
from nashmon.core.agent import Agent, RandomAgent
from nashmon.core.errors import NashmonError

SCRIPTED: dict[str, Callable[[], Agent]] = {
    "random": RandomAgent,
    "maxpower": MaxBasePower,
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
