"""Teams that the foe may have, drawn from shipped teams and the format's known sets."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from nashmon.core.dex import to_id
from nashmon.sim.gen1.determinise import SeenPokemon
from nashmon.teams.pool import TeamPool
from nashmon.teams.sets import get_material
from nashmon.teams.team import PokemonSet

_MOVES = 4


class GuessedTeams:
    """A `SetSampler`: teams alike to what was seen are the likelier ones."""

    def __init__(self, format_id: str) -> None:
        self.material = get_material(format_id)
        pool = TeamPool.load(format_id)
        self.teams = [
            {to_id(one.species): replace(one, nickname="") for one in team.pokemon} for team in pool
        ]
        self.sets: dict[str, list[tuple[frozenset[str], PokemonSet]]] = {}
        self._remembered: dict[frozenset[str], NDArray[np.float64]] = {}
        for team in self.teams:
            for species, one in team.items():
                known = frozenset(to_id(move) for move in one.moves)
                self.sets.setdefault(species, []).append((known, one))

    def __call__(
        self, seen: tuple[SeenPokemon, ...], team_size: int, rng: np.random.Generator
    ) -> list[PokemonSet]:
        """Sets of the seen Pokémon in their order, then unseen ones."""
        known = {one.species for one in seen}
        result = [self._seen(one, rng) for one in seen]
        chances = self._chances(frozenset(known)) if len(result) < team_size else ()
        while len(result) < team_size:
            team = self.teams[int(np.searchsorted(chances, rng.random(), side="right"))]
            new = [species for species in team if species not in known]
            for index in rng.permutation(len(new))[: team_size - len(result)].tolist():
                known.add(new[index])
                result.append(team[new[index]])
        return result

    def _chances(self, known: frozenset[str]) -> NDArray[np.float64]:
        """Cumulative probabilities of the teams."""
        if known not in self._remembered:
            alike = np.array([(1.0 + len(known & team.keys())) ** 3 for team in self.teams])
            alike = alike.cumsum() / alike.sum()
            alike[-1] = 1.0  # whatever the rounding, a draw below 1 has a team
            self._remembered[known] = alike
        return self._remembered[known]

    def _seen(self, one: SeenPokemon, rng: np.random.Generator) -> PokemonSet:
        moves = frozenset(one.moves)
        fitting = [known for has, known in self.sets.get(one.species, ()) if moves <= has]
        if fitting:
            chosen = fitting[int(rng.integers(len(fitting)))]
            return chosen if chosen.level == one.level else replace(chosen, level=one.level)
        return PokemonSet(one.species, self._fill(one, rng), level=one.level)

    def _fill(self, one: SeenPokemon, rng: np.random.Generator) -> tuple[str, ...]:
        """The seen moves and others that the species is known to play."""
        moves = list(one.moves)
        rows = self.material.rows.get(one.species, ())
        learnset = self.material.learnsets.get(one.species)
        sources = [list(row.moves) for row in rows] + [list(learnset.moves if learnset else ())]
        for source in sources:
            for index in rng.permutation(len(source)).tolist():
                if len(moves) < _MOVES and source[index] not in moves:
                    moves.append(source[index])
        return tuple(moves)


@cache
def guessed_teams(format_id: str) -> GuessedTeams:
    """The sampler of a format."""
    return GuessedTeams(format_id)
