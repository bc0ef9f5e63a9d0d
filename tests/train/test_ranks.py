"""Ranks: processes that learn together make the same steps, resume, and end together."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
import torch
from small_run import SMALL
from torch import nn

from nashmon.core.settings import SettingsError
from nashmon.learn.optim import Descent, OptimConfig
from nashmon.nets.build import build_policy
from nashmon.nets.checkpoint import CheckpointError
from nashmon.train.collectors import Place
from nashmon.train.config import RunConfig, load_config
from nashmon.train.group import ROOM, Group, LostRankError, RankError, seats
from nashmon.train.loop import Loop
from nashmon.train.profiler import recommend, sweep
from nashmon.train.rank import Rank
from nashmon.train.run import RunDirectory
from nashmon.train.teams import run_teams
from nashmon.train.trainer import Trainer

T = TypeVar("T")


def together(work: Callable[[int, Group], T], count: int = 2) -> list[T]:
    """Ranks in threads: all that processes would do, without their start."""
    found: dict[int, T] = {}
    places = seats(count)

    def run(rank: int) -> None:
        found[rank] = work(rank, Group(places[rank]))

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seat in places:
        seat.leave()
    return [found[rank] for rank in range(count)]


def module() -> nn.Linear:
    torch.manual_seed(0)
    return nn.Linear(3, 2)


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_means_of_any_length_are_the_same_bits_everywhere(count: int, dtype: torch.dtype) -> None:
    sizes = (1, 2, 7, ROOM // 8, ROOM // 4 + 5, 3 * ROOM // 4)  # whole rows, and several of them

    def means(rank: int, group: Group) -> list[torch.Tensor]:
        tensors = [numbers(rank, size) for size in sizes]
        for tensor in tensors:
            group.mean(tensor)
        return tensors

    def numbers(rank: int, size: int) -> torch.Tensor:
        generator = torch.Generator().manual_seed(100 * rank + size)
        return torch.randn(size, generator=generator, dtype=dtype)

    first, *others = together(means, count)
    for size, found in zip(sizes, first, strict=True):
        expected = torch.stack([numbers(rank, size) for rank in range(count)]).mean(dim=0)
        torch.testing.assert_close(found, expected)
    for other in others:
        assert all(torch.equal(one, two) for one, two in zip(first, other, strict=True))


def test_whoever_waits_for_a_rank_that_leaves_is_told() -> None:
    places = seats(3)
    errors: list[str] = []

    def run(rank: int) -> None:
        try:
            Group(places[rank]).mean(torch.ones(3))
        except LostRankError as error:
            errors.append(str(error))
        finally:
            places[rank].leave()  # as the end of a process does

    threads = [threading.Thread(target=run, args=(rank,)) for rank in (0, 1)]
    for thread in threads:
        thread.start()
    time.sleep(0.1)
    assert not errors
    places[2].leave()
    for thread in threads:
        thread.join(5.0)
    assert errors == ["another rank is gone"] * 2


def test_a_rank_that_never_comes_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nashmon.train.group.STALL", 0.05)
    places = seats(2)
    with pytest.raises(LostRankError, match="connection to the other ranks is lost: timed out"):
        Group(places[0]).mean(torch.ones(3))
    for seat in places:
        seat.leave()


def test_two_halves_give_the_mean_gradient() -> None:
    data = torch.randn(8, 3, generator=torch.Generator().manual_seed(1))
    halves = data[:4], data[4:]
    config = OptimConfig(kind="sgd", learning_rate=1.0, max_grad_norm=0.0)
    gradients, nets = [], [module(), module()]
    for half in halves:
        net = module()
        (net(half) ** 2).mean().backward()  # type: ignore[no-untyped-call]
        assert net.weight.grad is not None
        gradients.append(net.weight.grad)

    def step(rank: int, group: Group) -> torch.Tensor:
        descent = Descent(nets[rank].parameters(), config, group.mean)
        descent.step((nets[rank](halves[rank]) ** 2).mean())
        return nets[rank].weight.detach()

    first, second = together(step)
    assert torch.equal(first, second)
    assert torch.equal(first, module().weight - (gradients[0] + gradients[1]) / 2)


STEERED = {
    "ppo": ("ppo.target_kl=1.0e-5", "ppo.epochs=3", "ppo.filter_quantile=0.9"),
    "magnet": ("ppo.num_minibatches=64", "ppo.optim.accumulate=3"),
    "damped_ppo": ("damping={adapt_interval: 2, min_samples: 1, reference_interval: 2}",),
    "portfolio": ("portfolio={add_interval: 1, max_size: 2, closest: batch}",),
    "rnad": ("rnad.stages=[[2, 1]]",),
}


@pytest.mark.parametrize("algo", STEERED)
def test_ranks_make_the_same_steps(small_config: Any, tmp_path: Path, algo: str) -> None:
    """Controllers, early stops and references follow means, so they agree on different battles."""
    config = small_config(f"algo={algo}", *STEERED[algo])
    teams = run_teams(config.format, config.teams)
    torch.manual_seed(0)
    policies = [build_policy(config.format, config.network.policy()) for _ in (0, 1)]
    policies[1].load_state_dict(policies[0].state_dict())
    start = policies[0].state_dict()["head.battle.move.weight"].clone()

    def train(number: int, group: Group) -> tuple[Rank, int]:
        rank = Rank(config, tmp_path, teams, policies[number], Place(number, 2), group.mean)
        decisions = 0
        for _ in range(4):
            decisions += rank.play()[0].decisions
            rank.learn()
        rank.close()
        return rank, decisions

    (first, some), (second, others) = together(train)
    assert first.checksum() == second.checksum()
    assert not torch.equal(policies[0].state_dict()["head.battle.move.weight"], start)
    assert some != others  # not the same battles
    states = [rank.learner.state_dict() for rank in (first, second)]
    for state in states:
        state.pop("generator", None)
    assert plain_state(states[0]) == plain_state(states[1])


def plain_state(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.tolist()
    if isinstance(value, dict):
        return {name: plain_state(part) for name, part in value.items()}
    return [plain_state(part) for part in value] if isinstance(value, list) else value


def test_resumed_equals_uninterrupted(small_config: Any, tmp_path: Path) -> None:
    pool = "opponents={self_play: 0.5, past: 0.5, past_every: 2, weighting: adaptive}"
    config = small_config("ranks=2", "rollout.steps=30", pool)
    whole = Loop(RunDirectory.create(tmp_path / "a", config), config)
    events = [event.progress for event in whole.run() if event.progress]
    half = Loop(RunDirectory.create(tmp_path / "b", config), config)
    for event in half.run():
        if event.progress and event.progress.update == 3:
            half.stop()
    run = RunDirectory.open(tmp_path / "b")
    rest = Loop(run, run.config())
    rest.resume()
    later = [event.progress for event in rest.run() if event.progress]
    assert [p.update for p in later] == [4, 5, 6]
    assert whole.trainer.rank.checksum() == rest.trainer.rank.checksum()
    assert whole.trainer.pool.state_dict() == rest.trainer.pool.state_dict()
    for one, other in zip(events[3:], later, strict=True):
        assert (one.decisions, one.battles, one.report) == (
            other.decisions,
            other.battles,
            other.report,
        )
        assert one.metrics["policy_loss"] == other.metrics["policy_loss"]


def test_ranks_share_the_pool_and_must_not_go_apart(small_config: Any, tmp_path: Path) -> None:
    pool = "opponents={self_play: 0.5, others: [[scripted:random, 0.5]], decay: 1.0}"
    config = small_config("ranks=2", "rollout.steps=80", pool)
    trainer = Trainer(config, tmp_path)
    report = trainer.step().report
    played = report.records["scripted:random"].games
    assert trainer.pool.entries["scripted:random"].games == played > 0
    assert report.decisions > 0.5 * 80 * 16  # of all battles, not of one rank's
    with torch.no_grad():
        trainer.policy.head.battle.score.weight.mul_(2)  # type: ignore[union-attr,operator]
    with pytest.raises(RankError, match="rank 1 has other weights than rank 0 after update 1"):
        trainer.save(tmp_path / "last")
    trainer.share()
    trainer.save(tmp_path / "last")
    trainer.close()
    with pytest.raises(CheckpointError, match="saved by 2 ranks, this run has 1"):
        Trainer(small_config("ranks=1", pool), tmp_path).load(tmp_path / "last")
    # An automatic number is that of the checkpoint, so another machine can go on.
    automatic = Trainer(small_config("rollout.steps=80", pool), tmp_path)
    assert automatic.ranks.count == 1
    automatic.load(tmp_path / "last")
    assert automatic.ranks.count == 2
    assert automatic.collector.rollout.battles.num_battles == 8  # type: ignore[attr-defined]
    automatic.close()


def test_ranks_train_on_showdown(
    small_config: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    config = small_config("format=gen9vgc2025regi", "ranks=2", "rollout={battles: 4, steps: 2}")
    trainer = Trainer(config, tmp_path)
    try:
        assert trainer.step().report.decisions == 16  # 4 battles, 2 seats, 2 steps
        # The other rank has the second core, so there is none to play half a step on.
        lane = trainer.collector.rollout.battles._lanes[0]  # type: ignore[attr-defined]
        assert not lane._config.overlap
    finally:
        trainer.close()


def test_a_dead_rank_is_an_error_at_once(small_config: Any, tmp_path: Path) -> None:
    trainer = Trainer(small_config("ranks=2"), tmp_path)
    trainer.step()
    trainer.ranks._processes[0].kill()
    start = time.monotonic()
    with pytest.raises(RankError, match=r"rank 1 died \(exit code -9\); the run can be resumed"):
        trainer.step()
    assert time.monotonic() - start < 5.0
    assert not trainer.ranks._processes
    trainer.close()


def test_a_rank_that_dies_while_others_wait_for_its_gradient(
    small_config: Any, tmp_path: Path
) -> None:
    trainer = Trainer(small_config("ranks=2"), tmp_path)
    trainer.step()
    trainer.ranks.order("play", trainer.pool.state_dict())
    trainer.rank.play()
    trainer.ranks.answers()
    trainer.ranks._processes[0].kill()
    start = time.monotonic()
    with pytest.raises(RankError, match=r"rank 1 died \(exit code -9\)"):
        trainer.rank.learn()
    assert time.monotonic() - start < 5.0
    trainer.close()


def test_ranks_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(
        "import time\n"
        "from pathlib import Path\n"
        "from nashmon.train.config import load_config\n"
        "from nashmon.train.trainer import Trainer\n"
        "if __name__ == '__main__':\n"
        f"    config = load_config(None, {[*SMALL, 'ranks=2']})\n"
        f"    trainer = Trainer(config, Path({str(tmp_path)!r}))\n"
        "    trainer.step()\n"
        "    print(trainer.ranks._processes[0].pid, flush=True)\n"
        "    while True:\n"
        "        trainer.step()\n"
    )
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    rank = int(parent.stdout.readline())
    time.sleep(0.3)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    for _ in range(50):
        time.sleep(0.1)
        if not Path(f"/proc/{rank}").exists():
            break
    else:
        pytest.fail("rank 1 is still there")


def test_profiles_compare_ranks(small_config: Any) -> None:
    config = small_config("rollout.mode=threads")
    found = list(sweep(config, battles=(16, 15), processors=((1, 1), (2, 1)), seconds=0.2))
    sizes = [(p.setting["battles"], p.setting["ranks"]) for p in found]
    assert sizes == [(16, 1), (16, 2), (15, 1)]  # 15 battles cannot be shared by two
    assert all(p.cpu_us > 0 for p in found)
    assert recommend(config, found[1:2]).ranks == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["ranks=-1"], "ranks must be at least 0, not -1"),
        (["ranks=3"], "rollout.battles 256 must be a multiple of ranks 3"),
        (["ranks=2", "rollout.mode=threads"], "ranks 2 needs rollout.mode sync, not threads"),
        (["ranks=2", "device=cuda"], "ranks 2 needs device cpu, not cuda"),
    ],
)
def test_impossible_ranks(changes: list[str], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        load_config(None, changes)


def test_automatic_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 4)

    def sizes(*changes: str) -> tuple[int, int]:
        config: RunConfig = load_config(None, list(changes))
        ranks = config.rank_count()
        return ranks, config.threads_of(ranks)

    assert sizes() == (4, 1)
    assert sizes("threads=1") == (1, 1)  # inside a pool of processes, say
    assert sizes("threads=2") == (1, 2)
    assert sizes("ranks=2") == (2, 1)
    assert sizes("ranks=2", "threads=2") == (2, 2)
    assert sizes("ranks=1") == (1, 4)
    assert sizes("rollout.battles=90") == (3, 1)  # the largest number that divides them
    assert sizes("rollout.battles=16") == (1, 4)
    assert sizes("rollout.mode=processes") == (1, 4)
