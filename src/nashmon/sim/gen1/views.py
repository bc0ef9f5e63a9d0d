"""What one player knows, as a `UniversalState` or as Showdown's request, from a battle's rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nashmon.core.state import (
    STATUSES,
    Phase,
    UniversalMove,
    UniversalPokemon,
    UniversalSide,
    UniversalState,
)
from nashmon.sim.gen1 import calls
from nashmon.sim.gen1 import knowledge as kn
from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1 import tables as tb
from nashmon.sim.gen1.observe import EFFECTS, ORDER, SCRATCH
from nashmon.sim.gen1.protocol import percent
from nashmon.sim.gen1.setup import Gen1Team

Row = NDArray[np.int16]
_PHASES: dict[int, Phase] = {at.MOVE: "move", at.SWITCH: "switch", at.WAIT: "wait"}
_STAT_NAMES = ("atk", "def", "spa", "spd", "spe")


def _news(side: int) -> int:
    return kn.NEWS + side * kn.NEWS_SIZE


class BattleView:
    """One battle's rows with the names of its teams."""

    def __init__(
        self, format_id: str, state: Row, know: Row, teams: tuple[Gen1Team, Gen1Team]
    ) -> None:
        self._format_id = format_id
        self._s = state
        self._k = know
        self._teams = teams
        self._scratch = np.zeros(SCRATCH, np.int64)

    def state(self, seat: int) -> UniversalState:
        """What the player in this seat knows."""
        s = self._s
        request = int(s[at.REQUEST + seat])
        return UniversalState(
            format=self._format_id,
            gen=1,
            game_type="singles",
            turn=int(s[at.TURN]),
            phase=_PHASES[request],
            own=self._side(seat, seat),
            foe=self._side(seat, 1 - seat),
            weather=None,
            weather_turns=0,
            fields=(),
            force_switch=(request == at.SWITCH,),
            trapped=(request == at.MOVE and bool(calls.is_locked(s, seat)),),
            maybe_trapped=(False,),
            can_gimmick=(None,),
            reviving=False,
        )

    def _side(self, viewer: int, side: int) -> UniversalSide:
        s, base = self._s, side * at.SIDE
        count = calls.bench_order(s, viewer, side, self._scratch)
        bench = self._scratch[ORDER : ORDER + count].tolist()
        size, left = int(s[base + at.TEAM_SIZE]), int(s[base + at.LEFT])
        return UniversalSide(
            active=(self._pokemon(viewer, side, int(s[base + at.ACTIVE])),),
            bench=tuple(self._pokemon(viewer, side, index) for index in bench),
            conditions=(),
            slot_conditions=((),),
            team_size=size,
            num_fainted=size - left,
            gimmicks_used=(),
            dynamax_turns=None,
            preview=(),
        )

    def _pokemon(self, viewer: int, side: int, index: int) -> UniversalPokemon:
        s, k, base = self._s, self._k, side * at.SIDE
        one = base + at.PARTY + index * at.MON
        active = int(s[base + at.ACTIVE]) == index
        own = viewer == side
        hp, max_hp = int(s[one + at.M_HP]), int(s[one + at.M_MAX_HP])
        species = int(s[one + at.M_SPECIES])
        forme = int(k[_news(side) + kn.FORME]) if active else species
        types = s[base + at.TYPES : base + at.TYPES + 2] if active else tb.SPECIES_TABLE[species]
        status = int(s[one + at.M_STATUS])
        stats = tuple(s[one + at.M_STATS : one + at.M_STATS + 5].tolist())
        return UniversalPokemon(
            species=tb.SPECIES_IDS[forme],
            base_species=tb.SPECIES_IDS[species],
            ident=self._teams[side].names[index],
            level=int(s[one + at.M_LEVEL]),
            gender=self._teams[side].genders[index],
            hp_fraction=hp / max_hp if own else percent(hp, max_hp) / 100,
            hp=hp if own else None,
            max_hp=max_hp if own else None,
            fainted=hp == 0,
            status=STATUSES[status - 1] if status else None,
            status_turns=int(k[_news(side) + kn.STATUS_TURNS + index]),
            types=tuple(tb.TYPE_IDS[int(kind)] for kind in types[:2] if kind),
            tera_type=None,
            terastallized=False,
            item="",
            ability="",
            moves=self._moves(viewer, side, index),
            stats=stats if own else None,
            active=active,
            revealed=bool(s[one + at.M_SEEN]),
            selected=True,
            **(self._passing(side, hp == 0) if active else {}),
        )

    def _moves(self, viewer: int, side: int, index: int) -> tuple[UniversalMove, ...]:
        count = calls.gather_moves(self._s, self._k, viewer, side, index, self._scratch)
        moves, pp, full, shut, _ = self._scratch.reshape(5, 8).tolist()
        return tuple(
            UniversalMove(tb.MOVE_IDS[moves[j]], pp[j], full[j], bool(shut[j]))
            for j in range(count)
        )

    def _passing(self, side: int, fainted: bool) -> dict[str, Any]:
        """Facts that only a Pokémon on the field has."""
        s, k, base, news = self._s, self._k, side * at.SIDE, _news(side)
        turn = int(k[kn.TURN])
        begun = [(name, int(k[news + kn.BEGUN + j])) for j, name in enumerate(EFFECTS)]
        last, charging = int(k[news + kn.LAST_MOVE]), int(k[news + kn.PREPARING])
        return {
            "boosts": tuple(s[base + at.BOOSTS : base + at.BOOSTS + 7].tolist()),
            "volatiles": tuple(sorted((name, turn + 1 - start) for name, start in begun if start)),
            "last_move": tb.MOVE_IDS[last] or None,
            "first_turn": not k[news + kn.ACTED] and not fainted,
            "must_recharge": bool(k[news + kn.RECHARGING]),
            "preparing": tb.MOVE_IDS[charging] or None,
            "transformed": bool(k[news + kn.COPIED]),
        }

    def request(self, seat: int, name: str) -> dict[str, Any]:
        """What Showdown would ask this player now."""
        s = self._s
        kinds = [int(s[at.REQUEST + p]) for p in (0, 1)]
        side = {"name": name, "id": f"p{seat + 1}", "pokemon": self._entries(seat)}
        if kinds[seat] == at.WAIT:
            return {"wait": True, "side": side}
        asked: dict[str, Any] = {"side": side}
        if kinds[seat] == at.SWITCH:
            asked["forceSwitch"] = [True]
        else:
            asked["active"] = [self._offer(seat)]
        if at.WAIT in kinds:
            asked["noCancel"] = True
        return asked

    def _entries(self, seat: int) -> list[dict[str, Any]]:
        order = self._s[seat * at.SIDE + at.ORDER :][: len(self._teams[seat].names)]
        return [self._entry(seat, int(index)) for index in order]

    def _entry(self, seat: int, index: int) -> dict[str, Any]:
        s, base, team = self._s, seat * at.SIDE, self._teams[seat]
        one = base + at.PARTY + index * at.MON
        active = int(s[base + at.ACTIVE]) == index
        hp, status = int(s[one + at.M_HP]), int(s[one + at.M_STATUS])
        word = f" {STATUSES[status - 1]}" if status else ""
        slots = int(s[base + at.SLOTS] if active else s[one + at.M_SLOTS])
        start = base + at.MOVES if active else one + at.M_MOVES
        return {
            "ident": f"p{seat + 1}: {team.names[index]}",
            "details": team.details[index],
            "condition": f"{hp}/{team.max_hp[index]}{word}" if hp else "0 fnt",
            "active": active,
            "stats": {stat: int(s[one + at.M_STATS + j]) for j, stat in enumerate(_STAT_NAMES)},
            "moves": [tb.MOVE_IDS[move] for move in s[start : start + slots]],
            "baseAbility": "noability",
            "item": "",
            "pokeball": "pokeball",
        }

    def _offer(self, seat: int) -> dict[str, Any]:
        s, base = self._s, seat * at.SIDE
        offer: dict[str, Any] = {"moves": self._offered_moves(seat)}
        if calls.is_locked(s, seat):
            offer["trapped"] = True
        elif s[base + at.MAYBE_LOCKED]:
            offer["maybeLocked"] = True
        return offer

    def _offered_moves(self, seat: int) -> list[dict[str, Any]]:
        s, base = self._s, seat * at.SIDE
        only = int(calls.forced_move(s, seat))
        if only:
            return [{"move": tb.MOVE_NAMES[only], "id": tb.MOVE_IDS[only]}]
        if calls.is_locked(s, seat):
            return [{"move": "Recharge", "id": "recharge"}]
        if calls.shows_moves(s, seat):
            return [self._slot(seat, slot) for slot in range(int(s[base + at.SLOTS]))]
        status = int(s[base + at.PARTY + int(s[base + at.ACTIVE]) * at.MON + at.M_STATUS])
        held = s[base + at.TRAPPED] and not s[base + at.MAYBE_LOCKED]
        if held or status in (at.FRZ, at.SLP):
            return [{"move": "Fight", "id": "fight"}]
        last = {"target": "randomNormal", "disabled": False}
        return [{"move": "Struggle", "id": "struggle", **last}]

    def _slot(self, seat: int, slot: int) -> dict[str, Any]:
        s, base = self._s, seat * at.SIDE
        move, pp = int(s[base + at.MOVES + slot]), int(s[base + at.PP + slot])
        return {
            "move": tb.MOVE_NAMES[move],
            "id": tb.MOVE_IDS[move],
            "pp": pp,
            "maxpp": int(calls.full_pp(s, seat, slot)),
            "target": tb.DEX.moves[tb.MOVE_IDS[move]].target,
            "disabled": pp <= 0 or bool(int(s[base + at.DISABLED]) >> slot & 1),
        }
