"""Pokémon Showdown embedded in Node processes: every format, seeded, without a server."""
