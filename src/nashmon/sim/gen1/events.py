"""What kernels write down when a battle is watched: six int16 numbers for each event.

`lg` is one battle's buffer: how many events there are, which was the last MOVE, how many fit (0:
nobody watches), then the events.  `protocol` turns events into Showdown's text.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1.jit import helper, kernel

WIDTH = 6  # kind, seat, a, b, c, d
COUNT, LAST_MOVE, ROOM = 0, 1, 2  # places in the buffer
START = 3

# Kinds.  After the name: what a, b, c and d hold.
E_MOVE = 1  # move, target seat, move it came from, flags
E_SWITCH = 2  # party index, HP, status
E_CANT = 3  # reason, move
E_DAMAGE = 4  # HP, status, cause
E_HEAL = 5  # HP, status, cause
E_STATUS = 6  # status, move, silent
E_CURE = 7  # status, silent
E_BOOST = 8  # stat, amount, by Rage
E_START = 9  # effect, move or type, second type, silent
E_END = 10  # effect, silent
E_ACTIVATE = 11  # effect
E_FAIL = 12  # why, status
E_IMMUNE = 13  # 1: one-hit KO
E_MISS = 14
E_CRIT = 15
E_SUPER = 16
E_RESISTED = 17
E_HITS = 18  # number
E_OHKO = 19
E_PREPARE = 20  # move
E_RECHARGE = 21
E_TRANSFORM = 22
E_CLEAR_BOOSTS = 23
E_NOTHING = 24
E_PAY_DAY = 25
E_FAINT = 26
E_MESSAGE = 27  # which
E_HINT = 28  # which, move; seat −1 when both may see it
E_TURN = 29  # turn
E_UPKEEP = 30
E_BLANK = 31
E_TURN_START = 32
E_WIN = 33  # seat −1: a tie
E_BEGIN = 34
E_STILL = 35

# Flags of a MOVE event.
STILL, MISSED = 1, 2
# Reasons of CANT.
C_SLP, C_FRZ, C_PAR, C_FLINCH, C_RECHARGE, C_DISABLE, C_TRAPPED = 0, 1, 2, 3, 4, 5, 6
# Causes of DAMAGE and HEAL; with OF_FOE the foe is named.
BY_MOVE, BY_CONFUSION, BY_RECOIL, BY_STATUS, BY_SEED, BY_DRAIN, SILENT = 0, 1, 2, 3, 4, 5, 6
OF_FOE = 16
# Effects of START, END and ACTIVATE.
F_CONFUSION, F_SUBSTITUTE, F_BIDE, F_DISABLE, F_SEED, F_MIST, F_FOCUS = 0, 1, 2, 3, 4, 5, 6
F_LIGHT_SCREEN, F_REFLECT, F_TOXIC, F_MIMIC, F_TYPE, F_HAZE = 7, 8, 9, 10, 11, 12
F_SUB_DAMAGE = 13
# Why a move FAILed.
W_PLAIN, W_STATUS, W_SUBSTITUTE, W_WEAK = 0, 1, 2, 3
# Messages.
G_INVULNERABLE, G_SLEEP_CLAUSE, G_FREEZE_CLAUSE, G_ENDLESS, G_TURN_LIMIT, G_TURNS_LEFT = range(6)

# Hints; those up to LAST_ONCE are given once in a battle.
H_RAGE, H_TRAP_RECHARGE, H_SEED_TOXIC, H_SEED_HEAL, H_TOXIC, H_PAR_DIG = 0, 1, 2, 3, 4, 5
H_BOOST_999, H_DROP_1 = 6, 7
LAST_ONCE = 30  # H_RAGE takes one bit for each of the three moves: 0, 20, 21
H_SLEEP_HELD, H_HAZE_LOCKED, H_HAZE_BIDE, H_DESYNC, H_DESYNC_MOVE, H_NO_MOVE = range(31, 37)
H_UNDERFLOW, H_FULL_MISS, H_SUB_SURVIVED, H_RECHARGE_SLEEP, H_RECOVERY = range(37, 42)
H_SUB_CONFUSION, H_ROLLOVER, H_ZERO_DEFENCE, H_SUB_HIT, H_SUB_NO_HIT = range(42, 47)
H_COUNTER_SLEEP, H_COUNTER_LAST, H_PSYWAVE, H_SLEEP_CLAUSE = range(47, 51)


@kernel
def _append(lg, kind, seat, a, b, c, d):
    if lg[COUNT] >= lg[ROOM]:
        return
    place = START + lg[COUNT] * WIDTH
    lg[place] = kind
    lg[place + 1] = seat
    lg[place + 2] = a
    lg[place + 3] = b
    lg[place + 4] = c
    lg[place + 5] = d
    if kind == E_MOVE:
        lg[LAST_MOVE] = lg[COUNT]
    lg[COUNT] += 1


@helper
def emit(lg, kind, seat, a, b, c, d):
    """Append one event; without a buffer, or with a full one, nothing."""
    if lg[ROOM] > 0:
        _append(lg, kind, seat, a, b, c, d)


@helper
def mark_move(lg, flag):
    """Add a flag to the last MOVE event."""
    if lg[ROOM] > 0 and lg[LAST_MOVE] >= 0:
        lg[START + lg[LAST_MOVE] * WIDTH + 5] |= flag


@kernel
def _give_hint(s, lg, which, seat, move, bit):
    if bit < LAST_ONCE:
        place = at.HINTS + bit // 15
        mask = 1 << (bit % 15)
        if s[place] & mask:
            return
        s[place] |= mask
    _append(lg, E_HINT, seat, which, move, 0, 0)


@helper
def hint(s, lg, which, seat, move, bit):
    """Give a hint; those shown once leave a bit in the header (`bit` is mostly `which`)."""
    if lg[ROOM] > 0:
        _give_hint(s, lg, which, seat, move, bit)


def new_log(room: int) -> NDArray[np.int16]:
    """An empty buffer for so many events."""
    log = np.zeros(START + room * WIDTH, np.int16)
    log[LAST_MOVE], log[ROOM] = -1, room
    return log
