"""The rows of the entity observation that belong to one Pokémon."""

from __future__ import annotations

from array import array
from functools import lru_cache
from itertools import repeat
from struct import Struct

from nashmon.core.dex import get_dex
from nashmon.core.errors import NashmonError
from nashmon.core.state import UniversalPokemon
from nashmon.observe.entity_spec import MOVES, NUMBER_CAP, Features
from nashmon.observe.spec import ObsSpec
from nashmon.observe.vocab import EMPTY, UNKNOWN, Vocabulary, lookup

_SELECTED = {None: 0.0, True: 1.0, False: -1.0}


class StateShapeError(NashmonError):
    """A state that does not fit the observation, for example seven Pokémon on one side."""


@lru_cache(maxsize=32)
def _base_stats(mod: str, stats: tuple[int, ...]) -> dict[str, tuple[float, ...]]:
    species = get_dex(mod).species
    return {name: tuple(row.base_stats[k] / 256 for k in stats) for name, row in species.items()}


class RowWriter:
    """Computes the rows of a Pokémon as bytes; keeps no state."""

    def __init__(
        self,
        features: Features,
        spec: ObsSpec,
        mod: str,
        tables: dict[str, Vocabulary],
        strict: bool,
    ) -> None:
        self._features = features
        self.ids_shape = spec["pokemon_ids"].shape
        self.numbers_shape = spec["pokemon_numbers"].shape
        self.active_shape = spec["active_numbers"].shape
        self._pack_ids = Struct(f"={self.ids_shape[1]}h").pack
        self._pack_numbers = Struct(f"={self.numbers_shape[1]}f").pack
        found = {name: lookup(table, strict) for name, table in tables.items()}
        self._species = found["species"]
        self._moves = found["moves"]
        self._types = found["types"]
        self._statuses = found["statuses"]
        self._items = found["items"]
        self._abilities = found["abilities"]
        # Volatiles are the last columns; the one of word w is first + id(w) − 1.
        first = self.active_shape[1] - len(tables["volatiles"]) + 1
        self._volatiles = lookup(tables["volatiles"], strict, offset=first - 1)
        self._base_stats = _base_stats(mod, (0, *(k + 1 for k in features.stats)))
        self._no_base_stats = (0.0,) * (1 + len(features.stats))
        self._active_zeros = array("f", bytes(4 * self.active_shape[1]))

    def ids(self, p: UniversalPokemon) -> bytes:
        """Its row of `pokemon_ids`."""
        f, moves = self._features, self._moves
        species, types = self._species, [self._types[name] for name in p.types]
        if len(types) > f.num_types or len(p.moves) > MOVES:
            raise StateShapeError(
                f"{p.species} has types {p.types} and {len(p.moves)} moves; "
                f"at most {f.num_types} and {MOVES} fit"
            )
        values = [
            species[p.species],
            species[p.base_species],
            EMPTY if p.status is None else self._statuses[p.status],
            *types,
            *repeat(EMPTY, f.num_types - len(types)),
            *[moves[move.id] for move in p.moves],
            *repeat(UNKNOWN if p.stats is None else EMPTY, MOVES - len(p.moves)),
            EMPTY if p.last_move is None else moves[p.last_move],
            EMPTY if p.preparing is None else moves[p.preparing],
        ]
        if f.has_items:
            values.append(UNKNOWN if p.item is None else self._items[p.item])
        if f.has_abilities:
            values.append(UNKNOWN if p.ability is None else self._abilities[p.ability])
        if f.has_tera:
            values.append(UNKNOWN if p.tera_type is None else self._types[p.tera_type])
        return self._pack_ids(*values)

    def numbers(self, p: UniversalPokemon) -> bytes:
        """Its row of `pokemon_numbers`."""
        f, missing = self._features, MOVES - len(p.moves)
        values: list[float] = [
            1.0,
            p.hp_fraction,
            p.fainted,
            p.active,
            p.revealed,
            p.stats is not None,
            _SELECTED[p.selected],
            p.level / 128,
            min(p.status_turns, 16) / 16,
            min((p.max_hp or 0) / 1024, NUMBER_CAP),
        ]
        if p.stats is None:
            values += repeat(0.0, len(f.stats))
        else:
            values += [min(p.stats[k] / 1024, NUMBER_CAP) for k in f.stats]
        values += self._base_stats.get(p.species, self._no_base_stats)
        values += [min(m.pp / m.max_pp, 1.0) if m.max_pp else 0.0 for m in p.moves]
        values += repeat(0.0, missing)
        values += [move.disabled for move in p.moves]
        values += repeat(0.0, missing)
        if f.has_gender:
            values += [p.gender == "M", p.gender == "F", p.gender == "N"]
        if f.has_tera:
            values.append(p.terastallized)
        return self._pack_numbers(*values)

    def active(self, p: UniversalPokemon) -> bytes:
        """Its row of `active_numbers` when it is in a slot."""
        f, values = self._features, self._active_zeros[:]
        head = [1.0, *[boost / 8 for boost in p.boosts], p.must_recharge, p.transformed]
        head.append(p.first_turn)
        if f.has_protect:
            head.append(min(p.protect_count, 4) / 4)
        if f.has_tera:
            head.append(p.commanding)
        values[: len(head)] = array("f", head)
        for name, count in p.volatiles:
            values[self._volatiles[name]] = 0.5 + min(count, 8) / 16
        return values.tobytes()
