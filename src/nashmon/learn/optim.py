"""One optimiser step done right: precision, accumulation, clipping, EMA and frozen copies.

Several learners may make the same steps together: what each of them measures on its own data goes
through a `Reduce`, which gives all of them the mean.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import torch
from torch import Tensor, nn

Module = TypeVar("Module", bound=nn.Module)
Precision = Literal["fp32", "bf16", "fp16"]
Reduce = Callable[[Tensor], None]  # replaces numbers by their means over all learners
MAX_SKIPPED = 20  # consecutive overflows after which an fp16 run is called broken


@dataclass(frozen=True)
class OptimConfig:
    """How gradients become weight changes."""

    kind: Literal["adam", "adamw", "sgd"] = "adam"
    learning_rate: float = 3e-4
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0.0
    max_grad_norm: float = 0.5  # 0: no clipping
    accumulate: int = 1  # losses per step
    warmup_steps: int = 0
    precision: Precision = "fp32"


class Descent:
    """Owns the optimiser of some parameters and everything between a loss and the new weights."""

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        config: OptimConfig,
        reduce: Reduce | None = None,
    ) -> None:
        self.config, self.reduce = config, reduce
        self.parameters = [p for p in parameters if p.requires_grad]
        self.optimizer = _optimizer(self.parameters, config)
        self.device = self.parameters[0].device
        if config.precision == "fp16" and self.device.type != "cuda":
            raise ValueError(
                f"precision fp16 needs a CUDA device, not {self.device.type}; use bf16"
            )
        self.scaler = torch.amp.GradScaler("cuda", enabled=config.precision == "fp16")
        self.steps = 0  # optimiser steps made
        self._losses = 0  # losses since the last step
        self._skipped = 0

    def autocast(self) -> AbstractContextManager[Any]:
        """Context for forward passes in the configured precision."""
        if self.config.precision == "fp32":
            return nullcontext()
        dtype = torch.bfloat16 if self.config.precision == "bf16" else torch.float16
        return torch.autocast(self.device.type, dtype=dtype)

    def learning_rate(self, base: float | None = None) -> float:
        """The rate of the next step: base (config's unless given) times the warm-up ramp."""
        base = self.config.learning_rate if base is None else base
        if self.config.warmup_steps == 0:
            return base
        return base * min(1.0, (self.steps + 1) / self.config.warmup_steps)

    def step(self, loss: Tensor, base_rate: float | None = None) -> float | None:
        """Add the gradient; every `accumulate` calls, step and return the gradient norm."""
        self.scaler.scale(loss / self.config.accumulate).backward()  # type: ignore[no-untyped-call]
        flat = self._join()
        self._losses += 1
        if self._losses < self.config.accumulate:
            return None
        self._losses = 0
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate(base_rate)
        self.scaler.unscale_(self.optimizer)
        norm = float(torch.linalg.vector_norm(flat))
        self._check(norm)
        if 0.0 < self.config.max_grad_norm < norm:
            flat *= self.config.max_grad_norm / norm
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=True)
        self.steps += 1
        return norm

    @torch.no_grad()
    def _join(self) -> Tensor:
        """Make all gradients parts of one tensor, their means over all learners, and return it.

        To average, measure and clip it takes one pass, not one per parameter.  After every loss,
        not only before a step: then learners that are alike stay so in the middle of an
        accumulation too, and the state of one is the state of all.
        """
        # A parameter that was not used has no gradient and is left alone by the optimiser; that
        # is so only if no learner used it.
        used = [float(p.grad is not None) for p in self.parameters]
        gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in self.parameters]
        joined = torch.cat([gradients[0].new_tensor(used), *(g.reshape(-1) for g in gradients)])
        if self.reduce is not None:
            self.reduce(joined)
        shares, flat = joined[: len(used)].tolist(), joined[len(used) :]
        parts = torch.split(flat, [p.numel() for p in self.parameters])
        for parameter, part, share in zip(self.parameters, parts, shares, strict=True):
            parameter.grad = part.view_as(parameter) if share > 0 else None
        return flat

    def _check(self, norm: float) -> None:
        """A non-finite gradient is an error, not a skipped step (fp16 may overflow a few times)."""
        self._skipped = 0 if math.isfinite(norm) else self._skipped + 1
        allowed = MAX_SKIPPED if self.scaler.is_enabled() else 0
        if self._skipped > allowed:
            raise FloatingPointError(
                f"gradient norm is {norm} at optimiser step {self.steps} "
                f"({self._skipped} in a row, precision {self.config.precision})"
            )

    def state_dict(self) -> dict[str, Any]:
        """Everything the next step depends on, gradients in accumulation included."""
        gradients = [None if p.grad is None else p.grad.clone() for p in self.parameters]
        return {
            "optimizer": self.optimizer.state_dict(),
            "scaler": self.scaler.state_dict(),
            "steps": self.steps,
            "losses": self._losses,
            "skipped": self._skipped,
            "gradients": gradients if self._losses else [],
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from `state_dict`."""
        self.optimizer.load_state_dict(state["optimizer"])
        self.scaler.load_state_dict(state["scaler"])
        self.steps, self._losses = state["steps"], state["losses"]
        self._skipped = state["skipped"]
        for parameter, gradient in zip(self.parameters, state["gradients"], strict=False):
            parameter.grad = None if gradient is None else gradient.clone()


def _optimizer(parameters: list[nn.Parameter], config: OptimConfig) -> torch.optim.Optimizer:
    if config.kind == "sgd":
        return torch.optim.SGD(
            parameters, lr=config.learning_rate, weight_decay=config.weight_decay
        )
    kind = torch.optim.AdamW if config.kind == "adamw" else torch.optim.Adam
    return kind(
        parameters,
        lr=config.learning_rate,
        betas=config.betas,
        eps=config.eps,
        weight_decay=config.weight_decay,
        fused=True,  # one pass over each parameter instead of ten: small minibatches feel it
    )


def mean_over(reduce: Reduce | None, value: float) -> float:
    """The mean of a number over all learners."""
    return means_over(reduce, [value])[0]


def means_over(reduce: Reduce | None, values: list[float]) -> list[float]:
    """The means of some numbers over all learners."""
    if reduce is None:
        return values
    cells = torch.tensor(values, dtype=torch.float64)
    reduce(cells)
    means: list[float] = cells.tolist()
    return means


def frozen(policy: Module) -> Module:
    """A full copy that shares nothing with the original, in eval mode and without gradients."""
    twin = copy.deepcopy(policy)
    twin.eval()
    twin.requires_grad_(False)
    return twin


class Average:
    """Exponential moving average of a module's weights: w̄ ← w̄ + rate·(w − w̄)."""

    def __init__(self, module: nn.Module, rate: float) -> None:
        self.rate = rate
        self.module: Any = frozen(module)

    @torch.no_grad()
    def update(self, module: nn.Module) -> None:
        """Move towards the module's present weights; buffers are copied."""
        for mean, now in zip(self.module.parameters(), module.parameters(), strict=True):
            mean.lerp_(now, self.rate)
        for kept, buffer in zip(self.module.buffers(), module.buffers(), strict=True):
            kept.copy_(buffer)

    def state_dict(self) -> dict[str, Any]:
        """The averaged weights."""
        return dict(self.module.state_dict())

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the averaged weights."""
        self.module.load_state_dict(state)
