"""Estimated damage and speed between the own Pokémon and the active foes, as inputs of a network.

A network can learn the damage formula, but only slowly; these are its results, worked out from
the observation alone.  Nothing here is trained.  Rolls, items and abilities are left out: what the
estimate lacks the network sees in its other inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nashmon.nets.encoding import MOVES, TEAM, Tables
from nashmon.nets.matchup_kernel import write_matchups
from nashmon.observe.spec import ObsSpec

# Columns of `Tables.strikes`.
POWER, PHYSICAL, HITS, FIXED, LEVEL, CRITICAL = range(6)
STRIKES = 6
CHANNELS = 2  # of a move on a foe: share of its maximum HP, share of the HP it has left
PAIR = 6  # numbers of an own Pokémon and an active foe
_CAP = 1.5  # more than a knock-out is a knock-out
_MEAN_ROLL = 0.925
_WANTED = ("known", "level", "max_hp", "base_hp", "hp_fraction", "fainted")
_STAT, _BASE, _LEVELS, _STAGE = 1024, 256, 128, 8  # scales of the observation


class Bodies(NamedTuple):
    """Numbers of all twelve Pokémon, (N, 12) each; `stats` (N, 12, 5) are those on the field."""

    stats: Tensor
    level: Tensor
    max_hp: Tensor
    hp: Tensor  # share that is left; 0 for fainted and missing ones
    base_speed: Tensor


class Matchup(nn.Module):
    """Damage of every own move on each active foe, of the foes' known moves, and who is faster."""

    strikes: Tensor
    move_types: Tensor
    chart: Tensor

    def __init__(self, observation: ObsSpec, tables: Tables) -> None:
        super().__init__()
        if tables.strikes is None:
            raise ValueError("matchups need the facts of attacks among the tables")
        ids, numbers = observation["pokemon_ids"], observation["pokemon_numbers"]
        active = observation["active_numbers"]
        self.slots = len(active.rows) // 2
        names = {column.name for column in numbers.columns}
        # Generation 1 has one Special, and its stats carry other bonuses than later ones.
        special = "spd" if "stat_spd" in names else "spa"
        kinds = ("atk", "def", "spa", special, "spe")
        self.stats = [numbers.column(f"stat_{kind}") for kind in kinds]
        self.bases = [numbers.column(f"base_{kind}") for kind in kinds]
        self.boosts = [active.column(f"boost_{k}") for k in ("atk", "def", "spa", "spd", "spe")]
        self.bonus = 93.0 if special == "spa" else 52.0
        self.base_speed = numbers.column("base_spe")
        self.at = {name: numbers.column(name) for name in _WANTED}
        self.moves = [ids.column(f"move_{k}") for k in range(MOVES)]
        self.types = [k for k, column in enumerate(ids.columns) if column.name.startswith("type_")]
        screens = ("volatile_reflect", "volatile_lightscreen")
        found = {column.name for column in active.columns}
        self.screens = [active.column(name) for name in screens if name in found]
        self.columns = self._columns()
        self.register_buffer("strikes", torch.tensor(tables.strikes))
        self.register_buffer("move_types", torch.tensor(tables.move_types))
        self.register_buffer("chart", torch.tensor(tables.type_chart))

    def _columns(self) -> NDArray[np.int64]:
        """The columns as the kernel takes them."""
        screens = [*self.screens, -1, -1][:2]
        single = [self.at[name] for name in _WANTED]
        parts = (self.stats, self.bases, self.boosts, single, [self.base_speed], self.moves)
        return np.array([*chain(*parts), *screens, *self.types])

    @torch.no_grad()
    def forward(self, observations: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """As `estimate`; on a CPU by a kernel."""
        numbers = observations["pokemon_numbers"]
        if numbers.device.type != "cpu" or numbers.dtype != torch.float32:
            return self.estimate(observations)
        count, slots = len(numbers), self.slots
        dealt = torch.zeros(count, slots, MOVES, slots, CHANNELS)
        pairs = torch.zeros(count, TEAM, slots, PAIR)
        names = ("pokemon_ids", "pokemon_numbers", "active_numbers")
        tables = (self.strikes.numpy(), self.move_types.numpy(), self.chart.numpy())
        write_matchups(
            *(observations[name].contiguous().numpy() for name in names),
            tables,
            self.columns,
            self.bonus,
            _CAP,
            (dealt.numpy(), pairs.numpy()),
        )
        return dealt, pairs.flatten(2)

    @torch.no_grad()
    def estimate(self, observations: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Of the own slots' moves (N, own slots, 4, foe slots, 2); of pairs (N, 6, foe slots · 6).

        Numbers of a pair: the two best own attacks, the best against what HP is left, the worst
        known attack of the foe, the same against what HP is left, and who is faster.
        """
        ids = observations["pokemon_ids"].long()
        bodies = self._bodies(observations)
        own = torch.arange(TEAM, device=ids.device)
        foes = TEAM + own[: self.slots]
        dealt = self._shares(ids, bodies, own, foes)  # (N, 6, 4, foe slots, 2)
        taken = self._shares(ids, bodies, foes, own)  # (N, foe slots, 4, 6, 2)
        best = dealt[..., 0].topk(2, dim=2).values
        worst = taken.amax(dim=2).transpose(1, 2)  # (N, 6, foe slots, 2)
        speed = bodies.stats[..., 4]
        mine, theirs = speed[:, own].unsqueeze(2), speed[:, foes].unsqueeze(1)
        meet = (bodies.hp[:, own].unsqueeze(2) > 0) & (bodies.hp[:, foes].unsqueeze(1) > 0)
        order = (4 * (mine - theirs) / (mine + theirs).clamp(min=1)).clamp(-1, 1) * meet
        numbers = (best[:, :, 0], best[:, :, 1], dealt[..., 1].amax(dim=2), *worst.unbind(-1))
        pairs = torch.stack((*numbers, order), dim=-1)
        return dealt[:, : self.slots], pairs.flatten(2)

    def _bodies(self, observations: Mapping[str, Tensor]) -> Bodies:
        numbers, active = observations["pokemon_numbers"], observations["active_numbers"]
        level = numbers[..., self.at["level"]] * _LEVELS
        share, known = level / 100, numbers[..., self.at["known"]] > 0
        usual = (numbers[..., self.bases] * (2 * _BASE) + self.bonus) * share.unsqueeze(-1) + 5
        stats = torch.where(known.unsqueeze(-1), numbers[..., self.stats] * _STAT, usual)
        base_hp = numbers[..., self.at["base_hp"]] * (2 * _BASE) + self.bonus
        usual_hp = base_hp * share + level + 10
        max_hp = torch.where(known, numbers[..., self.at["max_hp"]] * _STAT, usual_hp)
        stages = active[..., self.boosts] * _STAGE
        factor = (2 + stages.clamp(min=0)) / (2 - stages.clamp(max=0))
        for stat, screen in zip((1, 3), self.screens, strict=False):
            factor[..., stat] *= 1 + (active[..., screen] > 0).float()
        sides = stats.view(len(stats), 2, TEAM, -1)
        there = sides[:, :, : self.slots] * factor.view(len(stats), 2, self.slots, -1)
        stats = torch.cat((there, sides[:, :, self.slots :]), dim=2).flatten(1, 2)
        hp = numbers[..., self.at["hp_fraction"]] * (1 - numbers[..., self.at["fainted"]])
        base_speed = numbers[..., self.base_speed] * _BASE
        return Bodies(stats, level, max_hp.clamp(min=1), hp, base_speed)

    def _shares(self, ids: Tensor, bodies: Bodies, users: Tensor, targets: Tensor) -> Tensor:
        """(N, users, 4, targets, 2): what the users' moves take of the targets' HP."""
        moves = ids[:, users][..., self.moves]
        facts = self.strikes[moves]  # (N, users, 4, facts)
        kind = self.move_types[moves]
        stab = (ids[:, users][..., None, self.types] == kind.unsqueeze(-1)).any(dim=-1)
        on = ids[:, targets][..., self.types]
        factor = self.chart[kind[:, :, :, None, None], on[:, None, None]].prod(dim=-1)
        physical = facts[..., PHYSICAL] > 0
        mine, theirs = bodies.stats[:, users].unsqueeze(2), bodies.stats[:, targets]
        attack = torch.where(physical, mine[..., 0], mine[..., 2]).unsqueeze(-1)
        defences = theirs[:, None, None]
        defence = torch.where(physical.unsqueeze(-1), defences[..., 1], defences[..., 3])
        level = bodies.level[:, users].view(len(ids), -1, 1, 1)
        power = facts[..., POWER].unsqueeze(-1)
        hit = ((0.4 * level + 2) * power * attack / defence.clamp(min=1) / 50 + 2) * (power > 0)
        critical = (facts[..., CRITICAL] * bodies.base_speed[:, users].unsqueeze(2)).clamp(max=1)
        scale = (1 + 0.5 * stab.float()) * (1 + critical) * facts[..., HITS] * _MEAN_ROLL
        hit = hit * scale.unsqueeze(-1) * factor
        fixed = facts[..., FIXED].unsqueeze(-1) + facts[..., LEVEL].unsqueeze(-1) * level
        left = bodies.hp[:, targets][:, None, None]
        alive = (left > 0) & (bodies.hp[:, users].view(len(ids), -1, 1, 1) > 0)
        share = (hit + fixed * (factor > 0)) / bodies.max_hp[:, targets][:, None, None] * alive
        shares = torch.stack((share, share / left.clamp(min=0.01)), dim=-1)
        return shares.clamp(max=_CAP)
