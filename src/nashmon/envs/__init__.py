"""Gymnasium and PettingZoo environments for every format.

Importing this package registers the ids: `gymnasium.make("nashmon/gen1ou-v0")`,
`gymnasium.make_vec("nashmon/gen1ou-v0", num_envs=64)`.
"""

from nashmon.envs.registration import register_envs

register_envs()
