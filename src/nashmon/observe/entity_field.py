"""The `field` array of the entity observation: turn, phase, what each side has and may do."""

from __future__ import annotations

from array import array
from struct import Struct

import numpy as np
from numpy.typing import NDArray

from nashmon.core.state import Effects, UniversalSide, UniversalState
from nashmon.observe.entity_spec import PHASES, Features, dense_field_columns, field_columns
from nashmon.observe.vocab import Vocabulary, lookup

_SIDES = ("own", "foe")


class FieldWriter:
    """Computes the field array of a state."""

    def __init__(self, features: Features, tables: dict[str, Vocabulary], strict: bool) -> None:
        names = [column.name for column in field_columns(features, tables)]
        slots = range(features.slots)

        def columns(prefix: str, table: str) -> dict[str, int]:
            # Column of word w is first + id(w) − 1; the first one stands for the unknown word.
            first = f"{prefix}_{tables[table].words[1]}"
            return lookup(tables[table], strict, names.index(first) - 1 if first in names else 0)

        self._has_abilities = features.has_abilities
        self._has_dynamax = features.has_dynamax
        self._has_tera = features.has_tera
        self._nothing_waits = ((),) * features.slots
        self._no_gimmick = (None,) * features.slots
        self._zeros = array("f", bytes(4 * len(names)))
        self._pack_dense = Struct(f"={len(dense_field_columns(features))}f").pack_into
        self._phases = {phase: names.index(f"phase_{phase}") for phase in PHASES}
        self._weathers = columns("weather", "weathers")
        self._fields = columns("field", "fields")
        self._conditions = {side: columns(f"{side}_condition", "conditions") for side in _SIDES}
        self._slot_conditions = {
            side: [columns(f"{side}_slot_{k}", "slot_conditions") for k in slots] for side in _SIDES
        }
        self._can = [columns(f"can_{k}", "gimmicks") for k in slots]
        self._used = {side: columns(f"{side}_used", "gimmicks") for side in _SIDES}

    def values(self, state: UniversalState) -> NDArray[np.float32]:
        """The array of one state."""
        values = self._zeros[:]
        self._pack_dense(values, 0, *self._dense(state))
        values[self._phases[state.phase]] = 1.0
        if state.weather is not None:
            values[self._weathers[state.weather]] = 0.5 + min(state.weather_turns, 8) / 16
        if state.fields:
            _put(values, self._fields, state.fields)
        if state.can_gimmick != self._no_gimmick:
            for gimmick, columns in zip(state.can_gimmick, self._can, strict=True):
                if gimmick is not None:
                    values[columns[gimmick]] = 1.0
        self._side(values, "own", state.own)
        self._side(values, "foe", state.foe)
        return np.frombuffer(values, np.float32)

    def _dense(self, state: UniversalState) -> list[float]:
        own, foe, turn = state.own, state.foe, state.turn
        dense: list[float] = [
            turn / 32 if turn < 32 else 1.0,
            turn / 1024 if turn < 1024 else 1.0,
            *state.force_switch,
            *state.trapped,
            *(state.maybe_trapped if self._has_abilities else ()),
            _eighths(own.team_size),
            _eighths(own.num_fainted),
            _eighths(foe.team_size),
            _eighths(foe.num_fainted),
        ]
        if self._has_dynamax:
            for turns in (own.dynamax_turns, foe.dynamax_turns):
                dense.append(0.0 if turns is None else (1 + min(turns, 3)) / 4)
        if self._has_tera:
            dense.append(state.reviving)
        return dense

    def _side(self, values: array[float], name: str, side: UniversalSide) -> None:
        if side.conditions:
            _put(values, self._conditions[name], side.conditions)
        if side.slot_conditions != self._nothing_waits:
            for words, columns in zip(
                side.slot_conditions, self._slot_conditions[name], strict=True
            ):
                for word in words:
                    values[columns[word]] = 1.0
        for gimmick in side.gimmicks_used:
            values[self._used[name][gimmick]] = 1.0


def _eighths(count: int) -> float:
    return count / 8 if count < 8 else 1.0


def _put(values: array[float], columns: dict[str, int], effects: Effects) -> None:
    for name, count in effects:
        values[columns[name]] = 0.5 + min(count, 8) / 16
