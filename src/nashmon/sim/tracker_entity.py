"""Observations straight from a tracker, without a state in between where that can be spared.

`EntityView` writes what `EntityEncoder` would write of the tracker's state, bit for bit, but looks
only at Pokémon that changed.
"""

from __future__ import annotations

from typing import Any, Protocol

from nashmon.observe.entity import Block, EntitySpace
from nashmon.observe.entity_spec import TEAM
from nashmon.observe.registry import ObservationSpace
from nashmon.observe.spec import Arrays
from nashmon.sim.tracker import Tracker
from nashmon.sim.tracker_pokemon import CHANGED, FAINTED, ROW, TrackedPokemon
from nashmon.sim.tracker_view import lasting, move_slots, often, presence

_Row = tuple[bytes, bytes]  # of ids and of numbers


class View(Protocol):
    """Writes what one player knows now."""

    def write(self, out: Arrays, index: Any) -> None:
        """Write it at `out[name][index]` for every array of the space."""
        ...


def view(space: ObservationSpace, tracker: Tracker) -> View:
    """The view of a tracker in an observation space; one per tracker."""
    return (EntityView if isinstance(space, EntitySpace) else StateView)(space, tracker)  # type: ignore[arg-type]


class StateView:
    """Any observation, by way of the state."""

    def __init__(self, space: ObservationSpace, tracker: Tracker) -> None:
        self._encoder = space.encoder()
        self._tracker = tracker

    def write(self, out: Arrays, index: Any) -> None:
        """Write what the player knows now."""
        self._encoder.write(self._tracker.facts(), out, index)


class EntityView:
    """The entity observation of a tracker: rows of Pokémon that did not change are kept."""

    def __init__(self, space: EntitySpace, tracker: Tracker) -> None:
        self._space = space
        self._tracker = tracker
        self._writer = writer = space.rows
        self._field = space.field
        self._slots = slots = space.features.slots
        self._ids = Block("h", writer.ids_shape)
        self._numbers = Block("f", writer.numbers_shape)
        self._actives = Block("f", writer.active_shape)
        self._empty: _Row = (bytes(self._ids.width), bytes(self._numbers.width))
        self._vacant = bytes(self._actives.width)
        # What the blocks show now, per side.
        self._shown: list[list[_Row]] = [[self._empty] * TEAM, [self._empty] * TEAM]
        self._shown_actives: list[list[tuple[Any, ...] | None]] = [[None] * slots, [None] * slots]

    def write(self, out: Arrays, index: Any) -> None:
        """Write what the player knows now."""
        tracker = self._tracker
        phase = tracker.phase()
        own, own_slots = tracker.line_up(0)
        foe, foe_slots = tracker.line_up(1)
        if (
            (phase != "move" and (phase != "switch" or tracker.reviving()))
            or len(own) + own_slots.count(None) > TEAM
            or len(foe) + foe_slots.count(None) > TEAM
        ):  # other rules for who is in which row
            self._space.encoder().write(tracker.facts(), out, index)
            return
        own_fainted = self._show(0, own, own_slots)
        foe_fainted = self._show(1, foe, foe_slots)
        out["pokemon_ids"][index] = self._ids.array
        out["pokemon_numbers"][index] = self._numbers.array
        out["active_numbers"][index] = self._actives.array
        frame = tracker.frame(
            phase,
            False,
            tracker.around(0, own_slots, len(own), own_fainted),
            tracker.around(1, foe_slots, len(foe), foe_fainted),
        )
        out["field"][index] = self._field.values(frame)

    def _show(
        self, k: int, mons: list[TrackedPokemon], standing: list[TrackedPokemon | None]
    ) -> int:
        """Bring a side's rows up to date; returns how many on its bench have fainted."""
        shown = self._shown[k]
        self._show_standing(k, standing)
        place = self._slots
        fainted = []
        for mon in mons:
            if mon.changed & ROW:
                if mon in standing:  # whoever stands there counts as changed
                    continue
                row = self._row(mon, False)
            else:
                row = mon.row
            if mon._status is FAINTED:
                fainted.append(row)
                continue
            if row is not shown[place]:
                self._put(k, place, row)
            place += 1
        for row in fainted:
            if row is not shown[place]:
                self._put(k, place, row)
            place += 1
        while place < TEAM and shown[place] is not self._empty:
            self._put(k, place, self._empty)
            place += 1
        return len(fainted)

    def _show_standing(self, k: int, standing: list[TrackedPokemon | None]) -> None:
        shown_actives = self._shown_actives[k]
        turn = self._tracker.turn
        for slot, mon in enumerate(standing):
            facts = None if mon is None else presence(mon, turn)
            self._put(k, slot, self._empty if mon is None else self._row(mon, True))
            if facts != shown_actives[slot]:
                shown_actives[slot] = facts
                present = self._vacant if facts is None else self._writer.presence(facts)
                self._actives.view[self._actives.rows[k * self._slots + slot]] = present

    def _put(self, k: int, place: int, row: _Row) -> None:
        self._shown[k][place] = row
        number = k * TEAM + place
        self._ids.view[self._ids.rows[number]] = row[0]
        self._numbers.view[self._numbers.rows[number]] = row[1]

    def _row(self, mon: TrackedPokemon, active: bool) -> _Row:
        writer = self._writer
        facts = lasting(mon)
        moves, slots = move_slots(mon)
        # What seldom changes is kept with the Pokémon: a table of all is not in the processor's
        # cache when it is needed.
        known, columns, known_moves, named = mon.row_parts
        if facts != known or moves is not known_moves:
            columns = writer.lasting(facts)
            named = writer.move_ids(moves, not mon.own)
            mon.row_parts = facts, columns, moves, named
        disabled = mon.disabled
        numbers = writer.move_numbers(slots, [move in disabled for move in moves])
        mon.changed = CHANGED if active else mon.changed & ~ROW
        row = mon.row = writer.pack(columns, named, numbers, often(mon, active))
        return row
