"""Words of metamon's text observations ↔ tokens: built from the dex, frozen and hashed.

One vocabulary serves all formats.  As in metamon an unknown word is −1, so networks embed
token + 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256

from nashmon.core.dex import get_dex
from nashmon.core.formats import all_formats
from nashmon.core.state import STATUSES
from nashmon.observe.effects import effect_words
from nashmon.observe.spec import VocabSpec

VERSION = 1
UNKNOWN_TOKEN = -1
BLANK = "<blank>"
_MARKS = (
    *("<anychoice>", "<forcedswitch>", BLANK, "<conditions>", "<move>", "<moveset>"),
    *("<switch>", "<player>", "<opponent>", "<player_prev>", "<opp_prev>"),
)
_ABSENT = (
    *("noability", "noconditions", "noeffect", "noitem", "nomove", "nostatus", "notype"),
    *("noweather", "unknownability", "unknownitem"),
)
TYPELESS = "threequestionmarks"  # what metamon calls the type "???"
# The newest generation's tables also hold what older ones had, but for MissingNo. and the
# Pokéstar props; Champions adds its own.
_MODS = ("gen1", "gen5", "gen9", "champions")


@lru_cache(maxsize=65536)
def letters(word: str) -> str:
    """A word without its digits, as metamon writes items, abilities, effects and moves."""
    return "".join(character for character in word if not character.isdigit())


@lru_cache(maxsize=8192)
def move_word(move_id: str) -> str:
    """A move's word: no digits, one word for all kinds of Hidden Power, Return, Frustration."""
    for stem in ("hiddenpower", "return", "frustration"):
        if move_id.startswith(stem):
            return stem
    return "visegrip" if move_id == "vicegrip" else letters(move_id)


def type_word(type_id: str) -> str:
    """A type's word; "" and "???" are typeless."""
    return type_id if type_id.isalpha() else TYPELESS


@dataclass(frozen=True)
class Tokenizer:
    """A frozen vocabulary; position is the token."""

    words: tuple[str, ...]
    tokens: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", {word: k for k, word in enumerate(self.words)})

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, words: Iterable[str]) -> list[int]:
        """Tokens of words; −1 for those it does not know."""
        get = self.tokens.get
        return [get(word, UNKNOWN_TOKEN) for word in words]

    def decode(self, tokens: Iterable[int]) -> list[str]:
        """Words of tokens; "<unknown>" for −1."""
        return ["<unknown>" if k == UNKNOWN_TOKEN else self.words[k] for k in tokens]

    @property
    def hash(self) -> str:
        """Hash of the words in order."""
        return sha256("\n".join((str(VERSION), *self.words)).encode()).hexdigest()[:16]

    @property
    def spec(self) -> VocabSpec:
        """What an ObsSpec stores of the vocabulary."""
        return VocabSpec("text", len(self.words), self.hash)


@lru_cache(maxsize=1)
def tokenizer() -> Tokenizer:
    """The tokenizer of this version of the dex: marks, formats, then all words sorted."""
    formats = sorted(f"<{f.id}>" for f in all_formats() if f.game_type == "singles")
    words = {"physical", "special", "status", TYPELESS, "fnt", *_ABSENT, *STATUSES}
    for mod in _MODS:
        dex = get_dex(mod)
        words.update(dex.species)
        words.update(type_word(name) for name in dex.types)
        words.update(type_word(name) for row in dex.species.values() for name in row.types)
        words.update(move_word(name) for name in dex.moves)
        words.update(letters(name) for name in (*dex.items, *dex.abilities))
    for kind in ("volatiles", "conditions", "weathers"):
        words.update(letters(word) for word in effect_words(kind))
    return Tokenizer((*_MARKS, *formats, *sorted(words)))
