import pytest
import torch
from policies import sharpen

from nashmon.nets.memory import Memory, build_memory, forget

KINDS = ("none", "lstm", "gru", "transformer")
T, B, WIDTH, WINDOW = 14, 5, 16, 5


def memory_of(kind: str) -> Memory:
    torch.manual_seed(0)
    memory = build_memory(kind, WIDTH, layers=2, heads=2, window=WINDOW)
    sharpen(memory)
    return memory


def inputs(seed: int = 0):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(T, B, WIDTH, generator=generator)
    resets = torch.rand(T, B, generator=generator) < 0.15
    acting = torch.rand(T, B, generator=generator) < 0.8
    return x, resets, acting


def stepwise(memory: Memory, x, resets, acting, state):
    outputs = []
    for t in range(len(x)):
        state = forget(state, memory.initial(B), resets[t])
        none = torch.zeros(1, B, dtype=torch.bool)
        y, state = memory.sequence(x[t : t + 1], state, none, acting[t : t + 1])
        outputs.append(y[0])
    return torch.stack(outputs), state


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("warm", [False, True])
def test_steps_and_sequences_agree(kind: str, warm: bool) -> None:
    memory = memory_of(kind)
    x, resets, acting = inputs()
    state = memory.initial(B)
    if warm:
        state = memory.sequence(torch.randn(8, B, WIDTH), None, resets[:8], acting[:8])[1]
    full, after = memory.sequence(x, state, resets, acting)
    steps, last = stepwise(memory, x, resets, acting, state)
    assert torch.allclose(full, steps, atol=1e-5)
    assert set(after) == set(last)
    assert all(torch.allclose(after[name], last[name], atol=1e-5) for name in after)


@pytest.mark.parametrize("kind", KINDS)
def test_a_sequence_may_be_cut_anywhere(kind: str) -> None:
    memory = memory_of(kind)
    x, resets, acting = inputs(1)
    full, _ = memory.sequence(x, None, resets, acting)
    state, parts = None, []
    for start, stop in ((0, 3), (3, 4), (4, 11), (11, T)):
        y, state = memory.sequence(x[start:stop], state, resets[start:stop], acting[start:stop])
        parts.append(y)
    assert torch.allclose(full, torch.cat(parts), atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_step_continues_a_running_episode(kind: str) -> None:
    memory = memory_of(kind)
    x, _, _ = inputs(2)
    no = torch.zeros(T, B, dtype=torch.bool)
    full, _ = memory.sequence(x, None, no, ~no)
    state = memory.initial(B)
    for t in range(T):
        y, state = memory.step(x[t], state)
        assert torch.allclose(y, full[t], atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_the_future_never_matters(kind: str) -> None:
    memory = memory_of(kind)
    x, resets, acting = inputs(3)
    base, _ = memory.sequence(x, None, resets, acting)
    for t in range(1, T):
        changed = x.clone()
        changed[t:] = torch.randn_like(changed[t:])
        y, _ = memory.sequence(changed, None, resets, acting)
        assert torch.equal(y[:t], base[:t])


@pytest.mark.parametrize("kind", KINDS[1:])
def test_the_past_matters_unless_it_is_another_episode(kind: str) -> None:
    memory = memory_of(kind)
    x, _, _ = inputs(4)
    resets = torch.zeros(T, B, dtype=torch.bool)
    resets[8, 0] = True
    acting = torch.ones(T, B, dtype=torch.bool)
    changed = x.clone()
    changed[7] = torch.randn_like(changed[7])
    base, _ = memory.sequence(x, None, resets, acting)
    y, _ = memory.sequence(changed, None, resets, acting)
    assert torch.equal(y[8:, 0], base[8:, 0])
    assert bool(((y[8, 1:] - base[8, 1:]).abs().amax(-1) > 1e-4).all())


@pytest.mark.parametrize("kind", KINDS[1:])
def test_rows_that_do_not_act_are_not_remembered(kind: str) -> None:
    memory = memory_of(kind)
    x, resets, _ = inputs(5)
    resets[:] = False
    acting = torch.ones(T, B, dtype=torch.bool)
    acting[6, 0] = False
    changed = x.clone()
    changed[6, 0] = torch.randn_like(changed[6, 0])
    base, _ = memory.sequence(x, None, resets, acting)
    y, _ = memory.sequence(changed, None, resets, acting)
    assert torch.equal(y[7:, 0], base[7:, 0])
    assert not torch.allclose(y[6, 0], base[6, 0])


def test_the_window_limits_how_far_one_layer_looks_back() -> None:
    torch.manual_seed(0)
    memory = build_memory("transformer", WIDTH, layers=1, heads=2, window=WINDOW)
    x, _, _ = inputs(6)
    no = torch.zeros(T, B, dtype=torch.bool)
    changed = x.clone()
    changed[2] = torch.randn_like(changed[2])
    base, _ = memory.sequence(x, None, no, ~no)
    y, _ = memory.sequence(changed, None, no, ~no)
    gap = (y - base).abs().amax(dim=(1, 2))
    assert bool((gap[2 : 2 + WINDOW] > 0).all()) and bool((gap[2 + WINDOW :] == 0).all())


@pytest.mark.parametrize("kind", KINDS[1:])
def test_gradients_reach_back_through_time(kind: str) -> None:
    memory = memory_of(kind)
    x, _, _ = inputs(7)
    no = torch.zeros(T, B, dtype=torch.bool)
    x.requires_grad_()
    memory.sequence(x, None, no, ~no)[0][5].sum().backward()
    assert x.grad is not None and bool((x.grad[2].abs() > 0).any())
    assert bool((x.grad[6:] == 0).all())


@pytest.mark.parametrize("kind", KINDS[1:])
def test_states_are_batch_first_and_never_changed_in_place(kind: str) -> None:
    memory = memory_of(kind)
    x, resets, acting = inputs(8)
    _, state = memory.sequence(x, None, resets, acting)
    copy = {name: tensor.clone() for name, tensor in state.items()}
    assert all(len(tensor) == B for tensor in state.values())
    memory.step(x[0], state)
    assert all(torch.equal(state[name], copy[name]) for name in state)
