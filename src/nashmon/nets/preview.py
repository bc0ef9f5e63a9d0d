"""Team preview: which Pokémon lead and which others come along."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from nashmon.nets.config import ActionSpec, PolicyConfig, PolicyConfigError
from nashmon.nets.distribution import masked_log_softmax
from nashmon.nets.encoding import TEAM
from nashmon.nets.layers import small_linear


class PreviewHead(nn.Module):
    """Scores each pick by the sum of its leads' and of its others' embeddings.

    Row k of the own six is the k-th Pokémon of the preview; all picks are scored at once.  What a
    pick means depends on the size of the team, so there is a table for every size.
    """

    leads: Tensor
    others: Tensor

    def __init__(self, config: PolicyConfig, actions: ActionSpec) -> None:
        super().__init__()
        sets = [actions.preview_sets(size) for size in range(TEAM + 1)]
        num_picks = max(map(len, sets))
        if num_picks > actions.num_actions:
            raise PolicyConfigError(
                f"{num_picks} preview picks do not fit in {actions.num_actions} actions"
            )
        self.num_actions = actions.num_actions
        tables = torch.zeros(2, TEAM + 1, num_picks, TEAM)
        for size, picks in enumerate(sets):
            for row, pick in enumerate(picks):
                for part, members in enumerate(pick):
                    tables[part, size, row, list(members)] = 1.0
        self.register_buffer("leads", tables[0], persistent=False)
        self.register_buffer("others", tables[1], persistent=False)
        width = config.width
        self.lead = nn.Linear(config.entity_width, width)
        self.other = nn.Linear(config.entity_width, width, bias=False)
        self.context = nn.Linear(width, width)
        self.score = small_linear(width, 1)

    def forward(self, features: Tensor, pokemon: Tensor, sizes: Tensor, mask: Tensor) -> Tensor:
        """The log-policy (N, A) of N team previews with teams of the given sizes (N,)."""
        own = pokemon[:, :TEAM]
        picks = self.leads[sizes] @ self.lead(own) + self.others[sizes] @ self.other(own)
        hidden = F.relu(picks + self.context(features).unsqueeze(1))
        logits = self.score(hidden).squeeze(-1)
        return masked_log_softmax(F.pad(logits, (0, self.num_actions - logits.shape[1])), mask)
