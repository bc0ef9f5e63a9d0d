"""Rewards: what one player gains between two of its decisions.

A reward is called with the player's previous and present state, for recorded battles and running
ones alike.  Shaping terms may be faded out during training (`scaled`, `shaping_scale`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from math import ceil, inf
from typing import NamedTuple, Self

from nashmon.core.errors import NashmonError
from nashmon.core.formats import get_format
from nashmon.core.state import UniversalPokemon, UniversalSide, UniversalState

MAX_TEAM = 6
FAINTED = "fnt"  # counts as a status where a fresh status is a loss


class UnknownRewardError(NashmonError, ValueError):
    """A reward name that does not exist."""


class SideSummary(NamedTuple):
    """What a side has suffered so far; entries may be arrays, one number per battle."""

    hp_lost: float  # sum over its Pokémon of the missing fraction of hit points
    fainted: float  # number of its Pokémon
    statused: float  # number of its living Pokémon


@dataclass(frozen=True, slots=True)
class Reward(ABC):
    """Coefficients and the rule that applies them."""

    name: str
    win: float
    loss: float  # added on a loss; a draw adds nothing
    hp: float = 0.0
    status: float = 0.0
    faint: float = 0.0
    shaping: float = 1.0  # factor on the three terms above

    def __call__(self, previous: UniversalState, state: UniversalState) -> float:
        """The reward of one player for the step between its two states."""
        value = self.outcome(state)
        if self.is_shaped:
            value += self.shaping * self.shaped(previous, state)
        return value

    @property
    def is_shaped(self) -> bool:
        """Whether anything but the end of a battle pays."""
        return bool(self.shaping and (self.hp or self.status or self.faint))

    def outcome(self, state: UniversalState) -> float:
        """The part for winning or losing."""
        return {"win": self.win, "loss": self.loss}.get(state.result or "", 0.0)

    @abstractmethod
    def shaped(self, previous: UniversalState, state: UniversalState) -> float:
        """The shaping terms at full strength."""

    @property
    @abstractmethod
    def bounds(self) -> tuple[float, float]:
        """Least and greatest sum of rewards over a battle; infinite when there is no bound."""

    @property
    def zero_sum(self) -> bool:
        """Whether what one player gains the other loses."""
        return False

    @property
    def spec(self) -> str:
        """What a checkpoint must agree with."""
        terms = f"win={self.win:g},loss={self.loss:g},hp={self.hp:g}"
        return f"{self.name}({terms},status={self.status:g},faint={self.faint:g})"

    def scaled(self, shaping: float) -> Self:
        """The same reward with its shaping terms multiplied by a factor."""
        if not 0.0 <= shaping <= 1.0:
            raise NashmonError(f"shaping factor {shaping}: expected 0 ≤ factor ≤ 1")
        return replace(self, shaping=shaping)


@dataclass(frozen=True, slots=True)
class EventReward(Reward):
    """Pays for what happened to the Pokémon on the field; not symmetric.

    As in Metamon: our own active Pokémon is compared with its previous self wherever it was, the
    foe's only if it stayed on the field.  So damage by which a foe faints, or before it leaves, is
    not paid; fainting of our own costs its hit points, a status and, once replaced, a Pokémon.
    """

    def shaped(self, previous: UniversalState, state: UniversalState) -> float:
        """HP, status and faint terms of the step, summed over the active slots."""
        gained, taken = _own_change(previous.own, state.own)
        dealt, given = _foe_change(previous.foe, state.foe)
        slots = len(state.own.active)
        lost = min(max(_reserves(previous.own) - _reserves(state.own), 0), slots)
        removed = min(max(state.foe.num_fainted - previous.foe.num_fainted, 0), slots)
        return (
            self.hp * (dealt + gained)
            + self.status * (given - taken)
            + self.faint * (removed - lost)
        )

    @property
    def bounds(self) -> tuple[float, float]:
        """Healing out of the foe's sight is never charged, so shaping has no bound."""
        if self.is_shaped:
            return -inf, inf
        return min(self.loss, 0.0), max(self.win, 0.0)

    @property
    def zero_sum(self) -> bool:
        """Only without shaping and with opposite ends."""
        return self.bounds[1] < inf and self.win == -self.loss


@dataclass(frozen=True, slots=True)
class PotentialReward(Reward):
    """Pays the change of a potential Φ that is zero at the start and changes sign with the seat.

    Φ = hp·(foe's HP lost − ours) + faint·(foe's fainted − ours) + status·(foe's statused − ours).
    Both sides' hit points are rounded as the foe sees them.  From one player's states the foe's
    unseen recoveries (Regenerator) count when they are seen; `pair` uses what each side knows of
    itself and sums to zero in every step.
    """

    def shaped(self, previous: UniversalState, state: UniversalState) -> float:
        """Φ(state) − Φ(previous)."""
        before = self.potential(own_summary(previous), foe_summary(previous))
        return self.potential(own_summary(state), foe_summary(state)) - before

    def potential(self, own: SideSummary, foe: SideSummary) -> float:
        """Φ for the player `own` belongs to; works on arrays of numbers as well."""
        return (
            self.hp * (foe.hp_lost - own.hp_lost)
            + self.faint * (foe.fainted - own.fainted)
            + self.status * (foe.statused - own.statused)
        )

    def pair(
        self,
        previous: tuple[UniversalState, UniversalState],
        states: tuple[UniversalState, UniversalState],
    ) -> tuple[float, float]:
        """Both players' rewards for a step seen by both; their sum is exactly zero."""
        before = self.potential(own_summary(previous[0]), own_summary(previous[1]))
        after = self.potential(own_summary(states[0]), own_summary(states[1]))
        value = self.outcome(states[0]) + self.shaping * (after - before)
        return value, -value

    @property
    def bounds(self) -> tuple[float, float]:
        """|Φ| is greatest when one side has lost everything and the other nothing."""
        most = self.shaping * MAX_TEAM * (self.hp + max(self.faint, self.status))
        return self.loss - most, self.win + most

    @property
    def zero_sum(self) -> bool:
        """Always: win and loss are opposite in every reward of this kind."""
        return self.win == -self.loss


def own_summary(state: UniversalState) -> SideSummary:
    """What the player's own side has suffered, hit points rounded as the foe sees them."""
    return _summary(state.own, get_format(state.format).foe_hp)


def foe_summary(state: UniversalState) -> SideSummary:
    """What the foe has suffered as far as the player has seen."""
    return _summary(state.foe, "exact")  # it was rounded before we saw it


def shown_fraction(pokemon: UniversalPokemon, rule: str) -> float:
    """The fraction of a Pokémon's hit points that Showdown shows to its foe."""
    if rule == "exact":
        return pokemon.hp_fraction
    hp, max_hp = pokemon.hp, pokemon.max_hp
    if not hp or not max_hp:
        return pokemon.hp_fraction
    if rule == "pixels":
        return max(48 * hp // max_hp, 1) / 48
    percent = ceil(100 * hp / max_hp)
    return 0.99 if percent == 100 and hp < max_hp else percent / 100


def shaping_scale(step: int, anneal_steps: int) -> float:
    """Factor on the shaping terms: 1 at step 0, falling linearly to 0 at `anneal_steps`."""
    if anneal_steps <= 0:
        raise NashmonError(f"anneal_steps {anneal_steps}: expected a positive number of steps")
    return max(0.0, 1.0 - step / anneal_steps)


def _team(side: UniversalSide) -> list[UniversalPokemon]:
    return [*[p for p in side.active if p is not None], *side.bench]


def _summary(side: UniversalSide, rule: str) -> SideSummary:
    lost, statused = 0.0, 0
    for pokemon in _team(side):  # added in turn, as engines do: `sum` rounds otherwise
        lost += 1.0 - shown_fraction(pokemon, rule)
        if pokemon.status is not None and not pokemon.fainted:
            statused += 1
    return SideSummary(lost, side.num_fainted, statused)


def _ailment(pokemon: UniversalPokemon) -> str | None:
    return FAINTED if pokemon.fainted else pokemon.status


def _change(before: UniversalPokemon, now: UniversalPokemon) -> tuple[float, int]:
    """Gain of hit points, and whether it fell ill or fainted."""
    ill = _ailment(before) is None and _ailment(now) is not None
    return now.hp_fraction - before.hp_fraction, int(ill)


def _own_change(previous: UniversalSide, side: UniversalSide) -> tuple[float, int]:
    """Hit points gained and statuses taken by our Pokémon that are now on the field."""
    earlier = {p.ident: p for p in _team(previous)}
    pairs = [(earlier[p.ident], p) for p in side.active if p is not None and p.ident in earlier]
    changes = [_change(before, now) for before, now in pairs]
    return sum(gain for gain, _ in changes), sum(ill for _, ill in changes)


def _foe_change(previous: UniversalSide, side: UniversalSide) -> tuple[float, int]:
    """Hit points taken from and statuses given to the foes that stayed on the field."""
    earlier = {p.ident: p for p in previous.active if p is not None}
    pairs = [(earlier[p.ident], p) for p in side.active if p is not None and p.ident in earlier]
    changes = [_change(before, now) for before, now in pairs]
    return -sum(gain for gain, _ in changes), sum(ill for _, ill in changes)


def _reserves(side: UniversalSide) -> int:
    return sum(not p.fainted and p.selected is not False for p in side.bench)


_REWARDS: dict[str, Reward] = {
    reward.name: reward
    for reward in (
        EventReward("binary", win=100.0, loss=-100.0),
        EventReward("outcome", win=1.0, loss=-1.0),
        EventReward("default_shaped", win=100.0, loss=-100.0, hp=1.0, status=0.5, faint=1.0),
        EventReward("aggressive_shaped", win=200.0, loss=0.0, hp=1.0, faint=2.0),
        PotentialReward("symmetric_shaped", win=100.0, loss=-100.0, hp=1.0, status=0.5, faint=1.0),
        PotentialReward("symmetric_aggressive", win=100.0, loss=-100.0, hp=1.0, faint=2.0),
    )
}


def reward_names() -> tuple[str, ...]:
    """Every name `get_reward` knows."""
    return tuple(_REWARDS)


def get_reward(name: str) -> Reward:
    """A reward by name."""
    if name not in _REWARDS:
        raise UnknownRewardError(f"unknown reward {name!r}; there are {', '.join(_REWARDS)}")
    return _REWARDS[name]
