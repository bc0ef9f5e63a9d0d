"""What goes to and comes from a Showdown process: battles to start, choices, updates, seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nashmon.core.errors import SimulatorError
from nashmon.sim.seeds import BattleSeed

INVALID = "[Invalid choice]"  # the choice was never possible: a fault of the chooser
UNAVAILABLE = "[Unavailable choice]"  # a hidden trap or lock was discovered; a new request follows

# (battle id, p1's choice, p2's choice); None for a seat that does not choose now.
Choice = tuple[int, str | None, str | None]

_MASK = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class BattleStart:
    """A battle to play; the same values and choices give the same battle."""

    id: int
    format: str
    teams: tuple[str | None, str | None] = (None, None)  # packed; None: the format's random team
    names: tuple[str, str] = ("Player 1", "Player 2")
    seed: BattleSeed = (0, 0, 0, 0)
    open_sheets: bool = False  # both players accept open team sheets

    def payload(self) -> dict[str, Any]:
        """The form in which the bridge takes it."""
        return {
            "id": self.id,
            "format": self.format,
            "teams": self.teams,
            "names": self.names,
            "seed": seed_text(self.seed),
            "team_seeds": [seed_text(team_seed(self.seed, seat)) for seat in (0, 1)],
            "open_sheets": self.open_sheets,
        }


@dataclass(frozen=True, slots=True)
class BattleFailure:
    """The simulator itself crashed in this battle, which is over; `input_log` reproduces it."""

    message: str
    input_log: list[str]

    def __str__(self) -> str:
        """The crash and the input log that reproduces it."""
        return "\n".join([self.message, "input log:", *self.input_log])


@dataclass(slots=True)
class BattleUpdate:
    """What is new in one battle since the last update, per seat."""

    id: int
    turn: int = 0
    ended: bool = False
    winner: int | None = None  # seat; None while running and for a draw
    sent: Sequence[Any] = ()  # a line that both seats see, or [p1's, p2's] with None for nothing
    requests: tuple[dict[str, Any] | None, dict[str, Any] | None] = (None, None)  # None: unchanged
    errors: tuple[str | None, str | None] = (None, None)  # begin with INVALID or UNAVAILABLE
    failure: BattleFailure | None = None

    @property
    def lines(self) -> tuple[list[str], list[str]]:
        """Per seat the protocol lines it sees."""
        first, second = (
            [line if line.__class__ is str else line[seat] for line in self.sent] for seat in (0, 1)
        )
        return [line for line in first if line], [line for line in second if line]


Entries = list[list[dict[str, Any]]]  # per seat the Pokémon of its last request


def parse_update(row: Sequence[Any], entries: Entries) -> BattleUpdate:
    """Read one row of the bridge's answer; `entries` of its battle are brought up to date."""
    if len(row) == 2:
        failure = BattleFailure(row[1]["message"], row[1]["inputLog"])
        return BattleUpdate(id=row[0], failure=failure)
    battle_id, turn, ended, winner, sent, request_1, request_2, error_1, error_2 = row
    return BattleUpdate(
        battle_id,
        turn,
        ended,
        winner,
        sent,
        (_request(request_1, entries, 0), _request(request_2, entries, 1)),
        (error_1, error_2),
    )


def _request(sent: list[Any] | None, entries: Entries, seat: int) -> dict[str, Any] | None:
    """A whole request from what was sent of it.

    Of a Pokémon that is all, or its place in the request before, or that place with what changed.
    """
    if sent is None:
        return None
    request: dict[str, Any] = sent[0]
    before = entries[seat]
    team = [
        before[item]
        if item.__class__ is int
        else {**before[item[0]], **item[1]}
        if item.__class__ is list
        else item
        for item in sent[1]
    ]
    request["side"]["pokemon"] = entries[seat] = team
    return request


def seed_text(seed: BattleSeed) -> str:
    """Showdown's form of a seed; four numbers select its cheap generator."""
    if len(seed) != 4 or not all(0 <= word < 1 << 16 for word in seed):
        raise SimulatorError(f"battle seed {seed!r} is not four numbers 0 ≤ n < 65536")
    return ",".join(map(str, seed))


def seed_words(seed: int) -> BattleSeed:
    """A 64-bit number as a battle seed, most significant word first."""
    if not 0 <= seed <= _MASK:
        raise SimulatorError(f"seed {seed} is not in 0 ≤ seed < 2**64")
    return seed >> 48, seed >> 32 & 0xFFFF, seed >> 16 & 0xFFFF, seed & 0xFFFF


def team_seed(battle_seed: BattleSeed, seat: int) -> BattleSeed:
    """Seed of a seat's random team: SplitMix64 of the battle seed, so that both are unrelated."""
    a, b, c, d = battle_seed
    x = ((a << 48 | b << 32 | c << 16 | d) + (seat + 1) * 0x9E3779B97F4A7C15) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return seed_words(x ^ (x >> 31))
