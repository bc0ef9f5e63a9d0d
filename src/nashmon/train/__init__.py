"""Training: roll-outs, learners, runs and their directories."""
