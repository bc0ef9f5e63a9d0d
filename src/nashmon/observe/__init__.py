"""Observations: arrays made from a state, each described by an `ObsSpec`."""
