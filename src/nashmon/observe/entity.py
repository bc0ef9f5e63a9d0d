"""The entity observation: twelve Pokémon as id and number rows, active slots, and the field.

Rows of one side: its active slots, then `bench` in state order, so that bench k is row slots + k.
At team preview, when nobody is active yet, row k is bench k.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from nashmon.core.errors import UnsupportedError
from nashmon.core.formats import Format
from nashmon.core.state import (
    GameType,
    UniversalMove,
    UniversalPokemon,
    UniversalSide,
    UniversalState,
)
from nashmon.observe.entity_field import FieldWriter
from nashmon.observe.entity_rows import RowWriter, StateShapeError, lasting_facts, often_facts
from nashmon.observe.entity_spec import TEAM, Features, entity_spec
from nashmon.observe.spec import Arrays
from nashmon.observe.vocab import vocabularies


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
        """A writer for one seat: it remembers the rows it wrote last."""
        return EntityEncoder(self)

    @cached_property
    def rows(self) -> RowWriter:
        """What encoders share: the rows of one Pokémon."""
        return RowWriter(self.features, self.spec, self.mod, self.tables, self.strict)

    @cached_property
    def field(self) -> FieldWriter:
        """What encoders share: the field."""
        return FieldWriter(self.features, self.tables, self.strict)


class _Known:
    """What is remembered of one Pokémon: its rows, and of what they were made."""

    __slots__ = ("columns", "lasting", "move_columns", "moves", "pokemon", "rows")

    def __init__(self) -> None:
        self.pokemon: UniversalPokemon | None = None  # held, so that its identity is not reused
        self.rows = (b"", b"")  # of ids and of numbers
        self.lasting: tuple[Any, ...] | None = None
        self.columns = (b"", b"")
        self.moves: tuple[UniversalMove, ...] | None = None
        self.move_columns: tuple[tuple[int, ...], bytes] = ((), b"")


Places = list[UniversalPokemon | None]


class EntityEncoder:
    """Writes states into arrays; a pure function of the state, made fast by remembering rows."""

    def __init__(self, space: EntitySpace) -> None:
        self._writer = writer = space.rows
        self._field = space.field
        self._features = space.features
        self._slots = space.features.slots
        self._ids = Block("h", writer.ids_shape)
        self._numbers = Block("f", writer.numbers_shape)
        self._actives = Block("f", writer.active_shape)
        self._empty = bytes(self._ids.width), bytes(self._numbers.width)
        self._vacant = bytes(self._actives.width)
        self._forget()

    def _forget(self) -> None:
        # What the blocks show now, per side; only rows of other Pokémon are written.
        self._shown: list[Places] = [[None] * TEAM, [None] * TEAM]
        self._benches: list[tuple[UniversalPokemon, ...] | None] = [None, None]
        self._shown_actives: Places = [None] * (2 * self._slots)
        # By identity within a side.  A table for all sides would not be in the processor's cache.
        self._known: list[dict[str, _Known]] = [{}, {}]

    def reset(self) -> None:
        """Forget all rows; never changes what is written."""
        for block in (self._ids, self._numbers, self._actives):
            block.array[:] = 0
        self._forget()

    def write(self, state: UniversalState, out: Arrays, index: Any) -> None:
        """Write one state at `out[name][index]` for every array of the spec."""
        features, own, foe = self._features, state.own, state.foe
        if state.gen != features.gen or state.game_type != features.game_type:
            raise StateShapeError(
                f"a {features.game_type} observation of generation {features.gen} "
                f"cannot show a {state.game_type} state of {state.format!r}"
            )
        preview = state.phase == "preview"
        self._show(0, own, preview)
        self._show(1, foe, preview)
        self._show_actives(own.active + foe.active)
        out["pokemon_ids"][index] = self._ids.array
        out["pokemon_numbers"][index] = self._numbers.array
        out["active_numbers"][index] = self._actives.array
        out["field"][index] = self._field.values(state)

    def _show(self, k: int, side: UniversalSide, preview: bool) -> None:
        bench, shown = side.bench, self._shown[k]
        # While the bench is the same object only those on the field can have changed.
        same = bench is self._benches[k] and not preview
        places = side.active if same else _places(side, preview)
        self._benches[k] = None
        for place, pokemon in enumerate(places):
            if pokemon is not shown[place]:
                ids, numbers = self._empty if pokemon is None else self._rows(k, pokemon)
                number = k * TEAM + place
                self._ids.view[self._ids.rows[number]] = ids
                self._numbers.view[self._numbers.rows[number]] = numbers
                shown[place] = pokemon
        if not preview and self._slots + len(bench) <= TEAM:
            self._benches[k] = bench

    def _show_actives(self, places: Sequence[UniversalPokemon | None]) -> None:
        shown = self._shown_actives
        for k, pokemon in enumerate(places):
            if pokemon is not shown[k]:
                row = self._vacant if pokemon is None else self._writer.active(pokemon)
                self._actives.view[self._actives.rows[k]] = row
                shown[k] = pokemon

    def _rows(self, k: int, pokemon: UniversalPokemon) -> tuple[bytes, bytes]:
        """The rows of a Pokémon; only what changed since it was last shown is made anew."""
        known = self._known[k].get(pokemon.ident)
        if known is None:
            known = self._known[k][pokemon.ident] = _Known()
        if known.pokemon is not pokemon:
            writer, lasting, moves = self._writer, lasting_facts(pokemon), pokemon.moves
            if lasting != known.lasting:
                known.lasting, known.columns = lasting, writer.lasting(lasting)
                known.moves = None  # whose missing ones are read otherwise on the other side
            if moves != known.moves:
                known.moves, known.move_columns = moves, writer.moves(pokemon)
            known.rows = writer.pack(known.columns, known.move_columns, often_facts(pokemon))
            known.pokemon = pokemon
        return known.rows


def _places(side: UniversalSide, preview: bool) -> Places:
    """Who is in each of a side's rows; see the module's first lines."""
    places: Places = list(side.bench) if preview else [*side.active, *side.bench]
    missing = TEAM - len(places)
    if missing > 0:
        return places + [None] * missing
    slots = 0 if preview else len(side.active)
    # A slot can be empty while the bench is longer than the rows left for it (all but one fainted
    # in doubles): the last ones, which no switch names, take empty slots' rows.
    for extra in places[TEAM:]:
        if None not in places[:slots]:
            raise StateShapeError(f"a side has more than {TEAM} Pokémon: {side}")
        places[places.index(None)] = extra
    return places[:TEAM]


class Block:
    """An array whose rows are set from bytes, which is several times quicker than by numpy."""

    __slots__ = ("array", "rows", "view", "width")

    def __init__(self, code: str, shape: tuple[int, ...]) -> None:
        buffer = array(code, [0]) * math.prod(shape)
        self.array = np.frombuffer(buffer, code).reshape(shape)
        self.width = width = self.array.strides[0]  # bytes of one row
        self.view = memoryview(buffer).cast("B")
        self.rows = _row_slices(width, shape[0])  # of `view`


@lru_cache(maxsize=256)
def _row_slices(width: int, count: int) -> tuple[slice, ...]:
    """The bytes of each row; one object for all blocks, so that it stays in the cache."""
    return tuple(slice(k * width, (k + 1) * width) for k in range(count))
