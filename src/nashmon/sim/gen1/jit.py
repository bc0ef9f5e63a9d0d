"""`kernel`: compile a function once per machine, and again whenever anything it may use changes.

Numba keeps compiled code beside the source and trusts it while that one file is unchanged, but a
kernel holds the code of the kernels it calls and the numbers of the dex and of the observation.  So
the stamp that Numba compares is made from all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from llvmlite import ir
from numba import config, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from nashmon import core, observe

# Modules beside this one that hold no kernel and no number that kernels use.
PLAIN = (
    "battles",
    "block",
    "determinise",
    "hints",
    "positions",
    "protocol",
    "rules",
    "setup",
    "views",
)


@cache
def _stamp(folder: Path) -> tuple[str, int]:
    """Of the kernels in a folder; those outside this package also depend on each other."""
    here = Path(__file__).parent
    own = [file for file in here.glob("*.py") if file.stem not in PLAIN]
    if folder != here:
        own += [file for file in folder.glob("*.py") if "gen1.jit import" in file.read_text()]
    files = sorted([*own, *Path(observe.__file__).parent.glob("*.py")])
    files.append(Path(core.__file__).parent / "data" / "dex_gen1.json.gz")
    files.append(here.parent / "seeds.py")
    digest = sha256(b"checked" if config.BOUNDSCHECK else b"")
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest(), len(files)


def _widened(kind: Any) -> Any:
    if isinstance(kind, types.Boolean | types.BooleanLiteral):
        return types.boolean
    return types.int64 if isinstance(kind, types.Integer) else kind


def kernel(function: Callable[..., Any]) -> Any:
    """Compile without the GIL, cached on disk.

    A call from another kernel widens its integers, so that each kernel is compiled once and not
    for every mixture of int16, int64 and constants.
    """
    return _compile(function, False)


def helper(function: Callable[..., Any]) -> Any:
    """A small kernel that becomes part of those that call it."""
    return _compile(function, True)


def _compile(function: Callable[..., Any], inline: bool) -> Any:
    folder = Path(function.__code__.co_filename).parent
    compiled = njit(cache=True, nogil=True, error_model="numpy", forceinline=inline)(function)
    if not hasattr(compiled, "_cache"):  # NUMBA_DISABLE_JIT is set
        return compiled
    compiled._cache._cache_file._source_stamp = _stamp(folder)
    template = compiled.get_call_template

    def widened_template(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        return template(tuple(map(_widened, args)), kws)

    compiled.get_call_template = widened_template
    return compiled


@intrinsic
def _address(typing_context: Any, array: Any, index: Any) -> Any:
    if not isinstance(array, types.Array) or array.layout != "C":
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        made = context.make_array(signature.args[0])(context, builder, args[0])
        return builder.gep(made.data, [args[1]])

    return types.CPointer(array.dtype)(array, types.intp), generate


def _slice(array: Any, index: int) -> Any:
    return array.reshape(-1)[index:]


@intrinsic
def _offset(typing_context: Any, address: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.gep(args[0], [args[1]])

    return address(address, types.intp), generate


@intrinsic
def _fetch_line(typing_context: Any, address: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = ir.IntType(32)
        target = builder.bitcast(builder.gep(args[0], [args[1]]), ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [target.type, word, word, word])
        hint = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        to_write, keep, data = word(1), word(3), word(1)
        builder.call(hint, [target, to_write, keep, data])
        return context.get_dummy_value()

    return types.void(address, types.intp), generate


def _no_fetch(address: Any, index: int) -> None:
    """Nothing to do without addresses."""


def _fetch() -> Any:
    if config.DISABLE_JIT:
        return _no_fetch
    return njit(_no_fetch) if config.BOUNDSCHECK else _fetch_line


# Asks for the cache line of an element that will soon be read or written.
fetch = _fetch()


def _pointer() -> Any:
    if config.DISABLE_JIT:
        return _slice
    return njit(_slice) if config.BOUNDSCHECK else _address


# The address of an element of a contiguous array, counted flat.  An address is one argument of a
# call where an array is seven, which would be most of the cost of small kernels.  An address knows
# no bounds, so arrays are passed when NUMBA_BOUNDSCHECK asks for checks.
pointer = _pointer()
# The address some elements further on.
further = pointer if pointer is not _address else _offset


@intrinsic
def _fetch_add(typing_context: Any, array: Any, amount: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        made = context.make_array(signature.args[0])(context, builder, args[0])
        return builder.atomic_rmw("add", made.data, args[1], "monotonic")

    return types.int64(array, types.int64), generate


def _read_add(array: Any, amount: int) -> Any:
    before = array[0]
    array[0] += amount
    return before


# Adds to the first element of an int64 array and returns what it was, safe between threads.
fetch_add = _read_add if config.DISABLE_JIT else _fetch_add


@kernel
def keep_alive(first, second):
    """Hold arrays until here: an address does not keep its array from being freed."""
    return first[0] + second[0]


def is_compiled(compiled: Any) -> bool:
    """Whether a kernel's machine code is at hand, so that its first call will be quick."""
    if not hasattr(compiled, "_cache"):
        return True
    return bool(compiled._cache._cache_file._load_index()) or bool(compiled.signatures)
