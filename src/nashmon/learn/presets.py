"""Settings that solve the exact games, per game and algorithm.

Rewards are scaled to [−1, 1].  The step size of a table is per information set (see
`TabularPolicy`), so plain SGD is the right optimiser for it; networks use Adam.
"""

from __future__ import annotations

from dataclasses import replace

from nashmon.learn.damping import DampingConfig
from nashmon.learn.games import GAMES
from nashmon.learn.magnet import MagnetConfig
from nashmon.learn.nfsp import NFSPConfig
from nashmon.learn.optim import OptimConfig
from nashmon.learn.portfolio import PortfolioConfig
from nashmon.learn.ppo import PPOConfig
from nashmon.learn.rnad import RNaDConfig
from nashmon.learn.schedules import Power
from nashmon.learn.solve import LEARNERS, SolveConfig

UPDATES = {"liars_dice": 300, "leduc": 1000}


def preset(game: str, algo: str, updates: int = 0, games: int = -1) -> SolveConfig:
    """A table, trained on every possible game (games = 0) or on sampled ones."""
    if game not in GAMES:
        raise ValueError(f"unknown game {game!r}; known: {', '.join(GAMES)}")
    if algo not in LEARNERS:
        raise ValueError(f"unknown algorithm {algo!r}; known: {', '.join(LEARNERS)}")
    updates = updates or UPDATES.get(game, 400)
    games = games if games >= 0 else (4096 if algo == "nfsp" else 0)
    return SolveConfig(
        game=game,
        algo=algo,  # type: ignore[arg-type]
        updates=updates,
        games=games,
        min_share=1e-7 if games == 0 else 2e-3,
        ppo=_ppo(algo, updates),
        rnad=_rnad(updates),
        magnet=MagnetConfig(weight=Power(0.3, 1.0, updates / 20)),
        damping=_damping(),
        portfolio=PortfolioConfig(
            weight=Power(0.3), max_size=3, add_interval=20, strategy="recent"
        ),
        nfsp=NFSPConfig(optim=OptimConfig(kind="sgd", learning_rate=0.5, max_grad_norm=0.0)),
    )


def _sgd(rate: float) -> OptimConfig:
    return OptimConfig(kind="sgd", learning_rate=rate, max_grad_norm=0.0)


def _ppo(algo: str, updates: int) -> PPOConfig:
    falling = algo in ("ppo", "magnet")
    return PPOConfig(
        optim=_sgd(2.0),
        learning_rate=Power(2.0, 0.5 if falling else 0.0, updates / 10),
        clip=0.2,
        value_weight=0.15,
        entropy=Power(0.0),
        epochs=1,
        num_minibatches=1,
        normalise=False,
    )


def _rnad(updates: int) -> RNaDConfig:
    return RNaDConfig(
        optim=_sgd(1.0),
        eta=0.1,
        stages=((50, 1),),
        target_rate=0.2,
        threshold=8.0,
        value_weight=0.3,
    )


def _damping() -> DampingConfig:
    return DampingConfig(
        kl_coef_init=0.3,
        kl_coef_max=2.0,
        kl_power_alpha=0.0,
        ent_coef_init=0.1,
        ent_coef_min=0.0,
        ent_power_alpha=1.0,
        ent_schedule_steps=20,
        adaptive=False,
        max_lr=100.0,
        reference_interval=5,
    )


def networked(config: SolveConfig) -> SolveConfig:
    """The same run with a network in place of the table."""
    adam = OptimConfig(learning_rate=1e-3, max_grad_norm=1.0)
    ppo = replace(config.ppo, optim=adam, learning_rate=Power(1e-3, 0.5, config.updates / 10))
    rnad = replace(config.rnad, optim=replace(adam, betas=(0.0, 0.999)))
    return replace(config, policy="network", ppo=replace(ppo, value_weight=0.5), rnad=rnad)
