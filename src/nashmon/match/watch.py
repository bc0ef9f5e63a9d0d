"""Play one battle and tell it in plain sentences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from nashmon.core.agent import Agent
from nashmon.match.play import decisions_of
from nashmon.sim.base import NO_ACTION, Battles
from nashmon.sim.make import make_battles

PLAYERS = ("Red", "Blue")  # what the engines call p1 and p2


@dataclass(slots=True)
class Story:
    """A battle as text: (turn, sentences) pairs, turn 0 being the start."""

    turns: list[tuple[int, list[str]]] = field(default_factory=lambda: [(0, [])])
    result: str = ""


def watch(agents: tuple[Agent, Agent], format_id: str, seed: int) -> Story:
    """Play one battle with agents[0] as p1 and return its story."""
    battles = make_battles(format_id, num_battles=1, workers=0, keep_logs=True)
    try:
        play_one(agents, battles, seed)
        names = (agents[0].name, agents[1].name)
        return tell(battles.finished_log(0), names)
    finally:
        battles.close()


def play_one(agents: tuple[Agent, Agent], battles: Battles, seed: int) -> None:
    """Play the first battle of a one-row block to its end."""
    step = battles.reset(seed)
    rngs = [np.random.default_rng([seed, seat]) for seat in (0, 1)]
    memories = [agent.start(1) for agent in agents]
    first = np.ones((1, 2), dtype=bool)
    rows = np.zeros(1, dtype=np.int64)
    while battles.episodes[0] == 0:
        actions = np.full((1, 2), NO_ACTION, dtype=np.int64)
        for seat, agent in enumerate(agents):
            if step.acting[0, seat]:
                view = decisions_of(battles, step, rows, seat, first)
                actions[0, seat] = agent.act(view, memories[seat], rngs[seat])[0]
                first[0, seat] = False
        step = battles.step(actions)


def tell(lines: list[str], names: tuple[str, str]) -> Story:
    """Turn protocol lines into sentences; lines without a sentence are left out."""
    story = Story()
    for line in lines:
        kind, *args = line.split("|")[1:] or [""]
        if kind == "turn":
            story.turns.append((int(args[0]), []))
        elif kind in ("win", "tie"):
            winner = names[PLAYERS.index(args[0])] if kind == "win" else ""
            story.result = f"{winner} wins" if winner else "a draw"
        elif kind in _SENTENCES:
            sentence = _SENTENCES[kind]([_who(arg, names) for arg in args])
            story.turns[-1][1].append(sentence)
    return story


def _who(text: str, names: tuple[str, str]) -> str:
    """ "p1a: Tauros" becomes "maxpower's Tauros"."""
    if text[:2] in ("p1", "p2") and ": " in text:
        return f"{names[int(text[1]) - 1]}'s {text.split(': ', 1)[1]}"
    return text


def _health(args: list[str]) -> str:
    health, _, status = args[1].partition(" ")
    return f"{args[0]} has {health} HP" + (f" ({status})" if status and status != "fnt" else "")


_SENTENCES: dict[str, Callable[[list[str]], str]] = {
    "switch": lambda a: f"{a[0]} comes in",
    "drag": lambda a: f"{a[0]} is dragged in",
    "move": lambda a: f"{a[0]} uses {a[1]}",
    "cant": lambda a: f"{a[0]} cannot move ({a[1]})",
    "faint": lambda a: f"{a[0]} faints",
    "-damage": _health,
    "-heal": _health,
    "-status": lambda a: f"{a[0]} is afflicted: {a[1]}",
    "-curestatus": lambda a: f"{a[0]} is cured of {a[1]}",
    "-boost": lambda a: f"{a[0]}'s {a[1]} rises by {a[2]}",
    "-unboost": lambda a: f"{a[0]}'s {a[1]} falls by {a[2]}",
    "-crit": lambda a: "a critical hit!",
    "-supereffective": lambda a: "it is super effective",
    "-resisted": lambda a: "it is not very effective",
    "-immune": lambda a: f"{a[0]} is immune",
    "-miss": lambda a: f"{a[0]} misses",
    "-fail": lambda a: f"it fails for {a[0]}",
    "-start": lambda a: f"{a[0]}: {a[1]} begins",
    "-end": lambda a: f"{a[0]}: {a[1]} ends",
    "-weather": lambda a: f"weather: {a[0]}",
    "-terastallize": lambda a: f"{a[0]} terastallizes to {a[1]}",
    "-mega": lambda a: f"{a[0]} mega evolves",
}
