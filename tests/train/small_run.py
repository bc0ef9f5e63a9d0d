"""Settings of runs that are over in a second or two."""

SMALL = [
    "threads=1",
    "network.options={memory: none, width: 32, entity_width: 16}",
    "rollout.battles=16",
    "rollout.steps=8",
    "rollout.turn_limit=100",
    "teams.train=[competitive]",
    "budget={minutes: 0, updates: 6}",
    "checkpoints.every=3",
    "ppo.num_minibatches=2",
    "evaluation={every: 0, opponents: [], background: false}",
    "log.tensorboard=false",
]
