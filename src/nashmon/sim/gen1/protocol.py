"""Events as Showdown's protocol text, as both players, a spectator or the simulator see it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nashmon.core.state import BOOSTS, STATUSES
from nashmon.sim.gen1 import events as ev
from nashmon.sim.gen1 import tables as tb
from nashmon.sim.gen1.hints import HINTS
from nashmon.sim.gen1.setup import Gen1Team

View = Literal["all", "p1", "p2", "spectator"]
Event = tuple[int, int, int, int, int, int]  # kind, seat, a, b, c, d
# Text that one seat sees and the others see otherwise (None: not at all).
Split = tuple[int, str, str | None]
Line = str | Split

_TIME = "|t:|0"
_STATUS = ("", *STATUSES)
_CANT = ("slp", "frz", "par", "flinch", "recharge", "Disable", "partiallytrapped")
_CAUSES = {
    ev.BY_CONFUSION: "confusion",
    ev.BY_RECOIL: "Recoil",
    ev.BY_SEED: "Leech Seed",
    ev.BY_DRAIN: "drain",
}
_EFFECTS = {
    ev.F_CONFUSION: "confusion",
    ev.F_SUBSTITUTE: "Substitute",
    ev.F_BIDE: "Bide",
    ev.F_DISABLE: "Disable",
    ev.F_SEED: "move: Leech Seed",
    ev.F_MIST: "Mist",
    ev.F_FOCUS: "move: Focus Energy",
    ev.F_LIGHT_SCREEN: "Light Screen",
    ev.F_REFLECT: "Reflect",
    ev.F_TOXIC: "Toxic counter",
    ev.F_MIMIC: "Mimic",
}
_ACTIVATIONS = {
    ev.F_CONFUSION: "confusion",
    ev.F_BIDE: "Bide",
    ev.F_MIST: "move: Mist",
    ev.F_HAZE: "move: Haze",
    ev.F_SUB_DAMAGE: "Substitute|[damage]",
}
_FAILURES = {
    ev.W_SUBSTITUTE: "|move: Substitute",
    ev.W_WEAK: "|move: Substitute|[weak]",
}
_PLAIN = {
    ev.E_MISS: "-miss",
    ev.E_CRIT: "-crit",
    ev.E_SUPER: "-supereffective",
    ev.E_RESISTED: "-resisted",
    ev.E_RECHARGE: "-mustrecharge",
    ev.E_FAINT: "faint",
}
_FIXED = {
    ev.E_OHKO: "|-ohko",
    ev.E_CLEAR_BOOSTS: "|-clearallboost|[silent]",
    ev.E_NOTHING: "|-nothing",
    ev.E_PAY_DAY: "|-fieldactivate|move: Pay Day",
    ev.E_UPKEEP: "|upkeep",
    ev.E_BLANK: "|",
}


def read_events(log: NDArray[np.int16]) -> Iterator[Event]:
    """The events of one battle's buffer."""
    count = int(log[ev.COUNT])
    rows = log[ev.START : ev.START + count * ev.WIDTH].reshape(count, ev.WIDTH)
    yield from map(tuple, rows.tolist())


def percent(hp: int, max_hp: int) -> int:
    """HP as a player sees the foe's: whole percent, 100 only when full."""
    shown = -(-100 * hp // max_hp)
    return 99 if shown == 100 and hp < max_hp else shown


def view_lines(lines: Iterable[Line], view: View) -> list[str]:
    """The text one onlooker gets."""
    shown = []
    for line in lines:
        if isinstance(line, str):
            shown.append(line)
            continue
        seat, secret, shared = line
        if view == "all" or view == f"p{seat + 1}":
            shown.append(secret)
        elif shared is not None:
            shown.append(shared)
    return shown


@dataclass(slots=True)
class Narrator:
    """Turns events into lines; remembers who is on the field."""

    teams: tuple[Gen1Team, Gen1Team]
    players: tuple[str, str] = ("p1", "p2")
    tier: str = "[Gen 1] OU"
    rules: tuple[str, ...] = ()
    active: list[int] = field(default_factory=lambda: [0, 0])

    def opening(self) -> list[str]:
        """The lines before the first Pokémon come in."""
        return [
            "|gametype|singles",
            *(f"|player|p{seat + 1}|{name}||" for seat, name in enumerate(self.players)),
            "|gen|1",
            f"|tier|{self.tier}",
            *(f"|rule|{rule}" for rule in self.rules),
        ]

    def lines(self, events: Iterable[Event]) -> Iterator[Line]:
        """The lines of some events, in order."""
        for event in events:
            kind, seat = event[0], event[1]
            if kind in _PLAIN:
                yield f"|{_PLAIN[kind]}|{self._name(seat)}"
            elif kind in _FIXED:
                yield _FIXED[kind]
            else:
                yield from _LINES[kind](self, seat, event[2:])

    def _name(self, seat: int) -> str:
        return f"p{seat + 1}a: {self.teams[seat].names[self.active[seat]]}"

    def _split(self, seat: int, head: str, hp: int, status: int, tail: str = "") -> Split:
        if hp <= 0:
            text = f"{head}|0 fnt{tail}"
            return seat, text, text
        full = self.teams[seat].max_hp[self.active[seat]]
        end = (f" {_STATUS[status]}" if status else "") + tail
        return seat, f"{head}|{hp}/{full}{end}", f"{head}|{percent(hp, full)}/100{end}"


Arguments = tuple[int, ...]  # a, b, c, d of an event


def _move(self: Narrator, seat: int, event: Arguments) -> Iterator[Line]:
    move, target, came_from, flags = event
    named = "" if flags & ev.STILL else self._name(target)
    text = f"|move|{self._name(seat)}|{tb.MOVE_NAMES[move]}|{named}"
    if came_from:
        text += f"|[from] {tb.MOVE_NAMES[came_from]}"
    if flags & ev.STILL:
        text += "|[still]"
    if flags & ev.MISSED:
        text += "|[miss]"
    yield text


def _switch(self: Narrator, seat: int, event: Arguments) -> Iterator[Line]:
    index, hp, status, _ = event
    self.active[seat] = index
    details = self.teams[seat].details[index]
    yield self._split(seat, f"|switch|{self._name(seat)}|{details}", hp, status)


def _cant(self: Narrator, seat: int, event: Arguments) -> Iterator[Line]:
    move = f"|{tb.MOVE_NAMES[event[1]]}" if event[1] else ""
    yield f"|cant|{self._name(seat)}|{_CANT[event[0]]}{move}"


def _cause(self: Narrator, seat: int, status: int, cause: int) -> str:
    kind, of_foe = cause & 15, cause & ev.OF_FOE
    if kind == ev.SILENT:
        return "|[silent]"
    if kind == ev.BY_MOVE:
        return ""
    name = _CAUSES.get(kind) or ("psn" if _STATUS[status] == "tox" else _STATUS[status])
    return f"|[from] {name}" + (f"|[of] {self._name(1 - seat)}" if of_foe else "")


def _damage(self: Narrator, seat: int, event: Arguments) -> Iterator[Line]:
    hp, status, cause, _ = event
    yield self._split(
        seat, f"|-damage|{self._name(seat)}", hp, status, _cause(self, seat, status, cause)
    )


def _heal(self: Narrator, seat: int, event: Arguments) -> Iterator[Line]:
    hp, status, cause, _ = event
    yield self._split(
        seat, f"|-heal|{self._name(seat)}", hp, status, _cause(self, seat, status, cause)
    )


def _status(self: Narrator, seat: int, event: Arguments) -> Iterator[Line]:
    status, move, silent, _ = event
    tail = f"|[from] move: {tb.MOVE_NAMES[move]}" if move else "|[silent]" if silent else ""
    yield f"|-status|{self._name(seat)}|{_STATUS[status]}{tail}"


def _cure(self: Narrator, seat: int, event: Arguments) -> Iterator[Line]:
    tail = "[silent]" if event[1] else "[msg]"
    yield f"|-curestatus|{self._name(seat)}|{_STATUS[event[0]]}|{tail}"


def _boost(self: Narrator, seat: int, event: Arguments) -> Iterator[Line]:
    stat, amount, by_rage, _ = event
    kind = "-boost" if amount > 0 else "-unboost"
    tail = "|[from] Rage" if by_rage else ""
    yield f"|{kind}|{self._name(seat)}|{BOOSTS[stat]}|{abs(amount)}{tail}"


def _start(self: Narrator, seat: int, event: Arguments) -> Iterator[Line]:
    effect, first, second, silent = event
    name = self._name(seat)
    if effect == ev.F_TYPE:
        types = "/".join(tb.TYPE_IDS[kind].capitalize() for kind in (first, second) if kind)
        source = f"[from] move: Conversion|[of] {self._name(1 - seat)}"
        yield f"|-start|{name}|typechange|{types}|{source}"
    else:
        move = f"|{tb.MOVE_NAMES[first]}" if first else ""
        yield f"|-start|{name}|{_EFFECTS[effect]}{move}" + ("|[silent]" if silent else "")


def _end(self: Narrator, seat: int, event: Arguments) -> Iterator[Line]:
    yield f"|-end|{self._name(seat)}|{_EFFECTS[event[0]]}" + ("|[silent]" if event[1] else "")


def _activate(self: Narrator, seat: int, event: Arguments) -> Iterator[Line]:
    yield f"|-activate|{self._name(seat)}|{_ACTIVATIONS[event[0]]}"


def _fail(self: Narrator, seat: int, event: Arguments) -> Iterator[Line]:
    why, status, _, _ = event
    tail = f"|{_STATUS[status]}" if why == ev.W_STATUS else _FAILURES.get(why, "")
    yield f"|-fail|{self._name(seat)}{tail}"


def _immune(self: Narrator, seat: int, event: Arguments) -> Iterator[Line]:
    yield f"|-immune|{self._name(seat)}" + ("|[ohko]" if event[0] else "")


def _hits(self: Narrator, seat: int, event: Arguments) -> Iterator[Line]:
    yield f"|-hitcount|{self._name(seat)}|{event[0]}"


def _prepare(self: Narrator, seat: int, event: Arguments) -> Iterator[Line]:
    yield f"|-prepare|{self._name(seat)}|{tb.MOVE_NAMES[event[0]]}"


def _transform(self: Narrator, seat: int, event: Arguments) -> Iterator[Line]:
    yield f"|-transform|{self._name(seat)}|{self._name(1 - seat)}"


def _message(self: Narrator, seat: int, event: Arguments) -> Iterator[Line]:
    which, number = event[0], event[1]
    if which == ev.G_INVULNERABLE:
        name = self.teams[seat].names[self.active[seat]]
        yield f"|-message|The foe {name} can't be hit while invulnerable!"
    elif which == ev.G_TURNS_LEFT:
        turns = "1 turn" if number == 1 else f"{number} turns"
        yield f"|bigerror|You will auto-tie if the battle doesn't end in {turns} (on turn 1000)."
    else:
        yield {
            ev.G_SLEEP_CLAUSE: "|-message|Sleep Clause Mod activated.",
            ev.G_FREEZE_CLAUSE: "|-message|Freeze Clause activated.",
            ev.G_ENDLESS: "|-message|This battle cannot progress. Endless Battle Clause activated!",
            ev.G_TURN_LIMIT: "|message|It is turn 1000. You have hit the turn limit!",
        }[which]


def _hint(self: Narrator, seat: int, event: Arguments) -> Iterator[Line]:
    text = f"|-hint|{HINTS[event[0]].format(move=tb.MOVE_NAMES[event[1]])}"
    yield text if seat < 0 else (seat, text, None)


def _turn(self: Narrator, seat: int, event: Arguments) -> Iterator[Line]:
    yield f"|turn|{event[0]}"


def _turn_start(self: Narrator, seat: int, event: Arguments) -> Iterator[Line]:
    yield "|"
    yield _TIME


def _win(self: Narrator, seat: int, event: Arguments) -> Iterator[Line]:
    yield "|tie" if seat < 0 else f"|win|{self.players[seat]}"


def _begin(self: Narrator, seat: int, event: Arguments) -> Iterator[Line]:
    yield "|"
    yield _TIME
    for number, team in enumerate(self.teams, start=1):
        yield f"|teamsize|p{number}|{len(team.names)}"
    yield "|start"


_LINES: dict[int, Callable[[Narrator, int, Arguments], Iterator[Line]]] = {
    ev.E_MOVE: _move,
    ev.E_SWITCH: _switch,
    ev.E_CANT: _cant,
    ev.E_DAMAGE: _damage,
    ev.E_HEAL: _heal,
    ev.E_STATUS: _status,
    ev.E_CURE: _cure,
    ev.E_BOOST: _boost,
    ev.E_START: _start,
    ev.E_END: _end,
    ev.E_ACTIVATE: _activate,
    ev.E_FAIL: _fail,
    ev.E_IMMUNE: _immune,
    ev.E_HITS: _hits,
    ev.E_PREPARE: _prepare,
    ev.E_TRANSFORM: _transform,
    ev.E_MESSAGE: _message,
    ev.E_HINT: _hint,
    ev.E_TURN: _turn,
    ev.E_TURN_START: _turn_start,
    ev.E_WIN: _win,
    ev.E_BEGIN: _begin,
}
