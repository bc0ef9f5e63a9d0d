"""Pointer policies: each action is scored from the embeddings of what it refers to.

A score is w · relu(embedding of the action + context), so permuting moves or bench Pokémon
permutes the scores with them.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from nashmon.nets.config import ActionSpec, PolicyConfig, PolicyConfigError
from nashmon.nets.distribution import ILLEGAL, masked_log_softmax
from nashmon.nets.encoding import TEAM, Encoding
from nashmon.nets.layers import small_linear
from nashmon.nets.scores import scores

SLOT_ACTIONS = 45  # doubles, per slot: 4 moves × 2 (gimmick) × 5 targets, 4 switches, pass


class SinglesHead(nn.Module):
    """Moves, switches, and moves with the gimmick."""

    def __init__(self, config: PolicyConfig, actions: ActionSpec) -> None:
        super().__init__()
        if actions.num_actions < 9:
            raise PolicyConfigError(f"singles has 9 or more actions, not {actions.num_actions}")
        width, entity = config.width, config.entity_width
        self.num_actions = actions.num_actions
        self.move = nn.Linear(entity, width)
        self.switch = nn.Linear(entity, width)
        self.move_context = nn.Linear(width + entity, width)
        self.switch_context = nn.Linear(width, width)
        self.effect = nn.Linear(config.effect_channels, width, bias=False)
        self.gimmick = nn.Parameter(0.1 * torch.randn(width))
        self.score = small_linear(width, 1)

    def forward(self, features: Tensor, encoding: Encoding, mask: Tensor) -> Tensor:
        """The log-policy (N, A)."""
        pokemon, all_moves, effectiveness = encoding.entities()
        # One split: the gradient of each cut by itself would be a tensor full of zeros.
        active, bench, _ = torch.split(pokemon, [1, TEAM - 1, TEAM], dim=1)
        context = self.move_context(torch.cat((features, active.squeeze(1)), dim=1))
        moves = self._moves(all_moves.squeeze(1), effectiveness[:, 0, :, 0])
        found = [
            scores(moves, context, self.score),
            scores(self.switch(bench), self.switch_context(features), self.score),
        ]
        if self.num_actions > 9:
            found.append(scores(moves, context + self.gimmick, self.score))
        logits = torch.cat(found, dim=1)
        # Wider action sets (previews that pick fewer Pokémon) use the first 13 in battle.
        return masked_log_softmax(F.pad(logits, (0, self.num_actions - logits.shape[1])), mask)

    def _moves(self, moves: Tensor, effect: Tensor) -> Tensor:
        """Both layers at once: move(moves) + effect(effect)."""
        weight = torch.cat((self.move.weight, self.effect.weight), dim=1)
        return F.linear(torch.cat((moves, effect), dim=-1), weight, self.move.bias)


def joint_log_policy(first: Tensor, second: Tensor, pairs: Tensor) -> Tensor:
    """log p(a, b) = log p(a) + log p(b | a) from logits (N, A) and (N, A, B); pairs are legal.

    A first action is possible if some pair with it is legal; given it, the second is normalised
    over the legal pairs, so the joint sums to one over exactly the legal pairs.
    """
    log_first = masked_log_softmax(first, pairs.any(dim=2))
    log_second = torch.where(pairs, second.float(), ILLEGAL).log_softmax(dim=2)
    return torch.where(pairs, log_first.unsqueeze(2) + log_second, ILLEGAL)


class DoublesHead(nn.Module):
    """Both slots' actions at once: p(a) · p(b | a), see `joint_log_policy`.

    Slot actions, in order: move × gimmick × target (−2 … 2), switches, pass.
    """

    def __init__(self, config: PolicyConfig, actions: ActionSpec) -> None:
        super().__init__()
        if actions.num_actions != SLOT_ACTIONS**2:
            raise PolicyConfigError(
                f"doubles has {SLOT_ACTIONS**2} actions, not {actions.num_actions}"
            )
        width, entity = config.width // 2, config.entity_width
        self.move = nn.Linear(entity, width)
        self.target = nn.Linear(entity, width)
        self.switch = nn.Linear(entity, width)
        self.effect = nn.Linear(config.effect_channels, width, bias=False)
        self.no_target = nn.Parameter(0.1 * torch.randn(width))
        self.gimmick = nn.Parameter(0.1 * torch.randn(1, 1, width))
        self.decline = nn.Parameter(0.1 * torch.randn(width))
        self.places = nn.Parameter(0.1 * torch.randn(2, 1, width))
        self.context = nn.Linear(config.width + entity, width)
        self.score = small_linear(width, 1)
        self.query = nn.Linear(width, width)
        self.key = small_linear(width, width)

    def forward(self, features: Tensor, encoding: Encoding, mask: Tensor) -> Tensor:
        """The joint log-policy (N, 2025)."""
        first, second = self._action_vectors(features, encoding).unbind(1)
        affinity = self.query(first) @ self.key(second).transpose(1, 2)
        affinity = affinity / math.sqrt(first.shape[-1]) + self.score(second).transpose(1, 2)
        pairs = mask.view(-1, SLOT_ACTIONS, SLOT_ACTIONS)
        return joint_log_policy(self.score(first).squeeze(-1), affinity, pairs).flatten(1)

    def _action_vectors(self, features: Tensor, encoding: Encoding) -> Tensor:
        """Vectors (N, 2 slots, 45, width) in the order of the slot's actions."""
        rows, moves, effectiveness = encoding.entities()
        count = len(features)
        own, foe = rows[:, :2], rows[:, TEAM : TEAM + 2]
        allies, foes = self.target(own), self.target(foe)
        none = self.no_target.expand(count, 1, -1)
        # Targets −2, −1 are the own slots b, a; then no target; 1, 2 are the foe's slots a, b.
        targets = torch.cat((allies.flip(1), none, foes), dim=1)
        gimmick = torch.cat((torch.zeros_like(self.gimmick), self.gimmick))
        # Effectiveness belongs to a move and the foe it is aimed at; a spread move sees the mean.
        effect = torch.cat((effectiveness.mean(dim=3, keepdim=True), effectiveness), dim=3)
        aimed = targets[:, None, None] + F.pad(self.effect(effect), (0, 0, 2, 0))
        moves = self.move(moves)[:, :, :, None, None] + aimed.unsqueeze(3) + gimmick
        moves = moves.flatten(2, 4)
        switches = self.switch(rows[:, 2:TEAM]).unsqueeze(1).expand(-1, 2, -1, -1)
        decline = self.decline.expand(count, 2, 1, -1)
        actions = torch.cat((moves, switches, decline), dim=2)
        context = self.context(
            torch.cat((features.unsqueeze(1).expand(-1, 2, -1), own), dim=2)
        ).unsqueeze(2)
        return F.relu(actions + (context + self.places))
