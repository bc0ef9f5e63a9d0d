"""The entity observation: twelve Pokémon as id and number rows, active slots, and the field.

Rows of one side: its active slots, then `bench` in state order, so that bench k is row slots + k.
At team preview, when nobody is active yet, row k is bench k.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from itertools import repeat
from struct import Struct
from typing import Any

import numpy as np

from nashmon.core.dex import get_dex
from nashmon.core.errors import NashmonError, UnsupportedError
from nashmon.core.formats import Format
from nashmon.core.state import GameType, UniversalPokemon, UniversalSide, UniversalState
from nashmon.observe.entity_field import FieldWriter
from nashmon.observe.entity_spec import MOVES, NUMBER_CAP, TEAM, Features, entity_spec
from nashmon.observe.spec import Arrays
from nashmon.observe.vocab import EMPTY, UNKNOWN, lookup, vocabularies

_CACHE = 4096  # Pokémon remembered before the older half is forgotten
_SELECTED = {None: 0.0, True: 1.0, False: -1.0}


class StateShapeError(NashmonError):
    """A state that does not fit the observation, for example seven Pokémon on one side."""


class EntitySpace:
    """The entity observation of a format; `strict` makes unknown words an error instead of id 1."""

    name = "entity"
    carries_history = False

    def __init__(self, format: Format, strict: bool = True) -> None:
        if format.game_type not in ("singles", "doubles"):
            raise UnsupportedError(
                f"observation 'entity' knows singles and doubles; "
                f"format {format.id!r} is {format.game_type}"
            )
        self.format = format
        self.mod = format.mod
        self.strict = strict
        game_type: GameType = "singles" if format.game_type == "singles" else "doubles"
        self.features = Features(format.gen, game_type)
        self.tables = vocabularies(self.mod)
        self.spec = entity_spec(self.features, f"{self.mod} {format.game_type}", self.tables)

    def allocate(self, batch: int) -> Arrays:
        """Zeroed arrays for `batch` seats."""
        return self.spec.allocate(batch)

    def encoder(self) -> EntityEncoder:
        """A writer with its own cache; not safe to share between threads."""
        return EntityEncoder(self)


@lru_cache(maxsize=32)
def _base_stats(mod: str, stats: tuple[int, ...]) -> dict[str, tuple[float, ...]]:
    species = get_dex(mod).species
    return {name: tuple(row.base_stats[k] / 256 for k in stats) for name, row in species.items()}


class _Row:
    """What is remembered of one Pokémon; holding it keeps its identity from being reused."""

    __slots__ = ("active", "ids", "numbers", "pokemon")

    def __init__(self, pokemon: UniversalPokemon | None, ids: bytes, numbers: bytes) -> None:
        self.pokemon = pokemon
        self.ids = ids
        self.numbers = numbers
        self.active: bytes | None = None


class EntityEncoder:
    """Writes states into arrays; a pure function of the state, made fast by remembering rows."""

    def __init__(self, space: EntitySpace) -> None:
        spec = space.spec
        self._features = space.features
        self._field = FieldWriter(space.features, space.tables, space.strict)
        self._ids_shape = spec["pokemon_ids"].shape
        self._numbers_shape = spec["pokemon_numbers"].shape
        self._active_shape = spec["active_numbers"].shape
        self._pack_ids = Struct(f"={self._ids_shape[1]}h").pack
        self._pack_numbers = Struct(f"={self._numbers_shape[1]}f").pack
        tables = {name: lookup(table, space.strict) for name, table in space.tables.items()}
        self._species = tables["species"]
        self._moves = tables["moves"]
        self._types = tables["types"]
        self._statuses = tables["statuses"]
        self._items = tables["items"]
        self._abilities = tables["abilities"]
        first = len(spec["active_numbers"].columns) - len(space.tables["volatiles"]) + 1
        self._volatiles = lookup(space.tables["volatiles"], space.strict, offset=first - 1)
        self._base_stats = _base_stats(space.mod, (0, *(k + 1 for k in self._features.stats)))
        self._no_base_stats = (0.0,) * (1 + len(self._features.stats))
        self._active_zeros = array("f", bytes(4 * self._active_shape[1]))
        self._empty = _Row(None, bytes(2 * self._ids_shape[1]), bytes(4 * self._numbers_shape[1]))
        self._empty.active = bytes(4 * self._active_shape[1])
        self._young: dict[int, _Row] = {}
        self._old: dict[int, _Row] = {}

    def reset(self) -> None:
        """Forget all rows; never changes what is written."""
        self._young, self._old = {}, {}

    def write(self, state: UniversalState, out: Arrays, index: Any) -> None:
        """Write one state at `out[name][index]` for every array of the spec."""
        preview = state.phase == "preview"
        rows = self._side_rows(state.own, preview) + self._side_rows(state.foe, preview)
        ids = np.frombuffer(b"".join([row.ids for row in rows]), np.int16)
        out["pokemon_ids"][index] = ids.reshape(self._ids_shape)
        numbers = np.frombuffer(b"".join([row.numbers for row in rows]), np.float32)
        out["pokemon_numbers"][index] = numbers.reshape(self._numbers_shape)
        actives = b"".join(
            [self._active(pokemon) for pokemon in (*state.own.active, *state.foe.active)]
        )
        out["active_numbers"][index] = np.frombuffer(actives, np.float32).reshape(
            self._active_shape
        )
        out["field"][index] = self._field.values(state)

    def _side_rows(self, side: UniversalSide, preview: bool) -> list[_Row]:
        row, empty = self._row, self._empty
        bench = [row(pokemon) for pokemon in side.bench]
        if preview:
            rows = bench
        else:
            rows = [empty if pokemon is None else row(pokemon) for pokemon in side.active]
            slots = len(rows)
            rows += bench[: TEAM - slots]
            # A slot can be empty while all six sit on the bench (all but one fainted): the last
            # ones, which no switch can name, take the rows of empty slots.
            for extra in bench[TEAM - slots :]:
                if empty not in rows[:slots]:
                    raise StateShapeError(f"a side has more than {TEAM} Pokémon: {side}")
                rows[rows.index(empty)] = extra
        if len(rows) > TEAM:
            raise StateShapeError(f"a side has more than {TEAM} Pokémon: {side}")
        return rows + list(repeat(empty, TEAM - len(rows)))

    def _row(self, pokemon: UniversalPokemon) -> _Row:
        key = id(pokemon)
        row = self._young.get(key)
        if row is not None:
            return row
        row = self._old.get(key)
        if row is None:
            row = _Row(pokemon, self._ids(pokemon), self._numbers(pokemon))
        if len(self._young) >= _CACHE:
            self._old, self._young = self._young, {}
        self._young[key] = row
        return row

    def _ids(self, p: UniversalPokemon) -> bytes:
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

    def _numbers(self, p: UniversalPokemon) -> bytes:
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
        values += [move.pp / move.max_pp if move.max_pp else 0.0 for move in p.moves]
        values += repeat(0.0, missing)
        values += [move.disabled for move in p.moves]
        values += repeat(0.0, missing)
        if f.has_gender:
            values += [p.gender == "M", p.gender == "F", p.gender == "N"]
        if f.has_tera:
            values.append(p.terastallized)
        return self._pack_numbers(*values)

    def _active(self, p: UniversalPokemon | None) -> bytes:
        row = self._empty if p is None else self._row(p)
        if row.active is None:
            assert p is not None
            row.active = self._active_numbers(p)
        return row.active

    def _active_numbers(self, p: UniversalPokemon) -> bytes:
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
