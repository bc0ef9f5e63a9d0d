"""Encoders of the entity observation: twelve Pokémon, active slots and the field.

Bench rows are treated alike: permuting them permutes their embeddings and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from nashmon.nets.bags import sum_rows
from nashmon.nets.config import PolicyConfig
from nashmon.nets.encoding import MOVES, TEAM, Encoder, Encoding, Tables
from nashmon.nets.layers import FeedForward, SelfAttention, mlp
from nashmon.nets.matchup import PAIR, Matchup
from nashmon.nets.parts import add_parts
from nashmon.nets.pooling import Pooled, pool
from nashmon.observe.spec import ArraySpec, ObsSpec


class EntityEmbedding(nn.Module):
    """Ids and numbers of each Pokémon → one vector, and the vectors of the active ones' moves.

    All id columns of a row are summed by one embedding-bag over a joint table; constant features
    of a word (power of a move, weight of a species …) are projected into its row of the table.
    """

    offsets: Tensor

    def __init__(self, width: int, observation: ObsSpec, tables: Tables) -> None:
        super().__init__()
        ids, numbers = observation["pokemon_ids"], observation["pokemon_numbers"]
        active = observation["active_numbers"]
        self.slots = len(active.rows) // 2
        # Columns that differ only in a final number (type_0, type_1) share one part of the table.
        groups: dict[str, tuple[int, int]] = {}
        offsets, self.size = [], 0
        self.features = nn.ModuleDict()
        for column in ids.columns:
            group = column.name.rstrip("0123456789").rstrip("_")
            if group not in groups:
                vocab = str(column.vocab)
                groups[group] = (self.size, observation.vocabulary(vocab).size)
                self.size += groups[group][1]
                if vocab in tables.features and group in ("move", "species"):
                    self.features[group] = WordFeatures(torch.tensor(tables.features[vocab]), width)
            offsets.append(groups[group][0])
        self.groups = groups
        self.register_buffer("offsets", torch.tensor(offsets), persistent=False)
        self.table = nn.Parameter(0.3 * torch.randn(self.size, width))
        self.numbers = nn.Linear(len(numbers.columns), width)
        self.active = nn.Linear(len(active.columns), width, bias=False)
        self.places = nn.Parameter(0.3 * torch.randn(2, self.slots, width))
        self.sides = nn.Parameter(0.3 * torch.randn(2, 1, width))
        self.move_numbers = nn.Linear(2, width)
        self.move_columns = four(ids, "move")
        self.pp_columns, self.disabled_columns = four(numbers, "pp"), four(numbers, "disabled")
        self.occupied = active.column("occupied")
        self.present, self.is_active = numbers.column("present"), numbers.column("active")

    def _joint_table(self) -> Tensor:
        table: Tensor = self.table
        for group, features in self.features.items():
            start, size = self.groups[group]
            table = table + F.pad(features(), (0, 0, start, self.size - start - size))
        return table

    def forward(
        self, observations: Mapping[str, Tensor], pairs: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Rows (N, 12, width) and moves (N, own slots, 4, width).

        `pairs` (N, 6, width): what the own Pokémon get for how they would fare against the foes.
        """
        ids, numbers = observations["pokemon_ids"], observations["pokemon_numbers"]
        active = observations["active_numbers"]
        table = self._joint_table()
        places = ids.long() + self.offsets
        bags = sum_rows(places.flatten(0, 1), table)
        where = active[..., self.occupied].view(-1, 2, self.slots, 1) * self.places
        slots = where + self.active(active).view_as(where)
        rows = add_parts(bags, self.numbers(numbers).flatten(0, 1), self.sides, slots, pairs)
        chosen = places[:, : self.slots, self.move_columns]
        moves = sum_rows(chosen.reshape(-1, 1), table).view(*chosen.shape, -1)
        own = numbers[:, : self.slots]
        state = torch.stack((own[..., self.pp_columns], own[..., self.disabled_columns]), dim=-1)
        return rows.view(len(ids), 2 * TEAM, -1), moves + self.move_numbers(state)


def four(array: ArraySpec, name: str) -> slice:
    """The columns of a Pokémon's four moves; they stand side by side, so taking them is free."""
    columns = [array.column(f"{name}_{k}") for k in range(MOVES)]
    if columns != list(range(columns[0], columns[0] + MOVES)):
        raise ValueError(f"columns {name}_0 … {name}_3 of {array.name} must stand side by side")
    return slice(columns[0], columns[0] + MOVES)


class WordFeatures(nn.Module):
    """Constant features of the words of a vocabulary, projected: (words, width)."""

    values: Tensor

    def __init__(self, values: Tensor, width: int) -> None:
        super().__init__()
        self.register_buffer("values", values.float().clone())
        self.project = nn.Linear(values.shape[1], width, bias=False)

    def forward(self) -> Tensor:
        """One vector per word."""
        out: Tensor = self.project(self.values)
        return out


class Effectiveness(nn.Module):
    """How well each move of the own active Pokémon hits each active foe, from the type chart.

    log₂(factor) / 2, so 2× is 0.5 and an immunity −1.5; attacks and status moves in two channels.
    """

    move_types: Tensor
    channels: Tensor
    chart: Tensor

    def __init__(self, observation: ObsSpec, tables: Tables) -> None:
        super().__init__()
        ids = observation["pokemon_ids"]
        self.slots = len(observation["active_numbers"].rows) // 2
        self.moves = four(ids, "move")
        self.types = [k for k, column in enumerate(ids.columns) if column.name.startswith("type_")]
        damaging = torch.tensor(tables.damaging).float()
        self.register_buffer("move_types", torch.tensor(tables.move_types))
        self.register_buffer("channels", torch.stack((damaging, 1 - damaging), dim=-1))
        # Factors multiply, so their logarithms add; an immunity outweighs any weakness.
        self.register_buffer("chart", torch.tensor(tables.type_chart).clamp(min=2**-9).log2() / 2)

    def forward(self, ids: Tensor, occupied: Tensor) -> Tensor:
        """(N, own slots, 4, foe slots, 2), 0 for empty slots; `occupied` is (N, 2·slots)."""
        moves = ids[:, : self.slots, self.moves].long()
        types = ids[:, TEAM : TEAM + self.slots, self.types].long()
        attack = self.move_types[moves][:, :, :, None, None]
        factor = self.chart[attack, types[:, None, None]].sum(dim=-1).clamp(min=-1.5)
        own, foe = occupied[:, : self.slots], occupied[:, self.slots :]
        factor = factor * own[:, :, None, None] * foe[:, None, None]
        return factor.unsqueeze(-1) * self.channels[moves].unsqueeze(3)


class EntityEncoder(Encoder):
    """What the two entity encoders share: embedding, the parts of the summary, the preview."""

    def __init__(self, config: PolicyConfig, observation: ObsSpec, tables: Tables) -> None:
        super().__init__()
        self.embed = EntityEmbedding(config.entity_width, observation, tables)
        self.effectiveness = Effectiveness(observation, tables)
        self.matchup = Matchup(observation, tables) if config.matchup else None
        self.out: nn.Module
        self.preview_column = observation["field"].column("phase_preview")
        slots = self.embed.slots
        vectors = 2 * (slots + 2) + MOVES * slots
        self.part_width = vectors * config.entity_width
        self.part_width += config.effect_channels * MOVES * slots**2
        if config.matchup:
            self.pairs = nn.Linear(PAIR * slots, config.entity_width, bias=False)

    def embedded(self, observations: Mapping[str, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """Rows, moves of the own slots, and what those do to the active foes."""
        occupied = observations["active_numbers"][..., self.embed.occupied]
        effect = self.effectiveness(observations["pokemon_ids"], occupied)
        if self.matchup is None:
            return *self.embed(observations, None), effect
        damage, pairs = self.matchup(observations)
        rows, moves = self.embed(observations, self.pairs(pairs))
        return rows, moves, torch.cat((effect, damage), dim=-1)

    def encoding(
        self,
        observations: Mapping[str, Tensor],
        rows: Tensor,
        moves: Tensor,
        effect: Tensor,
        field: Tensor,
    ) -> Encoding:
        """Join slots, pooled benches, moves, their effect on the foes and the field."""
        numbers = observations["pokemon_numbers"]
        occupied = observations["active_numbers"][..., self.embed.occupied]
        own_moves = moves * occupied[:, : self.embed.slots, None, None]
        parts = (*self.pooled(rows, numbers), own_moves.flatten(1), effect.flatten(1), field)
        preview = self.preview(numbers, observations["field"])
        return Encoding(self.out(torch.cat(parts, dim=1)), rows, moves, effect, preview)

    def pooled(self, rows: Tensor, numbers: Tensor) -> Pooled:
        """Active slots of both sides, mean and maximum of each bench: (N, …) each."""
        active = numbers[..., self.embed.is_active].view(-1, 2, TEAM)
        present = numbers[..., self.embed.present].view(-1, 2, TEAM)
        sides = rows.view(len(rows), 2, TEAM, -1)
        return pool(sides, active, present * (1 - active), self.embed.slots)

    def preview(self, numbers: Tensor, field: Tensor) -> Tensor:
        """Number of own Pokémon at a team preview, else 0."""
        team = numbers[:, :TEAM, self.embed.present].sum(dim=1)
        return (team * (field[:, self.preview_column] > 0)).round().long()


class SetEncoder(EntityEncoder):
    """Each Pokémon alone through shared layers; slots kept, benches pooled.  Cheap on CPUs."""

    def __init__(self, config: PolicyConfig, observation: ObsSpec, tables: Tables) -> None:
        super().__init__(config, observation, tables)
        entity = config.entity_width
        self.blocks = nn.Sequential(
            *[FeedForward(entity, factor=1) for _ in range(config.encoder_layers)]
        )
        joined = self.part_width + len(observation["field"].columns)
        self.out = mlp((joined, config.width, config.width))

    def forward(self, observations: Mapping[str, Tensor]) -> Encoding:
        """Encode N decisions."""
        rows, moves, effect = self.embedded(observations)
        return self.encoding(observations, self.blocks(rows), moves, effect, observations["field"])


class AttentionEncoder(EntityEncoder):
    """Attention among the twelve Pokémon and a token for the field."""

    def __init__(self, config: PolicyConfig, observation: ObsSpec, tables: Tables) -> None:
        super().__init__(config, observation, tables)
        entity = config.entity_width
        self.field = nn.Linear(len(observation["field"].columns), entity)
        self.blocks = nn.Sequential(
            *[
                nn.Sequential(SelfAttention(entity, config.encoder_heads), FeedForward(entity))
                for _ in range(config.encoder_layers)
            ]
        )
        self.norm = nn.LayerNorm(entity)
        self.out = mlp((self.part_width + entity, config.width))

    def forward(self, observations: Mapping[str, Tensor]) -> Encoding:
        """Encode N decisions."""
        rows, moves, effect = self.embedded(observations)
        field = self.field(observations["field"]).unsqueeze(1)
        tokens = self.norm(self.blocks(torch.cat((rows, field), dim=1)))
        return self.encoding(observations, tokens[:, :-1], moves, effect, tokens[:, -1])
