"""Where Nashmon keeps what it installs and remembers between runs."""

from __future__ import annotations

import os
from pathlib import Path

HOME_VARIABLE = "NASHMON_HOME"


def home_directory() -> Path:
    """$NASHMON_HOME, else nashmon in the user's cache directory."""
    home = os.environ.get(HOME_VARIABLE)
    if home:
        return Path(home).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nashmon"
