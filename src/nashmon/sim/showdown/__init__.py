"""Pokémon Showdown embedded in Node worker processes."""
