"""The local server ends with the process that started it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nashmon.sim.local_server import HOST, LocalServer
from nashmon.sim.showdown.install import find_showdown

_STARTS = """
from nashmon.sim.local_server import LocalServer
import time
with LocalServer() as server:
    print(server.port, flush=True)
    time.sleep(600)
"""


def _root() -> Path:
    return find_showdown().parent.parent.parent


def _is_open(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex((HOST, port)) == 0


def test_a_closed_server_is_gone() -> None:
    with LocalServer() as server:
        assert _is_open(server.port)
    assert not _is_open(server.port)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_server_does_not_outlive_its_starter(how: signal.Signals) -> None:
    starter = subprocess.Popen([sys.executable, "-c", _STARTS], stdout=subprocess.PIPE, text=True)
    assert starter.stdout is not None
    with starter.stdout:
        port = int(starter.stdout.readline())
        assert _is_open(port)
        os.kill(starter.pid, how)
        starter.wait()
    deadline = time.monotonic() + 10
    while _is_open(port) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _is_open(port)
    left = list(_root().glob(f".server-{starter.pid}-*"))
    assert left, "a killed starter cannot clean up"
    with LocalServer():
        assert not any(directory.exists() for directory in left)
