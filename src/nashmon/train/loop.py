"""The loop of a run: update, log, remember, evaluate, save; until the budget is used up."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nashmon.league.exploiter import Registry
from nashmon.match.cells import write_atomically
from nashmon.nets.checkpoint import swap
from nashmon.train.config import RunConfig
from nashmon.train.evaluation import Evaluator, Result
from nashmon.train.logger import Logger
from nashmon.train.responses import ResponseConfig, exploit
from nashmon.train.run import EVALUATIONS, METRICS, RunDirectory, RunError
from nashmon.train.trainer import Progress, Trainer

FOUND = "exploitability.json"  # beside the exploiters of an update, when all is done


@dataclass(frozen=True, slots=True)
class Event:
    """What a run tells its watcher: an update, results of an evaluation, or a message."""

    progress: Progress | None = None
    results: tuple[Result, ...] = ()
    message: str = ""


class Loop:
    """Drives a trainer through its budget; `run()` yields events, `stop()` ends it cleanly."""

    def __init__(self, run: RunDirectory, config: RunConfig) -> None:
        self.run_directory, self.config = run, config
        self.trainer = Trainer(config, run.path)
        self.evaluator = Evaluator(config)
        self._stopped = False
        self._saved = -1  # update of the last save
        self._owes_exploiter = False  # resumed behind a checkpoint whose exploiter is missing

    def resume(self, name: str = "last") -> None:
        """Continue from a checkpoint of the run; later lines of its logs are dropped."""
        path = self.run_directory.checkpoint(name)
        if not (path / "checkpoint.json").exists() and not path.exists():
            known = sorted(p.name for p in path.parent.glob("*")) if path.parent.exists() else []
            raise RunError(f"{path} does not exist; checkpoints: {', '.join(known) or 'none'}")
        self.trainer.load(path)
        self._saved = self.trainer.updates
        for log in (METRICS, EVALUATIONS):
            self.run_directory.rewind(log, self.trainer.updates)
        # The exploiter of an update is trained behind its checkpoint, which does not know it.
        for entry in self.registry.entries():
            if (
                entry.update <= self.trainer.updates
                and entry.agent not in self.trainer.pool.entries
            ):
                self.trainer.pool.add(entry.agent, "exploiters")
        self._owes_exploiter = not self._exploiters(self.trainer.updates).joinpath(FOUND).exists()

    def stop(self) -> None:
        """End after the update that is running."""
        self._stopped = True

    def fraction(self) -> float:
        """How much of the budget is used, 0 … 1."""
        budget, trainer = self.config.budget, self.trainer
        parts = (
            (trainer.seconds / 60, budget.minutes),
            (trainer.updates, budget.updates),
            (trainer.decisions, budget.decisions),
        )
        return min(1.0, max(used / limit for used, limit in parts if limit))

    def run(self) -> Iterator[Event]:
        """Train; the last checkpoint is written whatever ends the loop."""
        trainer, config = self.trainer, self.config
        logger = Logger(self.run_directory, config, trainer.updates)
        self.run_directory.note_session(trainer.updates)
        try:
            if trainer.updates and self._owes_exploiter:
                yield from self._exploit()
            while not self._stopped and self.fraction() < 1.0:
                progress = trainer.step()
                self._log(logger, progress)
                trainer.remember()
                yield Event(progress)
                yield from self._evaluations(logger)
                if trainer.updates % config.checkpoints.every == 0:
                    self._save()
                yield from self._exploit()
                every = config.evaluation.every
                if every and trainer.updates % every == 0:
                    self._submit(config.evaluation.games)
            self._save()
            if self._stopped:
                yield Event(message=f"stopped at update {trainer.updates}, saved")
            else:
                yield from self._final(logger)
        finally:
            logger.close()
            self.close()

    def close(self) -> None:
        """Stop everything that runs beside the loop and let others use the directory."""
        self.evaluator.close()
        self.trainer.close()
        self.run_directory.close()

    def _log(self, logger: Logger, progress: Progress) -> None:
        totals: dict[str, float] = {
            "decisions": progress.decisions,
            "battles": progress.battles,
            "seconds": progress.seconds,
        }
        metrics = dict(progress.metrics) | self.trainer.pool.metrics()
        for name, record in progress.report.records.items():
            if name != "self":
                metrics[f"rollout/win_rate/{name}"] = record.win_rate
        logger.update(progress.update, totals, metrics)

    def _save(self) -> None:
        trainer, every = self.trainer, self.config.checkpoints.keep_every
        if trainer.updates == self._saved:
            return
        self._saved = trainer.updates
        trainer.save(self.run_directory.checkpoint("last"))
        if every and trainer.updates % every == 0:
            trainer.save_policy(self.run_directory.checkpoint(f"update_{trainer.updates:06d}"))

    @property
    def registry(self) -> Registry:
        """The exploiters that were good enough."""
        return Registry(self.run_directory.path / "exploiter_registry.json")

    def _exploiters(self, update: int) -> Path:
        return self.run_directory.path / "exploiters" / f"{update:06d}"

    def _exploit(self) -> Iterator[Event]:
        """Train an exploiter of the present policy; a good one joins the opponents."""
        plan, trainer = self.config.exploiters, self.trainer
        if not plan.every or trainer.updates % plan.every:
            return
        folder = self._exploiters(trainer.updates)
        victim = folder / "victim"
        trainer.save_policy(victim)
        budget = ResponseConfig(
            updates=plan.updates,
            inits=plan.inits,
            selection_games=plan.games,
            fresh_games=plan.games,
        )
        found = exploit(self.config, f"run:{victim}", budget, folder)
        entry = self.registry.add(found, plan.threshold, trainer.updates)
        write_atomically(folder / FOUND, json.dumps(found.to_dict(), indent=1))
        low, high = found.interval
        said = f"exploitability at least {found.value:+.3f} ({low:+.3f} … {high:+.3f})"
        if entry is None:
            yield Event(message=f"exploiter: {said}, below the threshold")
            return
        trainer.pool.add(entry.agent, "exploiters")
        yield Event(message=f"exploiter registered: {said}")

    def _submit(self, games: int) -> None:
        if self.config.evaluation.opponents:
            path = self._candidate(self.trainer.updates)
            self.trainer.save_policy(path)
            self.evaluator.submit(path, games)

    def _candidate(self, update: int) -> Path:
        return self.run_directory.checkpoint(f"candidate_{update:06d}")

    def _evaluations(self, logger: Logger, wait: bool = False) -> Iterator[Event]:
        for results in self.evaluator.results(wait):
            for result in results:
                logger.evaluation(result)
            self._keep_best(results)
            yield Event(results=tuple(results))

    def _keep_best(self, results: list[Result]) -> None:
        """The checkpoint with the highest mean win rate becomes `best`."""
        score = sum(r.record.win_rate for r in results) / len(results)
        path = self._candidate(results[0].update)
        best = self.run_directory.checkpoint("best")
        if score >= self.trainer.best_score:
            self.trainer.best_score = score
            swap(path, best)
        else:
            shutil.rmtree(path)

    def _final(self, logger: Logger) -> Iterator[Event]:
        yield Event(message="final evaluation")
        yield from self._evaluations(logger, wait=True)
        self._submit(self.config.evaluation.final_games)
        yield from self._evaluations(logger, wait=True)


def summary(run: RunDirectory) -> dict[str, Any]:
    """The last evaluation of every opponent, by name."""
    return {row["opponent"]: row for row in run.rows(EVALUATIONS)}
