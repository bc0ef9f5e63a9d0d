import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nashmon.agents import RandomAgent
from nashmon.agents.mixture import MixtureAgent, MixtureError
from nashmon.agents.neural import NeuralAgent
from nashmon.agents.registry import UnknownAgentError
from nashmon.agents.specs import fingerprint, get_agent, zoo
from nashmon.core.agent import Decisions
from nashmon.core.errors import NashmonError
from nashmon.match.play import play
from nashmon.nets.build import build_policy, policy_meta
from nashmon.nets.checkpoint import save
from nashmon.nets.config import PolicyConfig
from nashmon.sim.make import make_battles

SMALL = PolicyConfig.from_dict({"width": 32, "entity_width": 16, "memory_window": 6})


def write_run(folder: Path, format_id: str = "gen1ou", seed: int = 0) -> Path:
    torch.manual_seed(seed)
    policy = build_policy(format_id, SMALL)
    for name in ("best", "last"):
        path = folder / "checkpoints" / name
        save(path, {"policy": policy.state_dict()}, policy_meta(policy))
    return folder


def write_mixture(file: Path, *members: tuple[str, float], format_id: str = "gen1ou") -> Path:
    agents = [{"spec": spec, "probability": p} for spec, p in members]
    file.write_text(json.dumps({"format": format_id, "agents": agents}))
    return file


def test_the_prefix_of_a_scripted_agent_may_be_left_out() -> None:
    assert isinstance(get_agent("random", "gen1ou"), RandomAgent)
    assert isinstance(get_agent("scripted:random", "gen9vgc2025regi"), RandomAgent)


def test_a_run_is_found_by_name_and_played_as_asked(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    for spec in (f"run:{run}", f"run:{run}@best", f"run:{run}/checkpoints/last"):
        assert isinstance(get_agent(spec, "gen1ou"), NeuralAgent)
    greedy = get_agent(f"run:{run}@best,greedy", "gen1ou")
    warm = get_agent(f"run:{run}@best,temperature=0.5", "gen1ou")
    assert isinstance(greedy, NeuralAgent) and greedy.temperature == 0
    assert isinstance(warm, NeuralAgent) and warm.temperature == 0.5


def test_a_fingerprint_follows_the_weights_and_the_mixture(tmp_path: Path) -> None:
    spec = f"run:{write_run(tmp_path / 'run')}@best"
    file = write_mixture(tmp_path / "m.json", ("run:run@best", 0.5), ("random", 0.5))
    before = fingerprint(spec), fingerprint(f"mixture:{file}")
    assert before == (fingerprint(spec), fingerprint(f"mixture:{file}"))
    assert fingerprint(f"{spec},greedy") != before[0]
    write_run(tmp_path / "run", seed=1)
    after = fingerprint(spec), fingerprint(f"mixture:{file}")
    assert after[0] != before[0] and after[1] != before[1]


class Constant:
    """Remembers how often it was asked in each slot; always the first legal action."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.battles: list[int] = []

    def start(self, num_slots: int) -> None:
        return None

    def act(self, decisions: Decisions, memory: Any, rng: np.random.Generator) -> Any:
        self.battles += decisions.slots[decisions.first].tolist()
        return decisions.masks.argmax(axis=1)


def test_a_mixture_draws_one_member_for_each_battle() -> None:
    members = Constant("a"), Constant("b")
    mixture = MixtureAgent(members, [0.25, 0.75], "mix")
    memory = mixture.start(1)
    rng = np.random.default_rng(0)
    for battle in range(400):
        for turn in range(2):
            mixture.act(
                Decisions({}, np.ones((1, 3), bool), np.array([0]), np.array([turn == 0]), list),
                memory,
                rng,
            )
        assert len(members[0].battles) + len(members[1].battles) == battle + 1
    assert 0.17 < len(members[0].battles) / 400 < 0.33


def test_a_mixture_plays_and_its_members_keep_their_slots(tmp_path: Path) -> None:
    write_run(tmp_path / "run")
    file = write_mixture(tmp_path / "m.json", ("run:run", 0.5), ("random", 0.5))
    mixture = get_agent(f"mixture:{file}", "gen1ou")
    with closing(make_battles("gen1ou", 4, turn_limit=20)) as battles:
        record = play((mixture, RandomAgent()), battles, 8, 1)
        assert record.games == 8
        assert play((mixture, RandomAgent()), battles, 8, 1) == record
    first, second = record.metrics
    assert 0 < first.entropies < first.decisions and second.mean_entropy is None


@pytest.mark.parametrize(
    ("probabilities", "message"), [((0.5, 0.4), "sum to 0.9"), ((1.5, -0.5), "must lie in")]
)
def test_wrong_probabilities_are_refused(
    tmp_path: Path, probabilities: tuple[float, float], message: str
) -> None:
    members = zip(("random", "maxpower"), probabilities, strict=True)
    file = write_mixture(tmp_path / "m.json", *members)
    with pytest.raises(MixtureError, match=message):
        get_agent(f"mixture:{file}", "gen1ou")


def test_a_sum_within_the_tolerance_is_accepted(tmp_path: Path) -> None:
    file = write_mixture(tmp_path / "m.json", ("random", 0.3333333), ("maxpower", 0.6666667))
    assert get_agent(f"mixture:{file}", "gen1ou").name.startswith("mixture:")


@pytest.mark.parametrize(
    ("spec", "format_id", "message"),
    [
        ("nobody", "gen1ou", "unknown agent 'nobody'"),
        ("oracle:x", "gen1ou", "unknown kind of agent"),
        ("zoo:nobody", "gen1ou", "unknown pretrained agent"),
        ("pokeenv:Nobody", "gen1ou", "pokeenv:RandomPlayer"),
        ("pokeenv:no.such.Player", "gen1ou", "no.such.Player"),
        ("random,greedy", "gen1ou", "no option 'greedy'"),
        ("run:nowhere@best", "gen1ou", "neither a checkpoint"),
        ("run:run@best", "gen9ou", "gen9ou"),
        ("run:run@best", "gen9vgc2025regi", "doubles-default"),
        ("run:run@worst", "gen1ou", "it has best, last"),
        ("run:run@best,heat=2", "gen1ou", "no option 'heat'"),
        ("run:run@best,temperature=hot", "gen1ou", "'hot'"),
        ("mixture:m.json", "gen9ou", "is for gen1ou"),
        ("mixture:none.json", "gen1ou", "no mixture file"),
        ("mixture:broken.json", "gen1ou", "is not a mixture"),
        ("pokeenv:SimpleHeuristicsPlayer", "gen9vgc2025regi", "plays singles"),
        ("random", "gen1oo", "unknown format"),
    ],
)
def test_each_mistake_has_its_own_error(
    tmp_path: Path, spec: str, format_id: str, message: str
) -> None:
    write_run(tmp_path / "run")
    write_mixture(tmp_path / "m.json", ("random", 1.0))
    (tmp_path / "broken.json").write_text("[]")
    with pytest.raises(NashmonError, match=message):
        get_agent(spec, format_id, tmp_path)


def test_the_command_line_says_what_is_wrong_without_a_traceback() -> None:
    code = "from nashmon.cli.main import main; main()"
    command = [sys.executable, "-c", code, "tournament", "random", "run:nowhere"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.returncode == 1
    assert "nowhere" in result.stderr and "Traceback" not in result.stderr


def test_every_pretrained_agent_can_be_loaded() -> None:
    for path in zoo().values():
        assert (path / "checkpoint.json").is_file()
    with pytest.raises(UnknownAgentError):
        get_agent("zoo:", "gen1ou")
