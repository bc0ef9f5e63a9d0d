"""What one player may know of a battle, the same shape for singles and doubles.

Names are Showdown ids ("bodyslam", "tapukoko").  Unknown facts are None and are never guessed.
Only facts of the battle are kept here; facts of species and moves are in `core.dex`.  The types
are named tuples because a state is made for every decision: no other is as cheap to make, to
compare and to read.  `state._replace(turn=3)` gives a changed copy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple, TypeVar

GameType = Literal["singles", "doubles"]
Phase = Literal["preview", "move", "switch", "wait", "end"]
Result = Literal["win", "loss", "draw"]

BOOSTS = ("atk", "def", "spa", "spd", "spe", "accuracy", "evasion")
STATS = ("hp", "atk", "def", "spa", "spd", "spe")
STATUSES = ("brn", "par", "slp", "frz", "psn", "tox")
# Side conditions whose count is their layers, not their age.
HAZARDS = frozenset({"gmaxsteelsurge", "spikes", "stealthrock", "stickyweb", "toxicspikes"})

# A named effect with a count: turns since it began, or layers (docs/state.md has the exact rules).
Effects = tuple[tuple[str, int], ...]


class UniversalMove(NamedTuple):
    """One known move of one Pokémon."""

    id: str
    pp: int  # own side: exact; foe: full PP minus the uses that were seen
    max_pp: int
    disabled: bool = False  # own active: the request greys it out; foe active: named by Disable


class UniversalPokemon(NamedTuple):
    """One Pokémon as a given player sees it."""

    species: str  # current forme
    base_species: str  # forme it entered the battle with, without temporary changes
    ident: str  # stable identity within its side: the nickname, or the species in preview
    level: int
    gender: str | None  # "M", "F", "N"; None before it is seen
    hp_fraction: float  # own: exact current/max; foe: whole percent / 100
    hp: int | None  # own side only: exact hit points
    max_hp: int | None  # own side only
    fainted: bool
    status: str | None  # one of STATUSES
    status_turns: int  # slp: turns lost to sleep so far; tox: poison damages since it came in
    types: tuple[str, ...]  # current types, after Soak, Conversion, Terastallization …
    tera_type: str | None  # own side, or once revealed
    terastallized: bool
    item: str | None  # None unknown, "" known to hold none
    ability: str | None  # None unknown, "" known to have none
    moves: tuple[UniversalMove, ...]  # in the order of actions; the foe's: only those revealed
    stats: (
        tuple[int, ...] | None
    )  # own side only: atk, def, spa, spd, spe as the request gives them
    active: bool
    revealed: bool  # own: the foe has seen it in battle; foe: we have
    selected: bool | None  # brought to the battle after preview; None when not known
    boosts: tuple[int, ...] = (0,) * 7  # order of BOOSTS
    volatiles: Effects = ()  # name → turns since it began or count (perish …), sorted by name
    last_move: str | None = None  # last move used since it came in
    protect_count: int = 0  # consecutive successful Protect-like moves
    first_turn: bool = False  # active and has not acted since it came in (Fake Out works)
    must_recharge: bool = False
    preparing: str | None = None  # two-turn move being charged
    transformed: bool = False  # its moves and stats are a copy
    commanding: bool = False  # inside Dondozo's mouth


class UniversalSide(NamedTuple):
    """One player's half of the field.

    `bench[k]` is what switch action k refers to: living Pokémon first, each group sorted by
    (species, ident); during Revival Blessing fainted ones come first.
    """

    active: tuple[UniversalPokemon | None, ...]  # one slot in singles, two in doubles
    bench: tuple[UniversalPokemon, ...]
    conditions: Effects  # layers for hazards, else turns since it began; sorted by name
    slot_conditions: tuple[
        tuple[str, ...], ...
    ]  # per active slot: wish, healingwish, futuresight …
    team_size: int  # number of Pokémon brought to the battle
    num_fainted: int
    gimmicks_used: tuple[str, ...]  # spent ones of "dynamax", "mega", "tera", "zmove", sorted
    dynamax_turns: int | None  # turns left, None when not dynamaxed
    preview: tuple[str, ...]  # species shown at team preview, () without preview

    @property
    def gimmick_used(self) -> bool:
        """Any gimmick is spent."""
        return bool(self.gimmicks_used)


class UniversalState(NamedTuple):
    """Everything one player may know at one decision."""

    format: str
    gen: int
    game_type: GameType
    turn: int
    phase: Phase
    own: UniversalSide
    foe: UniversalSide
    weather: str | None
    weather_turns: int  # turns since it began
    fields: Effects  # terrain and rooms → turns since they began
    force_switch: tuple[bool, ...]  # per own slot
    trapped: tuple[bool, ...]  # per own slot: the request forbids switching
    maybe_trapped: tuple[bool, ...]  # per own slot: switching may turn out to be impossible
    can_gimmick: tuple[str | None, ...]  # per own slot: "tera", "mega", "zmove", "dynamax" …
    reviving: bool  # the forced switch is a Revival Blessing choice
    result: Result | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-ready values; `from_dict` restores an equal state."""
        plain: dict[str, Any] = _plain(self)
        return plain

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> UniversalState:
        """Rebuild a state from `to_dict` output or its JSON."""
        values = dict(data)
        values["own"] = _side(values["own"])
        values["foe"] = _side(values["foe"])
        values["fields"] = _effects(values["fields"])
        for key in ("force_switch", "trapped", "maybe_trapped", "can_gimmick"):
            values[key] = tuple(values[key])
        return cls(**values)


def _plain(value: Any) -> Any:
    if isinstance(value, UniversalMove | UniversalPokemon | UniversalSide | UniversalState):
        return {name: _plain(field) for name, field in value._asdict().items()}
    return tuple(map(_plain, value)) if isinstance(value, tuple) else value


def _effects(pairs: Any) -> Effects:
    return tuple((name, count) for name, count in pairs)


def _pokemon(data: Mapping[str, Any]) -> UniversalPokemon:
    values = dict(data)
    values["moves"] = tuple(UniversalMove(**move) for move in values["moves"])
    values["volatiles"] = _effects(values["volatiles"])
    for key in ("types", "boosts"):
        values[key] = tuple(values[key])
    if values["stats"] is not None:
        values["stats"] = tuple(values["stats"])
    return UniversalPokemon(**values)


def _side(data: Mapping[str, Any]) -> UniversalSide:
    values = dict(data)
    values["active"] = tuple(None if p is None else _pokemon(p) for p in values["active"])
    values["bench"] = tuple(_pokemon(p) for p in values["bench"])
    values["conditions"] = _effects(values["conditions"])
    values["slot_conditions"] = tuple(tuple(names) for names in values["slot_conditions"])
    for key in ("preview", "gimmicks_used"):
        values[key] = tuple(values[key])
    return UniversalSide(**values)


_T = TypeVar("_T", bound=tuple[Any, ...])


def quick(kind: type[_T]) -> Callable[[tuple[Any, ...]], _T]:
    """A constructor of a state's type from the tuple of all its fields, without any check."""
    return partial(tuple.__new__, kind)
