"""Policies for a format: its observation, its actions and the constant facts of its words."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from nashmon.core.actions import ActionSpace, action_space
from nashmon.core.dex import get_dex
from nashmon.core.formats import Format, get_format
from nashmon.nets.config import ActionKind, ActionSpec, PolicyConfig
from nashmon.nets.encoding import TEAM, Tables
from nashmon.nets.policy import Policy
from nashmon.observe.registry import get_observation_space
from nashmon.observe.tables import move_features, species_features, type_chart
from nashmon.observe.vocab import vocabularies


def action_spec(space: ActionSpace) -> ActionSpec:
    """What the actions of a codec mean to a head."""
    format = space.format
    kind: ActionKind = "singles" if format.game_type == "singles" else "doubles"
    preview = None
    if format.has_preview and format.team_size <= TEAM:
        preview = (format.team_size, format.picked, space.leads)
    return ActionSpec(kind, space.num_actions, space.spec, preview)


@lru_cache(maxsize=32)
def entity_tables(mod: str) -> Tables:
    """Constant facts of the moves, species and types of a mod."""
    moves, types = vocabularies(mod)["moves"], vocabularies(mod)["types"]
    dex = get_dex(mod)
    entries = [dex.moves[word] for word in moves.words[2:]]
    return Tables(
        features={"moves": move_features(mod).values, "species": species_features(mod).values},
        move_types=np.array([0, 0, *(types[e.type] if e.type else 0 for e in entries)]),
        damaging=np.array([False, False, *(entry.category != "status" for entry in entries)]),
        type_chart=type_chart(mod),
    )


def build_policy(
    format: Format | str,
    config: PolicyConfig,
    observation: str = "entity",
    actions: str = "default",
) -> Policy:
    """A new policy for a format; its weights come from torch's global generator."""
    format = get_format(format) if isinstance(format, str) else format
    space = get_observation_space(observation, format)
    tables = entity_tables(format.mod) if observation == "entity" else None
    return Policy(config, space.spec, action_spec(action_space(format, actions)), tables)
