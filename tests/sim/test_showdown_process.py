"""Embedded Showdown: same seed, same battle; each seat's own view; failures name the battle."""

from __future__ import annotations

import gc
import os
import pickle
import re
import signal
import struct
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace

import psutil
import pytest
from showdown_play import Table, battle, play

from nashmon.core.errors import SetupError, SimulatorError, TeamError, UnknownFormatError
from nashmon.core.home import HOME_VARIABLE
from nashmon.sim.showdown import child, tools
from nashmon.sim.showdown.install import NODE_DIR, find_showdown
from nashmon.sim.showdown.messages import (
    INVALID,
    UNAVAILABLE,
    BattleStart,
    seed_words,
    team_seed,
)
from nashmon.sim.showdown.node import find_node
from nashmon.sim.showdown.process import ShowdownProcess, WorkerError


@pytest.fixture(scope="module")
def shared() -> Iterator[ShowdownProcess]:
    with ShowdownProcess() as process:
        yield process


@pytest.fixture
def process(shared: ShowdownProcess) -> Iterator[ShowdownProcess]:
    """A process without battles."""
    yield shared
    shared.call("end", ids=shared.call("battles"))


FIVE = ["gen1ou", "gen4ou", "gen9ou", "gen9vgc2025regi", "gen9randomdoublesbattle"]


@pytest.mark.parametrize("format_id", FIVE)
def test_same_seed_gives_the_same_transcript(process: ShowdownProcess, format_id: str) -> None:
    once = play(process, [battle(format_id, 1)], seed=3)[1]
    again = play(process, [battle(format_id, 1)], seed=3)[1]
    assert once == again
    other = play(process, [replace(battle(format_id, 1), seed=(1, 1, 1, 1))], seed=3)[1]
    assert once != other


def test_a_battle_does_not_depend_on_its_neighbours(process: ShowdownProcess) -> None:
    first = play(process, [battle("gen9randombattle", 5)])[5]
    choices = [line for line in process.log(5).input_log if re.match(">p[12] ", line)]
    process.start([battle("gen9randombattle", n) for n in (4, 5, 6)])
    lines: list[str] = []
    while choices:  # the input log has the choices in order, p1's before p2's
        pair: list[str | None] = [None, None]
        seat = int(choices[0][2]) - 1
        pair[seat] = choices.pop(0)[4:]
        if choices and pair[1] is None and choices[0][2] == "2":
            pair[1] = choices.pop(0)[4:]
        update = process.choose([(5, pair[0], pair[1]), (4, "default", "default")])[5]
        lines += update.lines[0]
    assert lines == [line for update in first[1:] for line in update.lines[0]]


def test_each_seat_sees_its_own_hp_exactly_and_the_foes_in_percent(
    process: ShowdownProcess,
) -> None:
    history = play(process, [battle("gen9ou", 2)])[2]
    for seat in (0, 1):
        lines = [line for update in history for line in update.lines[seat]]
        shown = [
            re.search(r"^\|(?:-damage|switch)\|(p[12])a: .*?\|(\d+)/(\d+)", line) for line in lines
        ]
        for match in filter(None, shown):
            if match[1] != f"p{seat + 1}":
                assert match[3] == "100", match[0]
        own = {match[3] for match in filter(None, shown) if match[1] == f"p{seat + 1}"}
        assert own - {"100"}
        assert not [line for line in lines if line.startswith(("|t:|", "|split|"))]


def test_a_seat_never_receives_the_other_seats_team(process: ShowdownProcess) -> None:
    start = battle("gen9ou", 2)
    hidden = replace(start, teams=(start.teams[0], start.teams[0]))
    mine = process.start([start, replace(hidden, id=9)])
    assert mine[2].requests[0] == mine[9].requests[0]


def test_invalid_choice_is_refused_and_the_battle_waits(process: ShowdownProcess) -> None:
    process.start([battle("gen9randombattle", 0)])
    update = process.choose([(0, "move 9", "move 1")])[0]
    assert update.errors[0] is not None and update.errors[0].startswith(INVALID)
    assert update.errors[1] is None and update.requests == (None, None) and update.turn == 1
    assert process.choose([(0, "move 1", None)])[0].lines[0]


def test_discovered_trap_comes_with_a_new_request(process: ShowdownProcess) -> None:
    foe = tools.import_team("Gothitelle\nAbility: Shadow Tag\n- Psychic\n")
    own = tools.import_team(
        "Snorlax\nAbility: Immunity\n- Body Slam\n\nPikachu\nAbility: Static\n- Thunderbolt\n"
    )
    process.start([BattleStart(0, "gen9customgame", (own, foe))])
    update = process.choose([(0, "team 12", "team 1")])[0]
    request = update.requests[0]
    assert request is not None and request["active"][0]["maybeTrapped"]
    update = process.choose([(0, "switch 2", "move 1")])[0]
    assert update.errors[0] is not None and update.errors[0].startswith(UNAVAILABLE)
    request = update.requests[0]
    assert request is not None and request["active"][0]["trapped"]
    assert process.choose([(0, "move 1", None)])[0].errors == (None, None)


def test_audit_tells_legality_and_leaves_the_battle_alone(process: ShowdownProcess) -> None:
    candidates = [
        f"{first}{gimmick}, {second}"
        for first in ("move 1 1", "move 1", "move 2", "move 3 -2", "switch 3", "pass")
        for gimmick in ("", " terastallize")
        for second in ("move 4 2", "move 2", "switch 3", "switch 4", "default")
    ]
    tables = Table(1), Table(1)
    starts = [battle("gen9randomdoublesbattle", 3)]
    plain = process.start(starts)
    with ShowdownProcess() as audited:
        seen = audited.start(starts)
        while True:
            assert seen == plain
            for table in tables:
                table.note(plain)
            if not tables[0].requests:
                break
            choices = tables[0].choices()
            assert choices == tables[1].choices()
            for seat in (0, 1):
                choice = choices[0][1 + seat]
                answers = audited.audit(3, seat, [*candidates, choice or "pass"])
                if choice is not None and choice != "default":
                    refused = process.audit(3, seat, [choice]) == [False]
                    assert answers[-1] != refused
            plain, seen = process.choose(choices), audited.choose(choices)
        assert audited.log(3) == process.log(3)


def test_input_log_and_winner_of_a_finished_battle(process: ShowdownProcess) -> None:
    update = play(process, [battle("gen1randombattle", 8)])[8][-1]
    log = process.log(8)
    assert log.input_log[0] == '>start {"formatid":"gen1randombattle","seed":"7,11,13,8"}'
    assert update.winner in (0, 1)
    assert log.lines[-1] == f"|win|Player {update.winner + 1}"


def test_random_teams_come_from_the_battle_seed(process: ShowdownProcess) -> None:
    update = process.start([BattleStart(1, "gen9randombattle", seed=(1, 2, 3, 4))])[1]
    for seat in (0, 1):
        words = team_seed((1, 2, 3, 4), seat)
        number = int.from_bytes(struct.pack(">4H", *words))
        assert seed_words(number) == words
        species = [
            entry["species"]
            for entry in tools.unpack(tools.random_team("gen9randombattle", number))
        ]
        request = update.requests[seat]
        assert request is not None
        details = [entry["details"].split(",")[0] for entry in request["side"]["pokemon"]]
        assert details == species


def test_open_sheets_show_both_teams(process: ShowdownProcess) -> None:
    start = replace(battle("gen9vgc2025regi", 0), open_sheets=True)
    lines = process.start([start])[0].lines[0]
    assert [line[:13] for line in lines if line.startswith("|showteam|")] == [
        "|showteam|p1|",
        "|showteam|p2|",
    ]


@pytest.mark.parametrize(
    ("start", "error", "words"),
    [
        (BattleStart(0, "gen9oou"), UnknownFormatError, "gen9oou"),
        (BattleStart(0, "gen9freeforallrandombattle"), UnknownFormatError, "4 players"),
        (BattleStart(0, "gen9ou"), TeamError, "gen9ou has no random teams"),
        (BattleStart(0, "gen9ou", ("nonsense", "nonsense")), TeamError, "nonsense"),
        (BattleStart(0, "gen1randombattle", names=("A", "A")), SimulatorError, "different"),
        (BattleStart(0, "gen1randombattle", seed=(1, 2, 3, 70000)), SimulatorError, "70000"),
    ],
)
def test_bad_start_is_one_clear_error(
    process: ShowdownProcess, start: BattleStart, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        process.start([start])
    assert process.call("battles") == []


def test_a_crash_inside_one_battle_spares_the_others(process: ShowdownProcess) -> None:
    bad = "Missing||||Tackle|||||||"  # packed well enough to start, but there is no such Pokémon
    updates = process.start(
        [BattleStart(0, "gen9customgame", (bad, bad)), battle("gen1randombattle", 1)]
    )
    failure = updates[0].failure
    assert failure is not None and "Unidentified species" in failure.message
    assert any("gen9customgame" in line for line in failure.input_log)
    assert updates[1].failure is None and updates[1].requests[0] is not None
    with pytest.raises(SimulatorError, match="no battle 0"):
        process.choose([(0, "move 1", None)])


def test_unknown_command_and_unknown_battle(process: ShowdownProcess) -> None:
    with pytest.raises(SimulatorError, match="unknown command"):
        process.call("dance")
    with pytest.raises(SimulatorError, match="no battle 77"):
        process.end([77])
    process.start([battle("gen1randombattle", 0)])
    with pytest.raises(SimulatorError, match="still running"):
        process.start([battle("gen1randombattle", 0)])


def test_commands_are_answered_in_their_order(process: ShowdownProcess) -> None:
    with pytest.raises(SimulatorError, match="nothing to receive"):
        process.receive()
    process.send_start([battle("gen1randombattle", 0)])
    process.send_start([battle("gen1randombattle", 1)])
    process.send_choose([(0, "move 1", "move 1")])
    with pytest.raises(SimulatorError, match="receive the answer to start"):
        process.log(0)
    assert [list(process.receive()) for _ in range(3)] == [[0], [1], [0]]


def test_answers_larger_than_the_pipe_do_not_block_the_next_command() -> None:
    with ShowdownProcess(timeout=20.0) as process:
        starts = [battle("gen1randombattle", number) for number in range(400)]
        for first in range(0, 400, 100):
            process.send_start(starts[first : first + 100])
        for _ in range(3):  # each more than a pipe holds, in both directions
            process._send("unknown", text="x" * (2 << 20))
        assert sum(len(process.receive()) for _ in range(4)) == 400


def test_an_answer_that_does_not_fit_into_the_pipe_waits_for_its_reader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(child, "PIPE_BYTES", 4096)  # as where a user's pipes are limited
    with ShowdownProcess() as process:
        process.send_start([battle("gen9randombattle", n) for n in range(20)])
        time.sleep(1.0)  # the process fills the pipe and must wait, not fail
        assert len(process.receive()) == 20


def test_killed_process_is_named_with_its_battles() -> None:
    with ShowdownProcess() as process:
        process.start([battle("gen9randombattle", 4), battle("gen1randombattle", 5)])
        process.choose([(4, "move 1", "move 1")])
        os.kill(process.pid, signal.SIGKILL)
        started = time.monotonic()
        with pytest.raises(WorkerError) as caught:
            process.choose([(4, "move 2", "move 1")])
        assert time.monotonic() - started < 5
        message = str(caught.value)
        for part in ("signal 9", "gen9randombattle", "(7, 11, 13, 4)", "'move 2'"):
            assert part in message
        assert pickle.loads(pickle.dumps(caught.value)).battles == (4, 5)
        assert not process.alive
        with pytest.raises(WorkerError, match="restart"):
            process.choose([(4, "move 2", "move 1")])
        process.restart()
        assert process.start([battle("gen1randombattle", 4)])[4].turn == 1


def test_stopped_process_raises_after_the_timeout() -> None:
    with ShowdownProcess() as process:
        process.start([battle("gen1randombattle", 4)])
        process.timeout = 1.0
        os.kill(process.pid, signal.SIGSTOP)
        with pytest.raises(WorkerError, match=r"no answer for 1 s.*gen1randombattle"):
            process.choose([(4, "move 1", "move 1")])
        assert not psutil.pid_exists(process.pid)


def test_stopped_process_does_not_hang_a_large_command() -> None:
    with ShowdownProcess(timeout=1.0) as process:
        os.kill(process.pid, signal.SIGSTOP)
        with pytest.raises(WorkerError, match="no answer"):
            process.call("import", text="x" * (8 << 20))


def test_no_process_outlives_its_owner() -> None:
    process = ShowdownProcess()
    pid = process.pid
    del process
    gc.collect()
    assert not psutil.pid_exists(pid)


def test_malformed_frames_end_the_bridge_with_a_reason() -> None:
    command = [find_node().path, NODE_DIR / "bridge.js", find_showdown(), "stock"]
    garbage = [b"\xff\xff\xff\xff", struct.pack("<I", 10) + b"{}"]
    for frame, reason in zip(garbage, [b"at most", b"ended inside a frame"], strict=True):
        done = subprocess.run(command, input=frame, capture_output=True, timeout=60)
        assert done.returncode != 0 and reason in done.stderr and done.stdout == b""
    text = b"not json"
    done = subprocess.run(
        command, input=struct.pack("<I", len(text)) + text, capture_output=True, timeout=60
    )
    assert done.returncode == 0 and b'"error"' in done.stdout


def test_missing_install_says_what_to_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path_factory.mktemp("home")))
    with pytest.raises(SetupError, match="run `nashmon setup`"):
        ShowdownProcess()


@pytest.mark.slow
def test_memory_stays_flat_over_thousands_of_battles() -> None:
    with ShowdownProcess() as process:
        sizes = []
        for block in range(40):
            play(process, [battle("gen1randombattle", block * 64 + n, n) for n in range(64)])
            # Live objects; the size of the process also counts garbage not yet collected.
            sizes.append(process.call("memory"))
        assert max(sizes[20:]) < 1.15 * max(sizes[5:20])
