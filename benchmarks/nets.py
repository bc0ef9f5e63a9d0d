"""Samples per second of policies: acting and training, by size, encoder and batch.

    python benchmarks/nets.py [--quick] [--options] [--threads N] [--only NAME]

A training sample is one decision of a sequence of 16: forward, backward and an Adam step.  The
batches of a configuration take turns and the best round counts, so that other load on the machine
disturbs little.  With one thread, CPU time is measured instead of wall time, which stays meaningful
on a busy machine.  `--options` measures bf16, a compiled encoder and a compiled policy instead.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from nashmon.nets.build import build_policy
from nashmon.nets.config import PolicyConfig, policy_config
from nashmon.nets.policy import Policy
from nashmon.observe.spec import ObsSpec

STEPS = 16
SLOW = 2.0  # seconds for one call, from which on a call is measured once
clock = time.perf_counter
TOKENS = {"encoder": "tokens", "head": "flat", "encoder_layers": 3}
CONFIGS: dict[str, tuple[str, dict[str, object], str]] = {
    "tiny set": ("tiny", {}, "gen1ou"),
    "tiny set, no memory": ("tiny", {"memory": "none"}, "gen1ou"),
    "tiny set, gru": ("tiny", {"memory": "gru"}, "gen1ou"),
    "tiny set, transformer memory": ("tiny", {"memory": "transformer"}, "gen1ou"),
    "tiny flat": ("tiny", {"encoder": "flat", "head": "flat", "encoder_layers": 3}, "gen1ou"),
    "tiny attention": ("tiny", {"encoder": "attention", "encoder_layers": 2}, "gen1ou"),
    "tiny tokens": ("tiny", TOKENS, "gen1ou"),
    "tiny set, gen9ou": ("tiny", {}, "gen9ou"),
    "tiny set, vgc": ("tiny", {}, "gen9vgc2025regi"),
    "small set": ("small", {}, "gen1ou"),
    "small attention": ("small", {"encoder": "attention", "encoder_layers": 3}, "gen1ou"),
    "medium attention": ("medium", {}, "gen1ou"),
    "large attention": ("large", {}, "gen1ou"),
}
QUICK = ("tiny set", "tiny attention", "small set")
OPTIONS = ("tiny set", "tiny attention")


@dataclass
class Job:
    """One thing to time: a call that handles `samples` decisions."""

    name: str
    samples: int
    call: Callable[[], object]
    best: float = field(default=0.0)
    memory: float = field(default=0.0)  # GiB that it added to the process

    def round(self, seconds: float) -> float:
        """Call for a while; returns the time of one call and keeps the best rate."""
        calls, start = 0, clock()
        while clock() - start < seconds or calls == 0:
            self.call()
            calls += 1
        taken = (clock() - start) / calls
        self.best = max(self.best, self.samples / taken)
        return taken


def observations(spec: ObsSpec, shape: tuple[int, ...]) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(0)
    found = {}
    for array in spec.arrays:
        low = torch.tensor([column.low for column in array.columns])
        high = torch.tensor([column.high for column in array.columns])
        values = low + torch.rand((*shape, *array.shape), generator=generator) * (high - low)
        found[array.name] = values.to(getattr(torch, array.dtype))
    if "field" in found:
        found["field"][..., spec["field"].column("phase_preview")] = 0
    return found


def make(name: str) -> Policy:
    size, changes, format_id = CONFIGS[name]
    config: PolicyConfig = policy_config(size, **changes)
    torch.manual_seed(0)
    tokens = config.encoder == "tokens"
    return build_policy(format_id, config, "metamon-default" if tokens else "entity")


def apply_option(policy: Policy, option: str) -> None:
    if option == "encoder":
        policy.encoder.compile(dynamic=False)
    elif option == "whole":
        # Memory decides on data whether to reset, which cuts the compiled graph there.
        policy.evaluate = torch.compile(policy.evaluate, dynamic=False)  # type: ignore[method-assign]


def acting(policy: Policy, batch: int) -> Callable[[], object]:
    obs = observations(policy.observation, (batch,))
    mask = torch.ones(batch, policy.actions.num_actions, dtype=torch.bool)
    memory, generator = policy.initial_memory(batch), torch.Generator().manual_seed(0)
    return lambda: policy.act(obs, mask, memory, generator)


def training(
    policy: Policy, optimizer: torch.optim.Optimizer, batch: int, bf16: bool = False
) -> Callable[[], object]:
    steps = min(STEPS, batch)
    obs = observations(policy.observation, (steps, batch // steps))
    masks = torch.ones(steps, batch // steps, policy.actions.num_actions, dtype=torch.bool)
    actions = torch.zeros(steps, batch // steps, dtype=torch.long)

    def step() -> None:
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            out = policy.evaluate(obs, masks)
        loss = out.value.square().mean() - out.log_prob(actions).mean() - out.entropy().mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()

    return step


def peak_memory() -> float:
    """Most memory that the process has ever held, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


def available_memory() -> float:
    """Memory that the machine can still give, in GiB."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("MemAvail")) / 1024**2


def needed(done: list[Job], kind: str, batch: int) -> float:
    """Estimate for a batch from the one before, in GiB."""
    last = done[-1] if done and f" | {kind} | " in done[-1].name else None
    return last.memory * batch / last.samples if last else 0.0


def measure(names: list[str], batches: list[int], seconds: float, rounds: int) -> list[Job]:
    jobs: list[Job] = []
    for name in names:
        policy = make(name)
        optimizer = torch.optim.Adam(policy.parameters(), fused=True)
        mine = []
        for kind in ("act", "train"):
            for batch in batches:
                train = kind == "train"
                title, expected = f"{name} | {kind} | {batch}", needed(mine, kind, batch)
                if expected > available_memory():
                    print(f"{title}: left out, needs about {expected:.0f} GiB", flush=True)
                    break
                before = peak_memory()
                call = training(policy, optimizer, batch) if train else acting(policy, batch)
                job = Job(title, batch, call)
                job.round(0.0)
                job.memory = peak_memory() - before
                mine.append(job)
        for _ in range(rounds):
            for job in mine:
                if job.samples / job.best < SLOW:
                    job.round(seconds)
        for job in mine:
            print(f"{job.name:45} {job.best:12,.0f} /s", flush=True)
            job.call = list  # frees the policy
        jobs += mine
    return jobs


def options(names: list[str]) -> list[Job]:
    jobs = []
    for name in names:
        for option in ("fp32", "bf16", "encoder", "whole"):
            for kind in ("act", "train"):
                policy = make(name)
                apply_option(policy, option)
                optimizer = torch.optim.Adam(policy.parameters(), fused=True)
                if kind == "act" and option == "bf16":
                    continue
                train = training(policy, optimizer, 1024, bf16=option == "bf16")
                call = train if kind == "train" else acting(policy, 1024)
                job = Job(f"{name} | {kind} {option} | 1024", 1024, call)
                start = time.perf_counter()
                job.call()
                print(f"{job.name}: first call {time.perf_counter() - start:.1f} s", flush=True)
                jobs.append(job)
    for _ in range(3):
        for job in jobs:
            job.round(0.5)
    return jobs


def main() -> None:
    global clock
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few configurations, under 50 s")
    parser.add_argument("--options", action="store_true", help="bf16 and compiled policies")
    parser.add_argument("--only", default="", help="configurations whose name starts so")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    if arguments.threads == 1:
        clock = time.process_time
    shown = OPTIONS if arguments.options else QUICK if arguments.quick else tuple(CONFIGS)
    names = [name for name in shown if name.startswith(arguments.only)]
    if not names:
        parser.error(f"no configuration starts with {arguments.only!r}: {', '.join(shown)}")
    if arguments.options:
        jobs = options(names)
    else:
        batches = [1, 256] if arguments.quick else [1, 32, 256, 1024]
        jobs = measure(names, batches, seconds=0.2, rounds=2)
    rates = {job.name: round(job.best, 1) for job in jobs}
    with torch.device("meta"):
        parameters = {
            name: make(name).num_parameters for name in CONFIGS if f"{name} | act | 1" in rates
        }
    if arguments.options:
        print("\n".join(f"{name:45} {rate:12,.0f} /s" for name, rate in rates.items()))
    result = {
        "unit": "samples/s",
        "threads": arguments.threads,
        "load": round(os.getloadavg()[0], 1),
        "parameters": parameters,
        "rates": rates,
    }
    print("RESULT", json.dumps(result))


if __name__ == "__main__":
    main()
