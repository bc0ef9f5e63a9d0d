"""Metamon's four text-and-number observations, position by position.

Where metamon shows one of several facts we choose as it does, made deterministic: the volatile
with the smallest count (ties: by name); the side condition with the largest value, which is the
number of layers for hazards and the turn it began for the rest (ties: by name).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from nashmon.core.dex import Dex, Move
from nashmon.core.errors import UnsupportedError
from nashmon.core.formats import Format
from nashmon.core.state import BOOSTS, STATS, UniversalPokemon, UniversalSide, UniversalState
from nashmon.observe.metamon_spec import LAYOUTS, PAD, Layout, metamon_spec
from nashmon.observe.spec import Arrays
from nashmon.observe.tokenizer import BLANK, letters, move_word, tokenizer, type_word

_MOVES, _SWITCHES, _TEAM = 4, 5, 6
HAZARDS = frozenset(("spikes", "toxicspikes", "stealthrock", "stickyweb", "gmaxsteelsurge"))
_STAT_ORDER = tuple(STATS.index(name) for name in ("atk", "spa", "def", "spd", "spe", "hp"))
_BOOST_ORDER = tuple(
    BOOSTS.index(name) for name in ("atk", "spa", "def", "spd", "spe", "accuracy", "evasion")
)


class MetamonSpace:
    """One of metamon's observation spaces for a singles format."""

    carries_history = True  # one encoder per battle and seat, reset between battles

    def __init__(self, format: Format, name: str) -> None:
        if format.game_type != "singles":
            raise UnsupportedError(
                f"observation {name!r} is for singles; format {format.id!r} is {format.game_type}"
            )
        self.name = name
        self.format = format
        self.layout = LAYOUTS[name]
        self.tokenizer = tokenizer()
        self.spec = metamon_spec(name, self.tokenizer.spec)

    def allocate(self, batch: int) -> Arrays:
        """Zeroed arrays for `batch` seats."""
        return self.spec.allocate(batch)

    def encoder(self) -> MetamonEncoder:
        """A writer for the states of one player in one battle."""
        return MetamonEncoder(self)


@dataclass(slots=True)
class _History:
    """What the wider layouts remember of the foe since the battle began."""

    species: set[str]
    asleep: bool = False
    frozen: bool = False


class MetamonEncoder:
    """Writes states; remembers what the foe showed at earlier decisions of the battle."""

    def __init__(self, space: MetamonSpace) -> None:
        self._format = space.format
        self._layout: Layout = space.layout
        self._dex: Dex = space.format.dex
        self._tokenizer = space.tokenizer
        self._history = _History(set())

    def reset(self) -> None:
        """Forget the battle; call it before the first state of the next one."""
        self._history = _History(set())

    def write(self, state: UniversalState, out: Arrays, index: Any) -> None:
        """Write one decision at `out[name][index]`; decisions of a battle come in order."""
        words, numbers = self.observe(state)
        out["text_tokens"][index] = self._tokenizer.encode(words)
        out["numbers"][index] = numbers

    def words(self, state: UniversalState) -> list[str]:
        """The words at this decision (it counts as seen, like `write`)."""
        return self.observe(state)[0]

    def observe(self, state: UniversalState) -> tuple[list[str], list[float]]:
        """Words and numbers at this decision."""
        own, foe = state.own.active[0], state.foe.active[0]
        switches = _switches(state)
        self._see(foe)
        words = [
            f"<{state.format}>",
            "<forcedswitch>" if any(state.force_switch) else "<anychoice>",
        ]
        words += ["<player>", *self._active_words(own)]
        words += self._move_words(own)
        for switch in switches:
            words += ["<switch>", *self._switch_words(switch)]
        words += ["<opponent>", *self._active_words(foe)]
        if self._layout.foe_moves:
            words += _padded([move_word(m.id) for m in foe.moves] if foe else [], _MOVES)
        words += ["<conditions>", letters(state.weather or "noweather")]
        words += [_condition(side, state.turn) for side in (state.own, state.foe)]
        words += ["<player_prev>", _previous(own), "<opp_prev>", _previous(foe)]
        if self._layout.tera:
            words += _padded(sorted(self._history.species), _TEAM)
        if self._layout.preview:
            words += _padded(sorted(map(self._base_species, state.foe.preview)), _TEAM)
        return words, self._numbers(state, switches)

    def _see(self, foe: UniversalPokemon | None) -> None:
        if foe is not None:
            history = self._history
            history.species.add(self._base_species(foe.base_species))
            history.asleep |= foe.status == "slp" and not foe.fainted
            history.frozen |= foe.status == "frz" and not foe.fainted

    def _base_species(self, species: str) -> str:
        return self._dex.species[species].base_species

    def _active_words(self, p: UniversalPokemon | None) -> list[str]:
        tera = self._layout.tera
        if p is None:
            return [BLANK] * (7 + tera)
        types = sorted(_padded([type_word(name) for name in p.types[:2]], 2, "notype"))
        status = "fnt" if p.fainted else p.status or "nostatus"
        words = [p.species, *self._held(p), *types, _effect(p), status]
        return [*words, p.tera_type or "notype"] if tera else words

    def _switch_words(self, p: UniversalPokemon | None) -> list[str]:
        tera = self._layout.tera
        if p is None:
            return [BLANK] * (8 + tera)
        moves = _padded(sorted(move_word(move.id) for move in p.moves), _MOVES)
        words = [p.species, *self._held(p), "<moveset>", *moves]
        return [*words, p.tera_type or "notype"] if tera else words

    def _held(self, p: UniversalPokemon) -> tuple[str, str]:
        gen = self._format.gen
        item = "noitem" if gen == 1 or p.item == "" else p.item or "unknownitem"
        ability = "noability" if gen <= 2 or p.ability == "" else p.ability or "unknownability"
        return letters(item), letters(ability)

    def _move_words(self, p: UniversalPokemon | None) -> list[str]:
        facts = 1 if self._layout.foe_moves else 2
        words: list[str] = []
        for move in self._moves(p):
            if move is None:
                words += ["<move>", *[BLANK] * (1 + facts)]
            else:
                words += ["<move>", move_word(move.id)]
                words += [type_word(move.type), move.category][:facts]
        return words

    def _moves(self, p: UniversalPokemon | None) -> Sequence[Move | None]:
        moves = [self._dex.moves[move.id] for move in p.moves[:_MOVES]] if p else []
        return [*moves, *[None] * (_MOVES - len(moves))]

    def _numbers(
        self, state: UniversalState, switches: Sequence[UniversalPokemon | None]
    ) -> list[float]:
        own, foe = state.own.active[0], state.foe.active[0]
        numbers = [(6 - state.foe.num_fainted) / 6, *self._active_numbers(own)]
        for index, move in enumerate(self._moves(own)):
            if move is None or own is None:
                numbers += [PAD] * (4 if self._layout.tera else 3)
                continue
            accuracy = 1.0 if move.accuracy is None else move.accuracy / 100
            numbers += [move.power / 200, accuracy, move.priority / 5]
            if self._layout.tera:
                numbers.append(_pp_bucket(own.moves[index].pp, own.moves[index].max_pp))
        numbers += [PAD if p is None else p.hp_fraction for p in switches]
        numbers += self._active_numbers(foe)
        if self._layout.tera:
            history = self._history
            numbers += [history.asleep, history.frozen, state.can_gimmick[0] == "tera"]
        return numbers

    def _active_numbers(self, p: UniversalPokemon | None) -> list[float]:
        if p is None:
            return [PAD] * 15
        base = self._dex.species[p.species].base_stats
        numbers = [p.hp_fraction, p.level / 100]
        numbers += [base[k] / 255 for k in _STAT_ORDER]
        return numbers + [p.boosts[k] / 6 for k in _BOOST_ORDER]


def _padded(words: list[str], length: int, pad: str = BLANK) -> list[str]:
    return [*words[:length], *[pad] * (length - len(words))]


def _switches(state: UniversalState) -> list[UniversalPokemon | None]:
    """What switch actions name: the living bench (the fainted one during Revival Blessing)."""
    bench: Iterable[UniversalPokemon] = state.own.bench
    found = [p for p in bench if p.fainted == state.reviving][:_SWITCHES]
    return [*found, *[None] * (_SWITCHES - len(found))]


def _effect(p: UniversalPokemon) -> str:
    if not p.volatiles:
        return "noeffect"
    return letters(min(p.volatiles, key=lambda effect: (effect[1], effect[0]))[0])


def _condition(side: UniversalSide, turn: int) -> str:
    if not side.conditions:
        return "noconditions"
    values = ((n if word in HAZARDS else turn - n, word) for word, n in side.conditions)
    return letters(min(values, key=lambda pair: (-pair[0], pair[1]))[1])


def _previous(p: UniversalPokemon | None) -> str:
    return "nomove" if p is None or p.last_move is None else move_word(p.last_move)


def _pp_bucket(pp: int, max_pp: int) -> float:
    ratio = pp / max_pp if max_pp else 0.0
    return float((ratio >= 0.5) + (ratio >= 0.25) + (ratio > 0))
