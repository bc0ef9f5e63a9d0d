"""Names of the effects a state can carry, with the generations that have them.

The simulator keeps no table of these, so they are written down here: each word is what
`to_id` makes of the effect's protocol name.  Order is part of the vocabulary's meaning:
append, never reorder.
"""

from __future__ import annotations

# first generation → names of effects on one active Pokémon
_VOLATILES: dict[int, str] = {
    1: """bide bind clamp confusion disable firespin flinch focusenergy leechseed lightscreen
        lockedmove mimic minimize mist mustrecharge partiallytrapped rage reflect substitute
        transform trapped typechange wrap""",
    2: """attract curse defensecurl destinybond doomdesire encore endure foresight futuresight
        lockon magnitude mindreader nightmare perish protect
        safeguard sketch spite struggle whirlpool""",
    3: """charge flashfire focuspunch followme grudge helpinghand imprison ingrain magiccoat
        mudsport sandtomb skillswap snatch stockpile taunt torment
        uproar watersport yawn""",
    4: """aquaring embargo feint gastroacid gravity healblock magmastorm magnetrise miracleeye
        powertrick roost slowstart""",
    5: """autotomize illusion quickguard ragepowder skydrop smackdown telekinesis wideguard""",
    6: """craftyshield electrify fairylock infestation kingsshield matblock powder spikyshield
        typeadd""",
    7: """banefulbunker beakblast disguise instruct laserfocus shelltrap spotlight throatchop""",
    8: """dynamax gmaxcentiferno gmaxchistrike gmaxsandblast gulpmissile iceface maxguard noretreat
        obstruct octolock powershift snaptrap tarshot thundercage""",
    9: """burningbulwark commander cudchew dragoncheer fallen glaiverush protosynthesis
        protosynthesisatk protosynthesisdef protosynthesisspa protosynthesisspd
        protosynthesisspe quarkdrive quarkdriveatk quarkdrivedef quarkdrivespa quarkdrivespd
        quarkdrivespe saltcure silktrap supremeoverlord syrupbomb""",
}

# first generation → names of effects on one side of the field
_CONDITIONS: dict[int, str] = {
    2: "lightscreen reflect safeguard spikes",
    3: "mist",
    4: "luckychant stealthrock tailwind toxicspikes",
    5: "firepledge grasspledge quickguard waterpledge wideguard",
    6: "craftyshield matblock stickyweb",
    7: "auroraveil",
    8: "gmaxcannonade gmaxsteelsurge gmaxvinelash gmaxvolcalith gmaxwildfire",
}

# first generation → names of effects waiting on one slot
_SLOT_CONDITIONS: dict[int, str] = {
    2: "futuremove futuresight",
    3: "doomdesire wish",
    4: "healingwish lunardance",
    7: "healreplacement",
    9: "revivalblessing",
}

# first generation → names of effects on the whole field
_FIELDS: dict[int, str] = {
    3: "mudsport watersport",
    4: "gravity trickroom",
    5: "magicroom wonderroom",
    6: "electricterrain fairylock grassyterrain mistyterrain",
    7: "psychicterrain",
    8: "neutralizinggas",
}

_WEATHERS: dict[int, str] = {
    2: "raindance sandstorm sunnyday",
    3: "hail",
    6: "deltastream desolateland primordialsea",
    9: "snowscape",
}

_GIMMICKS: dict[int, str] = {
    6: "mega megax megay",
    7: "ultra zmove",
    8: "dynamax",
    9: "tera",
}

_TABLES = {
    "volatiles": _VOLATILES,
    "conditions": _CONDITIONS,
    "slot_conditions": _SLOT_CONDITIONS,
    "fields": _FIELDS,
    "weathers": _WEATHERS,
    "gimmicks": _GIMMICKS,
}


def effect_words(kind: str, gen: int) -> tuple[str, ...]:
    """The names of one kind of effect that exist in a generation, in a fixed order."""
    table = _TABLES[kind]
    return tuple(word for first, words in table.items() if first <= gen for word in words.split())
