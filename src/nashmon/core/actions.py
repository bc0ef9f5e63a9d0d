"""Action codecs: the one place that maps a request to legal actions and actions to choices.

Every action in a mask is accepted by Showdown and every choice Showdown accepts is one of them,
up to the equivalences listed in docs/actions.md.
"""

from __future__ import annotations

from functools import lru_cache

from nashmon.core.actions_doubles import DoublesSpace
from nashmon.core.actions_request import IllegalActionError, bench_order
from nashmon.core.actions_singles import SinglesSpace
from nashmon.core.actions_space import ActionSpace
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
