"""Train, evaluate and play competitive Pokémon agents that are hard to exploit."""

__version__ = "0.1.0"
