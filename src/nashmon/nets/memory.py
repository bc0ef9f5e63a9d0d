"""What a policy carries from one decision to the next: nothing, a recurrent state or a KV cache.

All kinds share one interface.  A state is a dict of tensors with the batch first, so rows can be
selected, stacked and stored without knowing the kind.  A single step is a sequence of length one:
acting and learning run the same code.  Every row gets an output, but only rows that are `acting`
are remembered.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from nashmon.nets.layers import FeedForward, rotate

MemoryKind = Literal["none", "lstm", "gru", "transformer"]
MemoryState = dict[str, Tensor]


class Memory(nn.Module):
    """Maps x (time, batch, width) to y of the same shape, looking back but never ahead."""

    @abstractmethod
    def initial(self, batch: int) -> MemoryState:
        """The empty state at the start of an episode."""

    @abstractmethod
    def sequence(
        self, x: Tensor, state: MemoryState | None, resets: Tensor, acting: Tensor
    ) -> tuple[Tensor, MemoryState]:
        """Process a sequence; `resets` (time, batch) marks steps that start a new episode."""

    def step(self, x: Tensor, state: MemoryState) -> tuple[Tensor, MemoryState]:
        """Process one decision x (batch, width) of running episodes."""
        batch = x.shape[0]
        resets = torch.zeros(1, batch, dtype=torch.bool, device=x.device)
        y, state = self.sequence(x.unsqueeze(0), state, resets, ~resets)
        return y.squeeze(0), state


def forget(state: MemoryState, initial: MemoryState, rows: Tensor) -> MemoryState:
    """The state with the given rows (batch,) bool replaced by the initial one."""
    return {
        name: torch.where(rows.view(-1, *[1] * (tensor.dim() - 1)), initial[name], tensor)
        for name, tensor in state.items()
    }


class NoMemory(Memory):
    """Each decision stands alone."""

    def initial(self, batch: int) -> MemoryState:
        """Nothing to carry."""
        return {}

    def sequence(
        self, x: Tensor, state: MemoryState | None, resets: Tensor, acting: Tensor
    ) -> tuple[Tensor, MemoryState]:
        """Pass x through."""
        return x, {}


class RecurrentMemory(Memory):
    """Stacked LSTM or GRU cells with a residual connection around each.

    The input projections of all steps are one matrix product; only the recurrent part loops.
    """

    def __init__(self, kind: Literal["lstm", "gru"], width: int, layers: int) -> None:
        super().__init__()
        self.kind, self.width, self.layers = kind, width, layers
        gates = 4 if kind == "lstm" else 3
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers))
        self.inputs = nn.ModuleList(nn.Linear(width, gates * width) for _ in range(layers))
        self.recurrents = nn.ModuleList(nn.Linear(width, gates * width) for _ in range(layers))
        if kind == "lstm":
            for layer in self.inputs:
                assert isinstance(layer, nn.Linear)
                nn.init.ones_(layer.bias.data[width : 2 * width])  # remember by default

    def initial(self, batch: int) -> MemoryState:
        """Zeros (batch, layers, width)."""
        weight = next(self.parameters())
        names = ("hidden", "cell") if self.kind == "lstm" else ("hidden",)
        return {n: weight.new_zeros(batch, self.layers, self.width) for n in names}

    def sequence(
        self, x: Tensor, state: MemoryState | None, resets: Tensor, acting: Tensor
    ) -> tuple[Tensor, MemoryState]:
        """Run each layer over time."""
        state = self.initial(x.shape[1]) if state is None else state
        run = self._lstm if self.kind == "lstm" else self._gru
        # None: nothing to select, which spares a third of the small operations in the loop.
        fresh = resets.unsqueeze(-1) if bool(resets.any()) else None
        idle = ~acting.unsqueeze(-1) if not bool(acting.all()) else None
        finals: list[MemoryState] = []
        for index in range(self.layers):
            carried = {name: tensor[:, index] for name, tensor in state.items()}
            y, final = run(index, self.norms[index](x), carried, fresh, idle)
            finals.append(final)
            x = x + y
        return x, {name: torch.stack([f[name] for f in finals], 1) for name in state}

    def _lstm(
        self, index: int, x: Tensor, state: MemoryState, fresh: Tensor | None, idle: Tensor | None
    ) -> tuple[Tensor, MemoryState]:
        projected, recurrent = self.inputs[index](x), self.recurrents[index]
        hidden, cell, outputs = state["hidden"], state["cell"], []
        for t in range(len(x)):
            hidden, cell = _selected(fresh, t, 0.0, hidden), _selected(fresh, t, 0.0, cell)
            enter, retain, candidate, show = (projected[t] + recurrent(hidden)).chunk(4, dim=-1)
            new_cell = retain.sigmoid() * cell + enter.sigmoid() * candidate.tanh()
            new_hidden = show.sigmoid() * new_cell.tanh()
            outputs.append(new_hidden)
            hidden = _selected(idle, t, hidden, new_hidden)
            cell = _selected(idle, t, cell, new_cell)
        return torch.stack(outputs), {"hidden": hidden, "cell": cell}

    def _gru(
        self, index: int, x: Tensor, state: MemoryState, fresh: Tensor | None, idle: Tensor | None
    ) -> tuple[Tensor, MemoryState]:
        projected, recurrent = self.inputs[index](x), self.recurrents[index]
        hidden, outputs = state["hidden"], []
        for t in range(len(x)):
            hidden = _selected(fresh, t, 0.0, hidden)
            x_reset, x_update, x_new = projected[t].chunk(3, dim=-1)
            h_reset, h_update, h_new = recurrent(hidden).chunk(3, dim=-1)
            update = (x_update + h_update).sigmoid()
            candidate = (x_new + (x_reset + h_reset).sigmoid() * h_new).tanh()
            new_hidden = candidate + update * (hidden - candidate)
            outputs.append(new_hidden)
            hidden = _selected(idle, t, hidden, new_hidden)
        return torch.stack(outputs), {"hidden": hidden}


def _selected(rows: Tensor | None, t: int, chosen: Tensor | float, other: Tensor) -> Tensor:
    return other if rows is None else torch.where(rows[t], chosen, other)


class TransformerMemory(Memory):
    """Causal attention over the last `window` decisions of the episode, with a KV cache.

    The cache is a sliding window: `keys`/`values` (batch, layers, window, heads, size) are already
    rotated to their `positions` (batch, window), −1 where empty; `next` (batch,) counts decisions.
    """

    def __init__(self, width: int, layers: int, heads: int, window: int) -> None:
        super().__init__()
        self.width, self.heads, self.window, self.layers = width, heads, window, layers
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers))
        self.qkvs = nn.ModuleList(nn.Linear(width, 3 * width) for _ in range(layers))
        self.outs = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))
        self.feeds = nn.ModuleList(FeedForward(width) for _ in range(layers))

    def initial(self, batch: int) -> MemoryState:
        """An empty cache."""
        return self._empty(batch, self.window)

    def _empty(self, batch: int, slots: int) -> MemoryState:
        weight = next(self.parameters())
        shape = (batch, self.layers, slots, self.heads, self.width // self.heads)
        return {
            "keys": weight.new_zeros(shape),
            "values": weight.new_zeros(shape),
            "positions": weight.new_full((batch, slots), -1, dtype=torch.int64),
            "next": weight.new_zeros(batch, dtype=torch.int64),
        }

    def sequence(
        self, x: Tensor, state: MemoryState | None, resets: Tensor, acting: Tensor
    ) -> tuple[Tensor, MemoryState]:
        """Attend to the cache and to earlier steps of the same episode."""
        x = x.transpose(0, 1)
        state = self._empty(x.shape[0], 0) if state is None else state
        timeline = _Timeline(state, resets.T, acting.T)
        mask = timeline.mask(self.window).unsqueeze(1)
        all_keys, all_values = [], []
        for index in range(self.layers):
            qkv = self.qkvs[index](self.norms[index](x))
            q, k, v = qkv.unflatten(-1, (3, self.heads, -1)).unbind(2)
            q, k = rotate(q, timeline.positions), rotate(k, timeline.positions)
            keys = torch.cat((state["keys"][:, index].to(k.dtype), k), dim=1)
            values = torch.cat((state["values"][:, index].to(v.dtype), v), dim=1)
            read = F.scaled_dot_product_attention(
                q.transpose(1, 2), keys.transpose(1, 2), values.transpose(1, 2), attn_mask=mask
            )
            x = self.feeds[index](x + self.outs[index](read.transpose(1, 2).flatten(2)))
            all_keys.append(keys)
            all_values.append(values)
        after = timeline.after(torch.stack(all_keys, 1), torch.stack(all_values, 1), self.window)
        return x.transpose(0, 1), after


class _Timeline:
    """Where each step of a sequence stands in its episode; all tensors are (batch, time)."""

    def __init__(self, state: MemoryState, resets: Tensor, acting: Tensor) -> None:
        self.cached, self.acting = state["positions"], acting
        self.episode = resets.cumsum(dim=1)  # 0 is the episode the cache belongs to
        before = acting.cumsum(dim=1) - acting.long()
        start = torch.where(resets, before, -1).cummax(dim=1).values
        self.positions = torch.where(
            start >= 0, before - start, state["next"].unsqueeze(1) + before
        )

    def mask(self, window: int) -> Tensor:
        """Which keys (cache, then sequence) each query may read: (batch, time, keys)."""
        oldest = (self.positions - window).unsqueeze(-1)
        cached = self.cached.unsqueeze(1)
        in_cache = (cached >= 0) & (cached > oldest) & (self.episode == 0).unsqueeze(-1)
        time = torch.arange(self.acting.shape[1], device=self.acting.device)
        earlier = (time.unsqueeze(0) < time.unsqueeze(1)) & self.acting.unsqueeze(1)
        itself = time.unsqueeze(0) == time.unsqueeze(1)
        same = self.episode.unsqueeze(1) == self.episode.unsqueeze(2)
        in_sequence = same & (itself | (earlier & (self.positions.unsqueeze(1) > oldest)))
        return torch.cat((in_cache, in_sequence), dim=2)

    def after(self, keys: Tensor, values: Tensor, window: int) -> MemoryState:
        """The cache after the sequence: the last `window` remembered steps of the last episode."""
        last = self.episode[:, -1:]
        positions = torch.cat((self.cached, self.positions), dim=1)
        alive = torch.cat(
            ((self.cached >= 0) & (last == 0), self.acting & (self.episode == last)), dim=1
        )
        missing = window - positions.shape[1]
        if missing > 0:
            positions, alive = F.pad(positions, (missing, 0)), F.pad(alive, (missing, 0))
            pad = (0, 0, 0, 0, missing, 0)
            keys, values = F.pad(keys, pad), F.pad(values, pad)
        places = torch.arange(positions.shape[1], device=positions.device)
        chosen = torch.where(alive, places, -1).sort(dim=1).values[:, -window:]
        index, used = chosen.clamp(min=0), chosen >= 0
        wide = index[:, None, :, None, None].expand(-1, keys.shape[1], -1, *keys.shape[3:])
        return {
            "keys": torch.where(used[:, None, :, None, None], keys.gather(2, wide), 0.0),
            "values": torch.where(used[:, None, :, None, None], values.gather(2, wide), 0.0),
            "positions": torch.where(used, positions.gather(1, index), -1),
            "next": self.positions[:, -1] + self.acting[:, -1].long(),
        }


def build_memory(kind: MemoryKind, width: int, layers: int, heads: int, window: int) -> Memory:
    """The memory a config asks for."""
    if kind == "none":
        return NoMemory()
    if kind == "transformer":
        return TransformerMemory(width, layers, heads, window)
    return RecurrentMemory(kind, width, layers)
