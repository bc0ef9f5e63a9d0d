from contextlib import closing

import numpy as np
import pytest
import torch

from nashmon.agents.neural import NeuralAgent
from nashmon.core.agent import Decisions
from nashmon.core.errors import NashmonError, UnsupportedError
from nashmon.core.formats import get_format
from nashmon.match.play import decisions_of
from nashmon.nets.build import build_policy
from nashmon.nets.config import PolicyConfig
from nashmon.nets.policy import Policy
from nashmon.observe.registry import get_observation_space
from nashmon.sim.base import NO_ACTION
from nashmon.sim.make import make_battles

ROWS = 3


def policy_of(format_id: str, observation: str = "entity", **options: object) -> Policy:
    torch.manual_seed(0)
    sizes: dict[str, object] = {"width": 32, "entity_width": 16, "memory_window": 6}
    policy = build_policy(format_id, PolicyConfig.from_dict({**sizes, **options}), observation)
    for parameter in policy.parameters():  # a new policy is nearly uniform, which hides mistakes
        parameter.data.add_(torch.randn_like(parameter) * 0.3)
    return policy


def played(agent: NeuralAgent, seed: int = 0) -> list[tuple[Decisions, np.ndarray, np.ndarray]]:
    """Every decision of some battles as the agent saw them, its actions and log-probabilities."""
    record = []
    with closing(make_battles("gen1ou", ROWS, turn_limit=12)) as battles:
        step = battles.reset(seed)
        rng = np.random.default_rng(seed)
        memories = [agent.start(ROWS), agent.start(ROWS)]
        first = np.ones((ROWS, 2), bool)
        while battles.episodes.min() < 2:
            actions = np.full((ROWS, 2), NO_ACTION)
            for seat in (0, 1):
                rows = np.flatnonzero(step.acting[:, seat])
                if not len(rows):
                    continue
                view = decisions_of(battles, step, rows, seat, first)
                actions[rows, seat] = agent.act(view, memories[seat], rng)
                record.append((seat, view, actions[rows, seat], memories[seat].log_probs))
                first[rows, seat] = False
            step = battles.step(actions)
            first[step.ended] = True
    return record


@pytest.mark.parametrize("memory", ["none", "lstm", "transformer"])
def test_acting_gives_the_probabilities_that_learning_computes(memory: str) -> None:
    agent = NeuralAgent(policy_of("gen1ou", memory=memory), "net")
    record = played(agent)
    for seat in (0, 1):
        for slot in range(ROWS):
            # One slot's decisions in order, evaluated as one sequence with the episode starts.
            rows = [
                (view, int(np.flatnonzero(view.slots == slot)[0]), actions, log_probs)
                for at, view, actions, log_probs in record
                if at == seat and slot in view.slots
            ]
            observations = {
                name: torch.as_tensor(
                    np.stack([v.observations[name][i] for v, i, *_ in rows])
                ).unsqueeze(1)
                for name in rows[0][0].observations
            }
            masks = torch.as_tensor(np.stack([v.masks[i] for v, i, *_ in rows])).unsqueeze(1)
            resets = torch.tensor([bool(v.first[i]) for v, i, *_ in rows]).unsqueeze(1)
            actions = torch.tensor([int(a[i]) for _, i, a, _ in rows]).unsqueeze(1)
            with torch.no_grad():
                output = agent.policy.evaluate(observations, masks, resets=resets)
            acted = np.array([p[i] for _, i, _, p in rows])
            learned = output.log_prob(actions).squeeze(1).numpy()
            assert len(rows) > 5
            np.testing.assert_allclose(acted, learned, atol=1e-5)


def test_greedy_is_the_most_likely_action_and_needs_no_chance() -> None:
    agent = NeuralAgent(policy_of("gen1ou"), "net", greedy=True)
    first, second = played(agent, 1), played(agent, 1)
    assert all((a[2] == b[2]).all() for a, b in zip(first, second, strict=True))
    assert all((entry[3] == 0).all() for entry in first)


def test_an_observation_the_battles_do_not_show_is_made_from_states() -> None:
    name = "metamon-default"
    agent = NeuralAgent(policy_of("gen1ou", name, encoder="tokens", head="flat"), "text")
    record = played(agent)
    space = get_observation_space(name, get_format("gen1ou"))
    assert len(record) > 5
    assert set(record[0][1].observations) != {array.name for array in space.spec.arrays}


def test_a_policy_of_another_format_is_refused_by_name() -> None:
    agent = NeuralAgent(policy_of("gen9ou"), "stranger")
    with pytest.raises(NashmonError, match="stranger"):
        agent.check_format("gen1ou")
    with pytest.raises(NashmonError, match="stranger"):
        played(agent)
    with pytest.raises(UnsupportedError, match="doubles-default"):
        agent.check_format("gen9vgc2025regi")
