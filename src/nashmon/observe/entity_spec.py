"""The columns of the entity observation as a function of the generation and the game type.

Every scale is a power of two where the fact is an integer, so that a kernel reaches the same
float32 in any order of evaluation; quotients are formed in double precision and rounded once.
A column that cannot vary in a generation does not exist there.
"""

from __future__ import annotations

from dataclasses import dataclass

from nashmon.core.state import BOOSTS, GameType
from nashmon.observe.spec import ArraySpec, Column, ObsSpec
from nashmon.observe.vocab import Vocabulary

VERSION = 1
TEAM = 6
MOVES = 4
PHASES = ("preview", "move", "switch", "wait", "end")
NUMBER_CAP = 2.0  # columns divided by a scale that rare values exceed are cut off here
EFFECT_DOC = "0 when absent, else 0.5 + min(count, 8) / 16"


@dataclass(frozen=True, slots=True)
class Features:
    """What a generation and game type have, hence which columns exist."""

    gen: int
    game_type: GameType

    @property
    def slots(self) -> int:
        """Active slots per side."""
        return 1 if self.game_type == "singles" else 2

    @property
    def num_types(self) -> int:
        """Types one Pokémon can have at once (a third is added since generation 6)."""
        return 3 if self.gen >= 6 else 2

    @property
    def stats(self) -> tuple[int, ...]:
        """Positions in `UniversalPokemon.stats`; in generation 1 spd always equals spa."""
        return (0, 1, 2, 4) if self.gen == 1 else (0, 1, 2, 3, 4)

    @property
    def has_gender(self) -> bool:
        """Whether gender exists."""
        return self.gen >= 2

    @property
    def has_items(self) -> bool:
        """Whether held items exist."""
        return self.gen >= 2

    @property
    def has_protect(self) -> bool:
        """Whether Protect and its kin exist."""
        return self.gen >= 2

    @property
    def has_abilities(self) -> bool:
        """Whether abilities exist (and with them doubt about being trapped)."""
        return self.gen >= 3

    @property
    def has_dynamax(self) -> bool:
        """Whether Dynamax exists."""
        return self.gen >= 8

    @property
    def has_tera(self) -> bool:
        """Whether Terastallization, Commander and Revival Blessing exist."""
        return self.gen >= 9


_STAT_NAMES = ("atk", "def", "spa", "spd", "spe")


def id_columns(f: Features) -> list[Column]:
    """Columns of `pokemon_ids`, one vocabulary id each: first what changes often."""
    moves = "moves[{k}].id; without it 0 when stats are known, else 1 (not revealed)"
    ids = [("status", "statuses", "status; 0 when healthy")]
    ids += [(f"move_{k}", "moves", moves.format(k=k)) for k in range(MOVES)]
    ids += [
        ("last_move", "moves", "last_move; 0 when none"),
        ("preparing", "moves", "preparing; 0 when none"),
        ("species", "species", "species"),
        ("base_species", "species", "base_species"),
    ]
    ids += [(f"type_{k}", "types", f"types[{k}]; 0 when it has fewer") for k in range(f.num_types)]
    if f.has_items:
        ids.append(("item", "items", "item; None is 1, '' is 0"))
    if f.has_abilities:
        ids.append(("ability", "abilities", "ability; None is 1, '' is 0"))
    if f.has_tera:
        ids.append(("tera_type", "types", "tera_type; None is 1"))
    return [Column(name, f"id of {doc}", 0, 32767, vocab) for name, vocab, doc in ids]


def number_columns(f: Features) -> list[Column]:
    """Columns of `pokemon_numbers`: first what changes often."""
    columns = [
        Column("hp_fraction", "hp_fraction", 0, 1),
        Column("fainted", "1 if fainted", 0, 1),
        Column("active", "1 if active", 0, 1),
        Column("status_turns", "min(status_turns, 16) / 16", 0, 1),
    ]
    for k in range(MOVES):
        columns.append(Column(f"pp_{k}", f"min(pp / max_pp, 1) of moves[{k}]; 0 if none", 0, 1))
    for k in range(MOVES):
        columns.append(Column(f"disabled_{k}", f"1 if moves[{k}].disabled", 0, 1))
    columns += [
        Column("present", "1: there is a Pokémon in this row", 0, 1),
        Column("revealed", "1 if revealed", 0, 1),
        Column("known", "1 if stats are known (own side)", 0, 1),
        Column("selected", "1 if selected, −1 if not selected, 0 if None", -1, 1),
        Column("level", "level / 128", 0, 1),
        Column("max_hp", "min(max_hp / 1024, 2); 0 if None", 0, NUMBER_CAP),
    ]
    for k in f.stats:
        doc = f"min(stats[{k}] / 1024, 2); 0 if stats is None"
        columns.append(Column(f"stat_{_STAT_NAMES[k]}", doc, 0, NUMBER_CAP))
    for name in ("hp", *(_STAT_NAMES[k] for k in f.stats)):
        columns.append(Column(f"base_{name}", f"the dex's base {name} of species / 256", 0, 1))
    if f.has_gender:
        columns += [Column(f"gender_{g}", f"1 if gender is {g}", 0, 1) for g in "MFN"]
    if f.has_tera:
        columns.append(Column("terastallized", "1 if terastallized", 0, 1))
    return columns


def active_columns(f: Features, volatiles: Vocabulary) -> list[Column]:
    """Columns of `active_numbers`."""
    columns = [Column("occupied", "1: a Pokémon is in this slot", 0, 1)]
    columns += [Column(f"boost_{name}", f"boosts[{k}] / 8", -1, 1) for k, name in enumerate(BOOSTS)]
    columns += [
        Column("must_recharge", "1 if must_recharge", 0, 1),
        Column("transformed", "1 if transformed", 0, 1),
        Column("first_turn", "1 if first_turn", 0, 1),
    ]
    if f.has_protect:
        columns.append(Column("protect_count", "min(protect_count, 4) / 4", 0, 1))
    if f.has_tera:
        columns.append(Column("commanding", "1 if commanding", 0, 1))
    return columns + effect_columns("volatile", volatiles)


def effect_columns(prefix: str, vocab: Vocabulary, doc: str = EFFECT_DOC) -> list[Column]:
    """One column per word; the first stands for words outside a vocabulary that is not strict."""
    return [Column(f"{prefix}_{word}", doc, 0, 1) for word in vocab.words[1:]]


def dense_field_columns(f: Features) -> list[Column]:
    """The first columns of `field`: those the encoder always writes, in its order."""
    columns = [
        Column("turn_short", "min(turn, 32) / 32", 0, 1),
        Column("turn", "min(turn, 1024) / 1024", 0, 1),
    ]
    names = ["force_switch", "trapped", *(["maybe_trapped"] if f.has_abilities else [])]
    for name in names:
        for slot in range(f.slots):
            columns.append(Column(f"{name}_{slot}", f"1 if {name}[{slot}]", 0, 1))
    for side in ("own", "foe"):
        columns += [
            Column(f"{side}_team_size", f"min({side}.team_size, 8) / 8", 0, 1),
            Column(f"{side}_num_fainted", f"min({side}.num_fainted, 8) / 8", 0, 1),
        ]
    if f.has_dynamax:
        for side in ("own", "foe"):
            doc = f"0 if {side}.dynamax_turns is None, else (1 + min(dynamax_turns, 3)) / 4"
            columns.append(Column(f"{side}_dynamax_turns", doc, 0, 1))
    if f.has_tera:
        columns.append(Column("reviving", "1 if reviving", 0, 1))
    return columns


def field_columns(f: Features, tables: dict[str, Vocabulary]) -> list[Column]:
    """Columns of `field`: the dense ones, then one per word that may be present."""
    columns = dense_field_columns(f)
    columns += [Column(f"phase_{name}", f"1 if phase is {name}", 0, 1) for name in PHASES]
    groups = [("weather", "weathers", "0 when absent, else 0.5 + min(weather_turns, 8) / 16")]
    groups.append(("field", "fields", EFFECT_DOC))
    groups += [(f"{side}_condition", "conditions", EFFECT_DOC) for side in ("own", "foe")]
    for side in ("own", "foe"):
        for k in range(f.slots):
            doc = f"1 if in {side}.slot_conditions[{k}]"
            groups.append((f"{side}_slot_{k}", "slot_conditions", doc))
    groups += [(f"can_{k}", "gimmicks", f"1 if it is can_gimmick[{k}]") for k in range(f.slots)]
    for side in ("own", "foe"):
        groups.append((f"{side}_used", "gimmicks", f"1 if in {side}.gimmicks_used"))
    for prefix, table, doc in groups:
        if len(tables[table]) > 2:  # the generation has such words
            columns += effect_columns(prefix, tables[table], doc)
    return columns


def entity_spec(f: Features, scope: str, tables: dict[str, Vocabulary]) -> ObsSpec:
    """The spec of the entity observation."""
    rows = tuple(f"{side}_{k}" for side in ("own", "foe") for k in range(TEAM))
    slots = tuple(f"{side}_slot_{k}" for side in ("own", "foe") for k in range(f.slots))
    ids = tuple(
        Column(c.name, c.doc, 0, len(tables[c.vocab]) - 1, c.vocab)
        for c in id_columns(f)
        if c.vocab is not None
    )
    arrays = (
        ArraySpec("pokemon_ids", "int16", ids, rows),
        ArraySpec("pokemon_numbers", "float32", tuple(number_columns(f)), rows),
        ArraySpec(
            "active_numbers", "float32", tuple(active_columns(f, tables["volatiles"])), slots
        ),
        ArraySpec("field", "float32", tuple(field_columns(f, tables))),
    )
    # Only tables that give a column its meaning: an ability list has no place in generation 1.
    used = {c.vocab for c in ids} | {"volatiles", "conditions", "slot_conditions"}
    used |= {"fields", "weathers", "gimmicks"}
    vocab_specs = tuple(
        table.spec for name, table in tables.items() if name in used and len(table) > 2
    )
    return ObsSpec("entity", VERSION, scope, arrays, vocab_specs)
