"""States of real battles: incremental equals rebuilt, JSON round trip, true, nothing repeated."""

from __future__ import annotations

import copy

import orjson
import pytest
from transcripts import NAMES, Moment, record_format, states

from nashmon.core.actions import action_space
from nashmon.core.errors import SimulatorError, UnsupportedError
from nashmon.core.formats import get_format
from nashmon.core.state import UniversalPokemon, UniversalSide, UniversalState
from nashmon.sim.tracker import Tracker
from nashmon.sim.tracker_view import move_order

FORMATS = [
    "gen1randombattle",
    "gen2randombattle",
    "gen4randombattle",
    "gen6ou",
    "gen7randombattle",
    "gen8vgc2022",
    "gen9ou",
    "gen9randomdoublesbattle",
    "gen9vgc2025regi",
]


def check_format(format_id: str, count: int, limit: int) -> None:
    for moments in record_format(format_id, count, limit):
        sequences = [list(states(format_id, seat, moments[seat])) for seat in (0, 1)]
        for seat in (0, 1):
            check_incremental(format_id, seat, moments[seat], sequences[seat])
            check_switch_actions(format_id, moments[seat], sequences[seat])
            check_json(sequences[seat])
        check_truth(*sequences)
        check_truth(*reversed(sequences))


def check_incremental(
    format_id: str, seat: int, moments: list[Moment], sequence: list[UniversalState]
) -> None:
    tracker = Tracker(format_id, seat, *(NAMES if seat == 0 else NAMES[::-1]))
    for moment, state in zip(moments, sequence, strict=True):
        tracker.feed(moment.lines)
        tracker.request(moment.request)
        assert tracker.state() == state
        assert tracker.rebuild() == state


def check_json(sequence: list[UniversalState]) -> None:
    for state in sequence[::7]:
        assert UniversalState.from_dict(orjson.loads(orjson.dumps(state.to_dict()))) == state


def check_switch_actions(
    format_id: str, moments: list[Moment], sequence: list[UniversalState]
) -> None:
    """Switch action k of the codec brings in `bench[k]`."""
    if get_format(format_id).game_type != "singles":
        return
    space = action_space(get_format(format_id))
    for moment, state in zip(moments, sequence, strict=True):
        request = moment.request
        if state.phase not in ("move", "switch"):
            continue
        for action in (k for k in range(4, 9) if space.mask(request)[k]):
            index = int(space.choice(request, action).split()[1]) - 1
            entry = request["side"]["pokemon"][index]
            assert entry["ident"][4:] == state.own.bench[action - 4].ident


def members(side: UniversalSide) -> list[UniversalPokemon]:
    return [mon for mon in (*side.active, *side.bench) if mon is not None]


def check_truth(mine: list[UniversalState], theirs: list[UniversalState]) -> None:
    """What I believe of the foe is what the foe knows of itself."""
    at_turn = {state.turn: state for state in theirs if state.phase == "move"}
    for state in mine:
        if state.phase != "move" or state.turn not in at_turn:
            continue
        other = at_turn[state.turn]
        truth = {mon.ident: mon for mon in members(other.own)}
        both = (*truth.values(), *members(state.own))
        if any(mon.ability == "illusion" for mon in both):
            continue  # someone is being fooled, as they should be
        for seen in members(state.foe):
            if seen.revealed:
                check_pokemon(seen, truth[seen.ident])
        assert state.foe.conditions == other.own.conditions
        assert state.weather == other.weather
        assert state.fields == other.fields


ON_FIELD = """boosts volatiles last_move protect_count first_turn must_recharge preparing
    transformed commanding status_turns types terastallized species"""


def check_pokemon(seen: UniversalPokemon, truth: UniversalPokemon) -> None:
    assert seen.active == truth.active
    assert seen.fainted == truth.fainted
    assert seen.level == truth.level
    if seen.active:
        assert abs(seen.hp_fraction - truth.hp_fraction) < 0.0101
        for name in ON_FIELD.split():
            assert getattr(seen, name) == getattr(truth, name), name
        assert seen.status == truth.status
    if seen.item is not None:
        assert seen.item == truth.item
    if not seen.transformed:
        owned = {move_order(move.id) for move in truth.moves}
        assert {move_order(move.id) for move in seen.moves} <= owned


@pytest.mark.parametrize("format_id", FORMATS)
def test_states_are_incremental_true_and_serialisable(format_id: str) -> None:
    check_format(format_id, 1, limit=40)


@pytest.mark.slow
@pytest.mark.parametrize("format_id", FORMATS)
def test_states_of_many_battles(format_id: str) -> None:
    check_format(format_id, 40, limit=500)


def test_unchanged_parts_are_the_same_objects() -> None:
    kept = parts = 0
    for moments in record_format("gen9randombattle", 2):
        before: dict[int, UniversalPokemon] = {}
        for state in states("gen9randombattle", 0, moments[0]):
            mons = [*members(state.own), *members(state.foe)]
            parts += len(mons)
            kept += sum(id(mon) in before for mon in mons)
            before = {id(mon): mon for mon in mons}
    assert kept / parts > 0.6


def test_state_is_one_object_until_something_arrives() -> None:
    moments = next(record_format("gen1randombattle", 1))[0]
    tracker = Tracker("gen1randombattle", 0, *NAMES)
    tracker.feed(moments[0].lines)
    tracker.request(moments[0].request)
    assert tracker.state() is tracker.state()


def test_two_own_pokemon_of_one_name_are_an_error_that_names_it() -> None:
    moments = next(record_format("gen1randombattle", 1))[0]
    request = copy.deepcopy(moments[0].request)
    team = request["side"]["pokemon"]
    team[3]["ident"] = team[1]["ident"]
    with pytest.raises(SimulatorError, match=f"{team[1]['ident']}.*Nickname Clause"):
        Tracker("gen1randombattle", 0, *NAMES).request(request)


def test_unknown_line_is_an_error_that_names_it() -> None:
    with pytest.raises(SimulatorError, match="-frobnicate"):
        Tracker("gen1ou", 0, *NAMES).feed(["|-frobnicate|p1a: Snorlax"])


def test_triples_are_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match="gen6triplescustomgame"):
        Tracker("gen6triplescustomgame", 0, *NAMES)
