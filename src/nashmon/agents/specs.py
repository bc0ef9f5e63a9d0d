"""Agents by spec: one string that names an agent on the command line, in files and in reports.

    scripted:NAME            a scripted baseline; the prefix may be left out
    run:PATH@best            a checkpoint of a training run (best, last or a name), or a checkpoint
    zoo:NAME                 a pretrained agent that comes with the package
    mixture:FILE             a JSON file with agents and probabilities
    pokeenv:CLASS            a player of poke-env
    search:time=0.1          search on the Gen 1 engine; sims=NUMBER for a count of play-outs

Options follow with commas: `run:PATH@best,greedy`, `zoo:NAME,temperature=0.5`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from nashmon.agents.registry import SCRIPTED, UnknownAgentError
from nashmon.core.agent import Agent
from nashmon.core.errors import UnsupportedError
from nashmon.core.formats import get_format

if TYPE_CHECKING:
    from nashmon.nets.policy import Policy

Options = dict[str, str]
Factory = Callable[[str, Options, str, Path], Agent]  # (rest, options, format id, base directory)

INDEX = "checkpoint.json"
_FILED = ("run", "mixture")  # kinds whose specs hold a path


def get_agent(spec: str, format_id: str, base: Path = Path()) -> Agent:
    """The agent of a spec, ready to play a format; relative paths start at `base`.

    Agents that cannot play the format are refused here, not in the middle of a battle.
    """
    rules = get_format(format_id)
    kind, rest, options = split_spec(spec)
    agent = KINDS[kind](rest, options, rules.id, base)
    game_types = getattr(agent, "game_types", (rules.game_type,))
    if rules.game_type not in game_types:
        raise UnsupportedError(
            f"agent {spec} plays {' and '.join(game_types)}; {rules.id} is {rules.game_type}"
        )
    return agent


def split_spec(spec: str) -> tuple[str, str, Options]:
    """(kind, what follows, options) of a spec."""
    kind, colon, rest = spec.partition(":")
    if not colon:
        kind, rest = "scripted", spec
    if kind not in KINDS:
        raise UnknownAgentError(f"unknown kind of agent {spec!r}; known: {', '.join(KINDS)}")
    if kind == "mixture":
        return kind, rest, {}
    if kind == "search":
        return kind, "", _options(rest, spec)
    name, _, tail = rest.partition(",")
    return kind, name, _options(tail, spec)


def absolute_spec(spec: str, base: Path = Path()) -> str:
    """The same agent from wherever the spec is read: a path in it no longer depends on `base`."""
    kind, colon, rest = spec.partition(":")
    if not colon or kind not in _FILED:
        return spec
    return f"{kind}:{(base / rest).absolute()}"


def _options(text: str, spec: str) -> Options:
    options: Options = {}
    for item in filter(None, text.split(",")):
        key, _, value = item.partition("=")
        if key in options:
            raise UnknownAgentError(f"{spec!r} gives {key} twice")
        options[key] = value
    return options


def no_options(options: Options, what: str) -> None:
    """Raise when options were given to an agent that has none."""
    if options:
        raise UnknownAgentError(f"{what} has no option {next(iter(options))!r}")


def _scripted(name: str, options: Options, format_id: str, base: Path) -> Agent:
    if name not in SCRIPTED:
        known = ", ".join(f"scripted:{name}" for name in SCRIPTED)
        raise UnknownAgentError(f"unknown agent {name!r}; known: {known}")
    no_options(options, f"scripted:{name}")
    return SCRIPTED[name]()


def _run(rest: str, options: Options, format_id: str, base: Path) -> Agent:
    path = find_checkpoint(rest, base)
    return neural_agent(path, f"run:{rest}", options, format_id)


def _zoo(name: str, options: Options, format_id: str, base: Path) -> Agent:
    if name not in zoo():
        known = ", ".join(f"zoo:{name}" for name in zoo()) or "none yet"
        raise UnknownAgentError(f"unknown pretrained agent {name!r}; known: {known}")
    return neural_agent(zoo()[name], f"zoo:{name}", options, format_id)


def _mixture(rest: str, options: Options, format_id: str, base: Path) -> Agent:
    from nashmon.agents.mixture import MixtureAgent, MixtureError, read_mixture

    path = base / rest
    mixture = read_mixture(path)
    if get_format(mixture.format).id != format_id:
        raise MixtureError(f"mixture {path} is for {mixture.format}, not for {format_id}")
    members = [get_agent(spec, format_id, path.parent) for spec, _ in mixture.members]
    return MixtureAgent(members, [p for _, p in mixture.members], f"mixture:{rest}")


def _pokeenv(name: str, options: Options, format_id: str, base: Path) -> Agent:
    from nashmon.agents.pokeenv import poke_env_agent

    no_options(options, f"pokeenv:{name}")
    return poke_env_agent(name, format_id)


def _search(rest: str, options: Options, format_id: str, base: Path) -> Agent:
    from nashmon.agents.search import search_agent

    return search_agent(options, format_id)


# A new kind of agent is one line here.
KINDS: dict[str, Factory] = {
    "scripted": _scripted,
    "run": _run,
    "zoo": _zoo,
    "mixture": _mixture,
    "pokeenv": _pokeenv,
    "search": _search,
}


def find_checkpoint(rest: str, base: Path = Path()) -> Path:
    """The checkpoint directory of `PATH@best`, `PATH@last`, `PATH@NAME` or `PATH`."""
    text, _, which = rest.partition("@")
    path = base / text
    if (path / INDEX).is_file() and not which:
        return path
    folder = path / "checkpoints"
    if not folder.is_dir():
        raise UnknownAgentError(
            f"{path} is neither a checkpoint (no {INDEX}) nor a run (no {folder.name}/)"
        )
    found = folder / (which or "last")
    if not (found / INDEX).is_file():
        there = ", ".join(sorted(p.parent.name for p in folder.glob(f"*/{INDEX}"))) or "none"
        raise UnknownAgentError(f"run {path} has no checkpoint {found.name!r}; it has {there}")
    return found


def neural_agent(path: Path, name: str, options: Options, format_id: str) -> Agent:
    """The agent of a checkpoint directory; options: greedy, temperature."""
    from nashmon.agents.neural import NeuralAgent

    unknown = set(options) - {"greedy", "temperature"}
    if unknown:
        raise UnknownAgentError(f"{name} has no option {unknown.pop()!r}: greedy, temperature")
    agent = NeuralAgent(
        _policy(path), name, _temperature(options.get("temperature", "1")), "greedy" in options
    )
    agent.check_format(format_id)
    return agent


def _temperature(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < float("inf"):
        raise UnknownAgentError(f"temperature must be a number of 0 or more, got {text!r}")
    return value


def _policy(path: Path) -> Policy:
    from nashmon.nets.build import load_policy

    return load_policy(path)[0]


def zoo() -> dict[str, Path]:
    """The pretrained agents that come with the package: name → checkpoint directory."""
    folder = Path(str(files("nashmon"))) / "zoo"
    return {index.parent.name: index.parent for index in sorted(folder.glob(f"*/{INDEX}"))}


def fingerprint(spec: str, base: Path = Path()) -> str:
    """Changes whenever the spec comes to mean another agent (new weights, edited mixture)."""
    kind, rest, options = split_spec(spec)
    if kind == "run":
        return _file_hash(find_checkpoint(rest, base) / INDEX, *options.items())
    if kind == "zoo" and rest in zoo():
        return _file_hash(zoo()[rest] / INDEX, *options.items())
    if kind == "mixture":
        from nashmon.agents.mixture import read_mixture

        path = base / rest
        members = read_mixture(path).members
        return _hash(str([(fingerprint(s, path.parent), p) for s, p in members]))
    return _hash(f"{kind}:{rest}{sorted(options.items())}")


def _file_hash(path: Path, *extra: tuple[str, str]) -> str:
    return _hash(path.read_text(encoding="utf-8") + str(sorted(extra)))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
