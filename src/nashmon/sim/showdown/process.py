"""`ShowdownProcess`: many Showdown battles in one Node process.

A batch is sent and its answer received in one call, or in two (`send_choose`, `receive`) so that
Python can work while Node does; several may be sent before the first answer is received.  A dead or
silent process raises `WorkerError`; nothing hangs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, NoReturn, Self, TypeVar

import orjson

from nashmon.core.errors import NashmonError, SimulatorError, TeamError, UnknownFormatError
from nashmon.sim.showdown.child import Child, ChildDied, ChildStalled
from nashmon.sim.showdown.install import NODE_DIR, find_showdown
from nashmon.sim.showdown.messages import (
    BattleFailure,
    BattleStart,
    BattleUpdate,
    Choice,
    Entries,
    parse_update,
)
from nashmon.sim.showdown.node import find_node

NODE_OPTIONS = ("--max-semi-space-size=64",)
STALL_SECONDS = 60.0
MAX_NAMED_BATTLES = 5

__all__ = [
    "BattleFailure",
    "BattleLog",
    "BattleStart",
    "BattleUpdate",
    "Choice",
    "ShowdownProcess",
    "WorkerError",
]

_T = TypeVar("_T")
_ERRORS: dict[str, type[NashmonError]] = {"format": UnknownFormatError, "team": TeamError}


class WorkerError(SimulatorError):
    """The Node process died or stalled; `battles` are the ids of those it was playing."""

    def __init__(self, message: str, battles: Sequence[int]) -> None:
        super().__init__(message)
        self.battles = tuple(battles)

    def __reduce__(self) -> tuple[type[WorkerError], tuple[str, tuple[int, ...]]]:
        """Pickling keeps the ids; an exception's default forgets them."""
        return WorkerError, (str(self), self.battles)


@dataclass(frozen=True, slots=True)
class BattleLog:
    """Everything that happened in a battle, hidden facts included."""

    lines: list[str]
    input_log: list[str]  # replays the battle in Showdown


class ShowdownProcess:
    """Plays battles in one Node child; ids are chosen by the caller."""

    _running: dict[int, BattleStart]
    _choices: dict[int, Choice]  # the last of each running battle
    _entries: dict[int, Entries]  # what the numbers in a battle's requests stand for
    # Commands whose answers have not been received, with the battles they start.
    _pending: deque[tuple[str, list[int]]]
    _ended: str | None  # why the child can no longer be used

    def __init__(self, *, patched: bool = True, timeout: float = STALL_SECONDS) -> None:
        self._command = [
            str(find_node().path),
            *NODE_OPTIONS,
            str(NODE_DIR / "bridge.js"),
            str(find_showdown()),
            "patched" if patched else "stock",
        ]
        self.timeout = timeout  # seconds without an answer after which the child counts as stalled
        self._spawn()

    def start(self, battles: Sequence[BattleStart]) -> dict[int, BattleUpdate]:
        """Start battles; an id may be reused once its battle has ended."""
        self.send_start(battles)
        return self.receive()

    def choose(self, choices: Sequence[Choice]) -> dict[int, BattleUpdate]:
        """Give choices; a turn is played when all seats asked in that battle have chosen."""
        self.send_choose(choices)
        return self.receive()

    def send_start(self, battles: Sequence[BattleStart]) -> None:
        """The first half of `start`."""
        payloads = [battle.payload() for battle in battles]
        self._check_usable()
        self._running.update((battle.id, battle) for battle in battles)
        self._send("start", [battle.id for battle in battles], battles=payloads)

    def send_choose(self, choices: Sequence[Choice]) -> None:
        """The first half of `choose`."""
        self._check_usable()
        self._choices.update((choice[0], choice) for choice in choices)
        self._send("choose", choices=choices)

    def receive(self) -> dict[int, BattleUpdate]:
        """The updates that answer the earliest open `send_start` or `send_choose`, by battle id."""
        return {update.id: update for update in self.receive_each()}

    def receive_each(self) -> Iterator[BattleUpdate]:
        """As `receive`, one after another: each is read when it is asked for, all must be."""
        known = self._entries
        for text in self._receive():
            row = orjson.loads(text)
            update = parse_update(row, known[row[0]])
            if update.ended or update.failure is not None:
                self._forget((update.id,))
            yield update

    def end(self, ids: Sequence[int]) -> None:
        """Forget battles, running or over, and free their memory."""
        self.call("end", ids=ids)
        self._forget(ids)

    def audit(self, battle_id: int, seat: int, choices: Sequence[str]) -> list[bool]:
        """Which choices the simulator would accept now; the battle does not change."""
        accepted: list[bool] = self.call("audit", id=battle_id, seat=seat, choices=choices)
        return accepted

    def log(self, battle_id: int) -> BattleLog:
        """The omniscient log of a battle that has not been forgotten."""
        return BattleLog(**self.call("log", id=battle_id))

    def call(self, command: str, **fields: Any) -> Any:
        """Send any other command of the bridge and return its answer."""
        if self._pending:
            raise SimulatorError(f"cannot send {command}: receive the answer to {self._waiting}")
        self._send(command, **fields)
        return self._receive()

    @property
    def pid(self) -> int:
        """Process id of the Node child."""
        return self._child.pid

    @property
    def alive(self) -> bool:
        """Whether the Node child runs and can be asked."""
        return self._ended is None and self._child.running

    def restart(self) -> None:
        """Replace the Node child by a new one; all battles are gone."""
        self._child.close()
        self._spawn()

    def close(self) -> None:
        """Kill the Node child; safe to call twice."""
        self._child.close()
        self._ended = "it was closed"

    def __enter__(self) -> Self:
        """The process itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the process."""
        self.close()

    def _spawn(self) -> None:
        self._child = Child(self._command)
        self._running = {}
        self._choices = {}
        self._entries = {}
        self._pending = deque()
        self._ended = None

    @property
    def _waiting(self) -> str:
        return self._pending[0][0]

    def _check_usable(self) -> None:
        if self._ended is not None:
            raise WorkerError(f"the Showdown process cannot be used: {self._ended}", [])

    def _send(self, command: str, starting: Sequence[int] = (), **fields: Any) -> None:
        self._check_usable()
        payload = orjson.dumps({"command": command, **fields})
        self._pending.append((command, list(starting)))
        self._guard(lambda: self._child.write(payload, self.timeout))

    def _receive(self) -> Any:
        if not self._pending or self._ended is not None:
            raise SimulatorError("nothing to receive: no command was sent")
        frame = self._guard(lambda: self._child.read(self.timeout))
        _, starting = self._pending.popleft()
        if not frame.startswith(b"{"):  # updates of battles, a line of JSON each
            self._entries.update((battle_id, [[], []]) for battle_id in starting)
            return frame.splitlines()
        answer = orjson.loads(frame)
        if "error" in answer:
            self._forget(starting)  # a refused start has started none of its battles
            error = answer["error"]
            raise _ERRORS.get(error["kind"], SimulatorError)(error["message"])
        return answer["ok"]

    def _guard(self, action: Callable[[], _T]) -> _T:
        try:
            return action()
        except ChildDied:
            self._fail(f"died ({self._child.describe_end()})")
        except ChildStalled:
            self._fail(f"gave no answer for {self.timeout:g} s and was killed")

    def _fail(self, what: str) -> NoReturn:
        names = [self._name(battle) for battle in self._running.values()]
        more = len(names) - MAX_NAMED_BATTLES
        where = ", ".join(names[:MAX_NAMED_BATTLES]) + (f" and {more} more" if more > 0 else "")
        message = (
            f"Showdown process {self.pid} {what} during {self._waiting!r}; "
            f"battles: {where or 'none'}"
        )
        running = list(self._running)
        self._child.close()
        self._ended = f"it {what.split(' (')[0]}; call restart()"
        raise WorkerError(message, running)

    def _forget(self, ids: Sequence[int]) -> None:
        for battle_id in ids:
            self._running.pop(battle_id, None)
            self._choices.pop(battle_id, None)

    def _name(self, battle: BattleStart) -> str:
        _, first, second = self._choices.get(battle.id, (battle.id, None, None))
        return (
            f"{battle.id} ({battle.format}, seed {battle.seed}, "
            f"last choices {first!r} and {second!r})"
        )
