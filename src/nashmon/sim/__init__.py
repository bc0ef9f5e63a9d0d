"""Places to fight: every engine implements the `Battles` protocol of `sim.base`."""
