from __future__ import annotations

import pytest

from nashmon.core.dex import get_dex
from nashmon.observe.vocab import EMPTY, UNKNOWN, UnknownWordError, lookup, vocabularies


def test_every_dex_word_has_one_id_after_empty_and_unknown() -> None:
    for gen in (1, 4, 9):
        tables, dex = vocabularies(f"gen{gen}"), get_dex(gen)
        for name, words in (("species", dex.species), ("moves", dex.moves)):
            ids = sorted(tables[name][word] for word in words)
            assert ids == list(range(2, 2 + len(words)))
        assert set(dex.types) <= set(tables["types"].words)


def test_a_word_outside_the_table_is_never_silently_empty() -> None:
    species = vocabularies("gen1")["species"]
    with pytest.raises(UnknownWordError, match="'lugia' is not in the vocabulary 'species'"):
        species["lugia"]
    with pytest.raises(UnknownWordError, match="lugia"):
        lookup(species, strict=True)["lugia"]
    assert lookup(species, strict=False)["lugia"] == UNKNOWN
    with pytest.raises(UnknownWordError, match="'' is not in"):
        lookup(species)[""]
    assert lookup(species, empty=("",))[""] == EMPTY


def test_hashes_tell_tables_apart_and_are_stable() -> None:
    hashes = {vocabularies(f"gen{gen}")["moves"].hash for gen in (1, 2, 9)}
    assert len(hashes) == 3
    again = vocabularies.__wrapped__("gen1")["moves"]
    assert again.hash == vocabularies("gen1")["moves"].hash


def test_ids_fit_sixteen_bits() -> None:
    for mod in ("gen9", "champions"):
        assert max(len(table) for table in vocabularies(mod).values()) < 2**15
