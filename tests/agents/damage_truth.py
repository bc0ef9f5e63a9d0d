"""Damage seen in embedded Showdown beside the damage predicted for it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

import numpy as np

from nashmon.agents.combatant import arena, combatant
from nashmon.agents.damage import Strike, hit_chance, strike
from nashmon.agents.damage_power import RULES
from nashmon.core.agent import RandomAgent
from nashmon.core.dex import to_id
from nashmon.core.formats import get_format
from nashmon.core.state import UniversalState
from nashmon.match.play import decisions_of
from nashmon.sim.base import NO_ACTION
from nashmon.sim.make import Engine, make_battles

# Lines that may stand between the turn and its first move without changing what the move does.
_HARMLESS = {"", "t:", "turn", "upkeep", "-message", "-hint", "inactive", "debug"}
# Power drawn by chance or by facts a state does not hold; abilities of the same kind.
_UNPREDICTABLE = {
    "present",
    "magnitude",
    "frustration",
    "furycutter",
    "fling",
    "naturalgift",
    "falseswipe",
}
_UNPREDICTABLE_ABILITIES = {"rivalry", "colorchange", "analytic", "stakeout", "protean", "libero"}
_AFTER_MOVE = {
    "-status",
    "-enditem",
    "-supereffective",
    "-resisted",
    "-crit",
    "-anim",
    "-hint",
    "debug",
    "-prepare",
}


@dataclass(frozen=True)
class Sample:
    """One first move of a turn."""

    move: str
    attacker: str
    defender: str
    seen: int  # HP lost
    hp: int  # HP before
    critical: bool
    predicted: Strike
    text: str

    @property
    def fits(self) -> bool:
        """Within the predicted range; a KO only shows that the range reaches the HP."""
        high = self.predicted.crit_high if self.critical else self.predicted.high
        if self.seen == self.hp:
            return high + 1 >= self.hp
        low = self.predicted.low
        return low - 1 <= self.seen <= high + 1


Pair = tuple[UniversalState, UniversalState]


_ITEMS = (
    "", "leftovers", "choiceband", "choicespecs", "choicescarf", "lifeorb", "expertbelt",
    "eviolite", "assaultvest", "muscleband", "wiseglasses", "charcoal", "mysticwater", "magnet",
    "blackbelt", "silkscarf", "lightball", "thickclub", "airballoon", "shucaberry", "flameplate",
)  # fmt: skip


class ArbitraryTeams:
    """Four Pokémon each: any species, its own abilities, mostly attacks, any EVs and natures."""

    def __init__(self, format_id: str) -> None:
        dex = get_format(format_id).dex
        self._dex = dex
        self._species = [
            s.id
            for s in dex.species.values()
            if not s.battle_only and s.nonstandard is None and s.id != "ditto"
        ]
        usable = [m for m in dex.moves.values() if m.nonstandard is None and not m.is_z]
        self._attacks = [m.id for m in usable if m.category != "status" and not m.is_max]
        self._others = [m.id for m in usable if m.category == "status" and not m.is_max]
        self._items = [name for name in _ITEMS if not name or name in dex.items]
        self._natures = [nature.name for nature in dex.natures.values()]

    def __call__(self, rng: np.random.Generator) -> tuple[str, str]:
        """One packed team for each seat."""
        return self._team(rng), self._team(rng)

    def _team(self, rng: np.random.Generator) -> str:
        return "]".join(f"Nick{k}{self._set(rng)}" for k in range(4))

    def _set(self, rng: np.random.Generator) -> str:
        species = str(rng.choice(self._species))
        abilities = [a for a in self._dex.species[species].abilities if a != "frisk"]
        ability = str(rng.choice(abilities)) if abilities else "noability"
        moves = [*rng.choice(self._attacks, 3, replace=False), rng.choice(self._others)]
        item = str(rng.choice(self._items)) if self._dex.gen >= 2 else ""
        old = self._dex.gen <= 2
        evs = ",".join(["252"] * 6 if old else map(str, rng.choice([0, 84], 6)))
        nature = "" if old else str(rng.choice(self._natures))
        level = int(rng.choice([50, 78, 100]))
        return f"|{species}|{item}|{ability}|{','.join(moves)}|{nature}|{evs}||||{level}|"


def collect(
    format_id: str,
    battles_count: int,
    seed: int = 1,
    engine: Engine = "showdown",
    teams: str | None = None,
) -> list[Sample]:
    """Samples of random battles between teams of arbitrary sets."""
    agent, rng = RandomAgent(), np.random.default_rng(seed)
    samples: list[Sample] = []
    made = make_battles(
        format_id,
        battles_count,
        teams=teams or ArbitraryTeams(format_id),
        engine=engine,
        keep_logs=True,
        turn_limit=60,
    )
    with closing(made) as battles:
        step = battles.reset(seed)
        history: list[dict[int, Pair]] = [{} for _ in range(battles_count)]
        done = np.zeros(battles_count, bool)
        while not done.all():
            both = np.flatnonzero(step.acting.all(axis=1) & ~done)
            states = battles.states([(int(row), seat) for row in both for seat in (0, 1)])
            for k, row in enumerate(both):
                first, second = states[2 * k], states[2 * k + 1]
                if first.phase == second.phase == "move":
                    history[row].setdefault(first.turn, (first, second))
            actions = np.full(step.acting.shape, NO_ACTION, np.int64)
            for seat in (0, 1):
                rows = np.flatnonzero(step.acting[:, seat] & ~done)
                if len(rows):
                    view = decisions_of(battles, step, rows, seat, step.acting)
                    actions[rows, seat] = agent.act(view, None, rng)
            step = battles.step(actions)
            for row in np.flatnonzero(step.ended & ~done):
                samples += _read(battles.finished_log(int(row)), history[row], format_id)
                done[row] = True
    return samples


def _read(log: list[str], history: dict[int, Pair], format_id: str) -> list[Sample]:
    samples = []
    turns = [k for k, line in enumerate(log) if line.startswith("|turn|")]
    for start, end in zip(turns, [*turns[1:], len(log)], strict=True):
        number = int(log[start].split("|")[2])
        if number in history:
            sample = _first_move(log[start + 1 : end], history[number], format_id)
            if sample is not None:
                samples.append(sample)
    return samples


def _first_move(lines: list[str], states: Pair, format_id: str) -> Sample | None:
    parts = [line.split("|") for line in lines]
    for k, part in enumerate(parts):
        kind = part[1] if len(part) > 1 else ""
        if kind == "move":
            if any("[from]" in text for text in part[4:]):
                return None
            return _damage_of(part, parts[k + 1 :], states, format_id)
        if kind not in _HARMLESS:
            return None
    return None


def _damage_of(
    move_line: list[str], after: list[list[str]], states: Pair, format_id: str
) -> Sample | None:
    seat = 0 if move_line[2].startswith("p1") else 1
    target = f"p{2 - seat}a"
    dex = get_format(format_id).dex
    user, victim = states[seat].own.active[0], states[1 - seat].own.active[0]
    assert user is not None and victim is not None and victim.hp is not None
    move_id = to_id(move_line[3])
    hidden = [m.id for m in user.moves if m.id.startswith(move_id)]
    move = dex.moves[hidden[0] if move_id == "hiddenpower" and hidden else move_id]
    modelled = not move.variable_power or (move.id in RULES and not move.multi_accuracy)
    if not modelled or move.variable_damage or move.calls_move or user.preparing:
        return None
    odd = {user.ability, victim.ability} & _UNPREDICTABLE_ABILITIES
    if user.transformed or victim.transformed or odd or move.id in _UNPREDICTABLE:
        return None
    hp, critical, seen = victim.hp, False, None
    for part in after:
        kind = part[1] if len(part) > 1 else ""
        if kind == "-crit":
            critical = True
        elif kind == "-damage" and part[2].startswith(target) and len(part) == 4:
            left = int(part[3].split("/")[0].split(" ")[0])
            seen = (seen or 0) + hp - left
            hp = left
        elif kind not in _AFTER_MOVE and "[from] Rage" not in part:
            break
    if seen is None:
        return None
    own = states[seat]
    field = arena(own, True)
    predicted = strike(dex, combatant(dex, user), combatant(dex, victim), move, field)
    text = (
        f"{format_id} {user.species} ({user.ability}, {user.item}, {user.status}, {user.boosts}) "
        f"{move.id} → {victim.species} ({victim.ability}, {victim.item}, {victim.boosts}) "
        f"weather {own.weather}: lost {seen} of {victim.hp}, critical {critical}, {predicted}"
    )
    assert 0 <= hit_chance(dex, combatant(dex, user), combatant(dex, victim), move, field) <= 1
    text += "".join("\n      " + "|".join(p) for p in after[:6])
    return Sample(move.id, user.species, victim.species, seen, victim.hp, critical, predicted, text)
