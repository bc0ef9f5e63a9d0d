"""Action codecs on hand-made requests; the simulator's own are in test_actions_situations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nashmon.core.actions import DoublesSpace, IllegalActionError, action_space, bench_order
from nashmon.core.actions_doubles import NUM_CODES, PASS, decode, encode
from nashmon.core.errors import UnsupportedError

Request = dict[str, Any]


def entry(name: str, moves: list[str] | None = None, **more: Any) -> Request:
    return {
        "ident": f"p1: {name}",
        "details": f"{name}, L50",
        "condition": "100/100",
        "active": False,
        "moves": moves or ["splash"],
        **more,
    }


def moves(*ids: str, **more: Any) -> list[Request]:
    return [
        {"move": i.title(), "id": i, "pp": 5, "maxpp": 5, "target": "normal", "disabled": False}
        | more
        for i in ids
    ]


def request(active: list[Any], team: list[Request], **more: Any) -> Request:
    return {"active": active, "side": {"id": "p1", "pokemon": team}, **more}


OWN = ["thunderbolt", "hiddenpowerfire60", "return102", "blizzard"]
TEAM = [
    entry("Zapdos", OWN),
    entry("Tauros"),
    entry("Chansey", condition="0 fnt"),
    entry("Alakazam"),
    entry("Snorlax"),
]


def singles(**more: Any) -> Request:
    active = {"moves": moves("thunderbolt", "hiddenpower", "return", "blizzard"), **more}
    return request([active], TEAM)


def legal(space: Any, asked: Request) -> list[int]:
    actions: list[int] = np.flatnonzero(space.mask(asked)).tolist()
    return actions


def test_moves_are_sorted_by_id_and_the_bench_by_species() -> None:
    space = action_space("gen9ou")
    asked = singles()
    assert legal(space, asked) == [0, 1, 2, 3, 4, 5, 6]
    choices = [space.choice(asked, action) for action in range(7)]
    assert choices == ["move 4", "move 2", "move 3", "move 1", "switch 4", "switch 5", "switch 2"]
    assert bench_order(asked) == [3, 4, 1, 2]  # the fainted Chansey last


def test_choices_are_understood_in_every_spelling() -> None:
    space = action_space("gen9ou")
    asked = singles(canTerastallize="Fire")
    for text, action in {
        "move thunderbolt": 3,
        "move Hidden Power Fire": 1,
        "move 3 terastallize": 11,
        "move return 1 terastal": 11,
        "switch Alakazam": 4,
        "switch tauros": 6,
        "default": 3,
    }.items():
        assert space.action(asked, text) == action, text
    for text in ("move surf", "move 5", "switch Chansey", "switch 9", "pass", "move 1 mega", "hm"):
        with pytest.raises(IllegalActionError):
            space.action(asked, text)


def test_trapped_disabled_and_gimmick() -> None:
    space = action_space("gen9ou")
    asked = singles(canTerastallize="Fire", trapped=True)
    asked["active"][0]["moves"][0]["disabled"] = True
    assert legal(space, asked) == [0, 1, 2, 9, 10, 11]
    assert space.choice(asked, 9) == "move 4 terastallize"
    assert legal(action_space("gen9ou", "minimal"), asked) == [0, 1, 2]


def test_a_forced_move_keeps_its_place() -> None:
    space = action_space("gen4ou")
    for move_id, action in {"return": 2, "hiddenpower": 1, "recharge": 0, "outrage": 0}.items():
        asked = request([{"moves": [{"move": move_id, "id": move_id}], "trapped": True}], TEAM)
        assert legal(space, asked) == [action]
        assert space.choice(asked, action) == "move 1"


def test_equal_moves_keep_the_order_of_the_request() -> None:
    asked = request([{"moves": moves("surf", "rest", "rest", "amnesia")}], [entry("Mew")])
    space = action_space("gen1ou")
    choices = [space.choice(asked, action) for action in range(4)]
    assert choices == ["move 4", "move 2", "move 3", "move 1"]


def test_waiting_has_no_action_and_a_given_row_is_overwritten() -> None:
    space = action_space("gen1ou")
    rows = np.ones((2, space.num_actions), np.bool_)
    assert space.mask({"wait": True, "side": {"pokemon": TEAM}}, rows[0]).base is not None
    assert not rows[0].any() and rows[1].all()
    space.mask(singles(), rows[1])
    assert rows[1].sum() == 7


def test_lets_go_can_only_choose_the_first_of_two_mega_evolutions() -> None:
    space = action_space("gen7letsgoou")
    asked = singles(canMegaEvoX=True, canMegaEvoY=True)
    assert space.choice(asked, 9) == "move 4 megax"
    with pytest.raises(IllegalActionError, match="megay"):
        space.action(asked, "move 4 megay")


def test_an_illegal_action_is_named_with_the_legal_ones() -> None:
    space = action_space("gen9ou")
    with pytest.raises(IllegalActionError, match=r"action 7, switch to Chansey.*4 \(switch to Al"):
        space.choice(singles(), 7)
    with pytest.raises(ValueError, match="action 99"):
        space.choice(singles(), 99)


def test_what_has_no_numbers_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="gen5triplescustomgame"):
        action_space("gen5triplescustomgame")
    with pytest.raises(UnsupportedError, match="minimal"):
        action_space("gen9doublesou", "minimal")
    with pytest.raises(UnsupportedError, match="gen4vgc2010"):
        action_space("gen4vgc2010")
    space = action_space("gen9customgame")
    with pytest.raises(UnsupportedError, match="teams of 6"):
        space.mask(request([{"moves": moves("splash")}], [entry("Mew")] * 7))
    with pytest.raises(UnsupportedError, match="4 moves"):
        space.mask(request([{"moves": moves(*"abcde")}], [entry("Mew")]))


def test_preview_obeys_a_limit_on_levels() -> None:
    space = action_space("gen1nc1997")  # three of six, 155 levels
    team = [
        entry(name, details=f"{name}, L{level}")
        for name, level in (("A", 50), ("B", 50), ("C", 55), ("D", 55), ("E", 50), ("F", 50))
    ]
    asked = {"teamPreview": True, "maxChosenTeamSize": 3, "side": {"pokemon": team}}
    allowed = legal(space, asked)
    assert space.num_actions == 60
    assert len(allowed) == 60 - 12  # C and D together with any third, in any front place
    assert space.choice(asked, 0) == "team 123"
    assert space.action(asked, "team 132") == 0


def doubles(first: Request, second: Request, **more: Any) -> Request:
    team = [entry("Mew", ["a", "b"]), entry("Muk", ["c"]), entry("Zapdos"), entry("Abra")]
    return request([first, second], team, **more)


@pytest.mark.parametrize(
    ("target", "aims"),
    [
        ("normal", {-2, 1, 2}),
        ("any", {-2, 1, 2}),
        ("adjacentFoe", {1, 2}),
        ("adjacentAlly", {-2}),
        ("adjacentAllyOrSelf", {-1, -2}),
        ("allAdjacentFoes", {0}),
        ("self", {0}),
        ("scripted", {0}),
        ("randomNormal", {0}),
    ],
)
def test_targets_follow_the_request(target: str, aims: set[int]) -> None:
    space = action_space("gen9doublesou")
    assert isinstance(space, DoublesSpace)
    active = {"moves": moves("a", "b", target=target), "trapped": True}
    asked = doubles(active, {"moves": moves("c")})
    codes = np.flatnonzero(space.slot_masks(asked)[0]).tolist()
    assert {decode(code)[1] for code in codes} == aims
    assert {decode(code)[0] for code in codes} == {0, 1}


def test_doubles_round_trip_and_slots_exclude_each_other() -> None:
    space = action_space("gen9doublesou")
    asked = doubles(
        {"moves": moves("a", "b"), "canTerastallize": "Fire"},
        {"moves": moves("c"), "canTerastallize": "Fire"},
    )
    actions = legal(space, asked)
    for action in actions:
        assert space.action(asked, space.choice(asked, action)) == action
    pairs = {divmod(action, NUM_CODES) for action in actions}
    assert (40, 41) in pairs and (40, 40) not in pairs
    assert not any(a < 40 and b < 40 and decode(a)[2] and decode(b)[2] for a, b in pairs)
    assert space.choice(asked, NUM_CODES * encode(1, 2, True) + 40) == (
        "move 2 terastallize 2, switch 4"
    )


def test_a_fainted_slot_passes_and_may_be_left_out_of_the_choice() -> None:
    space = action_space("gen9doublesou")
    asked = doubles({"moves": moves("a", "b")}, {"moves": moves("c")})
    asked["side"]["pokemon"][0]["condition"] = "0 fnt"
    assert {action // NUM_CODES for action in legal(space, asked)} == {PASS}
    expected = NUM_CODES * PASS + encode(0, 2, False)
    assert space.action(asked, "pass, move 1 2") == expected
    assert space.action(asked, "move 1 +2") == expected
    with pytest.raises(IllegalActionError, match="more than"):
        space.action(asked, "move 1 +2, move 1 +2")


def test_switching_to_the_partner_is_not_taken_for_a_move() -> None:
    space = action_space("gen9doublesou")
    asked = doubles({"moves": moves("a", "b")}, {"moves": moves("c")})
    with pytest.raises(IllegalActionError, match="on the field"):
        space.action(asked, "switch 2, move 1 1")
