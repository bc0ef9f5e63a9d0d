"""`variety`: any number of legal, diverse teams of a format, from a seed.

Species, moves and roles come from the simulator's own random-battle data, shipped as small tables
(`tools/build_sets.js`), so generating needs no Node; legality is the validator's word.  A team the
validator refuses is repaired Pokémon by Pokémon.  Generation 1 sets are legal by construction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nashmon.core.dex import Move, to_id
from nashmon.core.errors import TeamError, UnsupportedError
from nashmon.core.formats import get_format
from nashmon.teams.builds import build
from nashmon.teams.defaults import complete
from nashmon.teams.legality import Progress, Validator
from nashmon.teams.names import display_name
from nashmon.teams.sets import Material, SetRow, get_material
from nashmon.teams.team import PokemonSet, Team

Rng = np.random.Generator

TEAM_SIZE = 6  # custom games would take 24
MAX_REPAIRS = 60  # of one team; beyond it the format's rules leave no room


@dataclass(frozen=True, slots=True)
class Diversity:
    """How different the teams of a collection are."""

    num_teams: int
    num_species: int
    species_entropy: float  # bits, of a random Pokémon of a random team
    effective_species: float  # 2 ** entropy: equally likely species with the same entropy
    mean_shared: float  # species two different teams have in common, on average


def generate(
    format_id: str,
    count: int,
    rng: Rng,
    validate: Validator | None = None,
    wild: bool = False,
    progress: Progress | None = None,
) -> list[Team]:
    """`count` different legal teams; `wild` (Gen 1) draws any learnable moves, DVs and EVs."""
    material = get_material(get_format(format_id).id)
    if wild and material.rules.gen != 1:
        raise UnsupportedError(f"wild teams are offered for generation 1, not {format_id}")
    if validate is None and material.rules.gen != 1:
        raise TeamError(f"generating {format_id} teams needs a validator")
    teams: list[Team] = []
    seen: set[str] = set()
    while len(teams) < count:
        name = f"{'Wild' if wild else 'Variety'} {len(teams) + 1}"
        team = _legal_team(material, rng, validate, wild)
        if team.digest not in seen:
            seen.add(team.digest)
            teams.append(Team(team.pokemon, name, "", material.rules.id))
            if progress is not None:
                progress(len(teams), count)
    return teams


def diversity(teams: Sequence[Team]) -> Diversity:
    """Species entropy and overlap of a collection of teams."""
    counts = Counter(to_id(species) for team in teams for species in team.species)
    shares = np.array(list(counts.values())) / sum(counts.values())
    entropy = float(-(shares * np.log2(shares)).sum())
    # Each species in n teams is shared by n (n − 1) / 2 of the pairs.
    num_pairs = len(teams) * (len(teams) - 1) / 2
    shared = sum(n * (n - 1) / 2 for n in counts.values())
    mean_shared = shared / num_pairs if num_pairs else 0.0
    return Diversity(len(teams), len(counts), entropy, 2.0**entropy, mean_shared)


def _legal_team(material: Material, rng: Rng, validate: Validator | None, wild: bool) -> Team:
    team = Team(tuple(_draw_members(material, rng, wild)))
    if validate is None:
        return team
    format_id = material.rules.id
    for _ in range(MAX_REPAIRS):
        reasons = validate(format_id, complete(team, format_id).packed)
        if not reasons:
            return team
        team = _repaired(team, reasons, material, rng, wild)
    raise TeamError(
        f"{format_id}: no legal team after {MAX_REPAIRS} repairs; last reason: {reasons[0]}"
    )


def _draw_members(material: Material, rng: Rng, wild: bool) -> list[PokemonSet]:
    members: list[PokemonSet] = []
    while len(members) < min(TEAM_SIZE, material.rules.team_size):
        members.append(_draw_member(material, members, rng, wild))
    return members


def _draw_member(
    material: Material, others: Sequence[PokemonSet], rng: Rng, wild: bool
) -> PokemonSet:
    """A Pokémon of a species, item and Mega Evolution the others leave free."""
    dex = material.dex
    taken = {dex.species[to_id(other.species)].base_species for other in others}
    items = frozenset(to_id(other.item) for other in others if material.item_clause)
    has_mega = any(other.item and dex.items[to_id(other.item)].mega for other in others)
    free = [
        species
        for species, base in material.bases.items()
        if base not in taken and not (has_mega and dex.species[species].is_mega)
    ]
    if not free:
        raise TeamError(f"{material.rules.id}: no legal species left for a full team")
    species = free[int(rng.integers(len(free)))]
    if wild:
        return _wild_set(material, species, rng)
    return _ordinary_set(material, species, items, rng)


def _ordinary_set(
    material: Material, species_id: str, taken_items: frozenset[str], rng: Rng
) -> PokemonSet:
    dex = material.dex
    species = dex.species[species_id]
    row = material.rows[species_id][int(rng.integers(len(material.rows[species_id])))]
    moves = _pick_moves(material, species_id, row, rng)
    ability = row.abilities[int(rng.integers(len(row.abilities)))] if row.abilities else ""
    tera = row.tera[int(rng.integers(len(row.tera)))] if row.tera else ""
    made = build(dex, species, row.role, moves, material.banned_items | taken_items, rng)
    # A Mega Evolution enters as the species that holds the stone.
    worn = species.battle_only[0] if species.is_mega and species.battle_only else species_id
    return PokemonSet(
        species=display_name("species", worn),
        moves=tuple(display_name("moves", move.id) for move in moves),
        item=display_name("items", made.item),
        ability=display_name("abilities", ability),
        nature=display_name("natures", made.nature),
        evs=made.evs,
        tera_type=display_name("types", species.required_tera_type or tera),
    )


def _pick_moves(material: Material, species_id: str, row: SetRow, rng: Rng) -> list[Move]:
    """Four different moves of the row's pool with an attack among them, same-type if it has one."""
    moves = [material.dex.moves[str(move)] for move in rng.permutation(np.array(row.moves))]
    types = material.dex.species[species_id].types
    attacks = [move for move in moves if move.category != "status"]
    first = [move for move in attacks if move.type in types][:1] or attacks[:1]
    setup = [move for move in moves if _raises_own_stats(move)][:1] if "Setup" in row.role else []
    chosen: list[Move] = []
    for move in [*first, *setup, *moves]:
        double_power = move.id.startswith("hiddenpower") and any(
            other.id.startswith("hiddenpower") for other in chosen
        )
        clashes = material.clashes(species_id, move.id, (other.id for other in chosen))
        if move not in chosen and not double_power and not clashes:
            chosen.append(move)
    return chosen[:4]


def _raises_own_stats(move: Move) -> bool:
    return (
        move.category == "status"
        and move.target == "self"
        and any(b > 0 for b in move.effect.boosts)
    )


def _wild_set(material: Material, species_id: str, rng: Rng) -> PokemonSet:
    """Any moves it can learn together, any DVs, any EVs: what no player would bring."""
    learnset = material.learnsets[species_id].moves
    moves: list[str] = []
    for move in rng.permutation(np.array(learnset)).tolist():
        if move not in material.banned_moves and not material.clashes(species_id, move, moves):
            moves.append(move)
        if len(moves) == 4:
            break
    attack, defence, special, speed = (int(dv) for dv in rng.integers(16, size=4))
    # The HP DV is made of the lowest bits of the others.
    hp = 8 * (attack % 2) + 4 * (defence % 2) + 2 * (speed % 2) + special % 2
    evs = [int(ev) for ev in rng.integers(1, 253, size=5)]
    # Validators take a total of 508 or 510 for a slip of the pen.
    if sum(evs) + evs[3] in (508, 510):
        evs[0] = evs[0] + 1 if evs[0] < 252 else evs[0] - 1
    return PokemonSet(
        species=display_name("species", species_id),
        moves=tuple(display_name("moves", move) for move in moves),
        evs=(evs[0], evs[1], evs[2], evs[3], evs[3], evs[4]),
        ivs=(2 * hp, 2 * attack, 2 * defence, 2 * special, 2 * special, 2 * speed),
    )


def _repaired(team: Team, reasons: Sequence[str], material: Material, rng: Rng, wild: bool) -> Team:
    """The team with every Pokémon the reasons name drawn anew; a random one when none is named."""
    members = list(team.pokemon)
    culprits = [
        index
        for index, member in enumerate(members)
        if any(
            reason.startswith((f"{name} ", f"{name}'s"))
            for reason in reasons
            for name in (member.species, *member.moves)
        )
    ]
    for index in culprits or [int(rng.integers(len(members)))]:
        others = members[:index] + members[index + 1 :]
        members[index] = _draw_member(material, others, rng, wild)
    return Team(tuple(members))
