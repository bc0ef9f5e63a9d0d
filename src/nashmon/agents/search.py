"""Decision-time search for Gen 1: sampled foes, simultaneous moves, short play-outs.

For each decision the unknown part of the foe's team is drawn several times.  In every sample each
pair of own and foe actions is played and followed by a short play-out of sensible players.  The
own strategy is then the one that does best when, in every sample, the foe answers knowing its own
team: a Bayesian game, solved by regret matching.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nashmon.agents.registry import UnknownAgentError
from nashmon.agents.search_playout import legal_actions, try_actions
from nashmon.agents.search_sets import guessed_teams
from nashmon.core.agent import Agent, Decisions
from nashmon.core.errors import UnsupportedError
from nashmon.core.formats import get_format
from nashmon.sim.gen1.rules import plays

SAMPLES = 8  # foes imagined per decision
TURNS = 8  # of a play-out
_ACTIONS = 13
_ITERATIONS = 300


class SearchAgent:
    """Plays Gen 1 formats on the engine, with a budget of play-outs or seconds per decision."""

    game_types = ("singles",)

    def __init__(
        self, format_id: str, sims: int = 0, seconds: float = 0.0, samples: int = SAMPLES
    ) -> None:
        if not plays(format_id):
            raise UnsupportedError(f"search plays on the Gen 1 engine, not in {format_id}")
        if (sims > 0) == (seconds > 0):
            raise UnknownAgentError("search needs a budget: sims=NUMBER or time=SECONDS")
        self.sims, self.seconds, self.samples = sims, seconds, samples
        self.name = f"search:{f'sims={sims}' if sims else f'time={seconds:g}'}"
        self._sets = guessed_teams(get_format(format_id).id)

    def start(self, num_slots: int) -> None:
        """No memory."""

    def act(self, decisions: Decisions, memory: Any, rng: np.random.Generator) -> NDArray[np.int64]:
        """Search each decision by itself."""
        if decisions.imagine is None:
            raise UnsupportedError("search needs battles of the Gen 1 engine")
        return np.array([self._decide(decisions, row, rng) for row in range(len(decisions.slots))])

    def _decide(self, decisions: Decisions, row: int, rng: np.random.Generator) -> int:
        own = np.flatnonzero(decisions.masks[row])
        if len(own) == 1:
            return int(own[0])
        assert decisions.imagine is not None
        deadline = time.perf_counter() + self.seconds
        imagined = [decisions.imagine(row, rng, self._sets) for _ in range(self.samples)]
        state = np.stack([position.state for position, _ in imagined])
        seat = imagined[0][1]
        masks = np.zeros((len(state), 2, _ACTIONS), np.uint8)
        legal_actions(state, masks)
        origins, actions = pairs(masks, seat)
        values = self._values(state, origins, actions, rng, deadline)
        tables = np.zeros((len(state), _ACTIONS, _ACTIONS))
        foe = np.maximum(actions[:, 1 - seat], 0)  # a foe that is not asked has one answer
        tables[origins, actions[:, seat], foe] = values if seat == 0 else -values
        allowed = masks[:, 1 - seat].astype(np.bool_)
        allowed[~allowed.any(axis=1), 0] = True
        strategy = solve(tables, own, allowed, _ITERATIONS)
        return int(rng.choice(own, p=strategy))

    def _values(
        self,
        state: NDArray[np.int16],
        origins: NDArray[np.int64],
        actions: NDArray[np.int64],
        rng: np.random.Generator,
        deadline: float,
    ) -> NDArray[np.float64]:
        """Mean result for p1 of every pair, within the budget; each is played at least once."""
        total, rounds = np.zeros(len(origins)), 0
        out = np.zeros(len(origins))
        limit = max(1, self.sims // len(origins)) if self.sims else 1 << 30
        while rounds < limit and (rounds == 0 or self.sims or time.perf_counter() < deadline):
            # The same dice for all pairs of a sample: what differs is then due to the actions.
            dice = rng.integers(0, 1 << 63, size=len(state), dtype=np.uint64)
            try_actions(state, origins, actions, dice[origins], TURNS, out)
            total += out
            rounds += 1
        return total / rounds


def pairs(masks: NDArray[np.uint8], seat: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Every pair of actions in every sample: (n,) samples and (n, 2) actions, −1 when not asked."""
    origins, actions = [], []
    for sample, mask in enumerate(masks):
        foe = np.flatnonzero(mask[1 - seat])
        for own in np.flatnonzero(mask[seat]).tolist():
            for other in foe.tolist() or [-1]:
                origins.append(sample)
                actions.append((own, other) if seat == 0 else (other, own))
    return np.array(origins), np.array(actions)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _shares(regret: Any, allowed: Any) -> Any:
    """Probabilities in proportion to the positive regrets; uniform when there are none."""
    total, count = (regret * allowed).sum(), allowed.sum()
    if total <= 0:
        return allowed / count
    return regret * allowed / total


@njit(cache=True)  # type: ignore[untyped-decorator]
def solve(tables: Any, own: Any, allowed: Any, iterations: int) -> Any:
    """Strategy over `own` of the player that does not know which of the tables is played.

    tables (samples, actions, actions) hold the player's value; the foe knows the table and has the
    `allowed` (samples, actions) answers.  Regret matching+ with linear averaging.
    """
    samples = len(tables)
    everything = np.ones(len(own), np.bool_)
    regret, mean = np.zeros(len(own)), np.zeros(len(own))
    foe_regret = np.zeros(allowed.shape)
    for iteration in range(1, iterations + 1):
        mine = _shares(regret, everything)
        gain = np.zeros(len(own))
        for k in range(samples):
            answers = _shares(foe_regret[k], allowed[k])
            losses = np.zeros(allowed.shape[1])
            for i in range(len(own)):
                row = tables[k, own[i]]
                gain[i] += (row * answers).sum()
                losses += mine[i] * row
            better = (losses * answers).sum() - losses
            foe_regret[k] = np.maximum(foe_regret[k] + better, 0.0)
        regret = np.maximum(regret + gain - (gain * mine).sum(), 0.0)
        mean += iteration * mine
    return mean / mean.sum()


def search_agent(options: dict[str, str], format_id: str) -> Agent:
    """The agent of `search:sims=200` or `search:time=0.1` (and samples=NUMBER)."""
    unknown = set(options) - {"sims", "time", "samples"}
    if unknown:
        raise UnknownAgentError(f"search has no option {unknown.pop()!r}: sims, time, samples")
    try:
        sims, seconds = int(options.get("sims", 0)), float(options.get("time", 0.0))
        samples = int(options.get("samples", SAMPLES))
    except ValueError as error:
        raise UnknownAgentError(f"search: {error}") from error
    return SearchAgent(format_id, sims, seconds, samples)
