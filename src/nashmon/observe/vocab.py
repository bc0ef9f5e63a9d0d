"""Words ↔ ids, frozen and hashed: 0 is empty or padding, 1 is unknown, then the dex in id order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256

from nashmon.core.dex import get_dex
from nashmon.core.errors import NashmonError
from nashmon.core.state import STATUSES
from nashmon.observe.effects import KINDS, effect_words
from nashmon.observe.spec import VocabSpec

VERSION = 1
EMPTY, UNKNOWN = 0, 1
_RESERVED = ("<empty>", "<unknown>")


class UnknownWordError(NashmonError):
    """A word the vocabulary was not built with."""


@dataclass(frozen=True)
class Vocabulary:
    """One frozen table of words; `ids` maps a word to its id."""

    name: str
    words: tuple[str, ...]  # position is the id
    ids: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ids = {word: index for index, word in enumerate(self.words)}
        if len(ids) != len(self.words):
            raise ValueError(f"vocabulary {self.name!r} has a word twice")
        object.__setattr__(self, "ids", ids)

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, word: str) -> int:
        """Id of a word; a word that is not in the table is an error, never 0."""
        try:
            return self.ids[word]
        except KeyError:
            message = f"{word!r} is not in the vocabulary {self.name!r} ({len(self)} words)"
            raise UnknownWordError(message) from None

    @property
    def hash(self) -> str:
        """Hash of the words in order."""
        return sha256("\n".join((self.name, str(VERSION), *self.words)).encode()).hexdigest()[:16]

    @property
    def spec(self) -> VocabSpec:
        """What an ObsSpec stores of this table."""
        return VocabSpec(self.name, len(self.words), self.hash)


class _Ids(dict[str, int]):
    """Word → id for hot loops; a word outside the table is not silent."""

    def __init__(self, vocab: Vocabulary, strict: bool, offset: int) -> None:
        super().__init__({word: index + offset for word, index in vocab.ids.items()})
        self._vocab = vocab
        self._unknown = None if strict else UNKNOWN + offset

    def __missing__(self, word: str) -> int:
        return self._vocab[word] if self._unknown is None else self._unknown


def lookup(
    vocab: Vocabulary, strict: bool = True, offset: int = 0, empty: tuple[str, ...] = ()
) -> dict[str, int]:
    """A dictionary word → id + offset; words of `empty` are 0, unknown ones raise or are 1."""
    ids = _Ids(vocab, strict, offset)
    ids.update(dict.fromkeys(empty, EMPTY + offset))
    return ids


def _table(name: str, words: Iterable[str]) -> Vocabulary:
    return Vocabulary(name, (*_RESERVED, *words))


@lru_cache(maxsize=32)
def vocabularies(mod: str) -> dict[str, Vocabulary]:
    """All tables of one mod of the simulator ("gen1", "gen9", "champions" …), by name."""
    dex = get_dex(mod)
    tables = {
        "species": sorted(dex.species),
        "moves": sorted(dex.moves),
        "items": sorted(dex.items) if dex.gen >= 2 else [],
        "abilities": sorted(dex.abilities) if dex.gen >= 3 else [],
        # MissingNo.'s type is in no table of types.
        "types": sorted({*dex.types, *(t for row in dex.species.values() for t in row.types)}),
        "statuses": STATUSES,
    }
    for kind in KINDS:
        tables[kind] = effect_words(kind, dex.gen)
    return {name: _table(name, words) for name, words in tables.items()}
