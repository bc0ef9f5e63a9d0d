"""What the Tactician does in Gen 1 positions made by hand."""

import numpy as np

from nashmon.agents.combatant import usual_stats
from nashmon.agents.registry import get_agent
from nashmon.core.agent import Decisions
from nashmon.core.dex import get_dex
from nashmon.core.state import UniversalMove, UniversalPokemon, UniversalSide, UniversalState

DEX = get_dex(1)


def mon(species: str, moves: str, own: bool, **facts: object) -> UniversalPokemon:
    stats = usual_stats("gen1", species, 100)
    names = sorted(moves.split())
    made = UniversalPokemon(
        species=species,
        base_species=species,
        ident=species,
        level=100,
        gender="N",
        hp_fraction=1.0,
        hp=stats[0] if own else None,
        max_hp=stats[0] if own else None,
        fainted=False,
        status=None,
        status_turns=0,
        types=DEX.species[species].types,
        tera_type=None,
        terastallized=False,
        item="",
        ability="",
        moves=tuple(UniversalMove(name, 16, 16) for name in names),
        stats=stats[1:] if own else None,
        active=False,
        revealed=True,
        selected=True,
    )
    return made._replace(**facts)  # type: ignore[arg-type]


def side(active: UniversalPokemon, *bench: UniversalPokemon, size: int = 6) -> UniversalSide:
    ordered = tuple(sorted(bench, key=lambda p: (p.fainted, p.species)))
    return UniversalSide(
        active=(active._replace(active=True),),
        bench=ordered,
        conditions=(),
        slot_conditions=((),),
        team_size=size,
        num_fainted=sum(p.fainted for p in (active, *bench)),
        gimmicks_used=(),
        dynamax_turns=None,
        preview=(),
    )


def choice(own: UniversalSide, foe: UniversalSide, agent: str = "tactician") -> str:
    """Name of the move or of the Pokémon that comes in."""
    forced = own.active[0] is not None and own.active[0].fainted
    state = UniversalState(
        format="gen1ou",
        gen=1,
        game_type="singles",
        turn=5,
        phase="switch" if forced else "move",
        own=own,
        foe=foe,
        weather=None,
        weather_turns=0,
        fields=(),
        force_switch=(forced,),
        trapped=(False,),
        maybe_trapped=(False,),
        can_gimmick=(None,),
        reviving=False,
    )
    active = own.active[0]
    assert active is not None
    mask = np.zeros((1, 13), bool)
    mask[0, : len(active.moves)] = not forced
    mask[0, 4 : 4 + sum(not p.fainted for p in own.bench)] = True
    zero = np.zeros(1, np.int64)
    made = Decisions({}, mask, zero, np.ones(1, bool), lambda: [state])
    player = get_agent(agent)
    action = int(player.act(made, player.start(1), np.random.default_rng(0))[0])
    return active.moves[action].id if action < 4 else own.bench[action - 4].species


TAUROS = "bodyslam hyperbeam earthquake blizzard"
CHANSEY = "icebeam thunderbolt thunderwave softboiled"


def test_hyper_beam_finishes() -> None:
    own = side(mon("tauros", TAUROS, True), mon("chansey", CHANSEY, True))
    weak = mon("snorlax", "bodyslam", False, hp_fraction=0.3)
    assert choice(own, side(weak)) == "hyperbeam"


def test_hyper_beam_waits_for_a_knock_out() -> None:
    own = side(mon("tauros", TAUROS, True), mon("chansey", CHANSEY, True))
    assert choice(own, side(mon("snorlax", "bodyslam", False))) != "hyperbeam"


def test_sleep_is_spread_once() -> None:
    jynx = mon("jynx", "lovelykiss blizzard psychic rest", True)
    own = side(jynx, mon("chansey", CHANSEY, True))
    awake = mon("alakazam", "psychic", False)
    asleep = mon("gengar", "explosion", False, status="slp")
    assert choice(own, side(awake)) == "lovelykiss"
    assert choice(own, side(awake, asleep)) != "lovelykiss"


def test_thunder_wave_is_not_used_on_ground_or_on_the_paralysed() -> None:
    own = side(mon("chansey", "seismictoss thunderwave", True), mon("tauros", TAUROS, True))
    assert choice(own, side(mon("rhydon", "earthquake", False))) != "thunderwave"
    slowed = mon("starmie", "psychic", False, status="par")
    assert choice(own, side(slowed)) != "thunderwave"


def test_a_fresh_fast_foe_is_paralysed() -> None:
    own = side(mon("chansey", CHANSEY, True), mon("tauros", TAUROS, True))
    assert choice(own, side(mon("alakazam", "psychic recover", False))) == "thunderwave"


def test_a_hurt_healer_heals_and_a_healthy_one_does_not() -> None:
    foe = side(mon("alakazam", "psychic recover", False, status="par"))
    hurt = mon("chansey", CHANSEY, True, hp_fraction=0.3)
    healthy = mon("chansey", CHANSEY, True)
    assert choice(side(hurt, mon("tauros", TAUROS, True)), foe) == "softboiled"
    assert choice(side(healthy, mon("tauros", TAUROS, True)), foe) != "softboiled"


def test_explosion_trades_a_dying_pokemon_but_not_the_last_one() -> None:
    boom = "explosion psychic"
    dying = mon("exeggutor", boom, True, hp_fraction=0.15)
    foe = side(mon("snorlax", "bodyslam rest reflect icebeam", False, status="par"))
    assert choice(side(dying, mon("chansey", CHANSEY, True)), foe) == "explosion"
    alone = side(dying, size=1)
    assert choice(alone, foe) == "psychic"


def test_a_lost_matchup_is_left() -> None:
    own = side(
        mon("rhydon", "earthquake rockslide bodyslam substitute", True),
        mon("chansey", CHANSEY, True),
    )
    assert choice(own, side(mon("starmie", "surf blizzard recover", False))) == "chansey"


def test_the_replacement_after_a_faint_fits_the_foe() -> None:
    fallen = mon("tauros", TAUROS, True, fainted=True, hp_fraction=0.0, hp=0)
    rhydon = mon("rhydon", "earthquake rockslide bodyslam substitute", True)
    own = side(fallen, rhydon, mon("exeggutor", "psychic megadrain stunspore explosion", True))
    assert choice(own, side(mon("zapdos", "thunderbolt drillpeck", False))) == "rhydon"


def test_a_sleeper_is_sacked_rather_than_a_healthy_pokemon() -> None:
    fallen = mon("starmie", "psychic recover", True, fainted=True, hp_fraction=0.0, hp=0)
    sleeper = mon("exeggutor", "psychic explosion", True, status="slp", hp_fraction=0.2)
    own = side(fallen, sleeper, mon("gengar", "thunderbolt explosion", True))
    assert choice(own, side(mon("rhydon", "earthquake", False))) == "exeggutor"
