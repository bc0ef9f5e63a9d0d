"""Steps that are done once: the memory of a long computation that may be killed at any moment.

A step is a function that returns plain JSON values.  Its result is written atomically under its
name; when the computation runs again, the stored result stands for the step.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nashmon.core.errors import NashmonError
from nashmon.match.cells import write_atomically


class JournalError(NashmonError):
    """A journal whose files cannot be read."""


class Journal:
    """Results of named steps, in a folder; without a folder in memory."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self._memory: dict[str, str] = {}

    def once(self, name: str, step: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The stored result of a step, or the result of doing it now."""
        text = self._read(name)
        if text is None:
            text = json.dumps(step(), indent=1)
            self._write(name, text)
        try:
            result: dict[str, Any] = json.loads(text)
        except ValueError as error:
            raise JournalError(f"{self._path(name)} is damaged: {error}") from error
        return result

    def has(self, name: str) -> bool:
        """Whether the step was done."""
        return self._read(name) is not None

    def _path(self, name: str) -> Path:
        return (self.folder or Path()) / f"{name}.json"

    def _read(self, name: str) -> str | None:
        if self.folder is None:
            return self._memory.get(name)
        path = self._path(name)
        return path.read_text(encoding="utf-8") if path.is_file() else None

    def _write(self, name: str, text: str) -> None:
        if self.folder is None:
            self._memory[name] = text
            return
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text)
