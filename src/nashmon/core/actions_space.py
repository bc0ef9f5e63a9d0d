"""`ActionSpace`: what every codec offers; team preview is the same for all."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from nashmon.core import actions_preview as preview
from nashmon.core.actions_request import IllegalActionError, Request, check_size, display_name
from nashmon.core.formats import Format

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
        return self.legal_choice(request, action)

    def legal_choice(self, request: Request, action: int) -> str:
        """As `choice`, for an action that was found in the mask of this request already."""
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
            return "bring " + ", ".join(display_name(team[position]) for position in ways[action])
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
