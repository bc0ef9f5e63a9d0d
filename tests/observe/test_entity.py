from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from state_strategies import StateMaker

from nashmon.core.errors import UnsupportedError
from nashmon.core.formats import get_format
from nashmon.core.state import UniversalMove, UniversalPokemon, UniversalSide, UniversalState
from nashmon.observe.entity import EntitySpace, StateShapeError
from nashmon.observe.vocab import UnknownWordError

FORMATS = ("gen1ou", "gen2ou", "gen4ou", "gen8ou", "gen9ou", "gen9vgc2025regi")


SPECIES = EntitySpace(get_format("gen1ou")).spec["pokemon_ids"].column("species")


def write(space: EntitySpace, state: UniversalState) -> dict[str, np.ndarray]:
    out = space.allocate(1)
    space.encoder().write(state, out, 0)
    return out


def same(left: dict[str, np.ndarray], right: dict[str, np.ndarray]) -> bool:
    return all(np.array_equal(left[name], right[name]) for name in left)


@pytest.mark.parametrize("name", FORMATS)
def test_values_stay_within_the_bounds_of_the_spec(name: str) -> None:
    space, maker = EntitySpace(get_format(name)), StateMaker(get_format(name), 7)
    out, encoder = space.allocate(200), space.encoder()
    for index in range(200):
        encoder.write(maker.state(), out, index)
    for array in space.spec.arrays:
        values = out[array.name]
        assert values.shape == (200, *array.shape)
        assert values.dtype == array.dtype
        low = np.array([column.low for column in array.columns])
        high = np.array([column.high for column in array.columns])
        assert (values >= low).all()
        assert (values <= high).all()


@pytest.mark.parametrize("name", FORMATS)
def test_a_warm_encoder_writes_what_a_fresh_one_writes(name: str) -> None:
    space, maker = EntitySpace(get_format(name)), StateMaker(get_format(name), 11)
    warm = space.encoder()
    state = maker.state()
    for step in range(60):
        if step % 10 == 0:
            state = maker.state()._replace(phase="move")
        bench = (maker.pokemon(True, False, "x"), *state.own.bench[1:])
        active = tuple(p and p._replace(status_turns=step % 16) for p in state.foe.active)
        state = state._replace(
            turn=step,
            own=state.own._replace(bench=bench),
            foe=state.foe._replace(active=active),
        )
        out = space.allocate(1)
        warm.write(state, out, 0)
        assert same(out, write(space, state))


def test_forgetting_rows_does_not_change_what_is_written() -> None:
    space, maker = EntitySpace(get_format("gen9ou")), StateMaker(get_format("gen9ou"), 3)
    states = [maker.state() for _ in range(6)]
    encoder = space.encoder()
    for number, state in enumerate(states * 3):
        if number % 4 == 3:
            encoder.reset()
        out = space.allocate(1)
        encoder.write(state, out, 0)
        assert same(out, write(space, state))


def test_rows_follow_pokemon_that_change_places() -> None:
    space, maker = EntitySpace(get_format("gen9ou")), StateMaker(get_format("gen9ou"), 4)
    state = maker.state()._replace(phase="move")
    bench = tuple(maker.pokemon(True, False, str(k)) for k in range(5))
    encoder, rng = space.encoder(), np.random.default_rng(0)
    for _ in range(30):
        order = rng.permutation(5)[: rng.integers(1, 6)]
        own = state.own._replace(bench=tuple(bench[k] for k in order))
        out = space.allocate(1)
        encoder.write(state._replace(own=own), out, 0)
        assert same(out, write(space, state._replace(own=own)))


def test_rows_are_active_slots_then_bench() -> None:
    format = get_format("gen9vgc2025regi")
    space, maker = EntitySpace(format), StateMaker(format, 5)
    state = maker.state()._replace(phase="move")
    team = [maker.pokemon(True, k < 2, str(k)) for k in range(6)]
    own = state.own._replace(active=tuple(team[:2]), bench=tuple(team[2:]))
    out = write(space, state._replace(own=own))
    species = space.tables["species"]
    assert [species.words[k] for k in out["pokemon_ids"][0, :6, SPECIES]] == [
        p.species for p in team
    ]


def test_at_preview_row_k_is_bench_k() -> None:
    format = get_format("gen9ou")
    space, maker = EntitySpace(format), StateMaker(format, 5)
    team = tuple(maker.pokemon(True, False, str(k)) for k in range(6))
    state = maker.state()
    own = state.own._replace(active=(None,), bench=team)
    out = write(space, state._replace(phase="preview", own=own, foe=own._replace(bench=())))
    species = space.tables["species"]
    assert [species.words[k] for k in out["pokemon_ids"][0, :6, SPECIES]] == [
        p.species for p in team
    ]
    assert not out["pokemon_ids"][0, 6:].any()


def test_a_sixth_benched_pokemon_takes_the_row_of_an_empty_slot() -> None:
    format = get_format("gen9vgc2025regi")
    space, maker = EntitySpace(format), StateMaker(format, 5)
    state = maker.state()._replace(phase="move")
    team = [maker.pokemon(True, k == 0, str(k)) for k in range(6)]
    own = state.own._replace(active=(team[0], None), bench=tuple(team[1:]))
    ids = write(space, state._replace(own=own))["pokemon_ids"][0]
    assert [space.tables["species"].words[k] for k in ids[:6, SPECIES]] == [
        team[k].species for k in (0, 5, 1, 2, 3, 4)
    ]
    crowded = own._replace(bench=tuple(team))
    with pytest.raises(StateShapeError, match="more than 6"):
        write(space, state._replace(own=crowded))


def test_unknown_words_raise_when_strict_and_are_one_otherwise() -> None:
    format = get_format("gen3ou")
    maker = StateMaker(format, 2)
    odd = maker.pokemon(False, True, "x")._replace(
        item="boosterenergy", volatiles=(("levitation", 1),)
    )
    state = maker.state()._replace(phase="move")
    state = state._replace(foe=state.foe._replace(active=(odd,)))
    with pytest.raises(UnknownWordError, match="boosterenergy"):
        write(EntitySpace(format), state)
    space = EntitySpace(format, strict=False)
    out = write(space, state)
    assert out["pokemon_ids"][0, 6, space.spec["pokemon_ids"].column("item")] == 1
    assert (
        out["active_numbers"][0, 1, space.spec["active_numbers"].column("volatile_<unknown>")] > 0
    )


def test_a_state_of_another_kind_of_battle_is_refused() -> None:
    doubles = StateMaker(get_format("gen9vgc2025regi"), 1).state()
    with pytest.raises(StateShapeError, match=r"singles observation.*doubles state"):
        write(EntitySpace(get_format("gen9ou")), doubles)


def test_game_types_it_does_not_know_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="triples"):
        EntitySpace(get_format("gen5triplescustomgame"))


def test_columns_that_cannot_vary_are_absent_in_generation_one() -> None:
    spec = EntitySpace(get_format("gen1ou")).spec
    names = {column.name for array in spec.arrays for column in array.columns}
    for name in ("item", "ability", "tera_type", "gender_M", "stat_spd", "protect_count"):
        assert name not in names
    assert not any("weather" in name or "condition" in name for name in names)
    assert sum(np.prod(array.shape) for array in spec.arrays) < 600


def test_the_document_gives_the_formula_of_every_generation_one_column() -> None:
    text = (Path(__file__).parents[2] / "docs" / "observations.md").read_text()
    for array in EntitySpace(get_format("gen1ou")).spec.arrays:
        start = text.index(f"### `{array.name}`")
        for index, column in enumerate(array.columns):
            start = text.index(f"| {index} | {column.name} | {column.doc} |", start)


# Every field of the state either changes the observation or is listed here with its reason.
EXCLUDED = {
    "UniversalPokemon.ident": "a nickname; identity is the row",
    "UniversalPokemon.hp": "hp_fraction · max_hp",
    "UniversalSide.preview": "previewed Pokémon have rows of their own",
    "UniversalState.format": "the spec belongs to it",
    "UniversalState.gen": "the spec belongs to it",
    "UniversalState.game_type": "the spec belongs to it",
    "UniversalState.result": "the outcome is not an observation",
}

POKEMON_CHANGES: dict[str, Any] = {
    "species": "pikachu",
    "base_species": "pikachu",
    "level": 31,
    "gender": "F",
    "hp_fraction": 0.31,
    "max_hp": 123,
    "fainted": True,
    "status": "par",
    "status_turns": 5,
    "types": ("rock", "bug"),
    "tera_type": "rock",
    "terastallized": True,
    "item": "leftovers",
    "ability": "static",
    "moves": (UniversalMove("thunder", 3, 16),),
    "stats": (1, 2, 3, 4, 5),
    "active": False,
    "revealed": False,
    "selected": False,
    "boosts": (1, 0, 0, 0, 0, 0, 0),
    "volatiles": (("confusion", 2),),
    "last_move": "thunder",
    "protect_count": 3,
    "first_turn": True,
    "must_recharge": True,
    "preparing": "fly",
    "transformed": True,
    "commanding": True,
}
SIDE_CHANGES: dict[str, Any] = {
    "conditions": (("spikes", 2),),
    "slot_conditions": (("wish",),),
    "team_size": 3,
    "num_fainted": 2,
    "gimmicks_used": ("tera",),
    "dynamax_turns": 2,
}
STATE_CHANGES: dict[str, Any] = {
    "turn": 9,
    "phase": "wait",
    "weather": "sandstorm",
    "weather_turns": 3,
    "fields": (("trickroom", 2),),
    "force_switch": (True,),
    "trapped": (True,),
    "maybe_trapped": (True,),
    "can_gimmick": ("tera",),
    "reviving": True,
}
# What does not exist in generation 1 has no column there.
NOT_IN_GEN_1 = {
    *("gender", "item", "ability", "tera_type", "terastallized", "protect_count", "commanding"),
    *("conditions", "slot_conditions", "gimmicks_used", "dynamax_turns"),
    *("weather", "weather_turns", "fields", "maybe_trapped", "can_gimmick", "reviving"),
}


def plain_pokemon(own: bool, active: bool) -> UniversalPokemon:
    return UniversalPokemon(
        species="tauros",
        base_species="tauros",
        ident="Bull",
        level=100,
        gender="M",
        hp_fraction=1.0,
        hp=353 if own else None,
        max_hp=353 if own else None,
        fainted=False,
        status=None,
        status_turns=0,
        types=("normal",),
        tera_type=None,
        terastallized=False,
        item=None,
        ability=None,
        moves=(UniversalMove("bodyslam", 24, 24), UniversalMove("hyperbeam", 8, 8)),
        stats=(298, 288, 238, 238, 318) if own else None,
        active=active,
        revealed=True,
        selected=True,
    )


def plain_state(name: str) -> UniversalState:
    def side(own: bool) -> UniversalSide:
        return UniversalSide(
            active=(plain_pokemon(own, True),),
            bench=(plain_pokemon(own, False),),
            conditions=(),
            slot_conditions=((),),
            team_size=6,
            num_fainted=0,
            gimmicks_used=(),
            dynamax_turns=None,
            preview=(),
        )

    return UniversalState(
        format=name,
        gen=get_format(name).gen,
        game_type="singles",
        turn=1,
        phase="move",
        own=side(True),
        foe=side(False),
        weather="raindance" if name != "gen1ou" else None,
        weather_turns=0,
        fields=(),
        force_switch=(False,),
        trapped=(False,),
        maybe_trapped=(False,),
        can_gimmick=(None,),
        reviving=False,
    )


def changed_states(state: UniversalState) -> list[tuple[str, UniversalState]]:
    found: list[tuple[str, UniversalState]] = []
    for name, value in STATE_CHANGES.items():
        found.append((f"UniversalState.{name}", state._replace(**{name: value})))
    for owner in ("own", "foe"):
        side = getattr(state, owner)
        for name, value in SIDE_CHANGES.items():
            changed = side._replace(**{name: value})
            found.append((f"UniversalSide.{name}", state._replace(**{owner: changed})))
        for name, value in POKEMON_CHANGES.items():
            if owner == "foe" and name in ("stats", "max_hp"):
                continue
            active = side.active[0]._replace(**{name: value})
            changed = side._replace(active=(active,))
            found.append((f"UniversalPokemon.{name}", state._replace(**{owner: changed})))
        for name, value in (("id", "blizzard"), ("pp", 3), ("max_pp", 40), ("disabled", True)):
            pokemon = side.active[0]
            moves = (pokemon.moves[0]._replace(**{name: value}), pokemon.moves[1])
            changed = side._replace(active=(pokemon._replace(moves=moves),))
            found.append((f"UniversalMove.{name}", state._replace(**{owner: changed})))
        found.append(
            ("UniversalSide.active", state._replace(**{owner: side._replace(active=(None,))}))
        )
        found.append(("UniversalSide.bench", state._replace(**{owner: side._replace(bench=())})))
    return found


@pytest.mark.parametrize("name", ["gen1ou", "gen9ou"])
def test_every_field_of_the_state_changes_the_observation(name: str) -> None:
    space, state = EntitySpace(get_format(name)), plain_state(name)
    before = write(space, state)
    covered = {"UniversalState.own", "UniversalState.foe"}
    for field, changed in changed_states(state):
        covered.add(field)
        if name == "gen1ou" and field.split(".")[1] in NOT_IN_GEN_1:
            continue
        assert not same(before, write(space, changed)), field
    for kind in (UniversalState, UniversalSide, UniversalPokemon, UniversalMove):
        for field in kind._fields:
            key = f"{kind.__name__}.{field}"
            assert (key in covered) != (key in EXCLUDED), key


@pytest.mark.parametrize("name", FORMATS)
def test_each_active_only_fact_of_every_word_has_its_own_column(name: str) -> None:
    space = EntitySpace(get_format(name))
    maker = StateMaker(get_format(name), 4)
    state = maker.state()._replace(phase="move")
    base = maker.pokemon(True, True, "x")._replace(volatiles=())
    seen, encoder, out = set(), space.encoder(), space.allocate(1)
    for word in space.tables["volatiles"].words[2:]:
        pokemon = base._replace(volatiles=((word, 0),))
        active = (pokemon, *state.own.active[1:])
        own = state.own._replace(active=active, bench=())
        encoder.write(state._replace(own=own), out, 0)
        column = space.spec["active_numbers"].column(f"volatile_{word}")
        assert out["active_numbers"][0, 0, column] == 0.5
        seen.add(column)
    assert len(seen) == len(space.tables["volatiles"]) - 2
