"""Metrics to JSONL, TensorBoard and, on request, Weights & Biases."""

from __future__ import annotations

import time
from typing import Any

from torch.utils.tensorboard.writer import SummaryWriter

from nashmon.core.errors import NashmonError
from nashmon.core.settings import plain
from nashmon.train.config import RunConfig
from nashmon.train.evaluation import Result
from nashmon.train.run import EVALUATIONS, METRICS, RunDirectory


class LogError(NashmonError):
    """A metrics destination that cannot be used."""


class Logger:
    """Writes every metric to all destinations of a run."""

    def __init__(self, run: RunDirectory, config: RunConfig, update: int = 0) -> None:
        self.run = run
        self._board: Any = None
        self._wandb: Any = None
        if config.log.tensorboard:
            # Steps of a lost session are hidden by TensorBoard itself.
            self._board = SummaryWriter(str(run.path / "tensorboard"), purge_step=update + 1)
        if config.log.wandb != "off":
            self._wandb = _wandb_run(run, config)

    def update(self, update: int, totals: dict[str, float], metrics: dict[str, float]) -> None:
        """The metrics of one update."""
        self.run.append(METRICS, {"update": update, "time": time.time(), **totals, **metrics})
        self._scalars({**totals, **metrics}, update)

    def evaluation(self, result: Result) -> None:
        """One match of an evaluation."""
        self.run.append(EVALUATIONS, result.row())
        low, high = result.record.interval
        name = f"evaluation/{result.opponent}"
        values = {name: result.record.win_rate, f"{name}/low": low, f"{name}/high": high}
        self._scalars(values, result.update)

    def _scalars(self, values: dict[str, float], update: int) -> None:
        if self._board is not None:
            for name, value in values.items():
                self._board.add_scalar(name, value, update)
        if self._wandb is not None:
            self._wandb.log({**values, "update": update})

    def close(self) -> None:
        """Flush everything."""
        if self._board is not None:
            self._board.close()
        if self._wandb is not None:
            self._wandb.finish()


def _wandb_run(run: RunDirectory, config: RunConfig) -> Any:
    try:
        import wandb  # type: ignore[import-not-found,unused-ignore]
    except ImportError as error:
        raise LogError("log.wandb needs the wandb package: pip install wandb") from error
    return wandb.init(
        project=config.log.project,
        dir=str(run.path),
        name=run.path.name,
        id=run.path.name,
        resume="allow",
        mode=config.log.wandb,
        config=plain(config),
    )
