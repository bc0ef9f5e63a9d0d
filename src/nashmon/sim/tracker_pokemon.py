"""`TrackedPokemon`: poke-env's Pokémon with exact knowledge of moves, effects and formes.

It overrides the handlers whose rules were too coarse for `UniversalState`: PP, sleep and poison
counters, volatile effects, formes and types.  The rules are written down in docs/state.md.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from poke_env.battle import Pokemon, Status

from nashmon.core.dex import Dex, Species, to_id
from nashmon.core.errors import SimulatorError
from nashmon.core.state import BOOSTS, UniversalPokemon

if TYPE_CHECKING:
    from nashmon.sim.tracker_battle import Tracking

NO_BOOSTS = dict.fromkeys(BOOSTS, 0)
UNKNOWN_ITEM = "unknown_item"  # poke-env's word; its None is "holds nothing"
COPIED_PP = 5  # of every move copied by Transform

# Effects whose protocol name ends in a number that matters more than their age.
COUNTED = ("perish", "stockpile", "fallen")
# Not handed on by Baton Pass (Showdown's `noCopy`).
_NO_COPY = """attract commander defensecurl destinybond disable dynamax encore flashfire foresight
    glaiverush gmaxchistrike imprison lockon minimize miracleeye nightmare protosynthesisatk
    protosynthesisdef protosynthesisspa protosynthesisspd protosynthesisspe quarkdriveatk
    quarkdrivedef quarkdrivespa quarkdrivespd quarkdrivespe saltcure smackdown spotlight stockpile
    syrupbomb torment trapped yawn"""
_NOT_PASSED = frozenset(_NO_COPY.split())
_STATUS = {status.name.lower(): status for status in Status}
FAINTED = Status.FNT
_ASLEEP = Status.SLP
TOXIC = Status.TOX

_FIELDS = """acted added_type base_forme battle changed changed_types commanding copied_ability
    counts dex_species disabled entry forme known last_move_id learned legal move_effects nickname
    order own preparing_id protects reread seen_before selected shown_as slots
    sorted_slots status_turns transformed_now turn_effects volatiles"""

Slots = dict[str, list[int]]  # move id → [pp, max pp]


class TrackedPokemon(Pokemon):  # type: ignore[misc]  # poke-env has no type information
    """One Pokémon as one player sees it."""

    # Without slots every Pokémon would carry a dictionary, and reading those, scattered over
    # memory, would be much of what a state costs.
    __slots__ = tuple(_FIELDS.split())

    battle: Tracking
    dex_species: Species
    _ability: str | None
    _boosts: dict[str, int]
    _current_hp: int
    _item: str | None
    _last_details: str
    _level: int
    _max_hp: int
    _must_recharge: bool
    _revealed: bool
    _species: str
    _status: Any
    _temporary_ability: str | None
    _terastallized: bool
    _terastallized_type: str | None
    item: str | None
    order: tuple[str, str]
    temporary_ability: str | None

    def __init__(self, battle: Tracking, own: bool, details: str, name: str) -> None:
        self.battle = battle
        self.own = own
        self.nickname = name
        self.shown_as = name
        self.entry: dict[str, Any] | None = None  # own side: what the last request said of it
        self.known: UniversalPokemon | None = None  # the part of the last state made from it
        self.changed = True  # since then
        self.selected: bool | None = None
        self.legal: tuple[str, ...] | None = None  # own side: its moves as the request lists them
        self.reread = False  # own side: its moves changed, so even an equal entry brings news
        self.disabled: tuple[str, ...] = ()
        self.learned: Slots = {}  # its own moves
        self.slots: Slots = self.learned  # … or what Transform and Mimic made of them
        self.sorted_slots: tuple[Slots, tuple[str, ...]] = ({}, ())  # slots with their sorted ids
        self.base_forme = self.forme = ""
        self.seen_before: tuple[Any, ...] = ()
        self.status_turns = 0
        self._reset_active()
        super().__init__(battle.gen)
        self._boosts = NO_BOOSTS.copy()
        self._max_hp = self._current_hp = 100  # shown in full until a condition is seen
        self._update_from_details(details)

    def _reset_active(self) -> None:
        """Forget what lasts only while it is on the field."""
        self.acted = False
        self.added_type: str | None = None
        self.changed_types: tuple[str, ...] | None = None
        self.commanding = False
        self.copied_ability = False  # by Transform, known or not
        self.counts: dict[str, int] = {}
        self.volatiles: dict[str, int] = {}  # name → turn it began
        self.turn_effects: list[str] = []  # volatiles that end with the turn
        self.move_effects: list[str] = []  # … with its next action
        self.last_move_id: str | None = None
        self.preparing_id: str | None = None
        self.protects = 0
        self.transformed_now = False
        self.slots = self.learned
        self.disabled = ()
        self._must_recharge = False
        self._temporary_ability = None

    def _update_from_details(self, details: str) -> None:
        if details == self._last_details:
            return
        self._last_details = details
        species, level, gender, tera = parse_details(details)
        if species != self._species:
            self._update_from_pokedex(species)
        self.order = (species, self.nickname)
        self.battle.orders += 1
        self.base_forme = self.base_forme or species
        self._level = level
        self._gender = gender
        if tera:
            self._terastallized_type = tera

    def _update_from_pokedex(self, species: str, store_species: bool = True) -> None:
        known = self.battle.species(species)
        self.dex_species = known
        self.forme = species
        if store_species:
            self._species = species

    def forme_change(self, species: str) -> None:
        """Take another forme until it leaves the field."""
        self._update_from_pokedex(parse_details(species)[0], store_species=False)

    def mega_evolve(self, stone: str) -> None:
        """Nothing: the forme is told by `detailschange`."""

    def primal(self) -> None:
        """Nothing: the forme is told by `detailschange`."""

    def terastallize(self, type_: str) -> None:
        """Take its Tera type."""
        self._terastallized = True
        self._terastallized_type = to_id(type_)
        self.changed_types = None
        self.added_type = None

    @property
    def fainted(self) -> bool:
        """Whether it has fainted."""
        return self._status is FAINTED

    @property
    def ability(self) -> str | None:
        """Its ability now: None unknown, "" none."""
        if self._temporary_ability is not None:
            return self._temporary_ability
        return None if self.copied_ability else self._ability

    @ability.setter
    def ability(self, ability: str) -> None:
        known = to_id(ability)
        if self._ability is None:
            self._ability = known
        else:
            self._temporary_ability = None if known == self._ability else known

    @property
    def types(self) -> tuple[str, ...]:
        """Its types now."""
        if self._terastallized and self._terastallized_type not in (None, "stellar"):
            return (str(self._terastallized_type),)
        return self.natural_types

    @property
    def natural_types(self) -> tuple[str, ...]:
        """Its types but for Terastallization."""
        types = self.dex_species.types if self.changed_types is None else self.changed_types
        return types if self.added_type is None else (*types, self.added_type)

    def set_hp_status(self, hp_status: str, store: bool = False) -> None:
        """Read a condition such as "45/100 par"; a new status starts its counter."""
        current, maximum, status = _parse_condition(hp_status)
        if status is not self._status:
            self._status = status
            self.status_turns = 0
        self._current_hp = current
        if maximum is not None:
            self._max_hp = maximum

    @property
    def status(self) -> Any:
        """Its poke-env status."""
        return self._status

    @status.setter
    def status(self, status: str) -> None:
        self._status = _STATUS[status]
        self.status_turns = 0

    def cure_status(self, status: str | None = None) -> None:
        """End a status, or whichever it has."""
        self.changed = True
        if self._status is not FAINTED and (status is None or _STATUS.get(status) is self._status):
            self._status = None
            self.status_turns = 0

    def boost(self, stat: str, amount: int) -> None:
        """Change a stage within −6 … 6."""
        self._boosts[stat] = max(-6, min(6, self._boosts[stat] + amount))

    def begin(self, effect: str) -> None:
        """A volatile effect starts, named as in the protocol; again while it lasts: no change."""
        name = effect_id(effect)
        if name[-1:].isdigit() and name[:-1] in COUNTED:
            self.counts[name[:-1]] = int(name[-1])
        else:
            self.volatiles.setdefault(name, self.battle.turn)

    def end_effect(self, effect_str: str) -> None:
        """A volatile effect ends."""
        name = effect_id(effect_str)
        self.volatiles.pop(name, None)
        self.counts.pop(name, None)
        if name in ("protosynthesis", "quarkdrive"):
            self.volatiles = {k: v for k, v in self.volatiles.items() if not k.startswith(name)}
        elif name == "disable":
            self.disabled = ()
        elif name == "toxiccounter":
            self.status_turns = 0

    def end_turn(self) -> None:
        """Drop what lasts one turn."""
        if self.turn_effects:
            for name in self.turn_effects:
                self.volatiles.pop(name, None)
            self.turn_effects = []

    def act(self) -> None:
        """It moved or could not."""
        self.acted = True
        self._must_recharge = False
        self.preparing_id = None
        if self.move_effects:
            for name in self.move_effects:
                self.volatiles.pop(name, None)
            self.move_effects = []

    def cant_move(self) -> None:
        """It lost its action."""
        self.act()
        self.protects = 0

    def prepare(self, move_id: str, target: Any) -> None:
        """The first turn of a two-turn move."""
        self.preparing_id = to_id(move_id)

    def reveal(self, move: str) -> list[int] | None:
        """The PP of one of its moves, which becomes known; None if it cannot be its own."""
        if move in self.slots:
            return self.slots[move]
        if move == "hiddenpower":
            typed = [slot for key, slot in self.slots.items() if key.startswith(move)]
            if typed:
                return typed[0]
        full = self.battle.max_pp(move)
        if self.legal is not None or full is None or len(self.slots) >= self.battle.max_moves:
            return None
        pp = min(full, COPIED_PP) if self.transformed_now else full
        self.slots[move] = [pp, pp if self.transformed_now else full]
        return self.slots[move]

    def mimic(self, move: str) -> None:
        """Mimic's slot becomes another move until it leaves the field."""
        full = self.battle.max_pp(move) or COPIED_PP
        old = self.slots.get("mimic", [full, full])
        # In Gen 1 the slot keeps its PP; later the copy has its own.
        copy = old if self.battle.gen == 1 else [min(full, COPIED_PP), full]
        self.slots = {key: slot for key, slot in self.slots.items() if key != "mimic"}
        # Mimic called by Metronome has no slot that we know of to take.
        if self.legal is not None or len(self.slots) < self.battle.max_moves:
            self.slots.setdefault(move, copy)

    def transform(self, into: TrackedPokemon) -> None:
        """Copy another Pokémon: forme, types, stages, ability and the moves we know of it."""
        self.transformed_now = True
        self.forme = into.forme
        self.changed_types = into.natural_types
        self.added_type = None
        self._boosts = into._boosts.copy()
        self._temporary_ability = into.ability
        self.copied_ability = True
        # An own Pokémon's list is exact unless it changed since the last request (Transform,
        # Mimic); its slots also remember moves of other formes.
        legal = into.legal
        exact = legal is not None and all(move in into.slots for move in legal)
        known = legal if legal is not None and exact else into.slots
        self.slots = {move: [min(COPIED_PP, into.slots[move][1])] * 2 for move in known}
        self.reread = True

    def switch_in(self, details: str | None = None) -> None:
        """Come to the field."""
        if self.battle.gen >= 5:  # from when on it may be someone in disguise
            self.seen_before = self._facts()
        if details:
            if not self._revealed:
                self.base_forme = self._last_details = ""  # preview hides some formes
            self._update_from_details(details)
        self._active = True
        self.battle.orders += not self._revealed
        self._revealed = True
        self.shown_as = self.nickname
        if self._status is TOXIC or (self._status is _ASLEEP and self.battle.gen == 5):
            self.status_turns = 0

    def switch_out(self, fields: Any = None) -> None:
        """Leave the field."""
        self.changed = True
        self._active = False
        self._boosts = NO_BOOSTS.copy()
        self._reset_active()
        self.forme = self._species
        self.dex_species = self.battle.species(self._species)

    def faint(self) -> None:
        """Faint; it stays in its slot until replaced."""
        self._current_hp = 0
        self._terastallized = False
        self._status = FAINTED
        self.status_turns = 0
        self._boosts = NO_BOOSTS.copy()
        self._reset_active()

    def passed_on(self, shed_tail: bool) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
        """Stages, volatiles and counts that Baton Pass or Shed Tail hands to the next Pokémon."""
        if shed_tail:
            begun = {k: v for k, v in self.volatiles.items() if k == "substitute"}
            return NO_BOOSTS.copy(), begun, {}
        volatiles = {k: v for k, v in self.volatiles.items() if k not in _NOT_PASSED}
        counts = {k: v for k, v in self.counts.items() if k not in _NOT_PASSED}
        return self._boosts, volatiles, counts

    def _facts(self) -> tuple[Any, ...]:
        """What a disguised Pokémon in its place could change."""
        moves = {move: pp.copy() for move, pp in self.learned.items()}
        condition = (self._current_hp, self._max_hp, self._status, self.status_turns)
        tera = (self._terastallized, self._terastallized_type)
        return condition, tera, self._item, self._ability, self._revealed, moves

    def unmask(self, real: TrackedPokemon) -> None:
        """This was `real` in disguise: it gets what was seen here since it came in."""
        condition, tera, item, ability, revealed, moves = self.seen_before
        real.seen_before = real._facts()
        real._active = real._revealed = True
        self.battle.orders += 1
        for name in _SEEN_ON_FIELD:
            setattr(real, name, getattr(self, name))
        if real.legal is None:
            real._take_uses(self.learned, moves)
            if self._item != item:
                real._item = self._item
        if tera != (self._terastallized, self._terastallized_type):
            real._terastallized = self._terastallized
            real._terastallized_type = self._terastallized_type
        real.slots = real.learned
        self._current_hp, self._max_hp, self._status, self.status_turns = condition
        self._terastallized, self._terastallized_type = tera
        self._item, self._ability, self._revealed = item, ability, revealed
        self.learned = moves
        self.switch_out()
        real.changed = True

    def _take_uses(self, after: Slots, before: Slots) -> None:
        for move, (pp, full) in after.items():
            spent = before.get(move, [full, full])[0] - pp
            slot = self.reveal(move) if spent or move not in before else None
            if slot is not None:
                slot[0] = max(0, slot[0] - spent)


# What unmasking moves from the disguise to the real Pokémon.
_SEEN_ON_FIELD = (
    "_boosts",
    "_current_hp",
    "_max_hp",
    "_must_recharge",
    "_status",
    "acted",
    "counts",
    "last_move_id",
    "move_effects",
    "preparing_id",
    "protects",
    "status_turns",
    "turn_effects",
    "volatiles",
)


@lru_cache(maxsize=65536)
def _parse_condition(text: str) -> tuple[int, int | None, Any]:
    """Hit points, their maximum if told, and status of "45/100 par"."""
    hp, _, word = text.partition(" ")
    current, _, maximum = hp.partition("/")
    full = int(maximum.rstrip("gyr")) if maximum else None  # old logs add a colour
    return int(current), full, _STATUS[word] if word else None


@lru_cache(maxsize=65536)
def parse_details(details: str) -> tuple[str, int, str, str | None]:
    """Species id, level, gender ("N" for none) and Tera type of "Pikachu, L50, F, shiny"."""
    species, *rest = details.split(", ")
    level, gender, tera = 100, "N", None
    for part in rest:
        if part in ("M", "F"):
            gender = part
        elif part.startswith("tera:"):
            tera = to_id(part[5:])
        elif part[0] == "L" and part[1:].isdigit():
            level = int(part[1:])
    return to_id(species), level, gender, tera


@lru_cache(maxsize=4096)
def effect_id(text: str) -> str:
    """Id of an effect without its kind: "move: Leech Seed" → "leechseed"."""
    return to_id(text.rpartition(": ")[2])


def find_species(dex: Dex, species: str) -> Species:
    """A species of the dex, or the error that it is not there."""
    try:
        return dex.species[species]
    except KeyError:
        raise SimulatorError(f"species {species!r} is not in the tables of {dex.mod}") from None
