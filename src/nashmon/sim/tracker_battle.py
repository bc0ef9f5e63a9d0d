"""poke-env's battles with our way of naming Pokémon, places, side conditions and fields.

What becomes of each kind of protocol line is in `tracker_lines`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from poke_env.battle import Battle, DoubleBattle

from nashmon.core.dex import Species
from nashmon.core.errors import UnsupportedError
from nashmon.core.formats import Format
from nashmon.core.state import HAZARDS, Result
from nashmon.sim.tracker_pokemon import (
    TrackedPokemon,
    effect_id,
    find_species,
    parse_details,
)


class _NoReplay(list[Any]):
    """poke-env keeps every line for its replays; we keep none."""

    def append(self, line: Any) -> None:
        """Drop the line."""


class Tracking:
    """What both game types share: who stands where, and Pokémon by their protocol names."""

    gen: int
    turn: int
    team: dict[str, TrackedPokemon]
    _opponent_team: dict[str, TrackedPokemon]
    _player_role: str
    _player_username: str
    _team_size: dict[str, int]
    _fields: dict[str, int]
    _weather: dict[Any, int]
    _side_conditions: dict[str, int]
    _opponent_side_conditions: dict[str, int]
    parse_message: Callable[[list[str]], None]

    def __init__(self, rules: Format, role: str, username: str) -> None:
        super().__init__("", username, None, gen=rules.gen)  # type: ignore[call-arg]
        self.rules_of_format = rules
        self.dex = rules.dex
        self.max_moves = rules.max_moves
        self._player_role = role
        self._replay_data = _NoReplay()
        self.letters = "a" if rules.game_type == "singles" else "ab"
        self.occupants: dict[str, TrackedPokemon] = {}  # "p1a" → who stands there
        self.previewed: list[TrackedPokemon] = []  # the foe's, not yet seen on the field
        self.preview: dict[str, tuple[str, ...]] = {"p1": (), "p2": ()}
        self.gimmicks: dict[str, tuple[str, ...]] = {"p1": (), "p2": ()}
        self.slot_conditions: dict[str, dict[str, int]] = {}  # "p1a" → name → turn it began
        self.trappers: dict[str, TrackedPokemon] = {}  # slot of the trapped → who trapped it
        self.orders = 0  # counts what may change the order of a bench or who is revealed
        self.result: Result | None = None
        self.mover: TrackedPokemon | None = None
        self.mover_target = ""
        self._named: dict[str, TrackedPokemon] = {}  # identifiers resolved since the last switch

    def dissolve(self) -> None:
        """Forget all Pokémon."""
        for known in (self.team, self._opponent_team, self.occupants, self.trappers, self._named):
            known.clear()
        self.previewed.clear()
        self.mover = None

    def species(self, species: str) -> Species:
        """A species of this battle's dex."""
        return find_species(self.dex, species)

    def max_pp(self, move: str) -> int | None:
        """Full PP of a move that a Pokémon can know; None for Z-moves, Max Moves and Struggle."""
        known = self.dex.moves.get(move)
        if known is None or known.is_z or known.is_max or move in ("struggle", "recharge"):
            return None
        return known.max_pp

    # Pokémon and places

    def get_pokemon(
        self, identifier: str, force_self_team: bool = False, details: str = "", request: Any = None
    ) -> TrackedPokemon:
        """The Pokémon a line speaks of; who stands in the named slot, even in disguise."""
        mon = self._named.get(identifier)
        if mon is None:
            mon = self._find(identifier, details)
            self._named[identifier] = mon
        mon.changed = True
        return mon

    def _find(self, identifier: str, details: str) -> TrackedPokemon:
        place, _, name = identifier.partition(": ")
        occupant = self.occupants.get(place)
        if occupant is not None and occupant.shown_as == name:
            return occupant
        return self.member(place[:2], name, details or name)

    def member(self, role: str, name: str, details: str) -> TrackedPokemon:
        """A Pokémon of a team by its name, created when it is new."""
        own = role == self._player_role
        team = self.team if own else self._opponent_team
        key = f"{role}: {name}"
        if key not in team:
            mon = None if own else self._take_previewed(details)
            if mon is None:
                mon = TrackedPokemon(self, own, details, name)
            mon.nickname = mon.shown_as = name
            team[key] = mon
            self.orders += 1
        return team[key]

    def _take_previewed(self, details: str) -> TrackedPokemon | None:
        species, level, gender, _ = parse_details(details)
        mons = [mon for mon in self.previewed if self.same_species(mon, species)]
        # Someone disguised may show another level than the Pokémon that was previewed.
        mons.sort(key=lambda mon: (mon._level != level) + (mon._gender != gender))
        if not mons:
            return None
        self.previewed.remove(mons[0])
        return mons[0]

    def same_species(self, mon: TrackedPokemon, species: str) -> bool:
        """Whether a Pokémon could be this species in one of its formes."""
        return self.species(mon._species).base_species == self.species(species).base_species

    def foes(self) -> list[TrackedPokemon]:
        """Every Pokémon of the foe that we know of."""
        return [*self._opponent_team.values(), *self.previewed]

    def others(self, mon: TrackedPokemon) -> list[TrackedPokemon]:
        """Its living team mates that are not known to be on the field."""
        team = self.team.values() if mon.own else self.foes()
        standing = self.occupants.values()
        return [one for one in team if one is not mon and one not in standing and not one.fainted]

    def spend(self, identifier: str, gimmick: str) -> None:
        """A side used one of its gimmicks."""
        role = identifier[:2]
        self.gimmicks[role] = tuple(sorted({*self.gimmicks[role], gimmick}))

    def partner(self, slot: str) -> TrackedPokemon | None:
        """Who stands beside a slot."""
        return self.occupants.get(slot[:2] + ("b" if slot[2] == "a" else "a"))

    def foe_slots(self, slot: str) -> list[str]:
        """Slots across the field."""
        role = "p2" if slot[:2] == "p1" else "p1"
        return [role + letter for letter in self.letters]

    @property
    def active_pokemon(self) -> Any:
        """Own Pokémon on the field, as poke-env shapes them."""
        return self._standing(self._player_role)

    @property
    def opponent_active_pokemon(self) -> Any:
        """The foe's Pokémon on the field, as poke-env shapes them."""
        return self._standing("p2" if self._player_role == "p1" else "p1")

    def _standing(self, role: str) -> Any:
        mons = [self.occupants.get(role + letter) for letter in self.letters]
        return mons[0] if len(mons) == 1 else mons

    # Corrected handlers of poke-env

    def _register_teampreview_pokemon(self, player: str, details: str) -> None:
        self.preview[player] += (parse_details(details)[0],)
        if player != self._player_role:
            name = details.split(",")[0]
            self.previewed.append(TrackedPokemon(self, False, details, name))
            self.orders += 1

    def _side_start(self, side: str, condition: str) -> None:
        conditions = self._conditions(side)
        name = effect_id(condition)
        if name in HAZARDS:
            conditions[name] = conditions.get(name, 0) + 1
        else:
            conditions.setdefault(name, self.turn)

    def side_end(self, side: str, condition: str) -> None:
        """A side condition ends."""
        self._conditions(side).pop(effect_id(condition), None)

    def _conditions(self, side: str) -> dict[str, int]:
        own = side[:2] == self._player_role
        return self._side_conditions if own else self._opponent_side_conditions

    def field_start(self, field: str) -> None:
        """A terrain, room or the like begins; terrains replace each other."""
        name = effect_id(field)
        if name.endswith("terrain"):
            for other in [key for key in self._fields if key.endswith("terrain")]:
                del self._fields[other]
        self._fields[name] = self.turn

    def _field_end(self, field: str) -> None:
        self._fields.pop(effect_id(field), None)

    def end_illusion(self, pokemon_name: str, details: str) -> None:
        """A disguise falls: what was seen belongs to the Pokémon that is now named."""
        place, _, name = pokemon_name.partition(": ")
        real = self.member(place[:2], name, details)
        beside = place[:2] + ("b" if place[2] == "a" else "a")
        if self.occupants.get(beside) is real:  # we took the wrong one of two for the disguise
            self._swap(f"{place}: {name}", str("ab".index(beside[2])))
        self.stand(place, real)
        real._update_from_details(details)
        real.shown_as = name

    def stand(self, place: str, real: TrackedPokemon) -> None:
        """`real` turns out to be the one in this slot."""
        shown = self.occupants.get(place)
        if shown is not None and shown is not real:
            name = shown.shown_as
            shown.unmask(real)
            real.shown_as = name
            real.entry = shown.entry = None  # the next request is read in full
        self.occupants[place] = real
        self._named.clear()

    def _swap(self, pokemon_str: str, slot: str) -> None:
        left, right = pokemon_str[:2] + "a", pokemon_str[:2] + "b"
        if pokemon_str[:3] == (left, right)[int(slot)]:
            return
        pair = self.occupants.pop(left, None), self.occupants.pop(right, None)
        for place, mon in zip((right, left), pair, strict=True):
            if mon is not None:
                self.occupants[place] = mon
        self._named.clear()

    def clear_all_boosts(self) -> None:
        """Haze."""
        for mon in self.occupants.values():
            mon.clear_boosts()

    def end_turn(self, turn: int) -> None:
        """A new turn begins."""
        self._turn = turn
        for mon in self.occupants.values():
            mon.end_turn()

    def _check_damage_message_for_item(self, split_message: list[str]) -> None: ...
    def _check_damage_message_for_ability(self, split_message: list[str]) -> None: ...
    def _check_heal_message_for_item(self, split_message: list[str]) -> None: ...
    def _check_heal_message_for_ability(self, split_message: list[str]) -> None: ...


class TrackedBattle(Tracking, Battle):  # type: ignore[misc]  # poke-env has no type information
    """A singles battle."""


class TrackedDoubleBattle(Tracking, DoubleBattle):  # type: ignore[misc]
    """A doubles battle."""


def track(rules: Format, role: str, username: str) -> Tracking:
    """A fresh battle of a format, seen from one seat."""
    if rules.game_type == "singles":
        return TrackedBattle(rules, role, username)
    if rules.game_type == "doubles":
        return TrackedDoubleBattle(rules, role, username)
    raise UnsupportedError(
        f"{rules.id} is a {rules.game_type} format; singles and doubles are known"
    )
