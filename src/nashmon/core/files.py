"""What files may be read by whom."""

from __future__ import annotations

from pathlib import Path


def readable_as_folder(file: Path) -> None:
    """Let whoever may read the folder read the file; safetensors writes for its owner alone."""
    file.chmod(file.parent.stat().st_mode & 0o666)
