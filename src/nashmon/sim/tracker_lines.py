"""What becomes of each kind of protocol line: skipped, parsed by poke-env, or corrected here.

Each correction is a small function of the battle and the split line, and has a test with a short
transcript.
"""

from __future__ import annotations

from nashmon.core.dex import to_id
from nashmon.core.errors import SimulatorError
from nashmon.sim import tracker_reveal as shown
from nashmon.sim.tracker_battle import Tracking
from nashmon.sim.tracker_pokemon import TOXIC, TrackedPokemon, effect_id
from nashmon.sim.tracker_reveal import PARTIAL_TRAPS, Handler, reveal_cause, tag

# Causes of a `move` line for which its PP is paid all the same.
_PAID = frozenset({"", "pursuit", "round", "grasspledge", "firepledge", "waterpledge", "instruct"})
# Causes that make a Pokémon use a move of its own without PP.
_OWN_AND_FREE = frozenset({"lockedmove", "sleeptalk"})
_ONE_FOE = frozenset({"adjacentFoe", "any", "normal", "randomNormal", "scripted"})
_ALL_FOES = frozenset({"all", "allAdjacent", "allAdjacentFoes"})
_SWITCH_CURES = frozenset({"healingwish", "lunardance"})


def _parse(battle: Tracking, parts: list[str]) -> None:
    """poke-env alone."""
    battle.parse_message(parts)


def _with_cause(battle: Tracking, parts: list[str]) -> None:
    """poke-env, then the ability or item that the line names as its cause."""
    battle.parse_message(parts)
    reveal_cause(battle, parts)


def _move(battle: Tracking, parts: list[str]) -> None:
    mon = battle.get_pokemon(parts[2])
    name = parts[3]
    move = to_id(name[2:] if name.startswith("Z-") else name)
    cause = effect_id(tag(parts, "[from]")) if "[from]" in "".join(parts[4:]) else ""
    if mon.preparing_id == move:
        cause = cause or move  # old generations do not mark the second turn
    mon.act()
    mon.last_move_id = move
    battle.mover, battle.mover_target = mon, parts[4][:3] if len(parts) > 4 else ""
    known = battle.dex.moves.get(move)
    mon.protects = mon.protects + 1 if known is not None and known.stalling else 0
    if cause in _PAID:
        slot = mon.reveal(move)
        if slot is not None:
            slot[0] = max(0, slot[0] - 1 - _pressure(battle, parts, move))
    elif cause in _OWN_AND_FREE or cause == move:
        mon.reveal(move)
    if cause in mon.slots and cause != move:
        slot = mon.slots[cause]
        slot[0] = max(0, slot[0] - _pressure(battle, parts, move))
    if cause and ("ability: " in parts[-1] or "ability: " in parts[-2]):
        reveal_cause(battle, parts)
    if move == "wish" or move in _SWITCH_CURES:
        battle.slot_conditions.setdefault(parts[2][:3], {})[move] = battle.turn


def _pressure(battle: Tracking, parts: list[str], move: str) -> int:
    """Extra PP that known Pressure costs: one for each Pokémon aimed at."""
    if battle.gen < 3:
        return 0
    known = battle.dex.moves.get(move)
    places = battle.foe_slots(parts[2])
    if known is None:
        return 0
    if known.target in _ONE_FOE:
        aimed = parts[4][:3] if len(parts) > 4 else ""  # "" when nothing is animated
        places = [place for place in places if place == aimed or (not aimed and len(places) == 1)]
    elif known.target not in _ALL_FOES and "mustpressure" not in known.flags:
        return 0
    mons = [battle.occupants.get(place) for place in places]
    return sum(1 for mon in mons if mon is not None and mon._current_hp and _presses(mon))


def _presses(mon: TrackedPokemon) -> bool:
    return bool(mon.ability == "pressure")


def _cant(battle: Tracking, parts: list[str]) -> None:
    reason = parts[3]
    if reason.startswith("ability: "):
        battle.get_pokemon(parts[2]).ability = reason[9:]
    # With "[of]" the first Pokémon stopped the move of the second (Damp, Armor Tail).
    mon = battle.get_pokemon(tag(parts, "[of]") or parts[2])
    mon.cant_move()
    if reason == "slp":
        mon.status_turns += 1
    if len(parts) > 4 and not parts[4].startswith("["):
        mon.reveal(to_id(parts[4]))


def _fail(battle: Tracking, parts: list[str]) -> None:
    if len(parts) > 2 and ": " in parts[2]:
        mon = battle.get_pokemon(parts[2])
        mon.protects = 0
        if mon is battle.mover and mon.last_move_id == "wish":
            waiting = battle.slot_conditions.get(parts[2][:3], {})
            if waiting.get("wish") == battle.turn:
                del waiting["wish"]
        reveal_cause(battle, parts)


def _switch(battle: Tracking, parts: list[str]) -> None:
    place, _, name = parts[2].partition(": ")
    out = battle.occupants.get(place)
    cause = effect_id(tag(parts[5:], "[from]")) if len(parts) > 5 else ""
    passed = None
    if out is not None:
        if cause in ("batonpass", "shedtail"):
            passed = out.passed_on(cause == "shedtail")
        _leave(battle, place, out)
        out.switch_out()
    mon = battle.member(place[:2], name, parts[3])
    if battle.partner(place) is mon:
        _expose(battle, place, mon)
    mon.changed = True
    mon.switch_in(parts[3])
    mon.set_hp_status(parts[4])
    if passed is not None:
        mon._boosts, mon.volatiles, mon.counts = passed
    battle.occupants[place] = mon
    battle._named.clear()


def _expose(battle: Tracking, place: str, mon: TrackedPokemon) -> None:
    """Nobody stands in two slots: the one beside is someone in disguise, if we know who can be."""
    masked = [other for other in battle.others(mon) if "illusion" in other.dex_species.abilities]
    if len(masked) == 1:
        battle.stand(place[:2] + ("b" if place[2] == "a" else "a"), masked[0])


def _leave(battle: Tracking, place: str, mon: TrackedPokemon) -> None:
    """Effects on others that end when a Pokémon leaves the field or faints."""
    for slot, trapper in list(battle.trappers.items()):
        if trapper is mon or slot == place:
            del battle.trappers[slot]
            if slot in battle.occupants:
                battle.occupants[slot].volatiles.pop("trapped", None)
    partner = battle.partner(place)
    if partner is not None:
        partner.commanding = False


def _faint(battle: Tracking, parts: list[str]) -> None:
    mon = battle.get_pokemon(parts[2])
    _leave(battle, parts[2][:3], mon)
    mon.faint()


def _damage(battle: Tracking, parts: list[str]) -> None:
    mon = battle.get_pokemon(parts[2])
    mon.set_hp_status(parts[3])
    if len(parts) > 4:
        if parts[4] == "[from] psn" and mon._status is TOXIC:
            mon.status_turns += 1
        reveal_cause(battle, parts)


def _heal(battle: Tracking, parts: list[str]) -> None:
    mon = battle.get_pokemon(parts[2])
    mon.set_hp_status(parts[3])
    if len(parts) > 4:
        cause = effect_id(parts[4][7:])
        if cause == "poisonheal" and mon._status is TOXIC:
            mon.status_turns += 1
        elif cause == "wish" or cause in _SWITCH_CURES:
            battle.slot_conditions.get(parts[2][:3], {}).pop(cause, None)
        reveal_cause(battle, parts)


def _boost(battle: Tracking, parts: list[str]) -> None:
    battle.get_pokemon(parts[2]).boost(parts[3], int(parts[4]))
    if len(parts) > 5:
        reveal_cause(battle, parts)


def _unboost(battle: Tracking, parts: list[str]) -> None:
    battle.get_pokemon(parts[2]).boost(parts[3], -int(parts[4]))
    if len(parts) > 5:
        reveal_cause(battle, parts)


def _start(battle: Tracking, parts: list[str]) -> None:
    mon = battle.get_pokemon(parts[2])
    effect = effect_id(parts[3])
    if effect == "typechange":
        source = tag(parts, "[of]")
        if "/" in parts[4] or not parts[4].startswith("["):
            mon.changed_types = tuple(filter(None, map(to_id, parts[4].split("/"))))
        elif source:
            mon.changed_types = battle.get_pokemon(source).types
        mon.added_type = None
    elif effect == "typeadd":
        mon.added_type = to_id(parts[4])
    elif effect == "mimic":
        mon.mimic(to_id(parts[4]))
    elif effect in ("futuresight", "doomdesire"):
        place = battle.mover_target or battle.foe_slots(parts[2])[0]
        battle.slot_conditions.setdefault(place, {})[effect] = battle.turn
    else:
        mon.begin(parts[3])
        if effect == "disable" and len(parts) > 4:
            move = to_id(parts[4])
            mon.reveal(move)
            mon.disabled = (move,)
        elif effect == "dynamax":
            battle.spend(parts[2], "dynamax")
    reveal_cause(battle, parts)
    if parts[3].startswith("ability: "):
        mon.ability = parts[3][9:]


def _end(battle: Tracking, parts: list[str]) -> None:
    effect = effect_id(parts[3])
    if effect == "neutralizinggas":
        battle._field_end(effect)
    elif effect in ("futuresight", "doomdesire"):
        battle.slot_conditions.get(parts[2][:3], {}).pop(effect, None)
    else:
        mon = battle.get_pokemon(parts[2])
        mon.end_effect("partiallytrapped" if effect in PARTIAL_TRAPS else parts[3])


def _single_turn(battle: Tracking, parts: list[str]) -> None:
    mon = battle.get_pokemon(parts[2])
    mon.begin(parts[3])
    mon.turn_effects.append(effect_id(parts[3]))


def _single_move(battle: Tracking, parts: list[str]) -> None:
    mon = battle.get_pokemon(parts[2])
    mon.begin(parts[3])
    mon.move_effects.append(effect_id(parts[3]))


def _prepare(battle: Tracking, parts: list[str]) -> None:
    if "[premajor]" not in parts:  # an announcement, not the first of two turns
        battle.parse_message(parts)


def _anim(battle: Tracking, parts: list[str]) -> None:
    """A two-turn move that strikes at once (Power Herb, sun)."""
    battle.get_pokemon(parts[2]).preparing_id = None


def _weather(battle: Tracking, parts: list[str]) -> None:
    if "[upkeep]" not in parts:
        name = effect_id(parts[2])
        battle._weather = {} if name == "none" else {name: battle.turn}
        reveal_cause(battle, parts)


def _restore_boost(battle: Tracking, parts: list[str]) -> None:
    """White Herb as old logs tell it."""
    battle.get_pokemon(parts[2]).clear_negative_boosts()


def _copy_boost(battle: Tracking, parts: list[str]) -> None:
    """The first Pokémon takes the stages of the second (poke-env has it the other way)."""
    battle.get_pokemon(parts[2]).copy_boosts(battle.get_pokemon(parts[3]))


def _turn(battle: Tracking, parts: list[str]) -> None:
    turn = int(parts[2])
    battle.end_turn(turn)
    for waiting in battle.slot_conditions.values():
        for name, begun in list(waiting.items()):
            # A Wish comes true at the end of the next turn, a Future Sight one turn later.
            if turn - begun > {"wish": 1, "futuresight": 2, "doomdesire": 2}.get(name, turn):
                del waiting[name]


def _win(battle: Tracking, parts: list[str]) -> None:
    battle.result = "win" if parts[2] == battle._player_username else "loss"


def _tie(battle: Tracking, parts: list[str]) -> None:
    battle.result = "draw"


def _poke(battle: Tracking, parts: list[str]) -> None:
    battle._register_teampreview_pokemon(parts[2], parts[3])


def _status(battle: Tracking, parts: list[str]) -> None:
    battle.get_pokemon(parts[2]).status = parts[3]
    if len(parts) > 4:
        reveal_cause(battle, parts)


def _teamsize(battle: Tracking, parts: list[str]) -> None:
    battle._team_size[parts[2]] = int(parts[3])


_SKIPPED = """-center -combine -crit -fieldactivate -hint -hitcount -message -miss
    -notarget -nothing -ohko -resisted -supereffective -waiting -zbroken J L askreg b badge bigerror
    c c: chat choice clearpoke debug deinit error expire gametype gen hidelines html inactive
    inactiveoff init j join l leave message n name noinit player rated raw request rule sentchoice
    split start t: teampreview tempnotify tempnotifyoff tier timer title uhtml uhtmlchange unlink
    upkeep warning"""
_POKE_ENV = """-clearallboost -clearboost -clearnegativeboost -clearpositiveboost
    -curestatus -cureteam -fieldend -fieldstart -invertboost -mustrecharge
    -setboost -sethp -sideend -sidestart -swapboost -swapsideconditions replace swap"""

# None: the line has no effect on what a player knows.
HANDLERS: dict[str, Handler | None] = {
    "": None,
    **dict.fromkeys(_SKIPPED.split()),
    **dict.fromkeys(_POKE_ENV.split(), _with_cause),
    "-ability": shown.ability,
    "-activate": shown.activate,
    "-anim": _anim,
    "-block": shown.activate,
    "-boost": _boost,
    "-burst": shown.gimmick("ultra", 4),
    "-copyboost": _copy_boost,
    "-damage": _damage,
    "-end": _end,
    "-endability": shown.end_ability,
    "-enditem": _parse,  # who made it so is told again, more clearly, by other lines
    "-fail": _fail,
    "-formechange": shown.forme_change,
    "-heal": _heal,
    "-immune": reveal_cause,
    "-item": shown.item,
    "-mega": shown.gimmick("mega", 4),
    "-prepare": _prepare,
    "-primal": shown.primal,
    "-restoreboost": _restore_boost,
    "-singlemove": _single_move,
    "-singleturn": _single_turn,
    "-start": _start,
    "-status": _status,
    "-terastallize": shown.terastallize,
    "-transform": shown.transform,
    "-unboost": _unboost,
    "-weather": _weather,
    "-zpower": shown.gimmick("zmove", 0),
    "cant": _cant,
    "detailschange": shown.details_change,
    "drag": _switch,
    "faint": _faint,
    "move": _move,
    "poke": _poke,
    "showteam": shown.show_team,
    "switch": _switch,
    "teamsize": _teamsize,
    "tie": _tie,
    "turn": _turn,
    "win": _win,
}

Line = tuple[Handler, list[str]]  # what to do, and the split line to do it with


def read(text: str) -> Line | None:
    """A protocol line as trackers take it; None where it changes nothing that a player knows."""
    parts = text.split("|")
    if len(parts) < 2 or parts[0]:
        return None  # chat-like text without a command
    try:
        handler = HANDLERS[parts[1]]
    except KeyError:
        raise SimulatorError(f"unknown protocol line {text!r}") from None
    return None if handler is None else (handler, parts)
