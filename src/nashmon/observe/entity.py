"""The entity observation: twelve Pokémon as id and number rows, active slots, and the field.

Rows of one side: its active slots, then `bench` in state order, so that bench k is row slots + k.
At team preview, when nobody is active yet, row k is bench k.
"""

from __future__ import annotations

from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np

from nashmon.core.errors import UnsupportedError
from nashmon.core.formats import Format
from nashmon.core.state import GameType, UniversalPokemon, UniversalSide, UniversalState
from nashmon.observe.entity_field import FieldWriter
from nashmon.observe.entity_rows import RowWriter, StateShapeError
from nashmon.observe.entity_spec import TEAM, Features, entity_spec
from nashmon.observe.spec import Arrays
from nashmon.observe.vocab import vocabularies

REMEMBERED = 64  # rows an encoder keeps: plenty for one battle's two sides


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

    def encoder(self, remember: int = REMEMBERED) -> EntityEncoder:
        """A writer that remembers so many rows; a few dozen for each seat it serves."""
        return EntityEncoder(self, remember)

    @cached_property
    def rows(self) -> RowWriter:
        """What encoders share: the rows of one Pokémon."""
        return RowWriter(self.features, self.spec, self.mod, self.tables, self.strict)

    @cached_property
    def field(self) -> FieldWriter:
        """What encoders share: the field."""
        return FieldWriter(self.features, self.tables, self.strict)


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

    def __init__(self, space: EntitySpace, remember: int) -> None:
        self._rows = space.rows
        self._field = space.field
        self._features = space.features
        self._limit = remember
        rows = space.rows
        self._empty = _Row(None, bytes(2 * rows.ids_shape[1]), bytes(4 * rows.numbers_shape[1]))
        self._empty.active = bytes(4 * rows.active_shape[1])
        self._young: dict[int, _Row] = {}
        self._old: dict[int, _Row] = {}

    def reset(self) -> None:
        """Forget all rows; never changes what is written."""
        self._young, self._old = {}, {}

    def write(self, state: UniversalState, out: Arrays, index: Any) -> None:
        """Write one state at `out[name][index]` for every array of the spec."""
        if state.gen != self._features.gen or state.game_type != self._features.game_type:
            raise StateShapeError(
                f"a {self._features.game_type} observation of generation {self._features.gen} "
                f"cannot show a {state.game_type} state of {state.format!r}"
            )
        preview = state.phase == "preview"
        rows = self._side_rows(state.own, preview) + self._side_rows(state.foe, preview)
        ids = np.frombuffer(b"".join([row.ids for row in rows]), np.int16)
        out["pokemon_ids"][index] = ids.reshape(self._rows.ids_shape)
        numbers = np.frombuffer(b"".join([row.numbers for row in rows]), np.float32)
        out["pokemon_numbers"][index] = numbers.reshape(self._rows.numbers_shape)
        actives = b"".join(
            [self._active(pokemon) for pokemon in (*state.own.active, *state.foe.active)]
        )
        out["active_numbers"][index] = np.frombuffer(actives, np.float32).reshape(
            self._rows.active_shape
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
            row = _Row(pokemon, self._rows.ids(pokemon), self._rows.numbers(pokemon))
        if len(self._young) >= self._limit:
            self._old, self._young = self._young, {}
        self._young[key] = row
        return row

    def _active(self, p: UniversalPokemon | None) -> bytes:
        row = self._empty if p is None else self._row(p)
        if row.active is None:
            assert p is not None
            row.active = self._rows.active(p)
        return row.active
