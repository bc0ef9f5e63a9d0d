"""Action codecs: the one place that maps a request to legal actions and actions to choices.

Every action in a mask is accepted by Showdown and every choice Showdown accepts is one of them,
up to the equivalences listed in docs/actions.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from nashmon.core import actions_doubles as doubles
from nashmon.core import actions_preview as preview
from nashmon.core import actions_singles as singles
from nashmon.core.actions_choice import MovePart, Part, PassPart, SwitchPart, parse_part
from nashmon.core.actions_request import (
    MAX_TEAM,
    IllegalActionError,
    Request,
    bench_order,
    check_size,
    gimmick_of,
    is_fainted,
    moves_of,
    num_living,
)
from nashmon.core.errors import UnsupportedError
from nashmon.core.formats import Format, get_format

__all__ = [
    "ActionSpace",
    "DoublesSpace",
    "IllegalActionError",
    "SinglesSpace",
    "action_space",
    "bench_order",
]

Mask = NDArray[np.bool_]


class ActionSpace(ABC):
    """Numbers for the choices of one format."""

    leads: int  # Pokémon in front at team preview

    def __init__(self, format: Format, name: str, num_actions: int) -> None:
        """Use `action_space` instead."""
        self.format = format
        self.name = name
        self.num_actions = num_actions

    @property
    def spec(self) -> str:
        """What a checkpoint must agree with to be used here."""
        return f"{self.format.game_type}-{self.name}-{self.num_actions}"

    def mask(self, request: Request, out: Mask | None = None) -> Mask:
        """Legal actions of a request; all False while the player has to wait."""
        if out is None:
            out = np.zeros(self.num_actions, np.bool_)
        if "wait" in request:
            out[:] = False
            return out
        check_size(request)
        if "teamPreview" in request:
            allowed = preview.allowed_picks(request, self.leads, self.format)
            out[:] = False
            out[: len(allowed)] = allowed
            return out
        self._fill(request, out)
        return out

    def choice(self, request: Request, action: int) -> str:
        """The string to send to Showdown for a legal action."""
        if not self.is_legal(request, action):
            raise self._illegal(request, action)
        if "teamPreview" in request:
            return preview.preview_choice(preview.request_picks(request, self.leads)[action])
        return self._choice(request, action)

    def action(self, request: Request, choice: str) -> int:
        """The action a choice string stands for, in any spelling Showdown accepts."""
        if "wait" in request:
            raise IllegalActionError(f"the request asks to wait, not for {choice!r}")
        if "teamPreview" in request:
            action = preview.preview_action(request, choice.strip(), self.leads)
        else:
            action = self._action(request, choice)
        if not self.is_legal(request, action):
            raise self._illegal(request, action, choice)
        return action

    def is_legal(self, request: Request, action: int) -> bool:
        """Whether one action is in the mask."""
        if not 0 <= action < self.num_actions:
            return False
        if "wait" in request or "teamPreview" in request:
            return bool(self.mask(request)[action])
        return self._is_legal(request, action)

    def describe(self, request: Request, action: int) -> str:
        """An action in words, legal or not."""
        if "teamPreview" in request:
            ways = preview.request_picks(request, self.leads)
            if not 0 <= action < len(ways):
                return "nothing"
            team = request["side"]["pokemon"]
            return "bring " + ", ".join(_name(team[position]) for position in ways[action])
        return self._describe(request, action) if 0 <= action < self.num_actions else "nothing"

    def _illegal(self, request: Request, action: int, choice: str = "") -> IllegalActionError:
        legal = np.flatnonzero(self.mask(request)).tolist()
        shown = ", ".join(f"{a} ({self.describe(request, a)})" for a in legal[:13])
        more = f" and {len(legal) - 13} more" if len(legal) > 13 else ""
        what = f"{choice!r} (action {action})" if choice else f"action {action}"
        meaning = self.describe(request, action)
        return IllegalActionError(
            f"{what}, {meaning}, is not legal here; legal are {shown or 'none'}{more}"
        )

    @abstractmethod
    def _fill(self, request: Request, out: Mask) -> None: ...

    @abstractmethod
    def _is_legal(self, request: Request, action: int) -> bool: ...

    @abstractmethod
    def _choice(self, request: Request, action: int) -> str: ...

    @abstractmethod
    def _action(self, request: Request, choice: str) -> int: ...

    @abstractmethod
    def _describe(self, request: Request, action: int) -> str: ...


# Row b holds the bits of b: turning a number into a mask is one copy.
_BIT_ROWS = (
    (np.arange(1 << singles.NUM_ACTIONS)[:, None] >> np.arange(singles.NUM_ACTIONS)) & 1
).astype(np.bool_)


class SinglesSpace(ActionSpace):
    """13 actions (or the first nine); more only where team preview has more picks."""

    leads = 1

    def __init__(self, format: Format, name: str) -> None:
        """Use `action_space` instead."""
        self._width = singles.NUM_MINIMAL if name == "minimal" else singles.NUM_ACTIONS
        super().__init__(format, name, max(self._width, _num_picks(format, self.leads)))
        self._rows = _BIT_ROWS[:, : self._width]

    def _fill(self, request: Request, out: Mask) -> None:
        if self.num_actions > self._width:
            out[self._width :] = False
            out = out[: self._width]
        out[:] = self._rows[singles.legal_bits(request)]

    def _is_legal(self, request: Request, action: int) -> bool:
        return action < self._width and bool(singles.legal_bits(request) >> action & 1)

    def _choice(self, request: Request, action: int) -> str:
        if singles.SWITCH <= action < singles.GIMMICK:
            return f"switch {bench_order(request)[action - singles.SWITCH] + 1}"
        return singles.move_choice(request, action)

    def _action(self, request: Request, choice: str) -> int:
        part = parse_part(request, 0, choice)
        if isinstance(part, SwitchPart):
            return singles.SWITCH + _bench_index(request, part.position, choice)
        if isinstance(part, PassPart):
            if "forceSwitch" in request:
                return 0  # declines a Revival Blessing
            raise IllegalActionError("an active Pokémon cannot pass in singles")
        rank = singles.move_ranks(request)[part.index]
        if part.gimmick and self.name == "minimal":
            raise IllegalActionError(f"the minimal actions have no gimmick: {choice!r}")
        return rank + singles.GIMMICK if part.gimmick else rank

    def _describe(self, request: Request, action: int) -> str:
        team = request["side"]["pokemon"]
        if singles.SWITCH <= action < singles.GIMMICK:
            bench = bench_order(request)
            k = action - singles.SWITCH
            return f"switch to {_name(team[bench[k]])}" if k < len(bench) else "an empty place"
        if "active" not in request or action >= singles.NUM_ACTIONS:
            return "pass" if action == 0 else "nothing"
        rank = action - singles.GIMMICK if action >= singles.GIMMICK else action
        active = request["active"][0]
        ranks = singles.move_ranks(request)
        if rank not in ranks:
            return "no move"
        word = f" with {gimmick_of(active) or 'gimmick'}" if action >= singles.GIMMICK else ""
        return f"{moves_of(active)[ranks.index(rank)]['move']}{word}"


class DoublesSpace(ActionSpace):
    """The 2,025 pairs of slot codes; the first ones double as team preview picks."""

    leads = 2

    def __init__(self, format: Format, name: str) -> None:
        """Use `action_space` instead."""
        self._many_megas = format.mod == "mixandmega"
        super().__init__(format, name, doubles.NUM_ACTIONS)

    def slot_masks(self, request: Request) -> Mask:
        """Legal codes of both slots, shape (2, 45), each looked at alone.

        A pair of them need not be legal: `mask(request).reshape(45, 45)[a]` are the codes that go
        with a.
        """
        first, second = self._bits(request)
        return np.stack([doubles.to_mask(first), doubles.to_mask(second)])

    def _bits(self, request: Request) -> tuple[int, int]:
        if "forceSwitch" in request:
            return doubles.forced_bits(request)
        if "active" not in request:
            raise IllegalActionError("slots have codes in move and switch requests only")
        team = request["side"]["pokemon"]
        bench_size = num_living(team, 2)
        return (
            doubles.slot_bits(request, 0, bench_size),
            doubles.slot_bits(request, 1, bench_size),
        )

    def _joint(self, request: Request) -> Mask:
        one_gimmick = "active" in request and not self._many_megas and doubles.same_gimmick(request)
        return doubles.joint_mask(*self._bits(request), one_gimmick)

    def _fill(self, request: Request, out: Mask) -> None:
        out[: doubles.NUM_ACTIONS] = self._joint(request)

    def _is_legal(self, request: Request, action: int) -> bool:
        return bool(self._joint(request)[action])

    def _choice(self, request: Request, action: int) -> str:
        bench = bench_order(request)
        first, second = divmod(action, doubles.NUM_CODES)
        return ", ".join(
            doubles.slot_choice(request, slot, code, bench)
            for slot, code in enumerate((first, second))
        )

    def _action(self, request: Request, choice: str) -> int:
        texts = [text.strip() for text in choice.split(",")]
        codes = []
        for slot in range(2):
            if self._must_pass(request, slot) and (not texts or texts[0] not in ("pass", "skip")):
                codes.append(doubles.PASS)
                continue
            if not texts:
                raise IllegalActionError(f"{choice!r} says nothing for slot {slot + 1}")
            codes.append(self._code(request, slot, parse_part(request, slot, texts.pop(0)), choice))
        if texts:
            raise IllegalActionError(f"{choice!r} says more than this request asks")
        return codes[0] * doubles.NUM_CODES + codes[1]

    def _must_pass(self, request: Request, slot: int) -> bool:
        if "forceSwitch" in request:
            return not request["forceSwitch"][slot]
        entry = request["side"]["pokemon"][slot]
        return bool(entry.get("commanding")) or is_fainted(entry)

    def _code(self, request: Request, slot: int, part: Part, choice: str) -> int:
        if isinstance(part, PassPart):
            return doubles.PASS
        if isinstance(part, MovePart):
            index = doubles.move_index(request, slot, part.index)
            return doubles.encode(index, part.target, part.gimmick)
        if part.position == 1 - slot:
            return doubles.encode(0, slot - 2, False)
        return doubles.SWITCH + _bench_index(request, part.position, choice)

    def _describe(self, request: Request, action: int) -> str:
        if not {"active", "forceSwitch"} & set(request) or action >= doubles.NUM_ACTIONS:
            return "nothing"
        first, second = divmod(action, doubles.NUM_CODES)
        return (
            f"{self._describe_code(request, 0, first)}; {self._describe_code(request, 1, second)}"
        )

    def _describe_code(self, request: Request, slot: int, code: int) -> str:
        team = request["side"]["pokemon"]
        if code == doubles.PASS:
            return "pass"
        if code >= doubles.SWITCH:
            bench = bench_order(request)
            k = code - doubles.SWITCH
            return f"switch to {_name(team[bench[k]])}" if k < len(bench) else "an empty place"
        move, target, gimmick = doubles.decode(code)
        if "active" not in request or request["active"][slot] is None:
            return f"revive slot {-target}"
        moves = moves_of(request["active"][slot])
        index = 0 if len(moves) == 1 else move
        name = moves[index]["move"] if index < len(moves) else f"no move {move + 1}"
        word = f" with {gimmick_of(request['active'][slot]) or 'gimmick'}" if gimmick else ""
        return f"{name}{word}" + (f" at {target:+d}" if target else "")


def _bench_index(request: Request, position: int, choice: str) -> int:
    bench = bench_order(request)
    if position not in bench:
        raise IllegalActionError(f"{choice!r}: the Pokémon at {position + 1} is on the field")
    return bench.index(position)


def _name(entry: dict[str, str]) -> str:
    return entry["details"].split(",", 1)[0]


def _num_picks(format: Format, leads: int) -> int:
    if not format.has_preview or format.team_size > MAX_TEAM:
        return 0
    return preview.num_picks(format.team_size, format.picked, min(leads, format.picked))


_SPACES: dict[tuple[str, str], type[SinglesSpace] | type[DoublesSpace]] = {
    ("singles", "default"): SinglesSpace,
    ("singles", "minimal"): SinglesSpace,
    ("doubles", "default"): DoublesSpace,
}


@lru_cache(maxsize=256)
def action_space(format: Format | str, name: str = "default") -> SinglesSpace | DoublesSpace:
    """The actions of a format; name is "default", or "minimal" (singles without gimmicks)."""
    if isinstance(format, str):
        format = get_format(format)
    space = _SPACES.get((format.game_type, name))
    if space is None:
        offered = ", ".join(f"{kind} {label}" for kind, label in _SPACES)
        raise UnsupportedError(
            f"no {name!r} actions for {format.id} ({format.game_type}); there are {offered}"
        )
    if format.restricts_pick and format.max_total_level is None:
        raise UnsupportedError(f"{format.id} forbids some team previews in a way not modelled")
    return space(format, name)
