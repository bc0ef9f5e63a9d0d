"""The directory of a run: config, metrics, checkpoints, evaluations and the report.

config.yaml            what was asked for
manifest.json          versions, machine, sessions
metrics.jsonl          one line per update; tensorboard/ holds the same
evaluations.jsonl      one line per match, with its interval
checkpoints/last       to resume from; best, update_000500 …: to play with
report.html            at the end
"""

from __future__ import annotations

import fcntl
import json
import os
import platform
import time
from pathlib import Path
from typing import IO, Any

import torch
import yaml

from nashmon import __version__
from nashmon.core.errors import NashmonError
from nashmon.core.settings import plain, read_settings, read_yaml
from nashmon.match.cells import write_atomically
from nashmon.train.config import RunConfig

CONFIG, MANIFEST, METRICS, EVALUATIONS = (
    "config.yaml",
    "manifest.json",
    "metrics.jsonl",
    "evaluations.jsonl",
)


class RunError(NashmonError):
    """A run directory that cannot be used as asked."""


class RunDirectory:
    """Owns a run's files; two processes cannot train in one directory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: IO[str] | None = None

    @classmethod
    def create(cls, path: Path, config: RunConfig) -> RunDirectory:
        """A new run; the directory must not hold one yet."""
        if (path / CONFIG).exists():
            raise RunError(f"{path} already holds a run; continue it with --resume or choose --out")
        path.mkdir(parents=True, exist_ok=True)
        run = cls(path)
        run.lock()
        write_atomically(path / CONFIG, yaml.safe_dump(plain(config), sort_keys=False))
        return run

    def discard(self) -> None:
        """Take back `create`: the run could not begin, so its place is free again."""
        self.close()
        for name in (CONFIG, ".lock"):
            (self.path / name).unlink(missing_ok=True)
        if not any(self.path.iterdir()):
            self.path.rmdir()

    @classmethod
    def open(cls, path: Path) -> RunDirectory:
        """An existing run, to continue."""
        if not (path / CONFIG).is_file():
            raise RunError(f"{path} is not a run: it has no {CONFIG}")
        run = cls(path)
        run.lock()
        return run

    def lock(self) -> None:
        """Refuse a directory in which another process is training."""
        self._lock = (self.path / ".lock").open("w", encoding="utf-8")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self.close()
            raise RunError(f"another process is training in {self.path}") from error

    def close(self) -> None:
        """Let others in."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def config(self) -> RunConfig:
        """The stored config."""
        return read_settings(RunConfig, read_yaml(self.path / CONFIG))

    def checkpoint(self, name: str) -> Path:
        """Where a checkpoint of that name lives."""
        return self.path / "checkpoints" / name

    def note_session(self, update: int) -> None:
        """Add a line about this process to the manifest."""
        file = self.path / MANIFEST
        manifest = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        sessions = [*manifest.get("sessions", []), {"update": update, "time": time.time()}]
        facts = {
            "nashmon": __version__,
            "torch": torch.__version__,
            "python": platform.python_version(),
            "cores": os.cpu_count(),
            "sessions": sessions,
        }
        write_atomically(file, json.dumps(facts, indent=1))

    def append(self, name: str, row: dict[str, Any]) -> None:
        """Add a line to a JSONL file."""
        with (self.path / name).open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The lines of a JSONL file; a last line cut off by a crash is left out."""
        return read_rows(self.path / name)

    def rewind(self, name: str, update: int) -> None:
        """Drop lines after an update: they belong to a session that was lost."""
        rows = [row for row in self.rows(name) if row.get("update", 0) <= update]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        if (self.path / name).exists():
            write_atomically(self.path / name, text)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The lines of a JSONL file; a last line cut off by a crash is left out."""
    if not path.exists():
        return []
    rows = []
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            rows.append(json.loads(line))
        except ValueError as error:
            if number < len(lines):
                raise RunError(f"{path}, line {number}: not JSON ({error})") from error
    return rows
