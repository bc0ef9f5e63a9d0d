"""Where each fact of a battle lives in its row of int16 numbers.

A row is: header, then two sides.  A side is: its own facts, its active Pokémon's passing facts
(cleared when it leaves), then six Pokémon.  Kernels read `s[seat * SIDE + field]`.
Damage is held at most at DAMAGE_CAP: no rule tells larger amounts apart.
"""

from __future__ import annotations

DAMAGE_CAP = 30000
NUM_MOVES = 4
TEAM = 6

# Header.
TURN = 0
LAST_DAMAGE = 1
OUTCOME = 2  # one of RUNNING, P1_WON, P2_WON, TIED, TIMED_OUT
NUM_FALLEN = 3  # Pokémon waiting to be declared fainted, in this order of seats:
FALLEN = 4  # two entries
REQUEST = 6  # two entries: WAIT, MOVE or SWITCH
CLAUSES = 8  # 1: Sleep and Freeze Clause Mods are on
HINTS = 9  # two entries: bits of the hints that are shown once
HEADER = 12

RUNNING, P1_WON, P2_WON, TIED, TIMED_OUT = 0, 1, 2, 3, 4
WAIT, MOVE, SWITCH = 0, 1, 2

_next = HEADER


def _field(width: int = 1) -> int:
    global _next
    index = _next
    _next += width
    return index


# Side.
ACTIVE = _field()  # which of the six is on the field
TEAM_SIZE = _field()
LEFT = _field()  # Pokémon that have not fainted
SELECTED = _field()  # last selected move, never reset
SELECTED_SLOT = _field()  # and its slot, reset by each switch
ENEMY_SELECTED = _field()  # the last selected move as the foe's game sees it
SIDE_MOVE = _field()  # last move selected or used
ENEMY_MOVE = _field()  # last move used, as the foe's game sees it
LOST_ONE = _field()  # 1: a Pokémon of this side fainted this turn
ORDER = _field(TEAM)  # party order as requests list it

# Active Pokémon: everything that leaving the field clears.
VOLATILE = _next
BOOSTS = _field(7)  # atk, def, spa, spd, spe, accuracy, evasion
STORED = _field(5)  # atk, def, spa, spd, spe before stages
STATS = _field(5)  # the same with stages and the burn and paralysis cuts
SPEED = _field()  # speed as of the last look, which decides ties
TYPES = _field(2)
SPECIES = _field()
SLOTS = _field()  # number of moves
MOVES = _field(NUM_MOVES)
PP = _field(NUM_MOVES)
VIRTUAL = _field()  # bits: slots that are copies (Mimic, Transform)
TRANSFORMED = _field()
USED = _field()  # last move used since the last switch of either side
CONFUSED = _field()  # turns left, 0 none
SUBSTITUTE = _field()  # its HP, 0 none
BIDE_TURNS = _field()
BIDE_DAMAGE = _field()
LOCK_MOVE = _field()  # Thrash or Petal Dance
LOCK_TURNS = _field()
LOCK_ACCURACY = _field()
RAGE_ACCURACY = _field()  # 0: not raging
CHARGE_MOVE = _field()  # two-turn move in its first turn
INVULNERABLE = _field()
RECHARGE = _field()
DISABLE_TURNS = _field()
DISABLE_SLOT = _field()
DISABLE_MOVE = _field()
FLINCH = _field()
TRAPPED = _field()  # turns left of being held, 0 none
TRAPPED_BY = _field()
TRAPPED_MAYBE = _field()
FAKE = _field()  # turns left of not knowing that the hold has ended
FAKE_OTHER = _field()
HOLD = _field()  # turns left of holding the foe, 0 none
HOLD_TOTAL = _field()
HOLD_DAMAGE = _field()
HOLD_FOE = _field()
HOLD_MOVE = _field()
REFLECT = _field()
LIGHT_SCREEN = _field()
MIST = _field()
FOCUS = _field()
SEEDED = _field()
TOXIC = _field()  # counter + 1, 0: no counter
MAYBE_LOCKED = _field()
DISABLED = _field()  # bits of the slots that the request greys out
SEQUENCE = _field()  # counts volatiles as they come, for the order of their handlers
BIDE_SEQ = _field()
DISABLE_SEQ = _field()
TRAPPED_SEQ = _field()
FAKE_SEQ = _field()
HOLD_SEQ = _field()
VOLATILE_END = _next

# The six Pokémon, `s[seat * SIDE + PARTY + k * MON + fact]`.
PARTY = _next
M_SPECIES = 0
M_LEVEL = 1
M_HP = 2
M_MAX_HP = 3
M_STATS = 4  # five: atk, def, spa, spd, spe
M_SPEED_BONUS = 9  # DV and stat experience part of Speed, for Transform
M_SLOTS = 10
M_MOVES = 11
M_PP = 15
M_STATUS = 19
M_SLEEP = 20  # turns of sleep left
M_SELF_SLEPT = 21  # 1: asleep by its own Rest
M_SUB_BROKE = 22  # a Substitute broke and no move has looked at it since
M_FAINTED = 23
M_RANK = 24  # place in the order of benches: by species, then name
M_SEEN = 25  # the foe has seen it
MON = 26

_next = PARTY + TEAM * MON
SIDE = _next - HEADER
ROW = HEADER + 2 * SIDE

# Statuses, in the order of core.state.STATUSES.
BRN, PAR, SLP, FRZ, PSN, TOX = 1, 2, 3, 4, 5, 6
ATK, DEF, SPA, SPD, SPE, ACC, EVA = 0, 1, 2, 3, 4, 5, 6
