"""Random battles for the tests of embedded Showdown."""

from __future__ import annotations

import random
from typing import Any

from nashmon.sim.showdown import tools
from nashmon.sim.showdown.messages import BattleStart, BattleUpdate, Choice
from nashmon.sim.showdown.process import ShowdownProcess

# Where teams for a format come from when it has no random teams of its own; battles take any team.
GENERATORS = {
    "gen1ou": "gen1randombattle",
    "gen2ou": "gen2randombattle",
    "gen3ou": "gen3randombattle",
    "gen4ou": "gen4randombattle",
    "gen9ou": "gen9randombattle",
    "gen9customgame": "gen9randombattle",
    "gen9vgc2025regi": "gen9randomdoublesbattle",
    "gen9championsvgc2026regmb": "gen9randomdoublesbattle",
}
NEEDS_TARGET = {"normal", "any", "adjacentFoe", "adjacentAlly", "adjacentAllyOrSelf"}
GIMMICKS = {
    "canTerastallize": "terastallize",
    "canMegaEvo": "mega",
    "canUltraBurst": "ultra",
    "canDynamax": "dynamax",
}


def battle(format_id: str, number: int, battle_id: int | None = None) -> BattleStart:
    """Battle `number` of a format, with its own teams and seed."""
    generator = GENERATORS.get(format_id)
    teams = (None, None)
    if generator is not None:
        teams = (
            tools.random_team(generator, 2 * number),
            tools.random_team(generator, 2 * number + 1),
        )
    return BattleStart(
        number if battle_id is None else battle_id, format_id, teams, seed=(7, 11, 13, number)
    )


def pick(request: dict[str, Any], rng: random.Random) -> str:
    """A choice that is nearly always legal."""
    pokemon = request["side"]["pokemon"]
    if request.get("teamPreview"):
        order = list(range(1, len(pokemon) + 1))
        rng.shuffle(order)
        return "team " + ",".join(map(str, order))
    fainted = [entry["condition"].endswith(" fnt") for entry in pokemon]
    bench = [i + 1 for i, p in enumerate(pokemon) if not p["active"] and not fainted[i]]
    rng.shuffle(bench)
    forced = request.get("forceSwitch")
    parts = []
    for slot, active in enumerate(forced or request["active"]):
        idle = not active if forced else fainted[slot] or pokemon[slot].get("commanding")
        if idle:
            parts.append("pass")
        elif pokemon[slot].get("reviving"):
            parts.append(f"switch {1 + fainted.index(True)}")
        elif forced or (bench and not active.get("trapped") and rng.random() < 0.15):
            parts.append(f"switch {bench.pop()}" if bench else "pass")
        else:
            parts.append(_move(active, slot, len(request["active"]) > 1, rng))
    return ", ".join(parts)


def _move(active: dict[str, Any], slot: int, doubles: bool, rng: random.Random) -> str:
    usable = [(i + 1, move) for i, move in enumerate(active["moves"]) if not move.get("disabled")]
    index, move = rng.choice(usable)
    text = f"move {index}"
    target = move.get("target")
    if doubles and target in NEEDS_TARGET:
        places = {"adjacentAlly": [f"-{2 - slot}"], "adjacentAllyOrSelf": ["-1", "-2"]}
        text += " " + rng.choice(places.get(target, ["+1", "+2"]))
    offered = [name for key, name in GIMMICKS.items() if active.get(key)]
    if offered and rng.random() < 0.2:
        text += " " + rng.choice(offered)
    return text


class Table:
    """Keeps the open requests of some battles and picks random answers to them."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self.requests: dict[int, list[dict[str, Any] | None]] = {}

    def note(self, updates: dict[int, BattleUpdate]) -> None:
        for update in updates.values():
            assert update.failure is None, update.failure
            open_requests = self.requests.setdefault(update.id, [None, None])
            for seat in (0, 1):
                if update.requests[seat] is not None:
                    open_requests[seat] = update.requests[seat]
                elif update.errors[seat] is not None:
                    open_requests[seat] = {"refused": True}
            if update.ended:
                del self.requests[update.id]

    def choices(self) -> list[Choice]:
        batch = []
        for battle_id, pair in sorted(self.requests.items()):
            first, second = (self._answer(pair, seat) for seat in (0, 1))
            batch.append((battle_id, first, second))
        return batch

    def _answer(self, pair: list[dict[str, Any] | None], seat: int) -> str | None:
        request, pair[seat] = pair[seat], None
        if request is None or request.get("wait"):
            return None
        return "default" if request.get("refused") else pick(request, self._rng)


def play(
    process: ShowdownProcess, starts: list[BattleStart], seed: int = 0
) -> dict[int, list[BattleUpdate]]:
    """Play battles to their end; all updates by battle."""
    table = Table(seed)
    updates = process.start(starts)
    history = {battle_id: [update] for battle_id, update in updates.items()}
    table.note(updates)
    while table.requests:
        updates = process.choose(table.choices())
        table.note(updates)
        for battle_id, update in updates.items():
            history[battle_id].append(update)
    return history
