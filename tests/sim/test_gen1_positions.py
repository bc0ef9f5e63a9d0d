"""What search needs: copies of battles, play-outs, and samples of what the foe may have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from gen1_jobs import wild_team
from test_gen1_battles import CONFIG, POOL, choose, copy_of
from test_gen1_properties import check_invariants

from nashmon.core.errors import SimulatorError, TeamError
from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1 import tables as tb
from nashmon.sim.gen1.battles import Gen1Battles
from nashmon.sim.gen1.determinise import SeenPokemon, determinise, seen_pokemon
from nashmon.sim.gen1.positions import Position, material, playouts
from nashmon.sim.seeds import PoolTeams
from nashmon.teams.team import PokemonSet

MOVES = [move for move in tb.MOVE_NUM if move != "struggle"]
SPECIES = tb.SPECIES_IDS[1:152]


def a_set(known: SeenPokemon | None, rng: np.random.Generator) -> PokemonSet:
    """Any set that agrees with what was seen."""
    moves = list(known.moves) if known else []
    unseen = [move for move in MOVES if move not in moves]
    more = rng.choice(unseen, 4 - len(moves), replace=False)
    return PokemonSet(
        known.species if known else str(rng.choice(SPECIES)),
        tuple(rng.permutation([*moves, *more]).tolist()),
        evs=tuple(rng.choice([0, 252], 6).tolist()),
        level=known.level if known else 100,
    )


def any_team(
    seen: tuple[SeenPokemon, ...], team_size: int, rng: np.random.Generator
) -> list[PokemonSet]:
    known = [*seen, *[None] * (team_size - len(seen))]
    return [a_set(one, rng) for one in known]


def a_position(steps: int = 12) -> Position:
    rng = np.random.default_rng(5)
    with Gen1Battles(CONFIG, 1) as battles:
        step = battles.reset(3)
        for _ in range(steps):
            step = battles.step(choose(step, rng))
        return battles.save(0)


def test_a_player_cannot_tell_a_determinised_position_from_its_own() -> None:
    rng = np.random.default_rng(1)
    wild = [wild_team(rng, 4).replace("||||5|", "||||100|").replace("||||50|", "||||74|")
            for _ in range(40)]  # fmt: skip
    config = replace(CONFIG, teams=PoolTeams(wild, wild), check_teams=False)
    changed = 0
    with Gen1Battles(config, 8) as battles, Gen1Battles(config, 8) as other:
        step = battles.reset(1)
        other.reset(2)
        for number in range(60):
            before = copy_of(step)
            seat = number % 2
            samples = [determinise(battles.save(row), seat, rng, any_team) for row in range(8)]
            seen = other.restore_rows(range(8), samples)
            acting = before["acting"][:, seat]
            for name, array in copy_of(seen).items():
                if name == "masks":
                    np.testing.assert_array_equal(array[:, seat], before[name][:, seat])
                elif name in step.observations:
                    mine = before[name][acting, seat]
                    np.testing.assert_array_equal(array[acting, seat], mine, err_msg=name)
            for row in range(8):
                assert seen_pokemon(other.save(row), seat) == seen_pokemon(battles.save(row), seat)
                changed += not np.array_equal(other.save(row).state, battles.save(row).state)
            for _ in range(3):
                seen = other.step(choose(seen, rng))
                for row in range(8):
                    check_invariants(other.save(row).state)
            step = battles.step(choose(step, rng))
    assert changed > 400


def test_the_foe_sees_the_sampled_team_as_its_own() -> None:
    rng = np.random.default_rng(2)
    position = determinise(a_position(), 0, rng, any_team)
    with Gen1Battles(CONFIG, 1) as battles:
        battles.reset(1)
        battles.restore(0, position)
        own = battles.states([(0, 1)])[0].own
    team = position.teams[1]
    for one in (*own.active, *own.bench):
        index = team.names.index(one.ident)
        facts = team.facts[index]
        assert {move.id for move in one.moves} == {
            tb.MOVE_IDS[move] for move in facts[at.M_MOVES : at.M_MOVES + 4]
        }
        assert one.max_hp == team.max_hp[index]
        assert one.stats == tuple(facts[at.M_STATS : at.M_STATS + 5])


def test_samples_that_contradict_what_was_seen_are_refused() -> None:
    position, rng = a_position(), np.random.default_rng(1)
    seen = seen_pokemon(position, 0)
    assert any(one.moves for one in seen)
    team = any_team(seen, 6, rng)
    place = next(index for index, one in enumerate(seen) if one.moves)
    bad = {
        "6 Pokémon": team[:5],
        "was seen to have": [replace(team[0], species="Ditto"), *team[1:]],
        "was seen to know": [
            replace(one, moves=("splash",)) if index == place else one
            for index, one in enumerate(team)
        ],
    }
    for words, sets in bad.items():
        with pytest.raises(TeamError, match=words):
            determinise(position, 0, rng, lambda *_, sets=sets: sets)
    with pytest.raises(SimulatorError, match="without observations"):
        determinise(replace(position, know=position.know[:0]), 0, rng, any_team)


def test_rows_are_copied_between_blocks() -> None:
    rng = np.random.default_rng(0)
    blind = replace(CONFIG, observation=None)
    with Gen1Battles(CONFIG, 3) as root, Gen1Battles(blind, 8) as tree:
        step = root.reset(1)
        for _ in range(6):
            step = root.step(choose(step, rng))
        tree.reset(0)
        dice = np.arange(8, dtype=np.uint64) // np.uint64(2)
        seen = tree.copy_rows(root, [0, 0, 0, 0, 2, 2, 2, 2], range(8), dice)
        np.testing.assert_array_equal(seen.masks[[0, 7]], step.masks[[0, 2]])
        for _ in range(5):
            actions = choose(seen, rng)
            for first in (0, 2, 4, 6):  # pairs have the same dice
                actions[first + 1] = actions[first]
            seen = tree.step(actions)
            np.testing.assert_array_equal(seen.masks[::2], seen.masks[1::2])
        states = [tree.save(row).state for row in range(8)]
        assert not np.array_equal(states[0], states[2])
        assert tree.save(0).teams == root.save(0).teams
        with pytest.raises(IndexError, match="battle 8 of 8"):
            tree.copy_rows(root, [0], [8])
        with pytest.raises(ValueError, match="do not go together"):
            tree.copy_rows(root, [0, 1], [0])
        with pytest.raises(SimulatorError, match="cannot be observed"):
            root.copy_rows(tree, [0], [0])


def test_playouts_depend_on_seeds_alone() -> None:
    position = a_position()
    kept = position.state.copy()
    seeds = np.random.default_rng(1).integers(1 << 63, size=(2, 40)).astype(np.uint64)
    values = playouts([position, a_position(30)], seeds)
    assert values.shape == seeds.shape
    assert set(np.unique(values)) <= {-1.0, 0.0, 1.0}
    assert len(np.unique(values)) > 1
    np.testing.assert_array_equal(position.state, kept)
    np.testing.assert_array_equal(
        values[:1], playouts([position], np.ascontiguousarray(seeds[:1]), threads=2)
    )


def test_playouts_stop_at_a_material_count() -> None:
    position = a_position(40)
    seeds = np.arange(5, dtype=np.uint64)[None]
    assert playouts([position], seeds, max_turns=0) == pytest.approx(material(position))
    assert material(position) != 0
    few = playouts([position], seeds, max_turns=3)
    assert (np.abs(few) < 1).all() and len(np.unique(few)) > 1
    with pytest.raises(ValueError, match="seeds must be"):
        playouts([position], seeds[0])


def test_more_pokemon_win_more_playouts() -> None:
    alone = POOL[0].split("]")[0]
    config = replace(CONFIG, teams=PoolTeams([POOL[0]], [alone]))
    with Gen1Battles(config, 1) as battles:
        battles.reset(1)
        seeds = np.arange(100, dtype=np.uint64)[None]
        assert playouts([battles.save(0)], seeds).mean() > 0.5
