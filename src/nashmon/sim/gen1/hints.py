"""The hints Showdown prints beside the rules of Gen 1, word for word as its logs carry them."""

from __future__ import annotations

from nashmon.sim.gen1 import events as ev

_SUB = (
    "In Gen 1, if a Pokemon with a Substitute hurts itself due to confusion or "
    "Jump Kick/Hi Jump Kick recoil and the target"
)

HINTS = {
    ev.H_RAGE: "In Gen 1, using {move} causes the target to build Rage, even if it misses or fails",
    ev.H_TRAP_RECHARGE: "In Gen 1, partial trapping moves negate the recharge turn of Hyper Beam, "
    "even if they miss.",
    ev.H_SEED_TOXIC: "In Gen 1, Leech Seed's damage is affected by Toxic's counter.",
    ev.H_SEED_HEAL: "In Gen 1, Leech Seed recovery is not limited by the remaining HP "
    "of the seeded Pokemon.",
    ev.H_TOXIC: "In Gen 1, Toxic's counter is retained after Rest and applies to PSN/BRN.",
    ev.H_PAR_DIG: "In Gen 1, when a Dig/Fly user is fully paralyzed while semi-invulnerable, "
    "it will remain semi-invulnerable until it switches out or fully executes Dig/Fly",
    ev.H_BOOST_999: "In Gen 1, boosting a stat at 999 will apply a -1 drop afterwards, "
    "and the stat remains at 999.",
    ev.H_DROP_1: "In Gen 1, dropping a stat at 1 will apply a +1 boost afterwards, "
    "and the stat remains at 1.",
    ev.H_SLEEP_HELD: "In Gen 1, if a Pokémon spends a turn partially trapped and switches to a "
    "Pokémon that is asleep, the sleep counter will not decrease until you select a move with a "
    "different Pokémon.",
    ev.H_HAZE_LOCKED: "In Gen 1, when Haze cures the sleep/freeze status of a Pokémon during a "
    "multi-turn move, that Pokémon will become soft-locked.",
    ev.H_HAZE_BIDE: "In Gen 1, when Haze cures the sleep/freeze status of a Pokémon during Bide, "
    "the move execution will never resolve.",
    ev.H_DESYNC: "Desync Clause Mod activated!",
    ev.H_DESYNC_MOVE: "In Gen 1, if both players would see the same Pokémon using different "
    "moves, the Pokemon defaults to the move shown from the perspective of the player controlling "
    "that Pokémon.",
    ev.H_NO_MOVE: "In Gen 1, if a Pokémon is thawed from freeze and no move has been selected "
    "yet, the Pokémon will use a move with Fissure's animation, 102 base power, ??? type, Special "
    "category, and around 31.6% accuracy.",
    ev.H_UNDERFLOW: "In Gen 1, if a Pokémon is forced to use a move with 0 PP, the move will "
    "underflow to have 63 PP.",
    ev.H_FULL_MISS: "In Gen 1, moves with 100% accuracy can still miss 1/256 of the time.",
    ev.H_SUB_SURVIVED: "In Gen 1, the user of {move} will not take damage if it breaks a "
    "Substitute.",
    ev.H_RECHARGE_SLEEP: "In Gen 1, if a Pokémon that has just used Hyper Beam and has yet to "
    "recharge is targeted with a sleep inducing move, any other status it may already have will be "
    "ignored and sleep will be induced regardless.",
    ev.H_RECOVERY: "In Gen 1, recovery moves fail if (user's maximum HP - user's current HP + 1) "
    "is divisible by 256, unless the current hp is also divisible by 256.",
    ev.H_SUB_CONFUSION: "In Gen 1, moves that inflict confusion as a secondary effect can confuse "
    "targets with a Substitute, as long as the move does not break the Substitute.",
    ev.H_ROLLOVER: "In Gen 1, a stat will roll over to a small number if it is larger than 1024.",
    ev.H_ZERO_DEFENCE: "Pokemon Showdown avoids division by zero by rounding defense up to 1. "
    "In game, the battle would have crashed.",
    ev.H_SUB_HIT: f"{_SUB} has a Substitute, the target's Substitute takes the damage.",
    ev.H_SUB_NO_HIT: f"{_SUB} does not have a Substitute there is no damage dealt.",
    ev.H_COUNTER_SLEEP: "In Gen 1, if Counter is used against a target that switched in and spent "
    "the turn sleeping, from the Counter user's perspective, it will fail if the move in the "
    "target's first slot is also Counter.",
    ev.H_COUNTER_LAST: "In Gen 1, from the Counter user's perspective, Counter uses the last "
    "announced move by the target's team to determine if it will succeed.",
    ev.H_PSYWAVE: "In Gen 1, if a Pokémon at level 0, 1 or 171 uses Psywave, the game softlocks.",
    ev.H_SLEEP_CLAUSE: "Sleep Clause Mod prevents players from putting more than one of their "
    "opponent's Pokémon to sleep at a time",
}
