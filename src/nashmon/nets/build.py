"""Policies for a format: its observation, its actions and the constant facts of its words."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nashmon.core.actions import ActionSpace, action_space
from nashmon.core.dex import Move, get_dex
from nashmon.core.formats import Format, get_format
from nashmon.nets.checkpoint import Checkpoint, CheckpointError, load
from nashmon.nets.config import ActionKind, ActionSpec, PolicyConfig
from nashmon.nets.encoding import TEAM, Tables
from nashmon.nets.matchup import STRIKES
from nashmon.nets.policy import Policy
from nashmon.observe import ObsSpec
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
        strikes=np.array(
            [[0.0] * STRIKES] * 2 + [_strike(e, dex.gen) for e in entries], np.float32
        ),
    )


def _strike(move: Move, gen: int) -> list[float]:
    """What `matchup` needs to know of a move."""
    attacks = move.category != "status"
    # Explosions halved the target's Defence up to generation 4.
    power = move.power * (2 if move.self_destruct and gen <= 4 else 1)
    hits = 3.0 if move.max_hits == 5 else (move.min_hits + move.max_hits) / 2
    # Generation 1: a critical hit in base Speed / 512 of the cases, eight times as often if sharp.
    critical = (8 if move.crit_ratio > 1 else 1) / 512 if gen == 1 else 0.0
    return [
        power * attacks,
        move.category == "physical",
        hits,
        move.damage if isinstance(move.damage, int) else 0.0,
        move.damage == "level",
        critical,
    ]


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


def policy_meta(policy: Policy, reward: str | None = None) -> dict[str, Any]:
    """What a checkpoint's meta must hold to rebuild the policy: its config and specs.

    `reward` is the spec of the reward its value estimates (`Reward.spec`).
    """
    spec = {"observation": policy.observation.to_dict(), "actions": policy.actions.to_dict()}
    if reward is not None:
        spec["reward"] = {"spec": reward}
    return {"policy": policy.config.to_dict(), "spec": spec}


def load_policy(
    path: Path | str, expected_spec: Mapping[str, Any] | None = None, part: str = "policy"
) -> tuple[Policy, Checkpoint]:
    """The policy stored in one part of a checkpoint, and the checkpoint with that part."""
    checkpoint = load(path, expected_spec, parts=[part])
    meta, weights = checkpoint.meta, checkpoint.parts[part]
    if "policy" not in meta or "spec" not in meta:
        raise CheckpointError(f"{path} does not describe a policy (meta has {', '.join(meta)})")
    policy = Policy(
        PolicyConfig.from_dict(meta["policy"]),
        ObsSpec.from_dict(meta["spec"]["observation"]),
        ActionSpec.from_dict(meta["spec"]["actions"]),
        stored_tables(weights),
    )
    try:
        policy.load_state_dict(weights)
    except (RuntimeError, TypeError, AttributeError) as error:
        raise CheckpointError(
            f"part {part!r} of {path} does not fit its config: {error}"
        ) from error
    return policy, checkpoint


def stored_tables(weights: Mapping[str, torch.Tensor]) -> Tables | None:
    """The constant tables among stored weights, so that no dex is needed to rebuild a policy."""
    prefix = "encoder.effectiveness."
    if f"{prefix}chart" not in weights:
        return None
    strikes = weights.get("encoder.matchup.strikes")
    groups = {"moves": "move", "species": "species"}
    names = {v: f"encoder.embed.features.{g}.values" for v, g in groups.items()}
    return Tables(
        features={v: weights[name].numpy() for v, name in names.items() if name in weights},
        move_types=weights[f"{prefix}move_types"].numpy(),
        damaging=weights[f"{prefix}channels"][:, 0].numpy() > 0,
        type_chart=np.exp2(2 * weights[f"{prefix}chart"].numpy()),
        strikes=strikes.numpy() if strikes is not None else None,
    )
