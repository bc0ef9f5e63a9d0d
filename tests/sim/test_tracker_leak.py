"""Nothing hidden reaches a player: what the foe keeps to itself does not change our states."""

from __future__ import annotations

import pytest
from transcripts import NAMES, simulator

from nashmon.core.state import UniversalState
from nashmon.sim.showdown.messages import BattleStart
from nashmon.sim.tracker import Tracker

OURS = "Rotom||Leftovers|Levitate|Splash,Thunderbolt|||N||||]Jirachi||||Wish|||N||||"
# The foe's lead uses Substitute, Growl and Splash only; the others never come in.
LEAD = "Blissey||{item}|NaturalCure|Substitute,Growl,Splash,{move}||{hp},,,,,|F||||"
BENCH = "{species}||{bench_item}|{ability}|{bench_move}||{bench_hp},,,,,|N||||"
PLAIN = {
    "item": "LuckyPunch",
    "move": "Softboiled",
    "hp": "252",
    "species": "Starmie",
    "bench_item": "Leftovers",
    "ability": "NaturalCure",
    "bench_move": "Surf",
    "bench_hp": "252",
}
CHANGES = {
    "unused move": {"move": "SeismicToss"},
    "item without effect": {"item": "RazorFang"},
    "exact HP": {"hp": "248"},
    "unseen species": {"species": "Magnezone", "ability": "Sturdy"},
    "unseen item": {"bench_item": "ChoiceScarf"},
    "unseen ability": {"ability": "Illuminate"},
    "unseen move": {"bench_move": "HydroPump"},
    "unseen EVs": {"bench_hp": "4"},
}
CHOICES = [1, 2, 3, 2, 1, 3, 2, 3]  # slots of the moves the foe uses


def states(facts: dict[str, str], leak: bool = False) -> list[UniversalState]:
    """Our states against this foe; a leak shows us the lines that only the foe should see."""
    foe = (LEAD + "]" + BENCH).format(**facts)
    process = simulator()
    update = process.start([BattleStart(0, "gen4ou", (OURS, foe), NAMES, seed=(4, 3, 2, 1))])[0]
    tracker = Tracker("gen4ou", 0, *NAMES)
    found = []
    for slot in CHOICES:
        tracker.feed(update.lines[1 if leak else 0])
        assert update.requests[0] is not None
        tracker.request(update.requests[0])
        found.append(tracker.state())
        update = process.choose([(0, "move 1", f"move {slot}")])[0]
    process.end([0])
    return found


@pytest.mark.parametrize("what", CHANGES)
def test_hidden_facts_do_not_change_our_states(what: str) -> None:
    assert states({**PLAIN, **CHANGES[what]}) == states(PLAIN)


def test_visible_facts_do() -> None:
    assert states({**PLAIN, "item": "Leftovers"}) != states(PLAIN)


def test_a_planted_leak_is_caught() -> None:
    changed = {**PLAIN, **CHANGES["exact HP"]}
    assert states(changed, leak=True) != states(PLAIN, leak=True)


def test_the_foe_is_seen_in_whole_percent() -> None:
    for state in states(PLAIN)[2:]:
        blissey = state.foe.active[0]
        assert blissey is not None
        assert (blissey.hp, blissey.max_hp, blissey.stats) == (None, None, None)
        assert blissey.hp_fraction in (0.75, 0.76)
