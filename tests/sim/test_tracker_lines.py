"""Each correction of poke-env, shown on a short transcript as p1 receives it."""

from __future__ import annotations

from typing import Any

from transcripts import NAMES, foe, watch

from nashmon.core.state import UniversalPokemon
from nashmon.sim.tracker import Tracker

GEN1 = ("|switch|p1a: Starmie|Starmie|323/323", "|switch|p2a: Zapdos|Zapdos|100/100", "|turn|1")
GEN9 = ("|switch|p1a: Pecha|Pecharunt|300/300", "|switch|p2a: Garg|Garganacl, M|100/100", "|turn|1")
DOUBLES = (
    "|switch|p1a: Pecha|Pecharunt, L50|175/175",
    "|switch|p1b: Pelipper|Pelipper, L50, M|135/135",
    "|switch|p2a: Dondozo|Dondozo, L50, M|100/100",
    "|switch|p2b: Tatsugiri|Tatsugiri, L50, M|100/100",
    "|turn|1",
)


def pp(mon: UniversalPokemon) -> dict[str, int]:
    return {move.id: move.pp for move in mon.moves}


def entry(name: str, details: str, active: bool, moves: list[str], **more: Any) -> dict[str, Any]:
    return {
        "ident": f"p1: {name}",
        "details": details,
        "condition": "300/300",
        "active": active,
        "stats": {"atk": 1, "def": 2, "spa": 3, "spd": 4, "spe": 5},
        "moves": moves,
        "baseAbility": "static",
        "item": "",
        "pokeball": "pokeball",
        **more,
    }


# Moves and PP


def test_a_move_without_cause_costs_one_pp() -> None:
    assert pp(foe("gen1ou", *GEN1, "|move|p2a: Zapdos|Thunderbolt|p1a: Starmie")) == {
        "thunderbolt": 23
    }


def test_a_called_move_is_not_its_own() -> None:
    mon = foe(
        "gen1ou",
        *GEN1,
        "|move|p2a: Zapdos|Metronome|p2a: Zapdos",
        "|move|p2a: Zapdos|Surf|p1a: Starmie|[from] Metronome",
    )
    assert pp(mon) == {"metronome": 15}
    assert mon.last_move == "surf"


def test_a_locked_move_costs_pp_once() -> None:
    lines = ("|move|p2a: Zapdos|Rage|p1a: Starmie", "|turn|2")
    locked = "|move|p2a: Zapdos|Rage|p1a: Starmie|[from] Rage"
    assert pp(foe("gen1ou", *GEN1, *lines, locked, locked)) == {"rage": 31}


def test_the_second_turn_of_a_two_turn_move_is_free_in_old_generations() -> None:
    start = ("|switch|p2a: Togetic|Togetic, M|100/100", "|turn|1")
    first = ("|move|p2a: Togetic|Solar Beam||[still]", "|-prepare|p2a: Togetic|Solar Beam")
    mon = foe("gen2ou", *start, *first)
    assert (mon.preparing, pp(mon)) == ("solarbeam", {"solarbeam": 15})
    mon = foe("gen2ou", *start, *first, "|turn|2", "|move|p2a: Togetic|Solar Beam|p1a: Porygon2")
    assert (mon.preparing, pp(mon)) == (None, {"solarbeam": 15})


def test_a_two_turn_move_that_strikes_at_once_is_not_being_prepared() -> None:
    mon = foe(
        "gen9ou",
        *GEN9,
        "|move|p2a: Garg|Meteor Beam|p1a: Pecha|[still]",
        "|-prepare|p2a: Garg|Meteor Beam",
        "|-anim|p2a: Garg|Meteor Beam|p1a: Pecha",
        "|-enditem|p2a: Garg|Power Herb",
    )
    assert (mon.preparing, mon.item) == (None, "")


def test_an_announcement_is_not_the_first_of_two_turns() -> None:
    mon = foe(
        "gen9ou",
        *GEN9,
        "|-prepare|p2a: Garg|Chilly Reception|[premajor]",
        "|move|p2a: Garg|Chilly Reception|p2a: Garg",
    )
    assert pp(mon) == {"chillyreception": 15}


def test_sleep_talk_shows_another_of_its_moves_for_free() -> None:
    mon = foe(
        "gen9ou",
        *GEN9,
        "|move|p2a: Garg|Sleep Talk|p2a: Garg",
        "|move|p2a: Garg|Body Press|p1a: Pecha|[from] move: Sleep Talk",
    )
    assert pp(mon) == {"bodypress": 16, "sleeptalk": 15}


def test_known_pressure_costs_one_more() -> None:
    tracker = Tracker("gen4ou", 0, *NAMES)
    tracker.feed(["|switch|p1a: Suicune|Suicune|300/300", "|switch|p2a: Gengar|Gengar, M|100/100"])
    tracker.feed(["|-ability|p1a: Suicune|Pressure", "|turn|1"])
    tracker.feed(["|move|p2a: Gengar|Shadow Ball|p1a: Suicune"])
    tracker.feed(["|move|p2a: Gengar|Toxic||[still]", "|move|p2a: Gengar|Substitute|p2a: Gengar"])
    mon = tracker.state().foe.active[0]
    assert mon is not None
    assert pp(mon) == {"shadowball": 22, "substitute": 15, "toxic": 14}


def test_spite_and_leppa_berry_change_pp() -> None:
    lines = (*GEN9, *["|move|p2a: Garg|Recover|p2a: Garg"] * 3)
    assert pp(foe("gen9ou", *lines)) == {"recover": 5}
    lines = (*lines, "|-activate|p2a: Garg|move: Spite|Recover|4")
    assert pp(foe("gen9ou", *lines)) == {"recover": 1}
    lines = (*lines, "|-activate|p2a: Garg|item: Leppa Berry|Recover|[consumed]")
    assert pp(foe("gen9ou", *lines)) == {"recover": 8}


def test_mimic_replaces_its_slot_until_it_leaves() -> None:
    used = ("|move|p2a: Zapdos|Mimic|p1a: Starmie", "|-start|p2a: Zapdos|Mimic|Surf")
    assert pp(foe("gen1ou", *GEN1, *used)) == {"surf": 15}
    again = ("|move|p2a: Zapdos|Surf|p1a: Starmie", "|switch|p2a: Jynx|Jynx|100/100")
    state = watch("gen1ou", *GEN1, *used, *again)
    assert pp(state.foe.bench[0]) == {"mimic": 14}


def test_transform_copies_forme_types_stages_and_known_moves() -> None:
    mon = foe(
        "gen1ou",
        "|switch|p1a: Starmie|Starmie|323/323",
        "|switch|p2a: Ditto|Ditto|100/100",
        "|turn|1",
        "|move|p1a: Starmie|Surf|p2a: Ditto",
        "|-boost|p1a: Starmie|spe|2",
        "|move|p2a: Ditto|Transform|p1a: Starmie",
        "|-transform|p2a: Ditto|p1a: Starmie",
    )
    assert (mon.species, mon.base_species, mon.transformed) == ("starmie", "ditto", True)
    assert mon.types == ("water", "psychic")
    assert mon.boosts[4] == 2
    assert pp(mon) == {"surf": 5}


def test_z_moves_and_max_moves_show_no_move_of_their_own() -> None:
    start = ("|switch|p2a: Snorlax|Snorlax, M|100/100", "|turn|1")
    mon = foe("gen7ou", *start, "|move|p2a: Snorlax|Breakneck Blitz|p1a: Starmie|[zeffect]")
    assert (mon.moves, mon.last_move) == ((), "breakneckblitz")
    mon = foe("gen7ou", *start, "|move|p2a: Snorlax|Z-Curse|p2a: Snorlax|[zeffect]")
    assert pp(mon) == {"curse": 15}


# Status, counters and actions


def test_sleep_counts_the_turns_lost_to_it() -> None:
    asleep = ("|-status|p2a: Zapdos|slp|[from] move: Lovely Kiss", *["|cant|p2a: Zapdos|slp"] * 2)
    assert foe("gen1ou", *GEN1, *asleep).status_turns == 2
    away = ("|switch|p2a: Jynx|Jynx|100/100", "|switch|p2a: Zapdos|Zapdos|100/100 slp")
    assert foe("gen1ou", *GEN1, *asleep, *away).status_turns == 2
    assert foe("gen1ou", *GEN1, *asleep, "|-curestatus|p2a: Zapdos|slp|[msg]").status_turns == 0


def test_toxic_counts_its_damage_since_coming_in() -> None:
    hurt = "|-damage|p2a: Garg|88/100 tox|[from] psn"
    lines = (*GEN9, "|-status|p2a: Garg|tox", hurt, hurt)
    assert foe("gen9ou", *lines).status_turns == 2
    away = ("|switch|p2a: Gholdengo|Gholdengo|100/100", "|switch|p2a: Garg|Garganacl, M|88/100 tox")
    assert foe("gen9ou", *lines, *away).status_turns == 0


def test_haze_ends_the_toxic_counter_in_gen_1() -> None:
    hurt = "|-damage|p2a: Zapdos|94/100 tox|[from] psn"
    lines = (*GEN1, "|-status|p2a: Zapdos|tox", hurt)
    assert foe("gen1ou", *lines, "|-end|p2a: Zapdos|Toxic counter|[silent]").status_turns == 0


def test_recharge_is_over_after_the_lost_action() -> None:
    beam = ("|move|p2a: Zapdos|Hyper Beam|p1a: Starmie", "|-mustrecharge|p2a: Zapdos")
    assert foe("gen1ou", *GEN1, *beam).must_recharge
    assert not foe("gen1ou", *GEN1, *beam, "|turn|2", "|cant|p2a: Zapdos|recharge").must_recharge


def test_first_turn_lasts_until_it_acts() -> None:
    assert foe("gen1ou", *GEN1).first_turn
    assert not foe("gen1ou", *GEN1, "|cant|p2a: Zapdos|par").first_turn
    assert not foe("gen1ou", *GEN1, "|move|p2a: Zapdos|Agility|p2a: Zapdos").first_turn
    assert foe("gen1ou", *GEN1, "|switch|p2a: Jynx|Jynx|100/100", "|turn|2").first_turn


def test_protect_counts_in_a_row_and_a_failure_ends_it() -> None:
    protect = ("|move|p2a: Garg|Protect|p2a: Garg", "|-singleturn|p2a: Garg|Protect", "|turn|2")
    assert foe("gen9ou", *GEN9, *protect).protect_count == 1
    failed = ("|move|p2a: Garg|Protect||[still]", "|-fail|p2a: Garg")
    assert foe("gen9ou", *GEN9, *protect, *failed).protect_count == 0


def test_another_pokemon_stops_a_move() -> None:
    state = watch("gen9ou", *GEN9, "|cant|p2a: Garg|ability: Damp|Explosion|[of] p1a: Pecha")
    garg, pecha = state.foe.active[0], state.own.active[0]
    assert garg is not None and pecha is not None
    assert (garg.ability, garg.first_turn) == ("damp", True)
    assert not pecha.first_turn


def test_curing_something_that_is_no_status_is_harmless() -> None:
    mon = foe("gen9ou", *GEN9, "|-status|p2a: Garg|brn", "|-curestatus|p2a: Garg|confusion|[msg]")
    assert mon.status == "brn"


# Volatile effects, fields and sides


def test_volatiles_count_turns_since_they_began() -> None:
    lines = (*GEN1, "|-start|p2a: Zapdos|confusion", "|turn|2", "|-activate|p2a: Zapdos|confusion")
    assert foe("gen1ou", *lines, "|turn|3").volatiles == (("confusion", 2),)
    assert foe("gen1ou", *lines, "|-end|p2a: Zapdos|confusion").volatiles == ()


def test_activation_alone_is_no_volatile() -> None:
    lines = ("|-activate|p2a: Garg|move: Protect", "|-activate|p2a: Garg|Substitute|[damage]")
    assert foe("gen9ou", *GEN9, *lines).volatiles == ()


def test_counted_effects_carry_their_number() -> None:
    start = ("|switch|p2a: Lapras|Lapras, M|100/100", "|turn|1")
    lines = ("|-start|p2a: Lapras|perish3", "|turn|2", "|-start|p2a: Lapras|perish2")
    assert foe("gen4ou", *start, *lines).volatiles == (("perish", 2),)


def test_effects_of_one_turn_and_of_one_move_end_by_themselves() -> None:
    lines = (*GEN9, "|-singleturn|p2a: Garg|Protect", "|-singlemove|p2a: Garg|Destiny Bond")
    assert foe("gen9ou", *lines).volatiles == (("destinybond", 0), ("protect", 0))
    assert foe("gen9ou", *lines, "|turn|2").volatiles == (("destinybond", 1),)
    moved = "|move|p2a: Garg|Recover|p2a: Garg"
    assert foe("gen9ou", *lines, "|turn|2", moved).volatiles == ()


def test_trapping_ends_when_the_trapper_leaves() -> None:
    lines = (*GEN9, "|move|p1a: Pecha|Mean Look|p2a: Garg", "|-activate|p2a: Garg|trapped")
    assert foe("gen9ou", *lines).volatiles == (("trapped", 0),)
    assert foe("gen9ou", *lines, "|switch|p1a: Ditto|Ditto|300/300").volatiles == ()


def test_partial_trapping_has_one_name() -> None:
    lines = (*GEN9, "|-activate|p2a: Garg|move: Whirlpool|[of] p1a: Pecha")
    assert foe("gen9ou", *lines).volatiles == (("partiallytrapped", 0),)
    assert foe("gen9ou", *lines, "|-end|p2a: Garg|Whirlpool|[partiallytrapped]").volatiles == ()


def test_disable_names_a_move() -> None:
    mon = foe("gen1ou", *GEN1, "|-start|p2a: Zapdos|Disable|Drill Peck")
    assert [(move.id, move.disabled) for move in mon.moves] == [("drillpeck", True)]
    mon = foe("gen1ou", *GEN1, "|-start|p2a: Zapdos|Disable|Surf", "|-end|p2a: Zapdos|Disable")
    assert not mon.moves[0].disabled


def test_baton_pass_hands_on_stages_and_effects() -> None:
    lines = (
        "|switch|p2a: Ninjask|Ninjask, M|100/100",
        "|turn|1",
        "|-boost|p2a: Ninjask|spe|2",
        "|-start|p2a: Ninjask|Substitute",
        "|-start|p2a: Ninjask|Encore",
    )
    mon = foe("gen4ou", *lines, "|switch|p2a: Garchomp|Garchomp, M|100/100|[from] Baton Pass")
    assert (mon.boosts[4], mon.volatiles) == (2, (("substitute", 0),))
    mon = foe("gen4ou", *lines, "|switch|p2a: Garchomp|Garchomp, M|100/100")
    assert (mon.boosts[4], mon.volatiles) == (0, ())
    mon = foe("gen9ou", *lines, "|switch|p2a: Garchomp|Garchomp, M|100/100|[from] Shed Tail")
    assert (mon.boosts[4], mon.volatiles) == (0, (("substitute", 0),))


def test_psych_up_copies_towards_the_user() -> None:
    lines = ("|-boost|p1a: Pecha|atk|2", "|-copyboost|p2a: Garg|p1a: Pecha|[from] move: Psych Up")
    assert foe("gen9ou", *GEN9, *lines).boosts[0] == 2


def test_weather_keeps_its_beginning_through_upkeep() -> None:
    rain = "|-weather|RainDance|[from] ability: Drizzle|[of] p2a: Garg"
    state = watch("gen9ou", *GEN9, rain, "|-weather|RainDance|[upkeep]", "|turn|2", "|turn|3")
    assert (state.weather, state.weather_turns) == ("raindance", 2)
    assert state.foe.active[0] is not None and state.foe.active[0].ability == "drizzle"


def test_hazards_count_layers_and_screens_turns() -> None:
    state = watch(
        "gen9ou",
        *GEN9,
        "|-sidestart|p1: Red|Spikes",
        "|-sidestart|p1: Red|Spikes",
        "|-sidestart|p1: Red|move: Stealth Rock",
        "|-sidestart|p1: Red|Reflect",
        "|turn|3",
    )
    assert state.own.conditions == (("reflect", 2), ("spikes", 2), ("stealthrock", 1))


def test_wish_and_future_sight_wait_on_a_slot() -> None:
    wish = (*GEN9, "|move|p2a: Garg|Wish|p2a: Garg", "|turn|2")
    assert watch("gen9ou", *wish).foe.slot_conditions == (("wish",),)
    assert watch("gen9ou", *wish, "|turn|3").foe.slot_conditions == ((),)
    sight = (
        "|move|p2a: Garg|Future Sight|p1a: Pecha",
        "|-start|p2a: Garg|move: Future Sight",
        "|turn|2",
    )
    state = watch("gen9ou", *GEN9, *sight)
    assert state.own.slot_conditions == (("futuresight",),)
    assert state.foe.active[0] is not None and state.foe.active[0].volatiles == ()
    done = "|-end|p1a: Pecha|move: Future Sight"
    assert watch("gen9ou", *GEN9, *sight, done).own.slot_conditions == ((),)


# Abilities, items, formes and types


def test_causes_reveal_abilities_and_items_of_their_owner() -> None:
    mon = foe("gen9ou", *GEN9, "|-status|p2a: Garg|brn|[from] item: Flame Orb")
    assert mon.item == "flameorb"
    helmet = "|-damage|p1a: Pecha|250/300|[from] item: Rocky Helmet|[of] p2a: Garg"
    assert foe("gen9ou", *GEN9, helmet).item == "rockyhelmet"
    clear = "|-fail|p2a: Garg|unboost|[from] ability: Clear Body|[of] p2a: Garg"
    assert foe("gen9ou", *GEN9, clear).ability == "clearbody"
    assert foe("gen9ou", *GEN9).ability is None
    assert foe("gen9ou", *GEN9).item is None


def test_an_eaten_berry_stays_eaten() -> None:
    lines = (
        "|-enditem|p2a: Garg|Sitrus Berry|[eat]",
        "|-heal|p2a: Garg|75/100|[from] item: Sitrus Berry",
    )
    assert foe("gen9ou", *GEN9, *lines).item == ""
    hurt = "|-damage|p1a: Pecha|250/300|[from] item: Jaboca Berry|[of] p2a: Garg"
    eaten = "|-enditem|p2a: Garg|Jaboca Berry|[eat]"
    assert foe("gen9ou", *GEN9, eaten, hurt).item == ""


def test_given_and_stolen_items_change_hands() -> None:
    known = "|-item|p2a: Garg|Leftovers|[from] move: Bestow|[of] p1a: Pecha"
    assert foe("gen9ou", *GEN9, known).item == "leftovers"
    stolen = "|-item|p1a: Pecha|Leftovers|[from] move: Thief|[of] p2a: Garg"
    assert foe("gen9ou", *GEN9, known, stolen).item == ""
    frisked = "|-item|p2a: Garg|Leftovers|[from] ability: Frisk|[of] p1a: Pecha"
    assert foe("gen9ou", *GEN9, frisked).item == "leftovers"


def test_frisk_of_old_generations_does_not_say_whose_item_it_is() -> None:
    gen4 = ("|switch|p1a: Dusk|Dusknoir|300/300", "|switch|p2a: Gar|Gengar|100/100", "|turn|1")
    own = "|-item||Leftovers|[from] ability: Frisk|[of] p1a: Dusk"
    assert foe("gen4ou", *gen4, own).item == "leftovers"
    theirs = "|-item||Leftovers|[from] ability: Frisk|[of] p2a: Gar"
    seen = foe("gen4ou", *gen4, theirs)
    assert seen.item is None and seen.ability == "frisk"


def test_poltergeist_names_the_item() -> None:
    line = "|-activate|p2a: Garg|move: Poltergeist|Leftovers"
    assert foe("gen9ou", *GEN9, line).item == "leftovers"


def test_worry_seed_changes_the_ability_only_while_it_stays() -> None:
    seed = "|-ability|p2a: Garg|Insomnia|Purifying Salt|[from] move: Worry Seed"
    assert foe("gen9ou", *GEN9, seed).ability == "insomnia"
    state = watch("gen9ou", *GEN9, seed, "|switch|p2a: Gholdengo|Gholdengo|100/100")
    assert state.foe.bench[0].ability == "purifyingsalt"


def test_a_suppressed_ability_is_none() -> None:
    assert foe("gen9ou", *GEN9, "|-endability|p2a: Garg|Sturdy").ability == ""


def test_mummy_spreads_and_names_what_it_replaced() -> None:
    for line in (
        "|-activate|p1a: Pecha|ability: Mummy|Sturdy|[of] p2a: Garg",
        "|-activate|p1a: Pecha|ability: Mummy|p2a: Garg|[ability] Sturdy",
    ):
        assert foe("gen9ou", *GEN9, line).ability == "mummy"
        left = watch("gen9ou", *GEN9, line, "|switch|p2a: Ditto|Ditto|100/100").foe.bench[0]
        assert left.ability == "sturdy"


def test_a_lasting_forme_brings_its_ability() -> None:
    start = ("|switch|p2a: Banette|Banette, F|100/100", "|turn|1")
    lines = (
        "|detailschange|p2a: Banette|Banette-Mega, F",
        "|-mega|p2a: Banette|Banette|Banettite",
    )
    state = watch("gen6ou", *start, *lines)
    mon = state.foe.active[0]
    assert mon is not None
    assert (mon.species, mon.base_species) == ("banettemega", "banette")
    assert (mon.ability, mon.item) == ("prankster", "banettite")
    assert state.foe.gimmicks_used == ("mega",)


def test_a_passing_forme_ends_with_the_switch() -> None:
    start = ("|switch|p2a: Aegislash|Aegislash, M|100/100", "|turn|1")
    change = "|-formechange|p2a: Aegislash|Aegislash-Blade||[from] ability: Stance Change"
    mon = foe("gen6ou", *start, change)
    assert (mon.species, mon.ability) == ("aegislashblade", "stancechange")
    left = watch("gen6ou", *start, change, "|switch|p2a: Heatran|Heatran, M|100/100").foe.bench[0]
    assert left.species == "aegislash"


def test_types_follow_soak_added_types_tera_and_loss() -> None:
    assert foe("gen9ou", *GEN9, "|-start|p2a: Garg|typechange|Water").types == ("water",)
    added = ("|-start|p2a: Garg|typeadd|Ghost|[from] move: Trick-or-Treat",)
    assert foe("gen9ou", *GEN9, *added).types == ("rock", "ghost")
    mon = foe("gen9ou", *GEN9, *added, "|-terastallize|p2a: Garg|Fairy")
    assert (mon.types, mon.tera_type, mon.terastallized) == (("fairy",), "fairy", True)
    assert foe("gen9ou", *GEN9, "|-terastallize|p2a: Garg|Stellar").types == ("rock",)
    assert foe("gen9ou", *GEN9, "|-start|p2a: Garg|typechange|???").types == ()
    reflect = "|-start|p2a: Garg|typechange|[from] move: Reflect Type|[of] p1a: Pecha"
    assert foe("gen9ou", *GEN9, reflect).types == ("poison", "ghost")


# Disguises, preview and doubles


def test_a_disguise_that_falls_gives_back_what_it_borrowed() -> None:
    state = watch(
        "gen9randombattle",
        "|switch|p1a: Pecha|Pecharunt|300/300",
        "|switch|p2a: Tauros|Tauros, M|100/100",
        "|turn|1",
        "|switch|p2a: Jynx|Jynx, F|100/100",
        "|turn|2",
        "|switch|p2a: Tauros|Tauros, M|100/100",
        "|turn|3",
        "|move|p2a: Tauros|Nasty Plot|p2a: Tauros",
        "|-boost|p2a: Tauros|spa|2",
        "|-damage|p2a: Tauros|40/100",
        "|replace|p2a: Zoroark|Zoroark, M",
        "|-end|p2a: Zoroark|Illusion",
    )
    zoroark = state.foe.active[0]
    assert zoroark is not None
    assert (zoroark.species, zoroark.hp_fraction, zoroark.boosts[2]) == ("zoroark", 0.4, 2)
    assert pp(zoroark) == {"nastyplot": 31}
    tauros = state.foe.bench[1]
    assert (tauros.species, tauros.hp_fraction, tauros.moves) == ("tauros", 1.0, ())


def test_the_request_unmasks_an_own_disguise() -> None:
    tracker = Tracker("gen9randombattle", 0, *NAMES)
    tracker.feed(["|switch|p1a: Tauros|Tauros, M|300/300", "|turn|1"])
    side = [
        entry("Zoroark", "Zoroark, M", True, ["nastyplot"]),
        entry("Tauros", "Tauros, M", False, ["bodyslam"]),
    ]
    tracker.request({"active": [{"moves": []}], "side": {"pokemon": side}})
    assert tracker.state().own.active[0].species == "zoroark"  # type: ignore[union-attr]
    tracker.feed(["|-boost|p1a: Tauros|spa|2"])
    active = tracker.state().own.active[0]
    assert active is not None
    assert (active.species, active.boosts[2]) == ("zoroark", 2)


def test_preview_pokemon_become_known_ones() -> None:
    lines = (
        "|clearpoke",
        "|poke|p1|Pecharunt|",
        "|poke|p2|Arceus-*|",
        "|poke|p2|Garganacl, M|",
        "|teamsize|p2|2",
    )
    preview = watch("gen9ou", *lines).foe
    assert preview.preview == ("arceus", "garganacl")
    assert [mon.revealed for mon in preview.bench] == [False, False]
    assert [mon.selected for mon in preview.bench] == [None, None]
    side = watch("gen9ou", *lines, "|start", "|switch|p2a: God|Arceus-Fire|100/100", "|turn|1").foe
    assert side.active[0] is not None
    assert (side.active[0].ident, side.active[0].base_species) == ("God", "arceusfire")
    assert [mon.ident for mon in side.bench] == ["Garganacl"]


def test_those_left_at_home_are_known_when_all_others_were_seen() -> None:
    poke = [f"|poke|p2|{name}|" for name in ("Ditto", "Chansey", "Gengar")]
    lines = (*poke, "|teamsize|p2|2", "|start", "|switch|p2a: Ditto|Ditto|100/100", "|turn|1")
    assert {mon.selected for mon in watch("gen9ou", *lines).foe.bench} == {None}
    state = watch("gen9ou", *lines, "|switch|p2a: Gengar|Gengar|100/100", "|turn|2")
    assert [(mon.ident, mon.selected) for mon in state.foe.bench] == [
        ("Chansey", False),
        ("Ditto", True),
    ]


def test_team_sheets_tell_sets() -> None:
    state = watch(
        "gen9vgc2025regi",
        "|poke|p2|Garganacl, L50, M|",
        "|showteam|p2|Salty|Garganacl|Leftovers|PurifyingSalt|SaltCure,Recover|||M|||50|,,,,,Water",
    )
    mon = state.foe.bench[0]
    assert (mon.item, mon.ability, mon.tera_type) == ("leftovers", "purifyingsalt", "water")
    assert [move.id for move in mon.moves] == ["recover", "saltcure"]


def test_commander_hides_until_dondozo_is_gone() -> None:
    lines = (*DOUBLES, "|-activate|p2b: Tatsugiri|ability: Commander|[of] p2a: Dondozo")
    side = watch("gen9vgc2025regi", *lines).foe
    assert side.active[1] is not None and side.active[1].commanding
    side = watch("gen9vgc2025regi", *lines, "|faint|p2a: Dondozo").foe
    assert side.active[1] is not None and not side.active[1].commanding


def test_ally_switch_swaps_slots() -> None:
    side = watch("gen9vgc2025regi", *DOUBLES, "|swap|p2a: Dondozo|1|[from] move: Ally Switch").foe
    assert [mon.species for mon in side.active if mon] == ["tatsugiri", "dondozo"]


def test_dynamax_counts_down() -> None:
    start = ("|switch|p2a: Snorlax|Snorlax, M|100/100", "|turn|4", "|-start|p2a: Snorlax|Dynamax")
    side = watch("gen8vgc2022", *start, "|turn|5").foe
    assert (side.dynamax_turns, side.gimmicks_used) == (2, ("dynamax",))
    assert watch("gen8vgc2022", *start, "|-end|p2a: Snorlax|Dynamax").foe.dynamax_turns is None


def test_revival_blessing_puts_the_fainted_first() -> None:
    tracker = Tracker("gen9ou", 0, *NAMES)
    side = [
        entry("Pawmot", "Pawmot, M", True, ["revivalblessing"], reviving=True),
        entry("Ditto", "Ditto", False, ["transform"]),
        entry("Zapdos", "Zapdos", False, ["roost"], condition="0 fnt"),
    ]
    tracker.request({"forceSwitch": [True], "side": {"pokemon": side}})
    state = tracker.state()
    assert state.reviving
    assert [mon.ident for mon in state.own.bench] == ["Zapdos", "Ditto"]


# Requests


def test_own_pp_and_disabled_moves_come_from_the_request() -> None:
    tracker = Tracker("gen4ou", 0, *NAMES)
    tracker.feed(["|switch|p1a: Zapdos|Zapdos|300/300", "|turn|1"])
    side = [entry("Zapdos", "Zapdos", True, ["hiddenpowerice70", "roost", "return102"])]
    offered = [
        {"id": "hiddenpower", "pp": 20, "maxpp": 24, "disabled": True},
        {"id": "roost", "pp": 7, "maxpp": 16, "disabled": False},
        {"id": "return", "pp": 32, "maxpp": 32, "disabled": False},
    ]
    tracker.request({"active": [{"moves": offered, "trapped": True}], "side": {"pokemon": side}})
    state = tracker.state()
    mon = state.own.active[0]
    assert mon is not None
    assert [(move.id, move.pp, move.disabled) for move in mon.moves] == [
        ("hiddenpowerice", 20, True),
        ("return", 32, False),
        ("roost", 7, False),
    ]
    assert (mon.hp, mon.max_hp, mon.stats) == (300, 300, (1, 2, 3, 4, 5))
    assert state.trapped == (True,)


def test_a_forced_move_leaves_the_others_disabled() -> None:
    tracker = Tracker("gen9ou", 0, *NAMES)
    tracker.feed(["|switch|p1a: Garchomp|Garchomp, M|300/300", "|turn|1"])
    side = [entry("Garchomp", "Garchomp, M", True, ["outrage", "earthquake"])]
    locked = {"moves": [{"move": "Outrage", "id": "outrage"}], "trapped": True}
    tracker.request({"active": [locked], "side": {"pokemon": side}})
    mon = tracker.state().own.active[0]
    assert mon is not None
    assert [(move.id, move.disabled) for move in mon.moves] == [
        ("earthquake", True),
        ("outrage", False),
    ]


def test_the_end_of_a_battle_is_a_result() -> None:
    assert watch("gen1ou", *GEN1, "|win|Red").result == "win"
    assert watch("gen1ou", *GEN1, "|win|Blue").result == "loss"
    assert watch("gen1ou", *GEN1, "|tie").result == "draw"
    assert watch("gen1ou", *GEN1, "|tie").phase == "end"


def test_own_moves_keep_the_order_of_the_request_in_doubles() -> None:
    tracker = Tracker("gen9vgc2025regi", 0, *NAMES)
    tracker.feed(DOUBLES)
    side = [
        entry("Pecha", "Pecharunt, L50", True, ["shadowball", "nastyplot"]),
        entry("Pelipper", "Pelipper, L50, M", True, ["tailwind", "hurricane"]),
    ]
    tracker.request({"forceSwitch": [False, True], "side": {"pokemon": side}})
    order = [[move.id for move in mon.moves] for mon in tracker.state().own.active if mon]
    assert order == [["shadowball", "nastyplot"], ["tailwind", "hurricane"]]


def test_transform_copies_the_types_beneath_terastallization() -> None:
    mon = foe(
        "gen9ou",
        "|switch|p1a: Milotic|Milotic, F|300/300",
        "|-terastallize|p1a: Milotic|Normal",
        "|switch|p2a: Ditto|Ditto|100/100",
        "|-transform|p2a: Ditto|p1a: Milotic|[from] ability: Imposter",
    )
    assert mon.types == ("water",)


def test_nobody_stands_in_two_slots() -> None:
    lines = (
        *(f"|poke|p2|{name}, L50, M|" for name in ("Zoroark", "Gengar", "Pelipper")),
        "|switch|p2a: Gengar|Gengar, L50, M|100/100",
        "|switch|p2b: Pelipper|Pelipper, L50, M|100/100",
        "|turn|1",
        "|switch|p2b: Gengar|Gengar, L50, M|100/100",
        "|turn|2",
    )
    side = watch("gen9vgc2025regi", *lines).foe
    assert [mon.species for mon in side.active if mon] == ["zoroark", "gengar"]
    side = watch("gen9vgc2025regi", *lines, "|replace|p2b: Zoroark|Zoroark, L50, M").foe
    assert [mon.species for mon in side.active if mon] == ["gengar", "zoroark"]
    assert [mon.species for mon in side.bench] == ["pelipper"]


def test_mega_rayquaza_shows_no_stone() -> None:
    start = ("|switch|p2a: Rayquaza|Rayquaza|100/100", "|turn|1")
    lines = ("|detailschange|p2a: Rayquaza|Rayquaza-Mega", "|-mega|p2a: Rayquaza|Rayquaza|")
    assert foe("gen7ubers", *start, *lines).item is None
