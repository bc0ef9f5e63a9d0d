"""Golden observations: every word and number of one hand-written state in all four spaces."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from state_strategies import StateMaker

from nashmon.core.dex import get_dex
from nashmon.core.formats import get_format
from nashmon.core.metamon import to_metamon
from nashmon.core.state import UniversalMove, UniversalPokemon, UniversalSide, UniversalState
from nashmon.observe.metamon import MetamonSpace
from nashmon.observe.metamon_spec import LAYOUTS
from nashmon.observe.tokenizer import UNKNOWN_TOKEN, move_word, tokenizer


def pokemon(species: str, moves: str, **facts: object) -> UniversalPokemon:
    base = UniversalPokemon(
        species=species,
        base_species=species,
        ident=species,
        level=100,
        gender=None,
        hp_fraction=1.0,
        hp=None,
        max_hp=None,
        fainted=False,
        status=None,
        status_turns=0,
        types=("normal",),
        tera_type=None,
        terastallized=False,
        item=None,
        ability=None,
        moves=tuple(UniversalMove(move, 16, 16) for move in moves.split()),
        stats=None,
        active=False,
        revealed=True,
        selected=True,
    )
    return base._replace(**facts)


def golden_state() -> UniversalState:
    own = pokemon(
        "garchomp",
        "earthquake scaleshot swordsdance",
        types=("ground", "dragon"),
        item="rockyhelmet",
        ability="roughskin",
        tera_type="steel",
        active=True,
        hp_fraction=0.75,
        status="brn",
        boosts=(2, 0, -1, 0, 1, 0, 0),
        volatiles=(("leechseed", 3), ("substitute", 1)),
        last_move="swordsdance",
    )
    own = own._replace(
        moves=(
            UniversalMove("earthquake", 7, 16),
            UniversalMove("scaleshot", 1, 32),
            UniversalMove("swordsdance", 0, 32),
        ),
    )
    bench = (
        pokemon("greattusk", "headlongrush", item="", ability="protosynthesis", hp_fraction=0.5),
        pokemon("rotomwash", "hydropump voltswitch", tera_type="water", item="leftovers"),
        pokemon("kingambit", "", fainted=True, hp_fraction=0.0),
    )
    foe = pokemon(
        "dragapult",
        "dracometeor uturn",
        types=("fire",),
        level=99,
        active=True,
        hp_fraction=0.31,
        status="slp",
        terastallized=True,
        tera_type="fire",
    )
    sides = {"slot_conditions": ((),), "team_size": 6, "gimmicks_used": (), "dynamax_turns": None}
    return UniversalState(
        format="gen9ou",
        gen=9,
        game_type="singles",
        turn=12,
        phase="move",
        own=UniversalSide(
            active=(own,),
            bench=bench,
            conditions=(("spikes", 3), ("stealthrock", 1)),
            num_fainted=1,
            preview=(),
            **sides,
        ),
        foe=UniversalSide(
            active=(foe,),
            bench=(),
            conditions=(("lightscreen", 4), ("reflect", 2), ("spikes", 2)),
            num_fainted=2,
            preview=("zapdos", "dragapult", "gholdengo"),
            **sides,
        ),
        weather="sandstorm",
        weather_turns=2,
        fields=(),
        force_switch=(False,),
        trapped=(False,),
        maybe_trapped=(False,),
        can_gimmick=("tera",),
        reviving=False,
    )


B = "<blank>"
OWN = "<player> garchomp rockyhelmet roughskin dragon ground substitute brn"
MOVES = (
    "<move> earthquake ground physical <move> scaleshot dragon physical "
    f"<move> swordsdance normal status <move> {B} {B} {B}"
)
SWITCH_1 = f"<switch> greattusk noitem protosynthesis <moveset> headlongrush {B} {B} {B}"
SWITCH_2 = f"<switch> rotomwash leftovers unknownability <moveset> hydropump voltswitch {B} {B}"
FOE = "<opponent> dragapult unknownitem unknownability fire notype noeffect slp"
END = "<conditions> sandstorm spikes reflect <player_prev> swordsdance <opp_prev> nomove"


def expected_words(tera: bool, foe_moves: bool) -> list[str]:
    def with_tera(text: str, word: str) -> list[str]:
        return [*text.split(), word] if tera else text.split()

    moves = MOVES.split()
    if foe_moves:
        del moves[3::4]
    blanks = ["<switch>", *[B] * (9 if tera else 8)]
    words = ["<gen9ou>", "<anychoice>", *with_tera(OWN, "steel"), *moves]
    words += with_tera(SWITCH_1, "notype") + with_tera(SWITCH_2, "water") + blanks * 3
    words += with_tera(FOE, "fire")
    if foe_moves:
        words += ["dracometeor", "uturn", B, B]
    return words + END.split()


def expected_numbers(tera: bool) -> list[float]:
    own = [0.75, 1.0, 130, 80, 95, 85, 102, 108, 2 / 6, -1 / 6, 0, 0, 1 / 6, 0, 0]
    foe = [0.31, 0.99, 120, 100, 75, 75, 142, 88, 0, 0, 0, 0, 0, 0, 0]
    for row in (own, foe):
        row[2:8] = [value / 255 for value in row[2:8]]
    moves = [[0.5, 1.0, 0.0], [25 / 200, 0.9, 0.0], [0.0, 1.0, 0.0], [-2.0] * 3]
    if tera:
        # 7/16 has passed a quarter, 1/32 is not yet zero
        moves = [[*row, pp] for row, pp in zip(moves, (2, 1, 0, -2), strict=True)]
    numbers = [4 / 6, *own, *chain.from_iterable(moves), 0.5, 1.0, -2.0, -2.0, -2.0, *foe]
    return [*numbers, 1.0, 0.0, 1.0] if tera else numbers


REVEALED = ["dragapult", *[B] * 5]
PREVIEW = ["dragapult", "gholdengo", "zapdos", *[B] * 3]
GOLDEN = {
    "metamon-default": (expected_words(False, False), expected_numbers(False)),
    "metamon-expanded": (expected_words(True, False) + REVEALED, expected_numbers(True)),
    "metamon-teampreview": (
        expected_words(True, False) + REVEALED + PREVIEW,
        expected_numbers(True),
    ),
    "metamon-opponentmove": (
        expected_words(True, True) + REVEALED + PREVIEW,
        expected_numbers(True),
    ),
}
SIZES = {
    "metamon-default": (87, 48),
    "metamon-expanded": (100, 55),
    "metamon-teampreview": (106, 55),
    "metamon-opponentmove": (106, 55),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_golden_words_and_numbers(name: str) -> None:
    space = MetamonSpace(get_format("gen9ou"), name)
    words, numbers = GOLDEN[name]
    assert (len(words), len(numbers)) == SIZES[name]
    assert space.encoder().words(golden_state()) == words
    out = space.allocate(2)
    space.encoder().write(golden_state(), out, 1)
    assert space.tokenizer.decode(out["text_tokens"][1]) == words
    np.testing.assert_allclose(out["numbers"][1], numbers, rtol=1e-6)
    assert not out["text_tokens"][0].any()


def test_named_positions_match_the_layout_of_the_default_space() -> None:
    spec = MetamonSpace(get_format("gen1ou"), "metamon-default").spec["text_tokens"]
    positions = {
        "choice": 1,
        "own_species": 3,
        "own_status": 9,
        "move_0_mark": 10,
        "switch_0_mark": 26,
        "foe_mark": 71,
        "foe_status": 78,
        "weather": 80,
        "own_previous": 84,
        "foe_previous": 86,
    }
    assert {name: spec.column(name) for name in positions} == positions


def test_forced_switch_shows_the_fainted_pokemon_and_revival_the_fainted_bench() -> None:
    state = golden_state()
    active = state.own.active[0]._replace(fainted=True, hp_fraction=0.0)
    own = state.own._replace(active=(active,))
    state = state._replace(own=own, phase="switch", force_switch=(True,))
    encoder = MetamonSpace(get_format("gen9ou"), "metamon-default").encoder()
    words = encoder.words(state)
    assert words[1] == "<forcedswitch>"
    assert words[9] == "fnt"
    assert words[27] == "greattusk"
    assert encoder.words(state._replace(reviving=True))[27] == "kingambit"


def test_history_is_kept_until_reset() -> None:
    encoder = MetamonSpace(get_format("gen9ou"), "metamon-expanded").encoder()
    state = golden_state()
    encoder.observe(state)
    washer = state.foe.active[0]._replace(
        species="rotomwash", base_species="rotomwash", status="frz"
    )
    state = state._replace(foe=state.foe._replace(active=(washer,)))
    words, numbers = encoder.observe(state)
    assert words[-6:-4] == ["dragapult", "rotom"]
    assert numbers[-3:] == [True, True, True]
    encoder.reset()
    words, numbers = encoder.observe(state)
    assert words[-6:-4] == ["rotom", B]
    assert numbers[-3:] == [False, True, True]


def test_an_empty_slot_is_blank() -> None:
    state = golden_state()
    state = state._replace(foe=state.foe._replace(active=(None,)))
    words, numbers = MetamonSpace(get_format("gen9ou"), "metamon-default").encoder().observe(state)
    assert words[71:79] == ["<opponent>", *[B] * 7]
    assert numbers[-15:] == [-2.0] * 15
    assert (len(words), len(numbers)) == (87, 48)


def test_generations_without_items_and_abilities_say_so() -> None:
    maker = StateMaker(get_format("gen1ou"), 1)
    state = maker.state()._replace(phase="move")
    state = state._replace(
        own=state.own._replace(active=(maker.pokemon(True, True, "a"),), bench=())
    )
    words = MetamonSpace(get_format("gen1ou"), "metamon-default").encoder().words(state)
    assert words[4:6] == ["noitem", "noability"]


def test_words_and_numbers_agree_with_the_exported_schema() -> None:
    format = get_format("gen9ou")
    maker, encoder = StateMaker(format, 8), MetamonSpace(format, "metamon-default").encoder()
    for _ in range(40):
        state = maker.state()._replace(phase="move")
        if state.own.active[0] is None or state.foe.active[0] is None:
            continue
        words, numbers = encoder.observe(state)
        schema = to_metamon(state)
        for start, pokemon in ((3, "player_active_pokemon"), (72, "opponent_active_pokemon")):
            facts = schema[pokemon]
            keys = ("name", "item", "ability", "types", "effect", "status")
            assert words[start : start + 7] == " ".join(facts[key] for key in keys).split()
        names = [move["name"] for move in schema["player_active_pokemon"]["moves"]]
        assert words[11:27:4][: len(names)] == names
        switches = [switch["name"] for switch in schema["available_switches"]][:5]
        assert words[27:71:9][: len(switches)] == switches
        assert words[80] == schema["weather"]
        assert words[81:83] == [schema["player_conditions"], schema["opponent_conditions"]]
        assert words[84] == schema["player_prev_move"]["name"]
        assert words[86] == schema["opponent_prev_move"]["name"]
        assert numbers[0] == schema["opponents_remaining"] / 6


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("format", ["gen1ou", "gen4ou", "gen9ou"])
def test_no_word_of_a_random_state_is_unknown_and_bounds_hold(name: str, format: str) -> None:
    space, maker = MetamonSpace(get_format(format), name), StateMaker(get_format(format), 3)
    encoder, out = space.encoder(), space.allocate(60)
    for index in range(60):
        encoder.reset()
        encoder.write(maker.state(), out, index)
    assert (out["text_tokens"] != UNKNOWN_TOKEN).all()
    for array in space.spec.arrays:
        assert (out[array.name] >= [column.low for column in array.columns]).all()
        assert (out[array.name] <= [column.high for column in array.columns]).all()


def test_tokenizer_knows_all_generations_and_is_frozen() -> None:
    known = tokenizer()
    assert known.encode(["<gen1ou>", "nosuchword"])[1] == UNKNOWN_TOKEN
    assert known.encode(["nosuchword"]) == [UNKNOWN_TOKEN]
    for gen in range(1, 9):
        dex = get_dex(gen)
        words = [*dex.species, *map(move_word, dex.moves), *dex.types]
        assert UNKNOWN_TOKEN not in known.encode(words)
    assert len(set(known.words)) == len(known)
    assert known.hash == tokenizer.__wrapped__().hash


def test_move_words_merge_what_metamon_merges() -> None:
    merged = {"hiddenpowerfire": "hiddenpower", "return102": "return", "vicegrip": "visegrip"}
    assert {move: move_word(move) for move in merged} == merged
