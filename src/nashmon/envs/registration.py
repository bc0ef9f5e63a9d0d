"""Gymnasium ids `nashmon/<format>-v0`, one per format that has an action codec."""

from __future__ import annotations

import gymnasium

from nashmon.core.formats import all_formats


def register_envs() -> None:
    """Register every singles and doubles format; importing `nashmon.envs` calls it once."""
    for battle_format in all_formats():
        if battle_format.game_type in ("singles", "doubles"):
            gymnasium.register(
                f"nashmon/{battle_format.id}-v0",
                entry_point="nashmon.envs.gymnasium_env:BattleEnv",
                vector_entry_point="nashmon.envs.gymnasium_env:BattleVectorEnv",
                kwargs={"format_id": battle_format.id},
                disable_env_checker=True,
            )
