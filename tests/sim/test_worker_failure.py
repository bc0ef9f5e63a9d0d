"""A simulator that dies is reported or replaced; nothing hangs."""

import os
import signal
import time
from contextlib import closing

import numpy as np
import psutil
import pytest
from test_battles import random_actions

from nashmon.core.errors import SimulatorError
from nashmon.sim.make import make_battles


def node_children(parent: int) -> list[psutil.Process]:
    found = psutil.Process(parent).children(recursive=True)
    return [p for p in found if "bridge.js" in " ".join(p.cmdline())]


def test_a_killed_node_process_is_an_error_that_names_the_battles() -> None:
    before = {p.pid for p in node_children(os.getpid())}
    with closing(make_battles("gen1ou", 3, engine="showdown")) as battles:
        step = battles.reset(1)
        rng = np.random.default_rng(1)
        step = battles.step(random_actions(battles, step, rng))
        for child in node_children(os.getpid()):
            if child.pid not in before:
                child.kill()
        begin = time.monotonic()
        with pytest.raises(SimulatorError, match="gen1ou, seed"):
            battles.step(random_actions(battles, step, rng))
        assert time.monotonic() - begin < 10
        with pytest.raises(SimulatorError, match="reset"):
            battles.step(np.full((3, 2), -1))
        step = battles.reset(1)  # a new process takes over
        battles.step(random_actions(battles, step, rng))


def test_with_restart_the_battles_begin_anew() -> None:
    before = {p.pid for p in node_children(os.getpid())}
    options = {"engine": "showdown", "on_failure": "restart"}
    with closing(make_battles("gen1ou", 3, **options)) as battles:  # type: ignore[arg-type]
        step = battles.reset(1)
        rng = np.random.default_rng(1)
        step = battles.step(random_actions(battles, step, rng))
        for child in node_children(os.getpid()):
            if child.pid not in before:
                child.kill()
        step = battles.step(random_actions(battles, step, rng))
        assert step.ended.all() and step.truncated.all()
        assert (battles.episodes == 1).all()
        step = battles.step(random_actions(battles, step, rng))
        assert not step.ended.any()


def test_a_killed_worker_process_is_an_error_and_reset_replaces_it() -> None:
    with closing(make_battles("gen1ou", 4, engine="showdown", workers=2)) as battles:
        step = battles.reset(1)
        rng = np.random.default_rng(1)
        worker = battles._lanes[1]._process  # type: ignore[attr-defined]
        os.kill(worker.pid, signal.SIGKILL)
        with pytest.raises(SimulatorError, match="battles 2–3 died"):
            battles.step(random_actions(battles, step, rng))
        step = battles.reset(1)
        battles.step(random_actions(battles, step, rng))


def test_closing_leaves_no_process_behind() -> None:
    before = {p.pid for p in psutil.Process().children(recursive=True)}
    battles = make_battles("gen1ou", 4, engine="showdown", workers=2)
    battles.reset(1)
    battles.close()
    battles.close()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        left = [p for p in psutil.Process().children(recursive=True) if p.pid not in before]
        left = [p for p in left if "resource_tracker" not in " ".join(p.cmdline())]
        if not left:
            return
        time.sleep(0.1)
    pytest.fail(f"left behind: {left}")
