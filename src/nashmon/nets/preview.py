"""Team preview: which Pokémon lead and which others come along."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from nashmon.nets.config import ActionSpec, PolicyConfig, PolicyConfigError
from nashmon.nets.distribution import masked_log_softmax
from nashmon.nets.layers import small_linear

TEAM = 6


class PreviewHead(nn.Module):
    """Scores each pick by the sum of its leads' and of its others' embeddings.

    Row k of the own six is the k-th Pokémon of the preview; all picks are scored at once.
    """

    leads: Tensor
    others: Tensor

    def __init__(self, config: PolicyConfig, actions: ActionSpec) -> None:
        super().__init__()
        sets = actions.preview_sets()
        if len(sets) > actions.num_actions:
            raise PolicyConfigError(
                f"{len(sets)} preview picks do not fit in {actions.num_actions} actions"
            )
        self.num_actions = actions.num_actions
        for name, index in (("leads", 0), ("others", 1)):
            table = torch.zeros(len(sets), TEAM)
            for row, pick in enumerate(sets):
                table[row, list(pick[index])] = 1.0
            self.register_buffer(name, table, persistent=False)
        width = config.width
        self.lead = nn.Linear(config.entity_width, width)
        self.other = nn.Linear(config.entity_width, width, bias=False)
        self.context = nn.Linear(width, width)
        self.score = small_linear(width, 1)

    def forward(self, features: Tensor, pokemon: Tensor, mask: Tensor) -> Tensor:
        """The log-policy (N, A) of N team previews."""
        own = pokemon[:, :TEAM]
        picks = self.leads @ self.lead(own) + self.others @ self.other(own)
        hidden = F.relu(picks + self.context(features).unsqueeze(1))
        logits = self.score(hidden).squeeze(-1)
        return masked_log_softmax(F.pad(logits, (0, self.num_actions - logits.shape[1])), mask)
