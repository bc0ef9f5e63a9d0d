"""The positions of metamon's four observation spaces."""

from __future__ import annotations

from dataclasses import dataclass

from nashmon.observe.spec import ArraySpec, Column, ObsSpec, VocabSpec

VERSION = 1
PAD = -2.0  # number of a move or switch that is not there


@dataclass(frozen=True, slots=True)
class Layout:
    """How a space differs from metamon's default one."""

    tera: bool = False  # tera types, PP, revealed species, sleep and freeze flags
    preview: bool = False  # the foe's species from team preview
    foe_moves: bool = False  # the foe's revealed moves in place of our moves' categories


LAYOUTS = {
    "metamon-default": Layout(),
    "metamon-expanded": Layout(tera=True),
    "metamon-teampreview": Layout(tera=True, preview=True),
    "metamon-opponentmove": Layout(tera=True, preview=True, foe_moves=True),
}

_STATS = ("atk", "spa", "def", "spd", "spe", "hp")
_BOOSTS = ("atk", "spa", "def", "spd", "spe", "accuracy", "evasion")


def _text_names(layout: Layout) -> list[str]:
    tera = ["tera_type"] if layout.tera else []
    active = ["mark", "species", "item", "ability", "type_0", "type_1", "effect", "status", *tera]
    move = ["mark", "name", "type", *([] if layout.foe_moves else ["category"])]
    switch = ["mark", "species", "item", "ability", "moves_mark"]
    switch += [f"move_{k}" for k in range(4)] + tera
    foe = active + ([f"move_{k}" for k in range(4)] if layout.foe_moves else [])
    names = ["format", "choice"]
    names += [f"own_{name}" for name in active]
    names += [f"move_{k}_{name}" for k in range(4) for name in move]
    names += [f"switch_{k}_{name}" for k in range(5) for name in switch]
    names += [f"foe_{name}" for name in foe]
    names += ["conditions_mark", "weather", "own_condition", "foe_condition"]
    names += ["own_previous_mark", "own_previous", "foe_previous_mark", "foe_previous"]
    if layout.tera:
        names += [f"foe_revealed_{k}" for k in range(6)]
    if layout.preview:
        names += [f"foe_preview_{k}" for k in range(6)]
    return names


def _active_numbers(side: str) -> list[Column]:
    columns = [
        Column(f"{side}_hp_fraction", "hp_fraction", PAD, 1),
        Column(f"{side}_level", "level / 100", PAD, 1),
    ]
    columns += [Column(f"{side}_base_{s}", f"base {s} / 255", PAD, 1) for s in _STATS]
    return columns + [Column(f"{side}_boost_{b}", f"boost of {b} / 6", PAD, 1) for b in _BOOSTS]


def _number_columns(layout: Layout) -> list[Column]:
    columns = [Column("foes_remaining", "(6 − foe.num_fainted) / 6", 0, 1)]
    columns += _active_numbers("own")
    for k in range(4):
        columns += [
            Column(f"move_{k}_power", "power / 200", PAD, 2),
            Column(f"move_{k}_accuracy", "accuracy, 1 when it never misses", PAD, 1),
            Column(f"move_{k}_priority", "priority / 5", PAD, 2),
        ]
        if layout.tera:
            doc = "[ratio ≥ 1/2] + [ratio ≥ 1/4] + [ratio > 0] of pp / max_pp"
            columns.append(Column(f"move_{k}_pp", doc, PAD, 3))
    columns += [Column(f"switch_{k}_hp_fraction", "hp_fraction", PAD, 1) for k in range(5)]
    columns += _active_numbers("foe")
    if layout.tera:
        columns += [
            Column("foe_ever_asleep", "1 if an active foe slept at a decision so far", 0, 1),
            Column("foe_ever_frozen", "1 if an active foe was frozen at a decision so far", 0, 1),
            Column("can_tera", "1 if can_gimmick[0] is tera", 0, 1),
        ]
    return columns


def metamon_spec(name: str, vocab: VocabSpec) -> ObsSpec:
    """The spec of one of the four spaces."""
    layout = LAYOUTS[name]
    text = tuple(
        Column(column, "token of the word, −1 when unknown", -1, vocab.size - 1, vocab.name)
        for column in _text_names(layout)
    )
    arrays = (
        ArraySpec("text_tokens", "int32", text),
        ArraySpec("numbers", "float32", tuple(_number_columns(layout))),
    )
    return ObsSpec(name, VERSION, "singles", arrays, (vocab,))
