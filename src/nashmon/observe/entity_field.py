"""The `field` array of the entity observation: turn, phase, what each side has and may do."""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray

from nashmon.core.state import Effects, UniversalSide, UniversalState
from nashmon.observe.entity_spec import PHASES, Features, field_columns
from nashmon.observe.vocab import Vocabulary, lookup

_PHASE = {name: [float(name == other) for other in PHASES] for name in PHASES}


class FieldWriter:
    """Computes the field array of a state."""

    def __init__(self, features: Features, tables: dict[str, Vocabulary], strict: bool) -> None:
        names = [column.name for column in field_columns(features, tables)]
        self._features = features
        self._zeros = array("f", bytes(4 * len(names)))
        self._gimmicks = lookup(tables["gimmicks"], strict)
        self._num_gimmicks = len(tables["gimmicks"]) - 1

        def start(prefix: str, table: str) -> dict[str, int]:
            # Column of word w is start + id(w) − 1, the first column being the unknown word.
            first = f"{prefix}_{tables[table].words[1]}"
            offset = names.index(first) - 1 if first in names else 0
            return lookup(tables[table], strict, offset)

        self._weathers = start("weather", "weathers")
        self._fields = start("field", "fields")
        self._conditions = [start(f"{side}_condition", "conditions") for side in ("own", "foe")]
        self._slot_conditions = [
            [start(f"{side}_slot_{k}", "slot_conditions") for k in range(features.slots)]
            for side in ("own", "foe")
        ]

    def values(self, state: UniversalState) -> NDArray[np.float32]:
        """The array; it is only valid until the caller has copied it."""
        head = [min(state.turn, 32) / 32, min(state.turn, 1024) / 1024, *_PHASE[state.phase]]
        self._slots(state, head)
        self._side(state.own, head)
        self._side(state.foe, head)
        if self._features.has_tera:
            head.append(state.reviving)
        values = self._zeros[:]
        values[: len(head)] = array("f", head)
        if state.weather is not None:
            values[self._weathers[state.weather]] = 0.5 + min(state.weather_turns, 8) / 16
        _put(values, self._fields, state.fields)
        _put(values, self._conditions[0], state.own.conditions)
        _put(values, self._conditions[1], state.foe.conditions)
        for side, columns in zip((state.own, state.foe), self._slot_conditions, strict=True):
            for names, column in zip(side.slot_conditions, columns, strict=False):
                for name in names:
                    values[column[name]] = 1.0
        return np.frombuffer(values, np.float32)

    def _slots(self, state: UniversalState, head: list[float]) -> None:
        f = self._features
        for slot in range(f.slots):
            head += [state.force_switch[slot], state.trapped[slot]]
            if f.has_abilities:
                head.append(state.maybe_trapped[slot])
            if f.has_gimmick:
                gimmick = state.can_gimmick[slot]
                head += self._flags(() if gimmick is None else (gimmick,))

    def _side(self, side: UniversalSide, head: list[float]) -> None:
        f = self._features
        head += [side.team_size / 8, side.num_fainted / 8]
        if f.has_gimmick:
            head += self._flags(side.gimmicks_used)
        if f.has_dynamax:
            turns = side.dynamax_turns
            head.append(0.0 if turns is None else (1 + min(turns, 3)) / 4)

    def _flags(self, gimmicks: tuple[str, ...]) -> list[float]:
        flags = [0.0] * self._num_gimmicks
        for gimmick in gimmicks:
            flags[self._gimmicks[gimmick] - 1] = 1.0
        return flags


def _put(values: array[float], columns: dict[str, int], effects: Effects) -> None:
    for name, count in effects:
        values[columns[name]] = 0.5 + min(count, 8) / 16
