"""The entity observation of a seat, written straight into arrays; equal to `observe.entity`'s.

The columns are those of the entity spec of Gen 1 singles; `check_columns` refuses any other order.
"""

from __future__ import annotations

import numpy as np

from nashmon.core.errors import UnsupportedError
from nashmon.core.formats import get_format
from nashmon.observe.entity import EntitySpace
from nashmon.observe.spec import ObsSpec
from nashmon.observe.vocab import UNKNOWN, vocabularies
from nashmon.sim.gen1 import events as ev
from nashmon.sim.gen1 import knowledge as kn
from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1 import tables as tb
from nashmon.sim.gen1.effects import locked
from nashmon.sim.gen1.jit import helper, kernel

_VOCAB = vocabularies("gen1")


def _ids(table: str, words: list[str]) -> np.ndarray:
    known = _VOCAB[table].ids
    return np.array([known.get(word, 0) for word in words], np.int16)


_MOVE_ID = _ids("moves", tb.MOVE_IDS)
_SPECIES_ID = _ids("species", tb.SPECIES_IDS)
_TYPE_ID = _ids("types", tb.TYPE_IDS)
_STATUS_ID = _ids("statuses", ["", *_VOCAB["statuses"].words[2:]])
_ALPHA = tb.MOVE_TABLE[:, tb.ALPHA].copy()
_BASE = np.zeros((len(tb.SPECIES_IDS), 5), np.float32)
for _num, _species in enumerate(tb.SPECIES, start=1):
    _hp, _atk, _def, _spa, _, _spe = _species.base_stats
    _BASE[_num] = [value / 256 for value in (_hp, _atk, _def, _spa, _spe)]

# Columns of `pokemon_ids`.
_I_STATUS, _I_MOVE, _I_LAST, _I_PREPARING, _I_SPECIES, _I_BASE, _I_TYPE = 0, 1, 5, 6, 7, 8, 9
# Columns of `pokemon_numbers`.
_N_HP, _N_FAINTED, _N_ACTIVE, _N_TURNS, _N_PP, _N_DISABLED, _N_PRESENT = 0, 1, 2, 3, 4, 8, 12
_N_REVEALED, _N_KNOWN, _N_SELECTED, _N_LEVEL, _N_MAX_HP, _N_STAT, _N_BASE = (
    13,
    14,
    15,
    16,
    17,
    18,
    22,
)
# Columns of `active_numbers`; effects by their number in `events`.
_A_BOOST, _A_RECHARGE, _A_TRANSFORMED, _A_FIRST = 1, 8, 9, 10
_EFFECT_NAMES = {
    ev.F_CONFUSION: "confusion",
    ev.F_SUBSTITUTE: "substitute",
    ev.F_BIDE: "bide",
    ev.F_DISABLE: "disable",
    ev.F_SEED: "leechseed",
    ev.F_MIST: "mist",
    ev.F_FOCUS: "focusenergy",
    ev.F_LIGHT_SCREEN: "lightscreen",
    ev.F_REFLECT: "reflect",
}
EFFECTS = tuple(_EFFECT_NAMES[effect] for effect in range(kn.NUM_BEGUN))
_SPEC = EntitySpace(get_format("gen1ou")).spec
_A_EFFECT = np.array([_SPEC["active_numbers"].column(f"volatile_{name}") for name in EFFECTS])
_ID_COLUMNS, _NUMBER_COLUMNS, _ACTIVE_COLUMNS = (
    len(_SPEC[name].columns) for name in ("pokemon_ids", "pokemon_numbers", "active_numbers")
)
ID_BLOCK, NUMBER_BLOCK = 2 * at.TEAM * _ID_COLUMNS, 2 * at.TEAM * _NUMBER_COLUMNS
ACTIVE_BLOCK, FIELD_BLOCK = 2 * _ACTIVE_COLUMNS, len(_SPEC["field"].columns)
_TYPES = tb.SPECIES_TABLE
# Columns of `field`.
_F_TURN, _F_FORCED, _F_TRAPPED, _F_OWN, _F_FOE, _F_PHASE, _F_MOVE = 0, 2, 3, 4, 6, 8, 9
_F_SWITCH = 10

_EXPECTED = {
    "pokemon_ids": "status move_0 move_1 move_2 move_3 last_move preparing species base_species "
    "type_0 type_1",
    "pokemon_numbers": "hp_fraction fainted active status_turns pp_0 pp_1 pp_2 pp_3 disabled_0 "
    "disabled_1 disabled_2 disabled_3 present revealed known selected level max_hp stat_atk "
    "stat_def stat_spa stat_spe base_hp base_atk base_def base_spa base_spe",
    "active_numbers": "occupied boost_atk boost_def boost_spa boost_spd boost_spe boost_accuracy "
    "boost_evasion must_recharge transformed first_turn",
    "field": "turn_short turn force_switch_0 trapped_0 own_team_size own_num_fainted "
    "foe_team_size foe_num_fainted phase_preview phase_move phase_switch phase_wait phase_end",
}


def check_columns(spec: ObsSpec) -> None:
    """Refuse an observation whose columns these kernels do not write."""
    for name, expected in _EXPECTED.items():
        names = [column.name for column in spec[name].columns]
        wanted = expected.split()
        if names[: len(wanted)] != wanted:
            raise UnsupportedError(
                f"the Gen 1 engine writes {name} as {', '.join(wanted)}; the spec has "
                f"{', '.join(names)}"
            )


# Places in the scratch numbers of a call: moves, PP, full PP, whether shut; the order of a bench.
_PP, _FULL, _SHUT, ORDER, SCRATCH = 8, 16, 24, 32, 40


@kernel
def _sort_moves(w, count):
    """By name; equal ones keep their order."""
    for i in range(1, count):
        j = i
        while j > 0 and _ALPHA[w[j - 1]] > _ALPHA[w[j]]:
            for c in range(0, ORDER, 8):
                w[c + j - 1], w[c + j] = w[c + j], w[c + j - 1]
            j -= 1


@kernel
def _open_moves(s, p, w, count):
    """Mark what the request of seat p does not offer."""
    side = p * at.SIDE
    if s[at.REQUEST + p] != at.MOVE:
        return
    only = forced_move(s, p)
    listed = kn.shows_moves(s, p)
    for j in range(count):
        offered = w[j] == only
        if listed:
            for slot in range(s[side + at.SLOTS]):
                usable = s[side + at.PP + slot] > 0 and (s[side + at.DISABLED] >> slot) & 1 == 0
                if s[side + at.MOVES + slot] == w[j] and usable:
                    offered = True
        w[_SHUT + j] = 0 if offered else 1


@kernel
def forced_move(s, p):
    """The one move a request offers by name, 0 when it lists several or none of them."""
    side = p * at.SIDE
    if locked(s, p):
        if s[side + at.RECHARGE] > 0:
            return 0
        if s[side + at.LOCK_MOVE] > 0:
            return s[side + at.LOCK_MOVE]
        if s[side + at.CHARGE_MOVE] > 0:
            return s[side + at.CHARGE_MOVE]
        return tb.RAGE
    if s[side + at.MAYBE_LOCKED] > 0:
        return 0
    if s[side + at.BIDE_TURNS] > 0:
        return tb.BIDE
    return s[side + at.HOLD_MOVE] if s[side + at.HOLD] > 0 else 0


@helper
def _put_move(k, w, count, entry, shut):
    w[count], w[_PP + count], w[_FULL + count] = k[entry], k[entry + 1], k[entry + 2]
    w[_SHUT + count] = shut


@helper
def _gather(s, k, viewer, side, index, w):
    """The moves of a Pokémon as a viewer knows them; returns how many."""
    book = kn.book_of(viewer, side)
    on_field = s[side * at.SIDE + at.ACTIVE] == index
    count = 0
    if on_field and viewer == side:
        for slot in range(s[side * at.SIDE + at.SLOTS]):
            entry = kn.find_own(k, book, slot, s[side * at.SIDE + at.MOVES + slot])
            _put_move(k, w, count, entry, 0)
            count += 1
        _open_moves(s, side, w, count)
    elif on_field:
        barred = k[kn.news_of(side) + kn.DISABLED_MOVE]
        for j in range(kn.MAX_NOW):
            entry = book + kn.NOW + j * kn.NOW_ENTRY
            if k[entry] > 0 and count < at.NUM_MOVES:
                _put_move(k, w, count, entry, 1 if k[entry] == barred else 0)
                count += 1
    else:
        for j in range(at.NUM_MOVES):
            entry = book + kn.LEARNED + index * kn.PAGE + j * kn.ENTRY
            if k[entry] > 0:
                _put_move(k, w, count, entry, 0)
                count += 1
    return count


@kernel
def gather_moves(s, k, viewer, side, index, w):
    """The moves of a Pokémon as a viewer knows them, sorted by name; returns how many."""
    count = _gather(s, k, viewer, side, index, w)
    _sort_moves(w, count)
    return count


@helper
def shown_percent(hp, max_hp):
    """HP as the foe sees it."""
    shown = (100 * hp + max_hp - 1) // max_hp
    return 99 if shown == 100 and hp < max_hp else shown


@helper
def _place(w, j, count):
    """The place of a gathered move among them sorted by name; equal ones keep their order."""
    place = 0
    for other in range(count):
        ahead = _ALPHA[w[other]] - _ALPHA[w[j]]
        place += ahead < 0 or (ahead == 0 and other < j)
    return place


@helper
def _write_moves(s, k, viewer, side, index, ids, i, numbers, n, w):
    count = _gather(s, k, viewer, side, index, w)
    for j in range(count):
        place = _place(w, j, count)
        full = w[_FULL + j]
        ids[i + _I_MOVE + place] = _MOVE_ID[w[j]]
        numbers[n + _N_PP + place] = min(w[_PP + j] / full, 1.0) if full > 0 else 0.0
        numbers[n + _N_DISABLED + place] = w[_SHUT + j]
    for j in range(count, at.NUM_MOVES):
        ids[i + _I_MOVE + j] = 0 if viewer == side else UNKNOWN
        numbers[n + _N_PP + j] = 0.0
        numbers[n + _N_DISABLED + j] = 0.0


@helper
def _write_lasting(s, viewer, side, index, numbers, n):
    """What a row keeps as long as it shows the same Pokémon, on the field or not."""
    one = side * at.SIDE + at.PARTY + index * at.MON
    own = viewer == side
    numbers[n + _N_ACTIVE] = 1.0 if s[side * at.SIDE + at.ACTIVE] == index else 0.0
    numbers[n + _N_PRESENT] = 1.0
    numbers[n + _N_REVEALED] = s[one + at.M_SEEN]
    numbers[n + _N_KNOWN] = 1.0 if own else 0.0
    numbers[n + _N_SELECTED] = 1.0
    numbers[n + _N_LEVEL] = s[one + at.M_LEVEL] / 128
    numbers[n + _N_MAX_HP] = s[one + at.M_MAX_HP] / 1024 if own else 0.0
    numbers[n + _N_STAT] = s[one + at.M_STATS] / 1024 if own else 0.0
    numbers[n + _N_STAT + 1] = s[one + at.M_STATS + 1] / 1024 if own else 0.0
    numbers[n + _N_STAT + 2] = s[one + at.M_STATS + 2] / 1024 if own else 0.0
    numbers[n + _N_STAT + 3] = s[one + at.M_STATS + 4] / 1024 if own else 0.0


@kernel
def _write_passing(s, k, viewer, side, index, ids, numbers, row, w):
    """What a turn may change of the Pokémon on the field."""
    i, n = row * _ID_COLUMNS, row * _NUMBER_COLUMNS
    base = side * at.SIDE
    one = base + at.PARTY + index * at.MON
    news = kn.news_of(side)
    hp, max_hp = int(s[one + at.M_HP]), int(s[one + at.M_MAX_HP])
    species = s[one + at.M_SPECIES]
    _write_moves(s, k, viewer, side, index, ids, i, numbers, n, w)
    ids[i + _I_STATUS] = _STATUS_ID[s[one + at.M_STATUS]]
    ids[i + _I_BASE] = _SPECIES_ID[species]
    if s[base + at.ACTIVE] == index:
        species = k[news + kn.FORME]
        ids[i + _I_LAST] = _MOVE_ID[k[news + kn.LAST_MOVE]]
        ids[i + _I_PREPARING] = _MOVE_ID[k[news + kn.PREPARING]]
        ids[i + _I_TYPE] = _TYPE_ID[s[base + at.TYPES]]
        ids[i + _I_TYPE + 1] = _TYPE_ID[s[base + at.TYPES + 1]]
    else:
        ids[i + _I_LAST] = ids[i + _I_PREPARING] = 0
        ids[i + _I_TYPE] = _TYPE_ID[_TYPES[species, 0]]
        ids[i + _I_TYPE + 1] = _TYPE_ID[_TYPES[species, 1]]
    ids[i + _I_SPECIES] = _SPECIES_ID[species]
    numbers[n + _N_HP] = hp / max_hp if viewer == side else shown_percent(hp, max_hp) / 100
    numbers[n + _N_FAINTED] = 1.0 if hp == 0 else 0.0
    numbers[n + _N_TURNS] = min(k[news + kn.STATUS_TURNS + index], 16) / 16
    for j in range(5):
        numbers[n + _N_BASE + j] = _BASE[species, j]


@kernel
def _write_active(s, k, side, out, o):
    base = side * at.SIDE
    news = kn.news_of(side)
    for j in range(_ACTIVE_COLUMNS):
        out[o + j] = 0.0
    out[o] = 1.0
    for j in range(7):
        out[o + _A_BOOST + j] = s[base + at.BOOSTS + j] / 8
    out[o + _A_RECHARGE] = k[news + kn.RECHARGING]
    out[o + _A_TRANSFORMED] = k[news + kn.COPIED]
    fainted = s[base + at.PARTY + s[base + at.ACTIVE] * at.MON + at.M_HP] == 0
    out[o + _A_FIRST] = 1.0 if k[news + kn.ACTED] == 0 and not fainted else 0.0
    for j in range(kn.NUM_BEGUN):
        begun = k[news + kn.BEGUN + j]
        if begun > 0:
            out[o + _A_EFFECT[j]] = 0.5 + min(k[kn.TURN] + 1 - begun, 8) / 16


@kernel
def bench_order(s, viewer, side, w):
    """The bench as a viewer sees it, living first, then by rank; returns how many."""
    base = side * at.SIDE
    count = 0
    for index in range(s[base + at.TEAM_SIZE]):
        one = base + at.PARTY + index * at.MON
        if index == s[base + at.ACTIVE] or (viewer != side and s[one + at.M_SEEN] == 0):
            continue
        key = s[one + at.M_FAINTED] * at.TEAM + s[one + at.M_RANK]
        j = ORDER + count
        while j > ORDER:
            other = base + at.PARTY + w[j - 1] * at.MON
            if s[other + at.M_FAINTED] * at.TEAM + s[other + at.M_RANK] < key:
                break
            w[j] = w[j - 1]
            j -= 1
        w[j] = index
        count += 1
    return count


@kernel
def _write_team(s, k, p, which, ids, numbers, w):
    """Six rows of one side after somebody came in: those that now show another or a stale one."""
    side = p if which == 0 else 1 - p
    first = which * at.TEAM
    shown = kn.SHOWN + (2 * p + which) * at.TEAM
    stale = k[kn.STALE + 2 * p + side]
    if k[shown] >= 0:
        stale |= 1 << k[shown]  # it was on the field when it was last shown
    count = bench_order(s, p, side, w)
    for j in range(at.TEAM):
        row = first + j
        if j > count:
            if k[shown + j] != kn.EMPTY:
                for c in range(_ID_COLUMNS):
                    ids[row * _ID_COLUMNS + c] = 0
                for c in range(_NUMBER_COLUMNS):
                    numbers[row * _NUMBER_COLUMNS + c] = 0.0
                k[shown + j] = kn.EMPTY
            continue
        index = s[side * at.SIDE + at.ACTIVE] if j == 0 else w[ORDER + j - 1]
        if k[shown + j] != index or (stale >> index) & 1:
            _write_lasting(s, p, side, index, numbers, row * _NUMBER_COLUMNS)
            _write_passing(s, k, p, side, index, ids, numbers, row, w)
            k[shown + j] = index
    k[kn.STALE + 2 * p + side] = 0


@kernel
def write_entity(s, k, p, ids, numbers, actives, field, w):
    """Seat p's observation over its previous one, of which only what has changed is written.

    `w` are SCRATCH numbers to work with.  After `forget_shown` everything is written.
    """
    for which in range(2):
        side = p if which == 0 else 1 - p
        if k[kn.STALE + 2 * p + side] != 0:
            _write_team(s, k, p, which, ids, numbers, w)
        else:
            active, row = s[side * at.SIDE + at.ACTIVE], which * at.TEAM
            _write_passing(s, k, p, side, active, ids, numbers, row, w)
        _write_active(s, k, side, actives, which * _ACTIVE_COLUMNS)
        place = _F_OWN if which == 0 else _F_FOE
        size = s[side * at.SIDE + at.TEAM_SIZE]
        field[place] = size / 8
        field[place + 1] = (size - s[side * at.SIDE + at.LEFT]) / 8
    for j in range(_F_PHASE, FIELD_BLOCK):
        field[j] = 0.0
    turn = s[at.TURN]
    field[_F_TURN] = min(turn, 32) / 32
    field[_F_TURN + 1] = min(turn, 1024) / 1024
    switching = s[at.REQUEST + p] == at.SWITCH
    field[_F_FORCED] = 1.0 if switching else 0.0
    field[_F_TRAPPED] = 1.0 if not switching and locked(s, p) else 0.0
    field[_F_SWITCH if switching else _F_MOVE] = 1.0
