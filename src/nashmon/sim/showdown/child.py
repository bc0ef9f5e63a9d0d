"""One Node child that answers framed messages; every wait has a deadline."""

from __future__ import annotations

import os
import select
import struct
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Sequence
from typing import IO

HEADER = struct.Struct("<I")
PIPE_BYTES = 1 << 20
READ_BYTES = 1 << 18
STDERR_TAIL = 2000


class ChildDied(Exception):  # noqa: N818 - an event that the owner turns into an error
    """The child's pipes closed."""


class ChildStalled(Exception):  # noqa: N818
    """The child did not answer in time."""


class Child:
    """A subprocess with framed stdin/stdout; it is killed when this object goes away."""

    def __init__(self, command: Sequence[str]) -> None:
        # A file, not a pipe: nobody has to drain it and its tail is there when the child has died.
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr, bufsize=0
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._in = self._process.stdin.fileno()
        self._out = self._process.stdout.fileno()
        for descriptor in (self._in, self._out):
            os.set_blocking(descriptor, False)
            _widen(descriptor)
        self._either, self._readable = select.poll(), select.poll()
        self._either.register(self._in, select.POLLOUT)
        self._either.register(self._out, select.POLLIN)
        self._readable.register(self._out, select.POLLIN)
        self._incoming = bytearray()  # received, but not yet asked for
        self.close = weakref.finalize(self, _kill, self._process, self._stderr, os.getpid())

    @property
    def pid(self) -> int:
        """Process id of the child."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether the child has not ended yet."""
        return self._process.poll() is None

    def write(self, payload: bytes, timeout: float) -> None:
        """Send one frame; answers to earlier frames are taken in meanwhile, so both can go on."""
        deadline = time.monotonic() + timeout
        view = memoryview(HEADER.pack(len(payload)) + payload)
        while view:
            try:
                view = view[os.write(self._in, view) :]
            except BrokenPipeError:
                raise ChildDied from None
            except BlockingIOError:
                ready = self._wait(self._either, deadline)
                if any(descriptor == self._out for descriptor, _ in ready):
                    self._take()

    def read(self, timeout: float) -> bytes:
        """Receive one frame."""
        deadline = time.monotonic() + timeout
        incoming = self._incoming
        end = HEADER.size
        while len(incoming) < end or len(incoming) < (end := _frame_end(incoming)):
            self._wait(self._readable, deadline)
            self._take()
        frame = bytes(memoryview(incoming)[HEADER.size : end])
        del incoming[:end]
        return frame

    def describe_end(self) -> str:
        """How the child ended and the last it wrote to stderr, for error messages."""
        try:
            code = self._process.wait(timeout=1)
            end = f"signal {-code}" if code < 0 else f"exit code {code}"
        except subprocess.TimeoutExpired:
            end = "still running"
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - STDERR_TAIL))
        tail = self._stderr.read().decode("utf-8", errors="replace").strip()
        return f"{end}; stderr: {tail}" if tail else end

    def _take(self) -> None:
        data = os.read(self._out, READ_BYTES)
        if not data:
            raise ChildDied
        self._incoming += data

    def _wait(self, poller: select.poll, deadline: float) -> list[tuple[int, int]]:
        left = deadline - time.monotonic()
        ready = poller.poll(1000 * left) if left > 0 else []
        if not ready:
            raise ChildStalled
        return ready


def _frame_end(data: bytearray) -> int:
    length: int = HEADER.unpack_from(data)[0]
    return HEADER.size + length


def _widen(descriptor: int) -> None:
    """Let a whole batch fit into the pipe, so that neither side waits for the other mid-frame."""
    if sys.platform == "linux":
        import fcntl

        try:
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        except PermissionError:  # above the user's pipe quota: only slower
            return


def _kill(process: subprocess.Popen[bytes], stderr: IO[bytes], owner: int) -> None:
    if os.getpid() != owner:  # a fork of the owner must not end the owner's child
        return
    process.kill()
    for stream in (process.stdin, process.stdout, stderr):
        assert stream is not None
        stream.close()
    process.wait()
