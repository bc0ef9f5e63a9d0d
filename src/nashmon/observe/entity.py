"""The entity observation: twelve Pokémon as id and number rows, active slots, and the field.

Rows of one side: its active slots, then `bench` in state order, so that bench k is row slots + k.
At team preview, when nobody is active yet, row k is bench k.
"""

from __future__ import annotations

from array import array
from functools import cached_property
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
        self._writer = writer = space.rows
        self._field = space.field
        self._features = space.features
        self._limit = remember
        self._ids = _Block("h", np.int16, writer.ids_shape)
        self._numbers = _Block("f", np.float32, writer.numbers_shape)
        self._actives = _Block("f", np.float32, writer.active_shape)
        self._empty = _Row(None, bytes(self._ids.width), bytes(self._numbers.width))
        self._empty.active = bytes(self._actives.width)
        self._shown = [self._empty] * (2 * TEAM)  # what the blocks hold now
        self._young: dict[int, _Row] = {}
        self._old: dict[int, _Row] = {}

    def reset(self) -> None:
        """Forget all rows; never changes what is written."""
        self._young, self._old = {}, {}

    def write(self, state: UniversalState, out: Arrays, index: Any) -> None:
        """Write one state at `out[name][index]` for every array of the spec."""
        features, own, foe = self._features, state.own, state.foe
        if state.gen != features.gen or state.game_type != features.game_type:
            raise StateShapeError(
                f"a {features.game_type} observation of generation {features.gen} "
                f"cannot show a {state.game_type} state of {state.format!r}"
            )
        if state.phase == "preview":
            rows = self._preview_rows(own) + self._preview_rows(foe)
        else:
            rows = self._side_rows(own) + self._side_rows(foe)
        shown, ids, numbers = self._shown, self._ids, self._numbers
        for k, row in enumerate(rows):
            if row is not shown[k]:
                ids.put(k, row.ids)
                numbers.put(k, row.numbers)
        self._shown = rows
        for k, pokemon in enumerate((*own.active, *foe.active)):
            self._actives.put(k, self._active(pokemon))
        out["pokemon_ids"][index] = ids.array
        out["pokemon_numbers"][index] = numbers.array
        out["active_numbers"][index] = self._actives.array
        out["field"][index] = self._field.values(state)

    def _side_rows(self, side: UniversalSide) -> list[_Row]:
        known, new, empty = self._young.get, self._new_row, self._empty
        rows = [empty if p is None else known(id(p)) or new(p) for p in side.active]
        slots = len(rows)
        rows += [known(id(p)) or new(p) for p in side.bench]
        if len(rows) > TEAM:
            # A slot can be empty while the bench is longer than the rows left for it (all but one
            # fainted in doubles): the last ones, which no switch names, take empty slots' rows.
            for extra in rows[TEAM:]:
                if empty not in rows[:slots]:
                    raise StateShapeError(f"a side has more than {TEAM} Pokémon: {side}")
                rows[rows.index(empty)] = extra
            return rows[:TEAM]
        return rows + [empty] * (TEAM - len(rows))

    def _preview_rows(self, side: UniversalSide) -> list[_Row]:
        rows = [self._young.get(id(p)) or self._new_row(p) for p in side.bench]
        if len(rows) > TEAM:
            raise StateShapeError(f"a side has more than {TEAM} Pokémon: {side}")
        return rows + [self._empty] * (TEAM - len(rows))

    def _new_row(self, pokemon: UniversalPokemon) -> _Row:
        key = id(pokemon)
        row = self._old.get(key) or _Row(pokemon, *self._writer.rows(pokemon))
        if len(self._young) >= self._limit:
            self._old, self._young = self._young, {}
        self._young[key] = row
        return row

    def _active(self, pokemon: UniversalPokemon | None) -> bytes:
        row = self._empty
        if pokemon is not None:
            row = self._young.get(id(pokemon)) or self._new_row(pokemon)
            if row.active is None:
                row.active = self._writer.active(pokemon)
        assert row.active is not None
        return row.active


class _Block:
    """An array whose rows are set from bytes, which is several times quicker than by numpy."""

    __slots__ = ("_view", "array", "width")

    def __init__(self, code: str, dtype: type[np.generic], shape: tuple[int, ...]) -> None:
        buffer = array(code, bytes(np.dtype(dtype).itemsize * int(np.prod(shape))))
        self.array = np.frombuffer(buffer, dtype).reshape(shape)
        self.width = self.array.strides[0]  # bytes of one row
        self._view = memoryview(buffer).cast("B")

    def put(self, row: int, data: bytes) -> None:
        """Set one row."""
        start = row * self.width
        self._view[start : start + self.width] = data
