"""What the two players have learned of each other: the protocol's news, kept as numbers.

It follows the events of `events` by the same rules as the tracker follows protocol lines, so that
observations made from it are the tracker's.  Facts that every player can see at any time (HP,
stages, types …) are read from the battle's row and not repeated here.

A book lists the moves of one side as one viewer knows them: for each Pokémon what it has learned
(move, PP, full PP), and for the one on the field what it has now, which Transform and Mimic change.
"""

from __future__ import annotations

import numpy as np

from nashmon.sim.gen1 import events as ev
from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1 import tables as tb
from nashmon.sim.gen1.effects import locked, semi_locked
from nashmon.sim.gen1.jit import helper, kernel

_MOVES = tb.MOVE_TABLE
_FISSURE = tb.MOVE_NUM["fissure"]
_COPIED_PP = 5

# Facts of a side that both players know.
TURN = 0  # of the whole battle
STALE = 1  # by viewer and side: bits of the Pokémon that came in since last shown there
LISTED = 5  # by seat: the four moves of its Pokémon on the field as its last request listed them
SHOWN = 13  # by viewer: which Pokémon each of the twelve rows of its observation shows, and
EMPTY, UNKNOWN_ROW = at.TEAM, -1  # nothing, or nobody knows
NEWS = SHOWN + 4 * at.TEAM  # start of side 0
STATUS_TURNS = 0  # six
LAST_MOVE = 6
ACTED = 7
RECHARGING = 8
PREPARING = 9
DISABLED_MOVE = 10
FORME = 11
COPIED = 12  # it has transformed
BEGUN = 13  # turn + 1 in which each effect began, by the effect's number in `events`
NUM_BEGUN = 9
NEWS_SIZE = BEGUN + NUM_BEGUN

# Books: viewer 0 of side 0, viewer 0 of side 1, viewer 1 of side 0 …
BOOKS = NEWS + 2 * NEWS_SIZE
LEARNED = 0  # six Pokémon × four × (move, PP, full PP)
ENTRY = 3
PAGE = at.NUM_MOVES * ENTRY
NOW = at.TEAM * PAGE
MAX_NOW = 6
NOW_ENTRY = 4  # move, PP, full PP, 1 + the learned entry it stands for
OVERLAID = NOW + MAX_NOW * NOW_ENTRY  # 1: no longer the learned moves
BOOK = OVERLAID + 1
KNOW = BOOKS + 4 * BOOK


@helper
def book_of(viewer, side):
    """Where a viewer's book of a side starts."""
    return BOOKS + (2 * viewer + side) * BOOK


@helper
def news_of(side):
    """Where the facts that both players know of a side start."""
    return NEWS + side * NEWS_SIZE


@kernel
def _open_page(k, s, book, side):
    """The Pokémon on the field has its learned moves again."""
    page = book + LEARNED + s[side * at.SIDE + at.ACTIVE] * PAGE
    for j in range(MAX_NOW):
        entry = book + NOW + j * NOW_ENTRY
        for c in range(NOW_ENTRY):
            k[entry + c] = 0
        if j < at.NUM_MOVES and k[page + j * ENTRY] > 0:
            for c in range(ENTRY):
                k[entry + c] = k[page + j * ENTRY + c]
            k[entry + 3] = j + 1
    k[book + OVERLAID] = 0


@kernel
def find_now(k, book, move):
    """The present entry of a move, −1 without one."""
    for j in range(MAX_NOW):
        entry = book + NOW + j * NOW_ENTRY
        if k[entry] == move:
            return entry
    return -1


@helper
def find_own(k, book, slot, move):
    """The present entry of a player's own move; unless copied, it is the slot's."""
    entry = book + NOW + slot * NOW_ENTRY
    return entry if k[entry] == move else find_now(k, book, move)


@kernel
def _set_now(k, s, book, side, entry, pp, full):
    k[entry + 1] = pp
    k[entry + 2] = full
    link = k[entry + 3]
    if link > 0:
        page = book + LEARNED + s[side * at.SIDE + at.ACTIVE] * PAGE
        k[page + (link - 1) * ENTRY + 1] = pp
        k[page + (link - 1) * ENTRY + 2] = full


@kernel
def _add_now(k, book, move, pp, full):
    """Append a present move that stands for no learned one; returns its entry or −1."""
    for j in range(MAX_NOW):
        entry = book + NOW + j * NOW_ENTRY
        if k[entry] == 0:
            k[entry], k[entry + 1], k[entry + 2], k[entry + 3] = move, pp, full, 0
            return entry
    return -1


@kernel
def _num_now(k, book):
    count = 0
    for j in range(MAX_NOW):
        count += k[book + NOW + j * NOW_ENTRY] > 0
    return count


@kernel
def _reveal(k, s, viewer, side, move):
    """The entry of a move that a line named; a foe's becomes known."""
    book = book_of(viewer, side)
    entry = find_now(k, book, move)
    if entry >= 0 or viewer == side or move == tb.STRUGGLE:
        return entry
    if _num_now(k, book) >= at.NUM_MOVES:
        return -1
    full = _MOVES[move, tb.MAX_PP]
    if k[news_of(side) + COPIED] == 1:
        few = min(full, _COPIED_PP)
        return _add_now(k, book, move, few, few)
    entry = _add_now(k, book, move, full, full)
    if k[book + OVERLAID] == 0:
        page = book + LEARNED + s[side * at.SIDE + at.ACTIVE] * PAGE
        for j in range(at.NUM_MOVES):
            if k[page + j * ENTRY] == 0:
                k[page + j * ENTRY] = move
                k[page + j * ENTRY + 1] = full
                k[page + j * ENTRY + 2] = full
                k[entry + 3] = j + 1
                break
    return entry


@kernel
def _act(k, news):
    k[news + ACTED] = 1
    k[news + RECHARGING] = 0
    k[news + PREPARING] = 0


@kernel
def _on_move(k, s, side, move, cause):
    news = news_of(side)
    if move == tb.NO_MOVE:
        move = _FISSURE
    if k[news + PREPARING] == move and cause == 0:
        cause = move
    _act(k, news)
    k[news + LAST_MOVE] = move
    if cause != 0 and cause != move:
        return
    for viewer in range(2):
        entry = _reveal(k, s, viewer, side, move)
        if entry >= 0 and cause == 0:
            pp = max(0, k[entry + 1] - 1)
            _set_now(k, s, book_of(viewer, side), side, entry, pp, k[entry + 2])


@kernel
def _leave_field(k, s, side):
    """Forget what lasts only on the field, for a newcomer or one that fainted."""
    news = news_of(side)
    for c in range(LAST_MOVE, NEWS_SIZE):
        if c != FORME:
            k[news + c] = 0
    for viewer in range(2):
        _open_page(k, s, book_of(viewer, side), side)


@kernel
def _on_mimic(k, s, side, move):
    for viewer in range(2):
        book = book_of(viewer, side)
        old = find_now(k, book, tb.MIMIC)
        pp = full = _MOVES[move, tb.MAX_PP]
        link = 0
        if old >= 0:
            pp, full, link = k[old + 1], k[old + 2], k[old + 3]
            k[old] = 0
        k[book + OVERLAID] = 1
        room = viewer == side or _num_now(k, book) < at.NUM_MOVES
        if find_now(k, book, move) < 0 and room:
            entry = _add_now(k, book, move, pp, full)
            k[entry + 3] = link


@kernel
def _is_listed(k, seat, move):
    for j in range(at.NUM_MOVES):
        if k[LISTED + seat * at.NUM_MOVES + j] == move:
            return True
    return False


@kernel
def _list_holds(k, viewer):
    """Whether a player's last list of moves is still what its Pokémon has."""
    book = book_of(viewer, viewer)
    for j in range(at.NUM_MOVES):
        move = k[LISTED + viewer * at.NUM_MOVES + j]
        if move > 0 and find_now(k, book, move) < 0:
            return False
    return True


@kernel
def _on_transform(k, side):
    for viewer in range(2):
        book, other = book_of(viewer, side), book_of(viewer, 1 - side)
        by_list = viewer != side and _list_holds(k, viewer)
        for j in range(MAX_NOW):
            entry, source = book + NOW + j * NOW_ENTRY, other + NOW + j * NOW_ENTRY
            move = k[source]
            if by_list and not _is_listed(k, viewer, move):
                move = 0
            few = min(k[source + 2], _COPIED_PP)
            k[entry], k[entry + 1], k[entry + 2], k[entry + 3] = move, few, few, 0
        k[book + OVERLAID] = 1
    k[news_of(side) + FORME] = k[news_of(1 - side) + FORME]
    k[news_of(side) + COPIED] = 1


@kernel
def _on_start(k, s, side, effect, move):
    news = news_of(side)
    if effect == ev.F_MIMIC:
        _on_mimic(k, s, side, move)
    elif effect < NUM_BEGUN:
        if k[news + BEGUN + effect] == 0:
            k[news + BEGUN + effect] = k[TURN] + 1
        if effect == ev.F_DISABLE:
            for viewer in range(2):
                _reveal(k, s, viewer, side, move)
            k[news + DISABLED_MOVE] = move


@kernel
def _on_end(k, s, side, effect):
    news = news_of(side)
    if effect == ev.F_TOXIC:
        k[news + STATUS_TURNS + s[side * at.SIDE + at.ACTIVE]] = 0
    elif effect < NUM_BEGUN:
        k[news + BEGUN + effect] = 0
        if effect == ev.F_DISABLE:
            k[news + DISABLED_MOVE] = 0


@kernel
def _take(k, s, kind, side, a, b, c):
    news = news_of(side) if side >= 0 else NEWS
    turns = news + STATUS_TURNS + s[max(side, 0) * at.SIDE + at.ACTIVE]
    if kind == ev.E_MOVE:
        _on_move(k, s, side, a, c)
    elif kind == ev.E_DAMAGE:
        if b == at.TOX and c == ev.BY_STATUS and a > 0:
            k[turns] += 1
    elif kind == ev.E_SWITCH:
        k[STALE + side] |= 1 << a
        k[STALE + 2 + side] |= 1 << a
        k[news + FORME] = s[side * at.SIDE + at.PARTY + a * at.MON + at.M_SPECIES]
        _leave_field(k, s, side)
        for j in range(at.NUM_MOVES):
            move = s[side * at.SIDE + at.PARTY + a * at.MON + at.M_MOVES + j]
            k[LISTED + side * at.NUM_MOVES + j] = move
        if c == at.TOX:
            k[turns] = 0
    elif kind == ev.E_CANT:
        _act(k, news)
        if a == ev.C_SLP:
            k[turns] += 1
        elif b > 0:
            for viewer in range(2):
                _reveal(k, s, viewer, side, b)
    elif kind == ev.E_STATUS or kind == ev.E_CURE:
        k[turns] = 0
    elif kind == ev.E_START:
        _on_start(k, s, side, a, b)
    elif kind == ev.E_END:
        _on_end(k, s, side, a)
    elif kind == ev.E_PREPARE:
        k[news + PREPARING] = a
    elif kind == ev.E_RECHARGE:
        k[news + RECHARGING] = 1
    elif kind == ev.E_TRANSFORM:
        _on_transform(k, side)
    elif kind == ev.E_FAINT:
        k[turns] = 0
        _leave_field(k, s, side)
    elif kind == ev.E_TURN:
        k[TURN] = a


@kernel
def shows_moves(s, p):
    """Whether the seat's request lists its moves with their PP."""
    side = p * at.SIDE
    if s[at.REQUEST + p] != at.MOVE or locked(s, p):
        return False
    vague = s[side + at.MAYBE_LOCKED] > 0
    if not vague and (semi_locked(s, p) or s[side + at.TRAPPED] > 0):
        return False
    status = s[side + at.PARTY + s[side + at.ACTIVE] * at.MON + at.M_STATUS]
    if status == at.FRZ or status == at.SLP:
        return False
    for slot in range(s[side + at.SLOTS]):
        if s[side + at.PP + slot] > 0 and (s[side + at.DISABLED] >> slot) & 1 == 0:
            return True
    return False


@kernel
def full_pp(s, p, slot):
    """The full PP that a request shows for a slot of the Pokémon on the field."""
    side = p * at.SIDE
    one = side + at.PARTY + s[side + at.ACTIVE] * at.MON
    column = tb.MAX_PP if slot < s[one + at.M_SLOTS] else tb.BASE_PP
    return _MOVES[s[side + at.MOVES + slot], column]


@kernel
def _read_request(k, s, p):
    """A player's own moves, as its request lists them."""
    side = p * at.SIDE
    book = book_of(p, p)
    copied = k[news_of(p) + COPIED] == 1
    for slot in range(at.NUM_MOVES):
        move = s[side + at.MOVES + slot] if slot < s[side + at.SLOTS] else 0
        k[LISTED + p * at.NUM_MOVES + slot] = move
        if move > 0 and find_own(k, book, slot, move) < 0:
            pp = _COPIED_PP if copied else _MOVES[move, tb.MAX_PP]
            _add_now(k, book, move, pp, pp)
    if shows_moves(s, p):
        for slot in range(s[side + at.SLOTS]):
            entry = find_own(k, book, slot, s[side + at.MOVES + slot])
            if entry >= 0:
                _set_now(k, s, book, p, entry, s[side + at.PP + slot], full_pp(s, p, slot))


@kernel
def forget_shown(k):
    """Nothing that was written for this battle may be reused."""
    for c in range(4):
        k[STALE + c] = (1 << at.TEAM) - 1
    for c in range(4 * at.TEAM):
        k[SHOWN + c] = UNKNOWN_ROW


@kernel
def begin_knowledge(k, s):
    """A new battle: each player knows its own team."""
    for c in range(KNOW):
        k[c] = 0
    forget_shown(k)
    for p in range(2):
        book = book_of(p, p)
        for j in range(s[p * at.SIDE + at.TEAM_SIZE]):
            one = p * at.SIDE + at.PARTY + j * at.MON
            for slot in range(s[one + at.M_SLOTS]):
                entry = book + LEARNED + j * PAGE + slot * ENTRY
                move = s[one + at.M_MOVES + slot]
                k[entry] = move
                k[entry + 1] = k[entry + 2] = _MOVES[move, tb.MAX_PP]


@kernel
def update_knowledge(k, s, lg):
    """Take the events of a step, then what the requests say."""
    for n in range(lg[ev.COUNT]):
        place = ev.START + n * ev.WIDTH
        _take(k, s, lg[place], lg[place + 1], lg[place + 2], lg[place + 3], lg[place + 4])
    if s[at.OUTCOME] == at.RUNNING:
        for p in range(2):
            _read_request(k, s, p)


def new_knowledge(num_battles: int) -> np.ndarray:
    """Knowledge rows for a block of battles."""
    return np.zeros((num_battles, KNOW), np.int16)
