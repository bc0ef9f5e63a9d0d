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
from nashmon.agents.search_playout import legal_actions, try_pairs
from nashmon.agents.search_sets import guessed_teams
from nashmon.core.agent import Agent, Decisions
from nashmon.core.errors import UnsupportedError
from nashmon.core.formats import get_format
from nashmon.sim.gen1.rules import plays

SAMPLES = 8  # foes imagined per decision
TURNS = 1  # played after each pair of actions, the pair's own included
PRUNE_AFTER = (2, 8)  # rounds after which poor actions are left out
MARGIN = 0.2  # … when they are worse by this much, on a scale where a win is 1 and a loss −1
_ACTIONS = 13
_ITERATIONS = 100


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
        game = _Game(np.stack([position.state for position, _ in imagined]), imagined[0][1])
        played = 0
        while played < self.sims or (self.seconds and time.perf_counter() < deadline) or not played:
            played += game.play(rng)
            if game.rounds in PRUNE_AFTER:
                game.prune()
        own, strategy = game.strategy()
        return int(rng.choice(own, p=strategy))


class _Game:
    """The Bayesian game of one decision, as far as play-outs have filled it in."""

    def __init__(self, state: NDArray[np.int16], seat: int) -> None:
        self.state, self.seat, self.rounds = state, seat, 0
        masks = np.zeros((len(state), 2, _ACTIONS), np.uint8)
        legal_actions(state, masks)
        self.own = np.flatnonzero(masks[0, seat])
        self.allowed = masks[:, 1 - seat].astype(np.bool_)
        self.asked: NDArray[np.bool_] = np.asarray(self.allowed.any(axis=1))
        self.allowed[~self.asked, 0] = True  # a foe that is not asked has one answer
        self.total = np.zeros((len(state), _ACTIONS, _ACTIONS))
        self.count = np.zeros_like(self.total)

    def play(self, rng: np.random.Generator) -> int:
        """Play every pair that is still of interest once; returns how many."""
        dice = rng.integers(0, 1 << 63, size=len(self.state), dtype=np.uint64)
        which = self.own, self.allowed, self.asked
        self.rounds += 1
        return int(try_pairs(self.state, self.seat, *which, dice, TURNS, self.total, self.count))

    def _solve(self) -> Any:
        tables = self.total / np.maximum(self.count, 1)
        return tables, *solve(tables, self.own, self.allowed, _ITERATIONS)

    def prune(self) -> None:
        """Leave out actions that are clearly worse than others against the present answers."""
        tables, mine, answers = self._solve()
        rows = tables[:, self.own]
        gain = (rows * answers[:, None]).sum(axis=2).mean(axis=0)
        losses = (rows * mine[None, :, None]).sum(axis=1)
        best = np.where(self.allowed, losses, np.inf).min(axis=1, keepdims=True)
        self.own = self.own[gain > gain.max() - MARGIN]
        self.allowed &= losses < best + MARGIN

    def strategy(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Own actions and their probabilities."""
        _, mine, _ = self._solve()
        # Shares that are due to the solver's remaining error are not played.
        kept = np.where(mine < 0.05, 0.0, mine)
        return self.own, kept / kept.sum()


@njit(cache=True)  # type: ignore[untyped-decorator]
def _share(regret: Any, allowed: Any, out: Any) -> None:
    """Probabilities in proportion to the positive regrets; uniform when there are none."""
    total, count = 0.0, 0
    for i in range(len(out)):
        if allowed[i]:
            total += regret[i]
            count += 1
    for i in range(len(out)):
        out[i] = (regret[i] / total if total > 0.0 else 1.0 / count) if allowed[i] else 0.0


@njit(cache=True)  # type: ignore[untyped-decorator]
def solve(tables: Any, own: Any, allowed: Any, iterations: int) -> Any:
    """Strategies over `own` of the player that does not know which table is played, and the foe's.

    tables (samples, actions, actions) hold the player's value; the foe knows the table and has the
    `allowed` (samples, actions) answers.  Regret matching+ with linear averaging.
    """
    samples, width = allowed.shape
    everything = np.ones(len(own), np.bool_)
    regret, mean = np.zeros(len(own)), np.zeros(len(own))
    foe_regret, foe_mean = np.zeros(allowed.shape), np.zeros(allowed.shape)
    mine, gain = np.zeros(len(own)), np.zeros(len(own))
    answers, losses = np.zeros(width), np.zeros(width)
    for iteration in range(1, iterations + 1):
        _share(regret, everything, mine)
        gain[:] = 0.0
        for k in range(samples):
            _share(foe_regret[k], allowed[k], answers)
            losses[:] = 0.0
            for i in range(len(own)):
                row = tables[k, own[i]]
                for j in range(width):
                    gain[i] += row[j] * answers[j]
                    losses[j] += mine[i] * row[j]
            expected = 0.0
            for j in range(width):
                expected += losses[j] * answers[j]
            for j in range(width):
                foe_regret[k, j] = max(foe_regret[k, j] + expected - losses[j], 0.0)
                foe_mean[k, j] += iteration * answers[j]
        expected = 0.0
        for i in range(len(own)):
            expected += gain[i] * mine[i]
        for i in range(len(own)):
            regret[i] = max(regret[i] + gain[i] - expected, 0.0)
            mean[i] += iteration * mine[i]
    weight = iterations * (iterations + 1) / 2
    return mean / weight, foe_mean / weight


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
