"""Agents: scripted baselines that play in any engine."""

from nashmon.agents.baselines import MaxBasePower
from nashmon.core.agent import RandomAgent

__all__ = ["MaxBasePower", "RandomAgent"]
