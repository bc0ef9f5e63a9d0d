"""Self-play on an exactly solvable game, with the exact exploitability along the way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import torch

from nashmon.learn.batch import Batch
from nashmon.learn.damping import Damping, DampingConfig
from nashmon.learn.games import load_game
from nashmon.learn.magnet import Magnet, MagnetConfig
from nashmon.learn.nfsp import NFSP, NFSPConfig
from nashmon.learn.portfolio import Portfolio, PortfolioConfig
from nashmon.learn.ppo import PPO, PPOConfig
from nashmon.learn.regulariser import Metrics, Regulariser
from nashmon.learn.rnad import RNaD, RNaDConfig
from nashmon.learn.tabular import InfosetPolicy, NetworkPolicy, TabularPolicy, reweighted, to_batch
from nashmon.learn.tree import Enumeration, Player

Algo = Literal["ppo", "magnet", "damped", "portfolio", "rnad", "nfsp"]


@dataclass(frozen=True)
class SolveConfig:
    """A game, an algorithm with its parts, and a budget."""

    game: str = "kuhn"
    algo: Algo = "rnad"
    policy: Literal["table", "network"] = "table"
    width: int = 128  # of the network
    balance: float = 0.0  # of the network, see NetworkPolicy
    min_share: float = 1e-7  # of the table, see TabularPolicy
    updates: int = 600
    games: int = 2048  # games per update; 0: every possible game, weighted by its probability
    evaluations: int = 20
    seed: int = 0
    ppo: PPOConfig = field(default_factory=PPOConfig)
    rnad: RNaDConfig = field(default_factory=RNaDConfig)
    magnet: MagnetConfig = field(default_factory=MagnetConfig)
    damping: DampingConfig = field(default_factory=DampingConfig)
    portfolio: PortfolioConfig = field(default_factory=PortfolioConfig)
    nfsp: NFSPConfig = field(default_factory=NFSPConfig)


@dataclass(frozen=True, slots=True)
class Point:
    """State of a run after some updates."""

    update: int
    games: int
    seconds: float
    exploitability: float  # NashConv / 2 of the current policy, in the game's units
    metrics: Metrics


class SelfPlay:
    """One run: a policy, its learner and the games between them; resumable."""

    def __init__(self, config: SolveConfig) -> None:
        self.config = config
        self.tree = load_game(config.game)
        self.player = Player(self.tree)
        self.enumeration = None if config.games else Enumeration(self.tree)
        self._every: Batch | None = None  # all games; only their probabilities change
        self.rng = np.random.default_rng(config.seed)
        self.generator = torch.Generator().manual_seed(config.seed)
        self.policy = self._policy()
        self.learner: Any = LEARNERS[config.algo](self)
        self.updates = 0

    def _policy(self) -> InfosetPolicy:
        if self.config.policy == "network":
            c = self.config
            return NetworkPolicy(self.tree, self.generator, c.width, c.balance)
        policy = TabularPolicy(self.tree, self.config.min_share)
        # Away from uniform, where some games have their equilibrium.
        with torch.no_grad():
            policy.logits.normal_(0.0, 0.5, generator=self.generator)
        return policy

    def step(self) -> Metrics:
        """Play a batch of games and learn from it."""
        self.updates += 1
        if isinstance(self.learner, NFSP):
            return self._fictitious_step(self.learner)
        metrics: Metrics = self.learner.update(self._batch())
        return metrics

    def _batch(self) -> Batch:
        tree, table = self.tree, self.policy.table()
        if self.enumeration is None:
            games = self.player.play(table, self.config.games, self.rng)
            return to_batch(games, tree, tree.max_return)
        every, probabilities = self.enumeration.play(table)
        if self._every is None:
            self._every = to_batch(every, tree, tree.max_return, probabilities)
        return reweighted(self._every, every, probabilities)

    def _fictitious_step(self, learner: NFSP) -> Metrics:
        responding = learner.choose(2 * self.config.games)
        response: Any = learner.response.policy
        tables = np.stack([self.policy.table(), response.table()])
        choice = responding.long().view(-1, 2).numpy()
        games = self.player.play(tables, self.config.games, self.rng, choice)
        return learner.update(to_batch(games, self.tree, self.tree.max_return), responding)

    def exploitability(self) -> float:
        """Of the policy as it is now (NFSP: of the average policy)."""
        return self.tree.exploitability(self.policy.table())

    def state_dict(self) -> dict[str, Any]:
        """Everything needed to continue bit for bit."""
        return {
            "policy": dict(self.policy.state_dict()),
            "learner": self.learner.state_dict(),
            "generator": self.generator.get_state(),
            "rng": self.rng.bit_generator.state,
            "updates": self.updates,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from `state_dict`."""
        self.policy.load_state_dict(state["policy"])
        self.learner.load_state_dict(state["learner"])
        self.generator.set_state(state["generator"])
        self.rng.bit_generator.state = state["rng"]
        self.updates = state["updates"]


def _ppo(regulariser: Callable[[SelfPlay], Regulariser] | None) -> Callable[[SelfPlay], PPO]:
    def build(run: SelfPlay) -> PPO:
        parts = () if regulariser is None else (regulariser(run),)
        return PPO(run.policy, run.config.ppo, run.generator, parts)

    return build


def _portfolio(run: SelfPlay) -> Portfolio:
    def strength(policy: Any) -> float:
        return -run.tree.exploitability(policy.table())

    return Portfolio(run.config.portfolio, run.policy, strength)


def _nfsp(run: SelfPlay) -> NFSP:
    response = run._policy()
    learner = PPO(response, run.config.ppo, run.generator)
    return NFSP(learner, run.policy, run.config.nfsp, run.generator)


# Learner of each algorithm's name.
LEARNERS: dict[str, Callable[[SelfPlay], Any]] = {
    "ppo": _ppo(None),
    "magnet": _ppo(lambda run: Magnet(run.config.magnet, run.policy)),
    "damped": _ppo(lambda run: Damping(run.config.damping, run.policy)),
    "portfolio": _ppo(_portfolio),
    "rnad": lambda run: RNaD(run.policy, run.config.rnad),
    "nfsp": _nfsp,
}


def solve(config: SolveConfig) -> Iterator[Point]:
    """Run self-play; yields a point before the first update and at each evaluation."""
    run = SelfPlay(config)
    start = time.perf_counter()
    yield Point(0, 0, 0.0, run.exploitability(), {})
    every = max(1, config.updates // config.evaluations)
    for update in range(1, config.updates + 1):
        metrics = run.step()
        if update % every == 0 or update == config.updates:
            seconds = time.perf_counter() - start
            games = update * config.games
            yield Point(update, games, seconds, run.exploitability(), metrics)
