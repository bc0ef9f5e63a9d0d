"""Settings that solve the exact games, per game and algorithm.

Rewards are scaled to [−1, 1].  The step size of a table is per information set (see
`TabularPolicy`), so plain SGD is the right optimiser for it; networks use Adam.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

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

UPDATES = {"leduc": 4000, "leduc_ranks": 4000, "liars_dice": 300}


@dataclass(frozen=True)
class Step:
    """What depends on the size of a game: step sizes and how strongly to regularise."""

    rate: Callable[[int], Power]  # PPO's step, per information set, from the number of updates
    magnet: float  # weight of the magnet at the start
    fall: float  # the magnet's weight halves after updates / fall
    floor: float  # the magnet's weight never falls below
    clip: float
    eta: float  # R-NaD
    rnad_rate: Callable[[int], Power]
    stage: int
    threshold: float  # how far from each other R-NaD lets probabilities go


SMALL = Step(
    rate=lambda n: Power(2.0, 0.5, n / 10),
    magnet=0.3,
    floor=0.0,
    fall=20,
    clip=0.2,
    eta=0.1,
    rnad_rate=lambda n: Power(1.0),
    stage=50,
    threshold=8.0,
)
LARGE = Step(
    rate=lambda n: Power(5.0, 1.0, n / 20),
    magnet=0.1,
    floor=0.0055,
    fall=40,
    clip=0.5,
    eta=0.07,
    rnad_rate=lambda n: Power(2.0, 0.5, n / 4),
    stage=30,
    threshold=2.5,
)


def preset(game: str, algo: str, updates: int = 0, games: int = -1) -> SolveConfig:
    """A table, trained on every possible game (games = 0) or on sampled ones."""
    if game not in GAMES:
        raise ValueError(f"unknown game {game!r}; known: {', '.join(GAMES)}")
    if algo not in LEARNERS:
        raise ValueError(f"unknown algorithm {algo!r}; known: {', '.join(LEARNERS)}")
    updates = updates or UPDATES.get(game, 400)
    games = games if games >= 0 else (4096 if algo == "nfsp" else 0)
    step = LARGE if game in UPDATES else SMALL
    return SolveConfig(
        game=game,
        algo=algo,  # type: ignore[arg-type]
        updates=updates,
        games=games,
        min_share=1e-7 if games == 0 else 2e-3,
        ppo=_ppo(algo, step, updates),
        rnad=RNaDConfig(
            optim=_sgd(step.rnad_rate(updates).start),
            learning_rate=step.rnad_rate(updates),
            eta=step.eta,
            stages=((step.stage, 1),),
            target_rate=0.2,
            threshold=step.threshold,
            value_weight=0.3,
        ),
        magnet=MagnetConfig(weight=Power(step.magnet, 1.0, updates / step.fall, low=step.floor)),
        damping=_damping(),
        portfolio=PortfolioConfig(
            weight=Power(0.1), max_size=2, add_interval=50, strategy="recent"
        ),
        nfsp=NFSPConfig(optim=_sgd(1.0), anticipatory=0.3),
    )


def _sgd(rate: float) -> OptimConfig:
    return OptimConfig(kind="sgd", learning_rate=rate, max_grad_norm=0.0)


def _ppo(algo: str, step: Step, updates: int) -> PPOConfig:
    rate = step.rate(updates)
    falling = algo in ("ppo", "magnet")
    return PPOConfig(
        optim=_sgd(rate.start),
        learning_rate=rate if falling else None,
        clip=step.clip,
        value_weight=0.3 / rate.start,
        # A best response that has become pure cannot follow the average policy any more.
        entropy=Power(0.02 if algo == "nfsp" else 0.0),
        epochs=1,
        num_minibatches=1,
        normalise=False,
    )


def _damping() -> DampingConfig:
    return DampingConfig(
        kl_coef_init=0.1,
        kl_power_alpha=0.0,
        ent_coef_init=0.0,
        ent_coef_min=0.0,
        adaptive=False,
        max_lr=100.0,
        reference_interval=50,
    )


def networked(config: SolveConfig) -> SolveConfig:
    """The same run with a network in place of the table: Adam, a magnet that falls more slowly."""
    n, large = config.updates, config.game in UPDATES
    adam = OptimConfig(learning_rate=1e-3, max_grad_norm=1.0)
    ppo = replace(config.ppo, optim=adam, learning_rate=Power(1e-3, 0.5, n / 10), value_weight=0.5)
    rnad = replace(
        config.rnad,
        optim=replace(adam, learning_rate=1e-3 if large else 3e-3, betas=(0.0, 0.999)),
        learning_rate=None,
        eta=0.05 if large else 0.2,
        stages=((100 if large else 50, 1),),
        value_weight=1.0,
    )
    magnet = MagnetConfig(weight=Power(config.magnet.weight.start, 0.5, n / 20))
    # Best responses to a large game go where play rarely does.
    balance = 0.5 if large else 0.0
    return replace(config, policy="network", balance=balance, ppo=ppo, rnad=rnad, magnet=magnet)
