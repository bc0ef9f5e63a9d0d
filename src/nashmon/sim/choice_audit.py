"""Checks the action codecs against the simulator itself, request by request.

On every request of random-legal battles the choices of the mask must be accepted, and every
candidate choice the simulator accepts must be an action of the mask.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations, product
from typing import Any

import numpy as np

from nashmon.core.actions import ActionSpace, DoublesSpace, IllegalActionError, action_space
from nashmon.core.actions_request import GIMMICKS, is_fainted, is_reviving
from nashmon.core.errors import SimulatorError
from nashmon.core.formats import Format
from nashmon.sim.showdown.messages import UNAVAILABLE, BattleStart, BattleUpdate, seed_words
from nashmon.sim.showdown.process import ShowdownProcess

WORDS = tuple(word for _, word in GIMMICKS)
MAX_EXAMPLES = 5
Request = dict[str, Any]
TeamSource = Callable[[np.random.Generator], str | None]


@dataclass
class AuditResult:
    """Counts over all requests of all battles; `rejected` and `unreachable` must be 0."""

    battles: int = 0
    requests: int = 0  # compared with the simulator
    played: int = 0  # further requests, answered by one random choice of the mask
    checked: int = 0  # candidate choices shown to the simulator
    legal: int = 0  # … of which are actions of the mask
    rejected: int = 0  # in the mask, refused for a reason the request showed
    unreachable: int = 0  # accepted by the simulator, no action of the mask, no equivalence
    unavailable: int = 0  # refused because of something the request cannot show
    equivalent: Counter[str] = field(default_factory=Counter)  # accepted, see docs/actions.md
    seen: Counter[str] = field(default_factory=Counter)  # kinds of requests met
    examples: list[str] = field(default_factory=list)

    def add(self, other: AuditResult) -> None:
        """Add another run's counts."""
        for name in (
            "battles",
            "requests",
            "played",
            "checked",
            "legal",
            "rejected",
            "unreachable",
            "unavailable",
        ):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.equivalent += other.equivalent
        self.seen += other.seen
        self.examples = (self.examples + other.examples)[:MAX_EXAMPLES]

    def fault(self, kind: str, request: Request, choice: str) -> None:
        """Count a disagreement and keep the first few."""
        setattr(self, kind, getattr(self, kind) + 1)
        if len(self.examples) < MAX_EXAMPLES:
            self.examples.append(f"{kind}: {choice!r} on {_shorten(request)}")


def _shorten(request: Request) -> Request:
    team = [f"{e['ident']}: {e['condition']} {e['moves']}" for e in request["side"]["pokemon"]]
    return {**{key: value for key, value in request.items() if key != "side"}, "team": team}


def candidates(request: Request, rng: np.random.Generator) -> list[str]:
    """Choices to show to the simulator: all, with the gimmicks on offer and one other word."""
    team = request["side"]["pokemon"]
    if "teamPreview" in request:
        picked = min(len(team), request.get("maxChosenTeamSize") or len(team))
        orders = list(permutations(range(1, len(team) + 1), picked))
        chosen = rng.permutation(len(orders))[:60]
        return ["team " + "".join(map(str, orders[index])) for index in chosen]
    slots = request.get("active") or request["forceSwitch"]
    offered = {flag for active in request.get("active", ()) if active for flag in active}
    words = {word for flag, word in GIMMICKS if flag in offered}
    words.add(WORDS[int(rng.integers(len(WORDS)))])
    if len(slots) == 1:
        return list(_slot_candidates(request, sorted(words), ("",)))
    one_slot = tuple(_slot_candidates(request, sorted(words), ("", " -2", " -1", " 1", " 2")))
    return [f"{first}, {second}" for first, second in product(one_slot, one_slot)]


def _slot_candidates(
    request: Request, words: Sequence[str], targets: Sequence[str]
) -> Iterator[str]:
    if "active" in request:
        for move in range(1, 5):
            for word in ("", *(f" {word}" for word in words)):
                yield from (f"move {move}{word}{target}" for target in targets)
    for position in range(1, len(request["side"]["pokemon"]) + 1):
        yield f"switch {position}"
    yield "pass"


def kinds(request: Request) -> list[str]:
    """Names of the special situations a request is in."""
    names = []
    team = request["side"]["pokemon"]
    if "forceSwitch" in request:
        reserves = sum(not is_fainted(e) for e in team[len(request["forceSwitch"]) :])
        count = sum(request["forceSwitch"])
        names.append(f"forced {count} with {min(reserves, 2)}{'+' * (reserves > 2)}")
        names += ["revival blessing"] * is_reviving(request)
    for slot, active in enumerate(request.get("active", ())):
        if active is None:
            continue
        names += [flag for flag in ("trapped", "maybeTrapped", "maybeDisabled", "maybeLocked")
                  if active.get(flag)]  # fmt: skip
        names += [flag for flag, _ in GIMMICKS if active.get(flag)]
        names += ["commanding"] * bool(team[slot].get("commanding"))
        names += ["dynamaxed"] * ("maxMoves" in active and not active.get("canDynamax"))
        names += ["fainted slot"] * is_fainted(team[slot])
        if len(active["moves"]) == 1 and len(team[slot]["moves"]) > 1:
            forced = active["moves"][0]["id"]
            special = forced in ("struggle", "recharge", "fight")
            names.append(forced if special else "locked")
        names += ["disabled"] * any(move.get("disabled") for move in active["moves"])
    return names


def equivalence(request: Request, choice: str) -> str | None:
    """The documented reason why an accepted choice need not be an action."""
    if choice.startswith("move") and any(a and a.get("maybeLocked") for a in request["active"]):
        return "disabled move while locked"
    return None


def _may_fail(active: Request | None, part: str) -> bool:
    """Whether the request announces that this part may turn out to be impossible."""
    flags = {"switch": ("maybeTrapped",), "move": ("maybeDisabled", "maybeLocked")}
    return active is not None and any(active.get(flag) for flag in flags.get(part.split()[0], ()))


class Auditor:
    """Plays battles in one process and checks requests."""

    def __init__(
        self,
        process: ShowdownProcess,
        format: Format,
        pair_share: float = 0.05,
        share: float = 1.0,
    ) -> None:
        """`share`: of the requests that are checked; on the others only the played choice is.

        `pair_share`: of the checked doubles requests on which all slot pairs are tried.
        """
        self.process = process
        self.share = share
        self.space: ActionSpace = action_space(format)
        self.pair_share = pair_share
        self.result = AuditResult()

    def play(self, seed: int, teams: TeamSource, max_turns: int = 200) -> None:
        """One random-legal battle, checked."""
        rng = np.random.default_rng(seed)
        start = BattleStart(
            0,
            self.space.format.id,
            (teams(rng), teams(rng)),
            seed=seed_words(int(rng.integers(1 << 63))),
        )
        update = self.process.start([start])[0]
        self.result.battles += 1
        while not update.ended and update.turn <= max_turns:
            if update.failure is not None:
                raise SimulatorError(f"the simulator crashed: {update.failure}")
            requests = update.requests  # a seat without a new one has chosen already
            choices = self._choices(requests, rng)
            update = self.process.choose([(0, *choices)])[0]
            for seat in range(2):
                if update.errors[seat] is not None:
                    self._check_error(update, seat, choices[seat] or "", requests[seat] or {})
        self.process.end([0])

    def _choices(
        self, requests: Sequence[Request | None], rng: np.random.Generator
    ) -> tuple[str | None, str | None]:
        choices: list[str | None] = [None, None]
        for seat, request in enumerate(requests):
            if request is None or "wait" in request:
                continue
            if self.share < 1.0 and rng.random() >= self.share:
                choices[seat] = self._any_choice(request, rng)
                continue
            legal = self.check(seat, request, rng)
            if not legal:
                raise SimulatorError(f"no legal action on {_shorten(request)}")
            choices[seat] = legal[int(rng.integers(len(legal)))]
        return choices[0], choices[1]

    def _any_choice(self, request: Request, rng: np.random.Generator) -> str:
        """A random legal choice; playing it shows whether the simulator accepts it."""
        actions = np.flatnonzero(self.space.mask(request))
        if not len(actions):
            raise SimulatorError(f"no legal action on {_shorten(request)}")
        self.result.played += 1
        return self.space.choice(request, int(actions[int(rng.integers(len(actions)))]))

    def _check_error(self, update: BattleUpdate, seat: int, choice: str, request: Request) -> None:
        """A refused choice must be a discovery: a new request comes that forbids it."""
        error, new = update.errors[seat] or "", update.requests[seat]
        if error.startswith(UNAVAILABLE) and new is not None:
            legal = np.flatnonzero(self.space.mask(new)).tolist()
            if choice not in [self.space.choice(new, action) for action in legal]:
                return
        self.result.fault("rejected", request, f"{choice}: {error}")
        raise SimulatorError(f"the simulator refused {choice!r}: {error} ({_shorten(request)})")

    def check(self, seat: int, request: Request, rng: np.random.Generator) -> list[str]:
        """Compare one request's mask with the simulator; returns the mask's choices."""
        result, space = self.result, self.space
        result.requests += 1
        result.seen.update(kinds(request))
        actions = np.flatnonzero(space.mask(request)).tolist()
        legal = [space.choice(request, action) for action in actions]
        for action, choice in zip(actions, legal, strict=True):
            if space.action(request, choice) != action:
                result.fault("rejected", request, f"{choice} is not {action}")
        if isinstance(space, DoublesSpace) and rng.random() > self.pair_share:
            shown = [legal[index] for index in rng.permutation(len(legal))[:40]]
            others = []
        else:
            shown, others = legal, candidates(request, rng)
        answers = self.process.audit(0, seat, shown + others)
        result.checked += len(answers)
        result.legal += len(shown)
        for choice, accepted in zip(shown, answers, strict=False):
            if not accepted:
                self._refused(request, choice)
        for choice, accepted in zip(others, answers[len(shown) :], strict=True):
            if accepted:
                self._accepted(request, choice, actions)
        return legal

    def _refused(self, request: Request, choice: str) -> None:
        """A refusal is no fault when the request announces that it may come."""
        slots = request.get("active", ())
        if any(
            _may_fail(active, part) for active, part in zip(slots, choice.split(", "), strict=False)
        ):
            self.result.unavailable += 1
        else:
            self.result.fault("rejected", request, choice)

    def _accepted(self, request: Request, choice: str, actions: list[int]) -> None:
        try:
            reachable = self.space.action(request, choice) in actions
        except IllegalActionError:
            reachable = False
        if reachable:
            return
        reason = equivalence(request, choice)
        if reason is None:
            self.result.fault("unreachable", request, choice)
        else:
            self.result.equivalent[reason] += 1
