"""Rare situations, staged in the simulator: every mask is compared with what it accepts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from nashmon.core.actions import DoublesSpace, SinglesSpace, bench_order
from nashmon.core.actions_doubles import PASS, encode
from nashmon.core.formats import get_format
from nashmon.sim.choice_audit import Auditor
from nashmon.sim.showdown.messages import UNAVAILABLE, BattleStart, BattleUpdate
from nashmon.sim.showdown.process import ShowdownProcess

Request = dict[str, Any]


@pytest.fixture(scope="module")
def shared() -> Iterator[ShowdownProcess]:
    with ShowdownProcess() as child:
        yield child


@pytest.fixture
def process(shared: ShowdownProcess) -> Iterator[ShowdownProcess]:
    yield shared
    shared.end([0])


def pokemon(species: str, moves: str, ability: str = "", item: str = "", level: int = 100) -> str:
    return f"|{species}|{item}|{ability}|{moves}|Hardy|252,,,,,252||||{level}|"


def team(*sets: str) -> str:
    return "]".join(sets)


class Stage:
    """A battle driven by given choices; `requests` are those the seats must answer now."""

    def __init__(self, process: ShowdownProcess, format_id: str, first: str, second: str) -> None:
        self.process = process
        self.auditor = Auditor(process, get_format(format_id), pair_share=1.0)
        self.space = self.auditor.space
        self.requests: list[Request] = [{}, {}]
        self.update = process.start([BattleStart(0, format_id, (first, second))])[0]
        self._read()
        if "teamPreview" in self.requests[0]:
            self.play("default", "default")

    def play(self, first: str | None, second: str | None = None) -> BattleUpdate:
        self.update = self.process.choose([(0, first, second)])[0]
        self._read()
        return self.update

    def _read(self) -> None:
        assert self.update.failure is None, self.update.failure
        for seat, request in enumerate(self.update.requests):
            self.requests[seat] = request if request is not None else self.requests[seat]

    def audit(self, seat: int = 0) -> set[int]:
        """Compare the seat's mask with the simulator; returns its actions."""
        request = self.requests[seat]
        self.auditor.check(seat, request, np.random.default_rng(0))
        result = self.auditor.result
        assert (result.rejected, result.unreachable) == (0, 0), result.examples
        return set(np.flatnonzero(self.space.mask(request)).tolist())


SPLASHER = pokemon("Gengar", "splash")
PAIR = team(pokemon("Gengar", "splash,protect"), pokemon("Blissey", "splash,protect"))


def test_revival_blessing_lists_the_fainted_first(process: ShowdownProcess) -> None:
    first = team(
        pokemon("Electrode", "memento"),
        pokemon("Pawmot", "revivalblessing"),
        pokemon("Aipom", "splash"),
    )
    stage = Stage(process, "gen9customgame", first, SPLASHER)
    stage.play("move memento", "move splash")
    assert stage.audit() == {4, 5}
    stage.play("switch Pawmot")
    stage.play("move revivalblessing", "move splash")
    request = stage.requests[0]
    assert stage.audit() == {4}
    assert request["side"]["pokemon"][bench_order(request)[0]]["ident"] == "p1: Electrode"
    stage.play(stage.space.choice(request, 4))
    assert stage.audit() == {0, 4, 5}


def test_without_living_reserves_a_revival_may_be_declined(process: ShowdownProcess) -> None:
    first = team(pokemon("Electrode", "memento"), pokemon("Pawmot", "revivalblessing"))
    stage = Stage(process, "gen9customgame", first, SPLASHER)
    stage.play("move memento", "move splash")
    stage.play("switch 2")
    stage.play("move revivalblessing", "move splash")
    assert stage.audit() == {0, 4}
    assert stage.space.choice(stage.requests[0], 0) == "pass"
    stage.play("pass")
    assert stage.requests[0]["active"][0]["moves"][0]["id"] == "struggle"  # its only PP is spent
    assert stage.audit() == {0}


def test_in_doubles_a_revival_may_be_declined_too(process: ShowdownProcess) -> None:
    first = team(
        pokemon("Pawmot", "revivalblessing,protect"),
        pokemon("Electrode", "memento"),
        pokemon("Blissey", "splash"),
    )
    stage = Stage(process, "gen9doublescustomgame", first, PAIR)
    stage.play("move protect, move 1 1", "move 1, move 1")
    stage.play("pass, switch 3", None)
    stage.play("move 1, move 1", "move 1, move 1")
    assert stage.audit() == {45 * 40 + PASS, 45 * PASS + PASS}


def test_revival_blessing_can_raise_the_partner_in_the_other_slot(
    process: ShowdownProcess,
) -> None:
    first = team(
        pokemon("Pawmot", "revivalblessing"),
        pokemon("Electrode", "memento"),
        pokemon("Aipom", "splash"),
    )
    stage = Stage(process, "gen9doublescustomgame", first, PAIR)
    stage.play("move 1, move 1 1", "move 1, move 1")
    request = stage.requests[0]
    assert request["forceSwitch"] == [True, False]
    action = 45 * encode(0, -2, False) + PASS
    assert stage.audit() == {action}
    assert stage.space.choice(request, action) == "switch 2, pass"
    assert stage.space.action(request, "switch 2") == action
    stage.play("switch 2")
    assert "fnt" not in stage.requests[0]["side"]["pokemon"][1]["condition"]


def test_commander_passes_and_its_partner_stays(process: ShowdownProcess) -> None:
    first = team(
        pokemon("Tatsugiri", "splash", "commander"),
        pokemon("Dondozo", "splash,wavecrash", "unaware"),
        pokemon("Aipom", "splash"),
    )
    stage = Stage(process, "gen9doublescustomgame", first, PAIR)
    actions = stage.audit()
    assert {action // 45 for action in actions} == {PASS}
    assert all(action % 45 < 40 for action in actions)
    assert stage.space.action(stage.requests[0], "move wavecrash 1") in actions


def test_dynamax_offers_max_moves_with_their_own_targets(process: ShowdownProcess) -> None:
    first = team(
        pokemon("Snorlax", "earthquake,protect,helpinghand,bodyslam"),
        pokemon("Blissey", "splash,softboiled"),
        pokemon("Aipom", "splash"),
    )
    stage = Stage(process, "gen8doublescustomgame", first, PAIR)
    space = stage.space
    assert isinstance(space, DoublesSpace)
    codes = set(np.flatnonzero(space.slot_masks(stage.requests[0])[0]).tolist())
    assert encode(0, 0, False) in codes and encode(0, 1, False) not in codes  # Earthquake: no aim
    assert encode(0, 1, True) in codes and encode(0, 0, True) not in codes  # Max Quake: a foe
    assert encode(1, 0, True) in codes  # Max Guard
    actions = stage.audit()
    both = 45 * encode(1, 0, True) + encode(0, 0, True)
    assert both not in actions
    stage.play("move earthquake dynamax 1, move splash", "move protect, move protect")
    assert "canDynamax" not in stage.requests[0]["active"][0]
    codes = set(np.flatnonzero(space.slot_masks(stage.requests[0])[0]).tolist())
    assert {encode(0, 1, False), encode(1, 0, False)} <= codes
    assert not any(code < 40 and code % 10 >= 5 for code in codes)
    stage.audit()


def test_zmoves_may_be_used_while_encored(process: ShowdownProcess) -> None:
    first = team(
        pokemon("Snorlax", "bodyslam,return,rest,earthquake", item="normaliumz"),
        pokemon("Aipom", "splash"),
    )
    second = team(pokemon("Ninjask", "encore,protect", level=50), SPLASHER)
    stage = Stage(process, "gen7customgame", first, second)
    assert stage.audit() == {0, 1, 2, 3, 4, 9, 12}
    stage.play("move rest", "move protect")
    stage.play("move rest", "move encore")
    actions = stage.audit()
    assert actions & set(range(4)) == {2}
    assert {9, 12} <= actions


def test_mega_evolution_and_zmove_together_but_not_two_megas(process: ShowdownProcess) -> None:
    first = team(
        pokemon("Gyarados", "waterfall", item="gyaradosite"),
        pokemon("Lucario", "aurasphere", item="lucarionite"),
        pokemon("Snorlax", "bodyslam", item="normaliumz"),
    )
    stage = Stage(process, "gen7doublescustomgame", first, PAIR)
    mega = encode(0, 1, True)
    actions = stage.audit()
    assert 45 * mega + mega not in actions
    assert 45 * mega + encode(0, 1, False) in actions
    stage.play("move 1 1, switch 3", "move protect, move protect")
    actions = stage.audit()
    assert 45 * mega + mega in actions
    choice = stage.space.choice(stage.requests[0], 45 * mega + mega)
    assert choice == "move 1 mega 1, move 1 zmove 1"


def test_encore_and_disable_leave_struggle(process: ShowdownProcess) -> None:
    first = team(pokemon("Snorlax", "bodyslam,earthquake"), pokemon("Aipom", "splash"))
    second = team(pokemon("Ninjask", "encore,disable,protect"), SPLASHER)
    stage = Stage(process, "gen6customgame", first, second)
    stage.play("move bodyslam", "move protect")
    stage.play("move bodyslam", "move encore")
    assert stage.audit() == {0, 4}
    stage.play("move bodyslam", "move disable")
    assert stage.requests[0]["active"][0]["moves"][0]["id"] == "struggle"
    assert stage.audit() == {0, 4}


def test_recharge_is_action_0_and_outrage_keeps_its_place(process: ShowdownProcess) -> None:
    first = team(pokemon("Dragonite", "roost,hyperbeam,outrage"), pokemon("Aipom", "splash"))
    stage = Stage(process, "gen9customgame", first, team(pokemon("Steelix", "splash")))
    stage.play("move hyperbeam", "move splash")
    assert stage.requests[0]["active"][0]["moves"][0]["id"] == "recharge"
    assert stage.audit() == {0}
    stage.play("move 1", "move splash")
    stage.play("move outrage", "move splash")
    assert stage.audit() == {1}
    assert stage.space.choice(stage.requests[0], 1) == "move 1"


@pytest.mark.parametrize("reserves", [1, 2, 3])
def test_two_fainted_slots_share_the_reserves(process: ShowdownProcess, reserves: int) -> None:
    bench = [pokemon(name, "splash") for name in ("Aipom", "Eevee", "Ditto")[:reserves]]
    first = team(pokemon("Gengar", "memento"), pokemon("Mew", "memento"), *bench)
    stage = Stage(process, "gen9doublescustomgame", first, PAIR)
    stage.play("move 1 1, move 1 2", "move 1, move 1")
    actions = {(action // 45, action % 45) for action in stage.audit()}
    if reserves == 1:
        assert actions == {(40, PASS), (PASS, 40)}
        stage.play("pass, switch 3")
        codes = {action // 45 for action in stage.audit()}
        assert codes == {PASS}
    else:
        slots = range(40, 40 + reserves)
        assert actions == {(a, b) for a in slots for b in slots if a != b}


def test_transform_reorders_the_moves(process: ShowdownProcess) -> None:
    first = team(pokemon("Ditto", "transform", "limber"), pokemon("Aipom", "splash"))
    second = team(pokemon("Snorlax", "rest,bodyslam,hiddenpowerfire,earthquake"))
    stage = Stage(process, "gen6customgame", first, second)
    assert stage.audit() == {0, 4}
    stage.play("move transform", "move rest")
    assert stage.audit() == {0, 1, 2, 3, 4}
    choices = [stage.space.choice(stage.requests[0], action) for action in range(4)]
    assert choices == ["move 2", "move 4", "move 3", "move 1"]


def test_illusion_does_not_confuse_the_owner(process: ShowdownProcess) -> None:
    first = team(
        pokemon("Zoroark", "nightdaze", "illusion"),
        pokemon("Aipom", "splash"),
        pokemon("Tauros", "tackle", "intimidate"),
    )
    stage = Stage(process, "gen9customgame", first, SPLASHER)
    assert stage.audit() == {0, 4, 5, 9}
    assert stage.space.choice(stage.requests[0], 5) == "switch 3"
    stage.play("switch Tauros", "move splash")
    stage.play("switch Zoroark", "move splash")
    assert stage.audit() == {0, 4, 5, 9}


def test_a_hidden_trap_is_discovered_not_rejected(process: ShowdownProcess) -> None:
    first = team(pokemon("Snorlax", "splash", "immunity"), pokemon("Aipom", "splash"))
    second = team(pokemon("Gothitelle", "splash", "shadowtag"))
    stage = Stage(process, "gen9customgame", first, second)
    assert stage.requests[0]["active"][0]["maybeTrapped"]
    assert stage.audit() == {0, 4, 9}
    assert stage.auditor.result.unavailable == 1
    update = stage.play("switch 2", None)
    assert (update.errors[0] or "").startswith(UNAVAILABLE)
    assert stage.audit() == {0, 9}


def test_gen1_sleep_offers_fight_or_a_switch(process: ShowdownProcess) -> None:
    first = team(pokemon("Snorlax", "rest,bodyslam"), pokemon("Chansey", "softboiled"))
    stage = Stage(process, "gen1customgame", first, team(pokemon("Tauros", "bodyslam")))
    stage.play("move bodyslam", "move bodyslam")
    stage.play("move rest", "move bodyslam")
    assert stage.requests[0]["active"][0]["moves"][0]["id"] == "fight"
    assert stage.audit() == {0, 4}


def test_terastallization_is_spent_once(process: ShowdownProcess) -> None:
    first = team(pokemon("Snorlax", "splash"), pokemon("Blissey", "splash"))
    stage = Stage(process, "gen9doublescustomgame", first, PAIR)
    plain, tera = encode(0, 0, False), encode(0, 0, True)
    assert stage.audit() == {45 * a + b for a, b in ((plain, plain), (tera, plain), (plain, tera))}
    stage.play("move 1 terastallize, move 1", "move 2, move 2")
    assert stage.audit() == {45 * plain + plain}


@pytest.mark.parametrize(
    ("format_id", "count"), [("gen9vgc2025regi", 90), ("gen9ou", 6), ("gen9bssregi", 60)]
)
def test_preview_picks(process: ShowdownProcess, format_id: str, count: int) -> None:
    names = ("Zapdos", "Aipom", "Mew", "Eevee", "Tauros", "Ditto")
    six = team(*(pokemon(name, "splash") for name in names))
    update = process.start([BattleStart(0, format_id, (six, six))])[0]
    auditor = Auditor(process, get_format(format_id))
    asked = update.requests[0]
    assert asked is not None
    legal = auditor.check(0, asked, np.random.default_rng(1))
    assert len(legal) == count
    assert (auditor.result.rejected, auditor.result.unreachable) == (0, 0)
    if isinstance(auditor.space, SinglesSpace):
        assert legal[0].startswith("team 2")  # Aipom leads: first by species
    else:
        # Leads by species: Aipom and Ditto, then Aipom and Eevee; the others in team order.
        assert legal[:7:6] == ["team 2634", "team 2436"]
