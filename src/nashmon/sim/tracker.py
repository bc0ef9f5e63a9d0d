"""`Tracker`: one player's view of one battle, from protocol lines and requests to states.

poke-env parses the protocol; `tracker_lines` corrects it where it is wrong or too coarse.  Parts
of a state that did not change are the same objects as in the state before.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from operator import attrgetter
from typing import Any

from nashmon.core import actions_request
from nashmon.core.errors import SimulatorError
from nashmon.core.formats import get_format
from nashmon.core.state import (
    HAZARDS,
    GameType,
    Phase,
    UniversalPokemon,
    UniversalSide,
    UniversalState,
    quick,
)
from nashmon.sim.tracker_battle import track
from nashmon.sim.tracker_lines import Line, read
from nashmon.sim.tracker_pokemon import COPIED_PP, FAINTED, TrackedPokemon
from nashmon.sim.tracker_view import effects, move_order, pokemon_state, request_move

ROLES = ("p1", "p2")
# Request key → gimmick; where a request offers several, the first, as in the action codec.
GIMMICKS = tuple(
    (key, "tera" if word == "terastallize" else word) for key, word in actions_request.GIMMICKS
)

_new_side = quick(UniversalSide)
_new_state = quick(UniversalState)


class _Reserves:
    """Those of a side who do not stand on the field: while none changes, the same bench."""

    __slots__ = ("bench", "mons", "num_fainted", "stale", "standing", "waiting")

    def __init__(self) -> None:
        self.mons: list[TrackedPokemon] = []  # the whole side
        self.standing: list[TrackedPokemon | None] = []
        self.waiting: list[TrackedPokemon] = []
        self.bench: tuple[UniversalPokemon, ...] = ()  # of the last state
        self.num_fainted = 0  # on the bench
        self.stale = True

    def take(self, mons: list[TrackedPokemon], standing: list[TrackedPokemon | None]) -> None:
        """Others stand, or there are others."""
        self.mons, self.standing = mons, standing
        self.waiting = [mon for mon in mons if mon not in standing]
        self.stale = True


class Tracker:
    """Feed it what one player receives; ask it for what that player knows."""

    def __init__(self, format_id: str, seat: int, name: str, foe_name: str = "") -> None:
        self.format = get_format(format_id)
        self.seat = seat
        self.name = name
        self.foe_name = foe_name
        self._role = ROLES[seat]
        self._roles = self._role, ROLES[1 - seat]  # what concerns both sides is own, foe
        self._battle = track(self.format, self._role, name)
        letters = self._battle.letters
        num_slots = len(letters)
        self._places = [[role + letter for letter in letters] for role in self._roles]
        self._sorts_moves = num_slots == 1
        self._game_type: GameType = "singles" if num_slots == 1 else "doubles"
        self._no = (False,) * num_slots
        self._nothing = (None,) * num_slots
        self._no_slot_conditions: tuple[tuple[str, ...], ...] = ((),) * num_slots
        self._own: list[TrackedPokemon] = []  # in the order of the request
        self._request: dict[str, Any] = {}
        self._num_known = 0  # Pokémon of the foe that were on the field
        # Per side the Pokémon in the order of a bench, and for which order of the battle.
        self._sorted: list[tuple[int, list[TrackedPokemon]]] = [(-1, []), (-1, [])]
        self._reserves = _Reserves(), _Reserves()
        self._state: UniversalState | None = None

    def feed(self, lines: Iterable[str]) -> None:
        """Take the protocol lines that this player received."""
        self.take(list(filter(None, map(read, lines))))

    def take(self, lines: Iterable[Line]) -> None:
        """As `feed`, for lines that were read already; trackers may share them."""
        self._state = None
        battle = self._battle
        for handler, parts in lines:
            handler(battle, parts)

    def dissolve(self) -> None:
        """Let go of all Pokémon at once: they refer to their battle, which only gc would notice."""
        self._battle.dissolve()

    def request(self, request: dict[str, Any]) -> None:
        """Take the request that this player received; it is kept, not copied."""
        self._state = None
        self._request = request
        entries = request["side"]["pokemon"]
        if len(entries) != len(self._own):
            _check_names(entries)
            self._battle.orders += 1
        if not request.get("teamPreview"):
            self._place_own(entries)
        own = self._own
        if len(own) != len(entries):
            own = [self._update_own(entry) for entry in entries]
        else:
            # Most entries are the objects of the last request, most of them in the same place.
            own = [
                mon if mon.entry is entry and not mon.reread else self._update_own(entry)
                for mon, entry in zip(own, entries, strict=True)
            ]
        self._own = own
        for mon, offer in zip(own, request.get("active") or (), strict=False):
            if offer is not None:
                self._offer(mon, offer)

    def _update_own(self, entry: dict[str, Any]) -> TrackedPokemon:
        ident = entry["ident"]
        mon = self._battle.team.get(ident) or self._own_member(entry)
        old, reread = mon.entry, mon.reread
        mon.entry = entry
        if old == entry and not reread:
            return mon
        mon.reread = False
        mon.changed = True
        mon.set_hp_status(entry["condition"])
        mon._update_from_details(entry["details"])
        mon._item = entry["item"]
        mon._ability = entry["baseAbility"]
        if "ability" in entry:  # from Gen 7 on
            mon._temporary_ability = entry["ability"]
        mon._terastallized_type = entry.get("teraType", "").lower() or None
        mon._terastallized = bool(entry.get("terastallized"))
        mon.commanding = entry.get("commanding", False)
        if old is not None and entry["moves"] is old["moves"] and not reread:
            return mon
        legal = mon.legal = _listed(tuple(entry["moves"]), self._sorts_moves)
        for move in legal:
            if move not in mon.slots:
                full = self._battle.max_pp(move) or COPIED_PP
                mon.slots[move] = [COPIED_PP] * 2 if mon.transformed_now else [full, full]
        return mon

    def _own_member(self, entry: dict[str, Any]) -> TrackedPokemon:
        return self._battle.member(self._role, entry["ident"][4:], entry["details"])

    def _place_own(self, entries: list[dict[str, Any]]) -> None:
        """The request tells the truth about who stands where, whatever disguise was shown."""
        battle = self._battle
        for entry, letter in zip(entries, battle.letters, strict=False):
            if entry["active"]:
                place = self._role + letter
                mon = battle.team.get(entry["ident"]) or self._own_member(entry)
                if battle.occupants.get(place) is not mon:
                    battle.stand(place, mon)
                mon.disabled = ()

    def _offer(self, mon: TrackedPokemon, offer: dict[str, Any]) -> None:
        """PP and what cannot be chosen, of an active Pokémon."""
        open_moves = []
        slots = mon.slots
        for move in offer["moves"]:
            move_id = move["id"]
            slot = slots.get(move_id) or mon.reveal(move_id)
            if slot is None:
                continue  # Struggle, Recharge …
            if "pp" in move:
                slot[0] = move["pp"]
                slot[1] = move["maxpp"]
            if not move.get("disabled"):
                open_moves.append(move_id)
        legal = mon.legal or ()
        if len(open_moves) == len(legal) > 1:  # nothing but a single move can stand for another
            mon.disabled = ()
            return
        families = [move_order(move_id) for move_id in open_moves]
        mon.disabled = tuple([move for move in legal if move_order(move) not in families])

    def state(self) -> UniversalState:
        """What the player knows now; the same object until something new arrives."""
        if self._state is None:
            self._state = self._build()
        return self._state

    def rebuild(self) -> UniversalState:
        """The state made anew from everything known, for checks of `state`."""
        for mon in (*self._own, *self._battle.team.values(), *self._battle.foes()):
            mon.known = None
            mon.changed = True
        self._sorted = [(-1, []), (-1, [])]
        self._reserves = _Reserves(), _Reserves()
        self._state = None
        return self.state()

    def _build(self) -> UniversalState:
        battle, request = self._battle, self._request
        turn = battle.turn
        phase = self._phase()
        reviving = phase == "switch" and actions_request.is_reviving(request)
        preview = phase == "preview"
        weather, begun = None, turn
        if battle._weather:
            weather, begun = next(iter(battle._weather.items()))
        trapped = maybe_trapped = forced = self._no
        gimmicks: tuple[str | None, ...] = self._nothing
        if phase == "move":
            offers = request["active"]
            if any(map(_says_more, offers)):
                trapped, maybe_trapped = _flags(offers, "trapped"), _flags(offers, "maybeTrapped")
                gimmicks = tuple([_gimmick(offer) for offer in offers])
        elif phase == "switch":
            forced = tuple(request["forceSwitch"])
        return _new_state(
            (
                self.format.id,
                battle.gen,
                self._game_type,
                turn,
                phase,
                self._side(0, preview, reviving),
                self._side(1, preview, False),
                weather,
                turn - begun,
                effects(battle._fields, turn, {}) if battle._fields else (),
                forced,
                trapped,
                maybe_trapped,
                gimmicks,
                reviving,
                battle.result,
            )
        )

    def _phase(self) -> Phase:
        request = self._request
        if self._battle.result is not None:
            return "end"
        if request.get("active"):
            return "move"
        if request.get("teamPreview"):
            return "preview"
        return "switch" if request.get("forceSwitch") else "wait"

    def _line_up(self, k: int) -> list[TrackedPokemon]:
        """The own (0) or the foe's (1) Pokémon in the order of a bench."""
        battle = self._battle
        orders, ordered = self._sorted[k]
        if orders != battle.orders:  # someone new, another name or species, someone revealed
            mons = battle.foes() if k else self._own or list(battle.team.values())
            ordered = sorted(mons, key=_order)
            self._sorted[k] = battle.orders, ordered
            if k:
                self._count_known(mons)
        if k == 0 and battle.turn and ordered and not ordered[0].selected:
            for mon in ordered:
                mon.selected = True
                mon.changed = True
        return ordered

    def _count_known(self, foes: list[TrackedPokemon]) -> None:
        known = sum([mon._revealed for mon in foes])
        if known != self._num_known:
            self._num_known = known
            complete = known >= self._battle._team_size.get(self._roles[1], len(foes))
            for mon in foes:
                mon.selected = True if mon._revealed else (False if complete else None)
                mon.changed = True

    def _side(self, k: int, preview: bool, reviving: bool) -> UniversalSide:
        battle, role = self._battle, self._roles[k]
        turn = battle.turn
        mons = self._line_up(k)
        standing = list(map(battle.occupants.get, self._places[k]))
        if preview and k == 0:
            standing = [None] * len(standing)
        num_fainted = 0
        active: list[UniversalPokemon | None] = []
        for mon in standing:
            if mon is None:
                active.append(None)
                continue
            num_fainted += mon._status is FAINTED
            active.append(self._seen(mon, True))
        reserves = self._reserves[k]
        if mons is not reserves.mons or standing != reserves.standing:
            reserves.take(mons, standing)
        if reserves.stale or reviving or any(map(_changed, reserves.waiting)):
            self._fill_bench(reserves, reviving)
        conditions = battle._conditions(role)
        return _new_side(
            (
                tuple(active),
                reserves.bench,
                _aged(conditions, turn) if conditions else (),
                self._slot_conditions(k) if battle.slot_conditions else self._no_slot_conditions,
                battle._team_size.get(role, len(mons)),
                num_fainted + reserves.num_fainted,
                battle.gimmicks[role],
                _dynamax_turns(standing, turn) if battle.gen == 8 else None,
                battle.preview[role],
            )
        )

    def _fill_bench(self, reserves: _Reserves, reviving: bool) -> None:
        living: list[UniversalPokemon] = []
        fainted: list[UniversalPokemon] = []
        for mon in reserves.waiting:
            known = mon.known
            if mon.changed or known is None:
                known = self._seen(mon, False)
            (fainted if mon._status is FAINTED else living).append(known)
        bench = tuple(fainted + living if reviving else living + fainted)
        if bench != reserves.bench:
            reserves.bench = bench
        reserves.num_fainted = len(fainted)
        reserves.stale = reviving  # another order than the usual one

    def _seen(self, mon: TrackedPokemon, active: bool) -> UniversalPokemon:
        """The mon's part of the state: the same object as before while nothing changed."""
        new = pokemon_state(mon, self._battle.turn, active)
        mon.changed = active  # once it leaves the field it is seen anew
        old = mon.known
        if new == old:
            assert old is not None
            return old
        mon.known = new
        return new

    def _slot_conditions(self, k: int) -> tuple[tuple[str, ...], ...]:
        waiting = self._battle.slot_conditions
        return tuple([tuple(sorted(waiting.get(place, ()))) for place in self._places[k]])


_order = attrgetter("order")
_changed = attrgetter("changed")


@lru_cache(maxsize=65536)
def _listed(moves: tuple[str, ...], by_id: bool) -> tuple[str, ...]:
    """A request's moves in the order of actions: by id in singles, as they come in doubles."""
    ids = [request_move(move) for move in moves]
    return tuple(sorted(ids, key=move_order) if by_id else ids)


def _check_names(entries: list[dict[str, Any]]) -> None:
    """Protocol lines tell the Pokémon of a team apart by their names alone."""
    names = [entry["ident"] for entry in entries]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SimulatorError(
            f"two Pokémon of one team share the name {twice[0]!r}: expected different nicknames, "
            "as the Nickname Clause demands"
        )


def _aged(conditions: dict[str, int], turn: int) -> tuple[tuple[str, int], ...]:
    counts = [(k, v if k in HAZARDS else turn - v) for k, v in conditions.items()]
    return tuple(sorted(counts))


def _says_more(offer: dict[str, Any] | None) -> bool:
    """Whether anything but moves is told of an active Pokémon."""
    return offer is not None and len(offer) > 1


def _flags(offers: list[dict[str, Any] | None], name: str) -> tuple[bool, ...]:
    return tuple([offer is not None and bool(offer.get(name)) for offer in offers])


def _gimmick(offer: dict[str, Any] | None) -> str | None:
    if offer is not None and _says_more(offer):
        for key, gimmick in GIMMICKS:
            if offer.get(key):
                return gimmick
    return None


def _dynamax_turns(standing: list[TrackedPokemon | None], turn: int) -> int | None:
    for mon in standing:
        if mon is not None and "dynamax" in mon.volatiles:
            return max(0, 3 - (turn - mon.volatiles["dynamax"]))
    return None
