"""`kernel`: compile a function once per machine, and again whenever anything it may use changes.

Numba keeps compiled code beside the source and trusts it while that one file is unchanged, but a
kernel holds the code of the kernels it calls and the numbers of the dex and of the observation.  So
the stamp that Numba compares is made from all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba import njit

from nashmon import core, observe


def _stamp() -> tuple[str, int]:
    here = Path(__file__).parent
    files = sorted([*here.glob("*.py"), *Path(observe.__file__).parent.glob("*.py")])
    files.append(Path(core.__file__).parent / "data" / "dex_gen1.json.gz")
    digest = sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest(), len(files)


_STAMP = _stamp()


def kernel(function: Callable[..., Any]) -> Any:
    """Compile without the GIL, cached on disk."""
    compiled = njit(cache=True, nogil=True, error_model="numpy")(function)
    if hasattr(compiled, "_cache"):  # not when NUMBA_DISABLE_JIT is set
        compiled._cache._cache_file._source_stamp = _STAMP
    return compiled


def is_compiled(compiled: Any) -> bool:
    """Whether a kernel's machine code is at hand, so that its first call will be quick."""
    if not hasattr(compiled, "_cache"):
        return True
    return bool(compiled._cache._cache_file._load_index()) or bool(compiled.signatures)
