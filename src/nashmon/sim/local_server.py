"""A real Pokémon Showdown server on this machine, for clients that speak websocket.

It runs the pinned package, listens on loopback only, and keeps its files in a throw-away directory.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType

from nashmon.core.errors import SimulatorError
from nashmon.sim.showdown.install import find_showdown
from nashmon.sim.showdown.node import find_node

HOST = "127.0.0.1"
_PREFIX = ".server-"
# Runs a command in whose group a watcher ends everything once our end of its input is closed, as it
# is when this process is gone, however that came about.
_WATCHED = 'exec 3<&0; { cat <&3 >/dev/null; kill -9 0; } & exec "$@" </dev/null 3<&-'


def free_port() -> int:
    """A loopback port nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _sweep(root: Path) -> None:
    """Remove what servers left behind whose starter was killed."""
    for left in root.glob(f"{_PREFIX}*"):
        owner = left.name.removeprefix(_PREFIX).split("-")[0]
        try:
            os.kill(int(owner), 0)
        except ProcessLookupError:
            shutil.rmtree(left, ignore_errors=True)
        except (PermissionError, ValueError):
            pass  # somebody else's


class LocalServer:
    """Context manager: a server without login security on `127.0.0.1:port`."""

    def __init__(self, port: int | None = None, start_seconds: float = 60.0) -> None:
        self.port = free_port() if port is None else port
        self._start_seconds = start_seconds
        self._directory: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def websocket_url(self) -> str:
        """Where clients connect."""
        return f"ws://{HOST}:{self.port}/showdown/websocket"

    def __enter__(self) -> LocalServer:
        package = self._prepare()
        command = [
            str(find_node().path),
            "pokemon-showdown",
            "start",
            "--no-security",
            "--skip-build",
        ]
        output = (package / "logs" / "server.log").open("wb")
        with output:
            self._process = subprocess.Popen(
                ["sh", "-c", _WATCHED, "server", *command, str(self.port)],
                cwd=package,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # it starts children of its own; they end as one group
            )
        try:
            self._wait(package / "logs" / "server.log")
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop the server and remove its files; safe to call twice."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, 9)
            self._process.wait()
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process = None
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)
            self._directory = None

    def _prepare(self) -> Path:
        """A private view of the installed package: hard links, plus what the server writes."""
        modules = find_showdown().parent
        root = modules.parent.parent
        _sweep(root)
        self._directory = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=root))
        view = self._directory / "node_modules"
        shutil.copytree(modules, view, copy_function=os.link, symlinks=True)
        package = view / "pokemon-showdown"
        (package / "logs" / "repl").mkdir(parents=True, exist_ok=True)
        (package / "config" / "chat-plugins").mkdir(parents=True, exist_ok=True)
        example = (package / "config" / "config-example.js").read_text(encoding="utf-8")
        lines = (f"exports.bindaddress = '{HOST}';", f"exports.port = {self.port};")
        config = package / "config" / "config.js"
        config.unlink(missing_ok=True)
        config.write_text("\n".join([example, *lines, ""]), encoding="utf-8")
        return package

    def _wait(self, log: Path) -> None:
        assert self._process is not None
        deadline = time.monotonic() + self._start_seconds
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                break
            with contextlib.suppress(OSError), socket.create_connection((HOST, self.port), 1.0):
                return
            time.sleep(0.1)
        tail = log.read_text(encoding="utf-8", errors="replace")[-1500:]
        raise SimulatorError(f"the Showdown server did not open port {self.port}:\n{tail}")
