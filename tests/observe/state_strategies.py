"""Random but well-formed states of any format, for property tests and benchmarks."""

from __future__ import annotations

from random import Random

from nashmon.core.formats import Format
from nashmon.core.state import (
    STATUSES,
    UniversalMove,
    UniversalPokemon,
    UniversalSide,
    UniversalState,
)
from nashmon.observe.vocab import vocabularies


def _effects(rng: Random, words: list[str], most: int, high: int) -> tuple[tuple[str, int], ...]:
    chosen = rng.sample(words, min(rng.randint(0, most), len(words)))
    return tuple((word, rng.randint(0, high)) for word in sorted(chosen))


class StateMaker:
    """Draws states of one format; every word comes from the format's own vocabulary."""

    def __init__(self, format: Format, seed: int) -> None:
        self.format = format
        self.rng = Random(seed)
        self.slots = 1 if format.game_type == "singles" else 2
        self.words = {
            name: list(table.words[2:]) for name, table in vocabularies(format.mod).items()
        }

    def word(self, table: str) -> str | None:
        return self.rng.choice(self.words[table]) if self.words[table] else None

    def move(self, own: bool, name: str) -> UniversalMove:
        max_pp = self.rng.choice((8, 16, 24, 61))
        disabled = own and self.rng.random() < 0.2
        return UniversalMove(name, self.rng.randint(0, max_pp), max_pp, disabled)

    def pokemon(self, own: bool, active: bool, ident: str) -> UniversalPokemon:
        rng, gen = self.rng, self.format.gen
        max_hp = rng.randint(1, 714)
        hp = rng.randint(0, max_hp)
        names = sorted(rng.sample(self.words["moves"], 4 if own else rng.randint(0, 4)))
        live = active and rng.random() < 0.7
        return UniversalPokemon(
            species=rng.choice(self.words["species"]),
            base_species=rng.choice(self.words["species"]),
            ident=ident,
            level=rng.randint(1, 100),
            gender=rng.choice((None, "M", "F", "N")),
            hp_fraction=hp / max_hp if own else -(-100 * hp // max_hp) / 100,
            hp=hp if own else None,
            max_hp=max_hp if own else None,
            fainted=hp == 0,
            status=rng.choice((None, *STATUSES)),
            status_turns=rng.randint(0, 20),
            types=tuple(rng.sample(self.words["types"], rng.randint(1, 3 if gen >= 6 else 2))),
            tera_type=rng.choice((None, self.word("types"))) if gen == 9 else None,
            terastallized=gen == 9 and rng.random() < 0.2,
            item=rng.choice((None, "", self.word("items"))) if gen >= 2 else "",
            ability=rng.choice((None, "", self.word("abilities"))) if gen >= 3 else "",
            moves=tuple(self.move(own, name) for name in names),
            stats=tuple(rng.randint(1, 999) for _ in range(5)) if own else None,
            active=active,
            revealed=rng.random() < 0.5,
            selected=rng.choice((None, True, False)),
            boosts=tuple(rng.randint(-6, 6) for _ in range(7)) if live else (0,) * 7,
            volatiles=_effects(rng, self.words["volatiles"], 5, 12) if live else (),
            last_move=self.word("moves") if live else None,
            protect_count=rng.randint(0, 6) if live else 0,
            first_turn=live and rng.random() < 0.5,
            must_recharge=live and rng.random() < 0.2,
            preparing=self.word("moves") if live and rng.random() < 0.3 else None,
            transformed=live and rng.random() < 0.2,
            commanding=live and rng.random() < 0.1,
        )

    def side(self, own: bool, preview: bool) -> UniversalSide:
        rng, slots = self.rng, self.slots
        active: list[UniversalPokemon | None] = [None] * slots
        if not preview:
            active = [
                None if rng.random() < 0.1 else self.pokemon(own, True, f"a{slot}")
                for slot in range(slots)
            ]
        size = 6 if own else rng.randint(0, 6)
        bench = max(0, size - sum(pokemon is not None for pokemon in active))
        words = self.words["slot_conditions"]
        return UniversalSide(
            active=tuple(active),
            bench=tuple(self.pokemon(own, False, f"b{k}") for k in range(bench)),
            conditions=_effects(rng, self.words["conditions"], 4, 8),
            slot_conditions=tuple(
                tuple(sorted(rng.sample(words, rng.randint(0, min(2, len(words))))))
                for _ in range(slots)
            ),
            team_size=rng.randint(1, 6),
            num_fainted=rng.randint(0, 6),
            gimmicks_used=tuple(word for word in self.words["gimmicks"] if rng.random() < 0.3),
            dynamax_turns=rng.choice((None, 0, 1, 2, 3)),
            preview=(),
        )

    def state(self) -> UniversalState:
        rng, slots = self.rng, self.slots
        phase = rng.choice(("preview", "move", "switch", "wait", "end"))
        gimmicks = (None, *self.words["gimmicks"])

        def flags() -> tuple[bool, ...]:
            return tuple(rng.random() < 0.3 for _ in range(slots))

        return UniversalState(
            format=self.format.id,
            gen=self.format.gen,
            game_type="singles" if slots == 1 else "doubles",
            turn=rng.randint(0, 1500),
            phase=phase,
            own=self.side(True, phase == "preview"),
            foe=self.side(False, phase == "preview"),
            weather=rng.choice((None, self.word("weathers"))),
            weather_turns=rng.randint(0, 10),
            fields=_effects(rng, self.words["fields"], 3, 8),
            force_switch=flags(),
            trapped=flags(),
            maybe_trapped=flags(),
            can_gimmick=tuple(rng.choice(gimmicks) for _ in range(slots)),
            reviving=rng.random() < 0.1,
        )
