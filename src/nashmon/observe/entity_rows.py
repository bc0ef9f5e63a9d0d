"""The rows of the entity observation that belong to one Pokémon."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from functools import lru_cache
from operator import itemgetter
from struct import Struct
from typing import Any, NamedTuple

from nashmon.core.dex import get_dex
from nashmon.core.errors import NashmonError
from nashmon.core.state import Effects, UniversalPokemon
from nashmon.observe.entity_spec import MOVES, NUMBER_CAP, Features
from nashmon.observe.spec import ObsSpec
from nashmon.observe.vocab import EMPTY, UNKNOWN, Vocabulary, lookup

_NO_BOOSTS = (0,) * 7
_REMEMBERED = 8192  # combinations of facts
_SELECTED = {None: 0.0, True: 1.0, False: -1.0}


class Lasting(NamedTuple):
    """What seldom changes of a Pokémon; fields as in `UniversalPokemon`."""

    species: str
    base_species: str
    types: tuple[str, ...]
    item: str | None
    ability: str | None
    tera_type: str | None
    terastallized: bool
    level: int
    gender: str | None
    max_hp: int | None
    stats: tuple[int, ...] | None
    selected: bool | None
    revealed: bool


class Presence(NamedTuple):
    """What only an active Pokémon has; fields as in `UniversalPokemon`."""

    boosts: tuple[int, ...]
    volatiles: Effects
    first_turn: bool
    protect_count: int
    must_recharge: bool
    transformed: bool
    commanding: bool


def _facts(*names: str) -> Callable[[UniversalPokemon], tuple[Any, ...]]:
    return itemgetter(*map(UniversalPokemon._fields.index, names))


# Facts of a Pokémon as tuples in the order of `Lasting` and `Presence`; and what often changes.
lasting_facts = _facts(*Lasting._fields)
presence_facts = _facts(*Presence._fields)
often_facts = _facts(
    *("status", "last_move", "preparing", "hp_fraction", "fainted", "active", "status_turns")
)


class StateShapeError(NashmonError):
    """A state that does not fit the observation, for example seven Pokémon on one side."""


@lru_cache(maxsize=32)
def _base_stats(mod: str, stats: tuple[int, ...]) -> dict[str, tuple[float, ...]]:
    species = get_dex(mod).species
    return {name: tuple(row.base_stats[k] / 256 for k in stats) for name, row in species.items()}


class RowWriter:
    """Computes the rows of a Pokémon as bytes, a pure function of it."""

    def __init__(
        self,
        features: Features,
        spec: ObsSpec,
        mod: str,
        tables: dict[str, Vocabulary],
        strict: bool,
    ) -> None:
        self._num_types = features.num_types
        self._stats = features.stats
        self._has_abilities = features.has_abilities
        self._has_gender = features.has_gender
        self._has_items = features.has_items
        self._has_protect = features.has_protect
        self._has_tera = features.has_tera
        self.ids_shape = spec["pokemon_ids"].shape
        self.numbers_shape = spec["pokemon_numbers"].shape
        self.active_shape = spec["active_numbers"].shape
        self._often_ids = Struct("=7h").pack
        self._often_numbers = Struct("=4f").pack
        self._move_numbers = Struct("=8f").pack
        self._seldom_ids = Struct(f"={self.ids_shape[1] - 7}h").pack
        self._seldom_numbers = Struct(f"={self.numbers_shape[1] - 12}f").pack
        self._known: dict[tuple[object, ...], tuple[bytes, bytes]] = {}
        self._known_actives: dict[tuple[object, ...], bytes] = {}
        empty = {"items": ("",), "abilities": ("",), "types": ("", "???")}
        found = {
            name: lookup(table, strict, empty=empty.get(name, ())) for name, table in tables.items()
        }
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

    def rows(self, p: UniversalPokemon) -> tuple[bytes, bytes]:
        """Its rows of `pokemon_ids` and `pokemon_numbers`."""
        return self.pack(self.lasting(lasting_facts(p)), self.moves(p), often_facts(p))

    def pack(
        self,
        lasting: tuple[bytes, bytes],
        moves: tuple[tuple[int, ...], bytes],
        often: tuple[Any, ...],
    ) -> tuple[bytes, bytes]:
        """Both rows from their parts."""
        status, last, charging, hp, fainted, active, turns = often
        word = self._moves
        ids = self._often_ids(
            EMPTY if status is None else self._statuses[status],
            *moves[0],
            EMPTY if last is None else word[last],
            EMPTY if charging is None else word[charging],
        )
        first = self._often_numbers(hp, fainted, active, turns and min(turns, 16) / 16)
        return ids + lasting[0], first + moves[1] + lasting[1]

    def moves(self, p: UniversalPokemon) -> tuple[tuple[int, ...], bytes]:
        """Ids of its moves, and their PP and whether they are disabled as packed numbers."""
        moves = p.moves
        missing = MOVES - len(moves)
        if missing < 0:
            raise StateShapeError(f"a Pokémon has {len(moves)} moves; {MOVES} fit")
        word = self._moves
        named, left, disabled = [], [], []
        for move, now, full, is_disabled in moves:
            named.append(word[move])
            left.append(now / full if now < full else 1.0 if full else 0.0)
            disabled.append(is_disabled)
        # A foe's missing moves are only unknown.
        absent = (UNKNOWN if p.stats is None else EMPTY,) * missing
        nothing = (0.0,) * missing
        return (*named, *absent), self._move_numbers(*left, *nothing, *disabled, *nothing)

    def lasting(self, key: tuple[Any, ...]) -> tuple[bytes, bytes]:
        """The columns that seldom change, remembered by the facts they are made of."""
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            p = Lasting(*key)
            found = self._known[key] = (self._ids(p), self._numbers(p))
        return found

    def _ids(self, p: Lasting) -> bytes:
        types = [self._types[name] for name in p.types]
        if len(types) > self._num_types:
            raise StateShapeError(f"{p.species} has types {p.types}; {self._num_types} fit")
        values = [self._species[p.species], self._species[p.base_species], *types]
        values += (EMPTY,) * (self._num_types - len(types))
        if self._has_items:
            values.append(UNKNOWN if p.item is None else self._items[p.item])
        if self._has_abilities:
            values.append(UNKNOWN if p.ability is None else self._abilities[p.ability])
        if self._has_tera:
            values.append(UNKNOWN if p.tera_type is None else self._types[p.tera_type])
        return self._seldom_ids(*values)

    def _numbers(self, p: Lasting) -> bytes:
        stats = p.stats or (0,) * 5
        values: list[float] = [1.0, p.revealed, p.stats is not None, _SELECTED[p.selected]]
        values += [p.level / 128, min((p.max_hp or 0) / 1024, NUMBER_CAP)]
        values += [min(stats[k] / 1024, NUMBER_CAP) for k in self._stats]
        values += self._base_stats.get(p.species, self._no_base_stats)
        if self._has_gender:
            values += [p.gender == "M", p.gender == "F", p.gender == "N"]
        if self._has_tera:
            values.append(p.terastallized)
        return self._seldom_numbers(*values)

    def active(self, p: UniversalPokemon) -> bytes:
        """Its row of `active_numbers` when it is in a slot."""
        return self.presence(presence_facts(p))

    def presence(self, key: tuple[Any, ...]) -> bytes:
        """A row of `active_numbers`, remembered by the facts it is made of."""
        found = self._known_actives.get(key)
        if found is None:
            if len(self._known_actives) >= _REMEMBERED:
                self._known_actives.clear()
            found = self._known_actives[key] = self._active(Presence(*key))
        return found

    def _active(self, p: Presence) -> bytes:
        boosts = p.boosts
        values = self._active_zeros[:]
        values[0] = 1.0
        if boosts != _NO_BOOSTS:
            values[1:8] = array("f", [boost / 8 for boost in boosts])
        if p.must_recharge:
            values[8] = 1.0
        if p.transformed:
            values[9] = 1.0
        if p.first_turn:
            values[10] = 1.0
        if self._has_protect:
            values[11] = min(p.protect_count, 4) / 4
        if self._has_tera:
            values[12] = p.commanding
        for name, count in p.volatiles:
            values[self._volatiles[name]] = 0.5 + min(count, 8) / 16
        return values.tobytes()
